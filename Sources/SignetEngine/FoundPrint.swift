package import SignetPolicy
internal import SignetRecords

/// A print that was enrolled elsewhere, as a person is shown it before the PIN is asked for.
package struct FoundPrint: Equatable, Sendable {
    package let finger: Finger
    package let reader: ReaderIdentity
    /// Whether it lies in the reader's own memory.
    package let onReader: Bool
    /// Wall time in seconds since 1970, as whoever enrolled it wrote down.
    package let enrolledAt: Int64
    package var fate: Fate

    package init(finger: Finger, reader: ReaderIdentity, onReader: Bool, enrolledAt: Int64, fate: Fate) {
        self.finger = finger
        self.reader = reader
        self.onReader = onReader
        self.enrolledAt = enrolledAt
        self.fate = fate
    }

    /// What becomes of it.
    package enum Fate: Equatable, Sendable {
        /// It is new: to be taken over, and in the end what was.
        case new
        /// The same print is here already.
        case known
        /// Another print is enrolled here under the same name, which stays.
        case nameTaken
        /// Its reader is not at hand, or does not open; it can be imported another time.
        case otherReader
        /// Its reader says that it has it no more.
        case gone
    }
}

/// What came of an import.
package struct Imported: Equatable, Sendable {
    /// All that were found, in their order; of those that are new, the reader's that was asked were taken over.
    package var found: [FoundPrint] = []
    /// Prints that their reader had no more when they were to be taken over, and nobody knew before.
    package var goneMeanwhile: [Finger] = []
    /// The reader that made them; nil where none was taken over.
    package var reader: ReaderIdentity?
    /// How many prints the user has now.
    package var prints = 0
    /// Whether the user's PIN approved them, so that they count at once; where none was taken over, all that are here.
    package var approved = false

    package init() {}

    /// The fingers that were taken over.
    package var fingers: [Finger] { fingers(.new) }

    package func fingers(_ fate: FoundPrint.Fate) -> [Finger] {
        found.filter { $0.fate == fate }.map { $0.finger }
    }

    package func count(_ fate: FoundPrint.Fate) -> Int { fingers(fate).count }

    /// Indices of those that are new.
    var indices: [Int] { found.indices.filter { found[$0].fate == .new } }

    mutating func settle(_ fate: FoundPrint.Fate, _ indices: [Int]) {
        for index in indices where found.indices.contains(index) { found[index].fate = fate }
    }
}
