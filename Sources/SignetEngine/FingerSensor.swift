package import SignetPolicy
internal import SignetRecords
package import SignetSecrets

// The readers' port.

/// How waiting for a touch ended.
package enum Touch: Equatable, Sendable {
    /// The print at this index of the gallery matched.
    case matched(index: Int)
    case notRecognised
    /// No try: the same try goes on with another touch.
    case retry(RetryReason)
    /// The deadline passed; whether a finger lay on the reader since arming is what the living helper says.
    case timedOut(fingerSeen: Bool)
    /// A signal asks the caller to stop; it stays pending until `stopListening`.
    case interrupted(fingerSeen: Bool)
    /// Something happened at the open field; whether a finger lay on the reader since arming is the living helper's word.
    case setAside(FieldEvent, fingerSeen: Bool)
    /// The machine slept while the reader was armed: it has to be opened anew. Whether a finger lay on it is the living
    /// helper's word; a dead or silent one counts as "yes".
    case slept(fingerSeen: Bool)
    /// The deadline passed and the driver went on waiting, so that the helper was killed; what lay on the reader until
    /// then was still the living helper's word.
    case cancelIgnored(fingerSeen: Bool)
    /// The reader or its helper failed; a finger may have lain on it.
    case failed(ReaderProblem)
}

/// What opening a reader told.
package struct OpenedReader: Equatable, Sendable {
    package let description: ReaderDescription
    /// Where each print of the gallery was found, in the gallery's order.
    package let presence: [PrintPresence]
    /// The handle digests of the prints in the reader's memory that are not in the gallery, in ascending order; the lowest
    /// 255 of them.
    package let others: [Digest]

    package init(description: ReaderDescription, presence: [PrintPresence], others: [Digest]) {
        self.description = description
        self.presence = presence
        self.others = others
    }
}

/// A print that an enrollment made.
package struct EnrolledPrint: ~Copyable {
    package let reader: ReaderIdentity
    package let onReader: Bool
    /// libfprint's serialized form.
    package let template: SecretBytes

    package init(reader: ReaderIdentity, onReader: Bool, template: consuming SecretBytes) {
        self.reader = reader
        self.onReader = onReader
        self.template = template
    }
}

/// How an enrollment goes on, for a person to see.
package enum EnrollmentProgress: Equatable, Sendable {
    case stage(done: Int, of: Int)
    case retry(RetryReason)
}

/// Why a reader is not listed or opened.
package enum SensorStop: Error, Equatable, Sendable {
    case problem(ReaderProblem)
    /// Something happened at the open field first; nothing was compared.
    case setAside(FieldEvent)
}

/// The fingerprint readers, behind a helper process.
///
/// Whoever waits for a reader can attend to an open field meanwhile: each wait takes it as `watch`.
package protocol FingerSensor: ~Copyable {
    /// Starts the helper and waits for nothing, so that it is ready by the time a person has read the prompt.
    ///
    /// No reader is opened. Whatever fails here shows in `readers`.
    mutating func prepare()
    /// All readers there are, none of them opened.
    mutating func readers<Watch: FieldWatch & ~Copyable>(
        beside watch: inout Watch
    ) throws(SensorStop) -> [ReaderDescription]
    /// Opens one reader for those prints of `set` that are at `gallery` (indices of its entries, all of this reader).
    ///
    /// Where the place has a path the reader must be there: another one may have the same identity.
    mutating func open<Watch: FieldWatch & ~Copyable>(
        _ reader: ReaderIdentity, at place: ReaderPlace, for set: borrowing EnrollmentSet, gallery: [Int],
        beside watch: inout Watch
    ) throws(SensorStop) -> OpenedReader
    /// Who holds the reader that was last found busy, for people to read: "sudo on pts/3"; nil where nobody knows.
    var holder: [UInt8]? { get }
    /// Whether no reader was tried, since the last ones failed and the program asks by itself.
    var isResting: Bool { get }
    /// Arms the opened reader: returns once it waits for a finger, or once something happened at the field, which
    /// `awaitTouch` then answers.
    mutating func arm<Watch: FieldWatch & ~Copyable>(beside watch: inout Watch) throws(ReaderProblem)
    /// Waits for a touch of the armed reader, at most `seconds`; disarms it.
    mutating func awaitTouch<Watch: FieldWatch & ~Copyable>(seconds: Int, beside watch: inout Watch) -> Touch
    /// Enrolls a finger on the opened reader; `progress` is called for each stage. nil: interrupted by a signal.
    mutating func enroll(
        _ finger: Finger, userName: [UInt8], progress: (EnrollmentProgress) -> Void
    ) throws(ReaderProblem) -> EnrolledPrint?
    /// Deletes the gallery's print at `index` from the reader's memory.
    mutating func deleteFromReader(index: Int) throws(ReaderProblem)
    /// Has the helper close the reader and end, and waits for nothing: nothing more is asked of it, and `close` sees
    /// to the rest.
    mutating func startClosing()
    /// Closes the reader and ends the helper; harmless where nothing is open.
    mutating func close()
    /// Lets signals act that came while a touch was awaited: to be called after the charge is settled.
    mutating func stopListening()
}

extension FingerSensor where Self: ~Copyable {
    package var holder: [UInt8]? { nil }
    package var isResting: Bool { false }

    /// All readers there are, with no field beside it.
    package mutating func readers() throws(ReaderProblem) -> [ReaderDescription] {
        var nothing = NoField()
        do throws(SensorStop) { return try readers(beside: &nothing) } catch { throw error.problem }
    }

    /// Opens one reader, with no field beside it.
    package mutating func open(
        _ reader: ReaderIdentity, at place: ReaderPlace = .nowhere, for set: borrowing EnrollmentSet, gallery: [Int]
    ) throws(ReaderProblem) -> OpenedReader {
        var nothing = NoField()
        do throws(SensorStop) {
            return try open(reader, at: place, for: set, gallery: gallery, beside: &nothing)
        } catch {
            throw error.problem
        }
    }

    /// Arms the opened reader, with no field beside it.
    package mutating func arm() throws(ReaderProblem) {
        var nothing = NoField()
        try arm(beside: &nothing)
    }

    /// Waits for a touch, with no field beside it.
    package mutating func awaitTouch(seconds: Int) -> Touch {
        var nothing = NoField()
        return awaitTouch(seconds: seconds, beside: &nothing)
    }
}

extension SensorStop {
    /// Where there is no field nothing can happen at it: an adapter that says so is broken.
    fileprivate var problem: ReaderProblem {
        switch self {
        case .problem(let problem): problem
        case .setAside: .helperFailed
        }
    }
}
