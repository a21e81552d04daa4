package import SignetPolicy

/// Which prints in readers' own memories are whose: the record `chips`, one for all users of the machine.
///
/// It tells a print of another user, or what a deletion left that was cut off, from a foreign one without a look at every
/// user's records. No finger is let in by it, for a reader is asked for the prints of the approved record alone; only
/// where foreign prints are to close the finger path does it say which do. An entry too many keeps a print from being
/// called foreign, and that is all; an entry too few calls one foreign that is not.
///
/// The order of writing, so that a crash between any two steps can be told and made good: an entry is there, loose, before
/// its print comes into a record or leaves it; it is settled after the record was written; it goes after the print has
/// left the chip. What is loose and in no record is what a cut deletion left.
package struct ChipIndex: Equatable, Sendable {
    /// One print in a reader's memory that Signet had it make, or took over.
    package struct Entry: Equatable, Sendable {
        package let uid: UInt32
        /// Whether its print is in no record, or on the way into one or out of it.
        package var isLoose: Bool
        package let reader: ReaderIdentity
        /// SHA-256 over what makes the print this print (`PrintTemplate.writeIdentity`): what the reader's list is compared by.
        package let digest: Digest
        /// libfprint's serialized form, by which the reader is asked to delete it; a name, and nothing of a finger.
        package let handle: [UInt8]
        /// Who keeps the print's record.
        ///
        /// The file has Signet's own alone, and no word of it; what fprintd keeps is added when the index is read.
        package let source: EnrollmentSource

        /// The longest handle, in bytes; those of libfprint's drivers have 101 to 154.
        package static let handleLimit = 1024

        package init(
            uid: UInt32, isLoose: Bool, reader: ReaderIdentity, digest: Digest, handle: [UInt8],
            source: EnrollmentSource = .signet
        ) {
            self.uid = uid
            self.isLoose = isLoose
            self.reader = reader
            self.digest = digest
            self.handle = handle
            self.source = source
        }
    }

    /// In ascending order of digest, and of uid where two are of one print.
    package private(set) var entries: [Entry] = []

    /// What the bytes of this record begin with.
    package static let kind: UInt8 = 6
    package static let version: UInt8 = 1
    /// The most prints; what comes after them is called foreign.
    package static let entryLimit = 2048
    /// The longest record in bytes.
    package static let byteLimit =
        16 + entryLimit
        * (4 + 1 + 4 + ReaderIdentity.driverLimit + ReaderIdentity.deviceLimit + Digest.byteCount + 2
            + Entry.handleLimit)

    package init() {}

    // MARK: Asking

    /// Those of `digests` that are no print of any user, nor what a deletion left.
    package func strangers(among digests: [Digest]) -> [Digest] {
        digests.filter { digest in
            let place = firstPlace(digest)
            return place >= entries.count || entries[place].digest != digest
        }
    }

    /// The entries of one reader.
    package func entries(on reader: ReaderIdentity) -> [Entry] { entries.filter { $0.reader == reader } }

    /// What is in no record, as far as the index alone can tell.
    package var loose: [Entry] { entries.filter { $0.isLoose } }

    // MARK: Changing

    /// Makes these entries loose, those that are not there yet too.
    package mutating func loosen(_ some: [Entry]) {
        for entry in some {
            var loose = entry
            loose.isLoose = true
            put(loose)
        }
    }

    /// Makes all entries of a user loose: the record goes.
    package mutating func loosen(allOf uid: UInt32) {
        for place in entries.indices where entries[place].uid == uid { entries[place].isLoose = true }
    }

    /// Takes `kept` for all prints that the user's record has; what was loose and is not among them stays.
    package mutating func settle(_ uid: UInt32, _ kept: [Entry]) {
        entries.removeAll { entry in entry.uid == uid && !entry.isLoose }
        for entry in kept where entry.uid == uid {
            var settled = entry
            settled.isLoose = false
            put(settled)
        }
    }

    /// Takes out the user's entry of this print: it has left the chip.
    package mutating func remove(_ uid: UInt32, _ digest: Digest) {
        entries.removeAll { $0.uid == uid && $0.digest == digest }
    }

    /// Takes out what is loose for one user and in another's record: it is not left over.
    package mutating func dropLooseTwins() {
        let kept = entries.filter { !$0.isLoose }
        entries.removeAll { entry in
            entry.isLoose && kept.contains { $0.digest == entry.digest && $0.uid != entry.uid }
        }
    }

    /// Puts an entry in its place, or in the place of the one that there is.
    private mutating func put(_ entry: Entry) {
        var place = firstPlace(entry.digest)
        while place < entries.count, entries[place].digest == entry.digest, entries[place].uid < entry.uid {
            place += 1
        }
        if place < entries.count, entries[place].digest == entry.digest, entries[place].uid == entry.uid {
            entries[place] = entry
        } else if entries.count < ChipIndex.entryLimit, (1...Entry.handleLimit).contains(entry.handle.count) {
            entries.insert(entry, at: place)
        }
    }

    /// Where the first entry of this print is or would be.
    private func firstPlace(_ digest: Digest) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].digest < digest { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: The format

extension ChipIndex {
    /// The bytes of the record; throws where a field does not fit the format.
    package func encoded() throws(RecordError) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(ChipIndex.kind)
        writer.byte(ChipIndex.version)
        guard entries.count <= ChipIndex.entryLimit else { throw .malformed }
        writer.uint16(UInt16(truncatingIfNeeded: entries.count))
        for entry in entries {
            writer.uint32(entry.uid)
            writer.flag(entry.isLoose)
            try writer.reader(entry.reader)
            try writer.fixed(entry.digest.bytes, count: Digest.byteCount)
            guard !entry.handle.isEmpty else { throw .malformed }
            try writer.counted(entry.handle, limit: Entry.handleLimit)
        }
        return writer.bytes
    }

    /// Decodes exactly one record of this kind and version.
    package init(decoding bytes: Span<UInt8>) throws(RecordError) {
        var reader = ByteReader(bytes)
        try reader.expect(kind: ChipIndex.kind, version: ChipIndex.version)
        let count = Int(try reader.uint16())
        guard count <= ChipIndex.entryLimit else { throw .malformed }
        var entries: [Entry] = []
        for _ in 0..<count {
            let uid = try reader.uint32()
            let isLoose = try reader.flag()
            let identity = try reader.reader()
            let digest = try reader.digest()
            let handle = try reader.counted(limit: Entry.handleLimit)
            guard !handle.isEmpty else { throw .malformed }
            // One form for one set, and one entry for one print of a user.
            if let last = entries.last {
                guard last.digest < digest || last.digest == digest && last.uid < uid else { throw .malformed }
            }
            entries.append(Entry(uid: uid, isLoose: isLoose, reader: identity, digest: digest, handle: handle))
        }
        try reader.finish()
        self.init()
        self.entries = entries
    }
}
