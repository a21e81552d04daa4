internal import CPlatform
package import SignetEngine
internal import SignetPolicy
package import SignetRecords
internal import SignetSecrets

// The file `chips`, sealed as the store's own: one for all users, replaced as a whole under a lock of its own.
//
// That lock comes after a user's, and nobody who has it waits for any other lock: records are replaced as a whole and read
// without their users' locks, so that two can never wait for each other. An authentication does not take it at all: it
// reads the file. What it may wait for is its user's lock, which a change of the prints holds meanwhile; hence `nestedWaitLimit`.

extension UserStore {
    package mutating func changeChipIndex(_ change: (inout ChipIndex) -> Void) throws(StoreError) {
        try rewriteChipIndex(evenUnchanged: false, change)
    }

    package mutating func renewChipIndex() throws(StoreError) { try rewriteChipIndex(evenUnchanged: true) { _ in } }

    private mutating func rewriteChipIndex(
        evenUnchanged: Bool, _ change: (inout ChipIndex) -> Void
    ) throws(StoreError) {
        // The prints that fprintd keeps are not Signet's to delete, and an entry would say that they are.
        guard elsewhere == nil else { return }
        let lock = try lockIndex()
        var index: ChipIndex
        var present: ChipIndex?
        do throws(StoreError) {
            index = try ChipIndexFile.read(in: root, sealer)
            present = index
        } catch {
            guard error.isMendedByAnew else { throw error.ofIndex }
            index = try scan(beside: ChipIndexFile.salvage(after: error, in: root, sealer)).index
            // Nothing to be known, and nothing is known: there need be no file.
            if case .fault(_, .missing) = error { present = ChipIndex() }
        }
        change(&index)
        if index != present || evenUnchanged { try ChipIndexFile.write(index, in: root, sealer) }
        // Held until here.
        _ = consume lock
    }

    package mutating func loosenChipIndex() throws(StoreError) {
        let uid = uid
        try changeOwnChipIndex { $0.loosen(allOf: uid) }
    }

    package mutating func forgetLeftovers(_ leftovers: [ChipIndex.Entry]) throws(StoreError) {
        try changeOwnChipIndex { index in for entry in leftovers { index.remove(entry.uid, entry.digest) } }
    }

    /// What Signet kept itself, before fprintd did, is on the chip still.
    private mutating func changeOwnChipIndex(_ change: (inout ChipIndex) -> Void) throws(StoreError) {
        let source = elsewhere.take()
        defer { elsewhere = source }
        try changeChipIndex(change)
    }

    package mutating func surveyChipIndex(mending: Bool) throws(StoreError) -> ChipSurvey {
        let lock = try lockIndex()
        var present = ChipIndex()
        var fault: RecordFault?
        do throws(StoreError) { present = try ChipIndexFile.read(in: root, sealer) } catch {
            guard case .fault(_, let why) = error, error.isMendedByAnew else { throw error.ofIndex }
            fault = why
            present = ChipIndexFile.salvage(after: error, in: root, sealer)
        }
        let scan = try scan(beside: present)
        if mending, scan.index != present || fault != nil && fault != .missing {
            try ChipIndexFile.write(scan.index, in: root, sealer)
        }
        _ = consume lock
        if scan.index == ChipIndex(), fault == .missing { fault = nil }
        let loose = scan.index.loose.filter { !scan.unreadable.contains($0.uid) }
        return ChipSurvey(
            fault: fault, fits: fault == nil && scan.index == present, index: try withElsewhere(scan.index),
            leftovers: try notElsewhere(loose))
    }

    private borrowing func lockIndex() throws(StoreError) -> FileLock {
        var timing = timing
        if isHeld { timing.waitLimit = min(timing.waitLimit, timing.nestedWaitLimit) }
        let lock = try ChipIndexFile.lock(in: root, timing: timing)
        // As under the user's lock: whoever opened the store before a migration must not go on under the old key.
        if let stamp, (try? StoreStamp(root)) != stamp { throw .busy }
        return lock
    }

    // MARK: All users' records

    /// What the records say, with what of `present` they leave standing.
    private struct Scan {
        var index: ChipIndex
        /// Whose prints cannot be read: of theirs everything stays as it was.
        var unreadable: [UInt32]
    }

    /// Each record is replaced as a whole, so that no user's lock is needed to read it; what is on its way into one or out
    /// of it is loose in `present`, and stays.
    private borrowing func scan(beside present: ChipIndex) throws(StoreError) -> Scan {
        var scan = Scan(index: ChipIndex(), unreadable: [])
        scan.index.loosen(present.loose)
        for uid in try inStore({ () throws(FileFault) in try users.numbers() }).sorted() {
            do throws(StoreError) {
                scan.index.settle(uid, try chipPrints(of: uid))
            } catch {
                guard case .fault = error else { throw error }
                scan.unreadable.append(uid)
                let known = present.entries.filter { $0.uid == uid }
                scan.index.loosen(known)
                scan.index.settle(uid, known.filter { !$0.isLoose })
            }
        }
        // Another user's record may have the very print that is loose for this one: then it is nobody's leftover.
        scan.index.dropLooseTwins()
        return scan
    }

    /// The prints in readers' memories that a user's record has, whatever the user is called.
    private borrowing func chipPrints(of uid: UInt32) throws(StoreError) -> [ChipIndex.Entry] {
        let file: [UInt8]
        do throws(FileFault) {
            file = try users.folder(FileName(number: uid))
                .read(.prints, limit: PrintsRecord.byteLimit + RecordSealer.overhead)
        } catch {
            guard error == .missing else { throw StoreError(.prints, error) }
            return []
        }
        guard let name = SealedHeader.claimedName(in: file.span) else { throw .fault(.prints, .damaged) }
        let content = try sealer.open(file.span, header: sealer.header(.prints, uid: uid, userName: name))
        do throws(RecordError) {
            return try content.withBytes { (bytes) throws(RecordError) in
                var entries: [ChipIndex.Entry] = []
                for print in try PrintsRecord(decoding: bytes).entries where print.onReader {
                    let handle = bytes.extracting(print.template)
                    guard handle.count <= ChipIndex.Entry.handleLimit else { continue }
                    // As of a record that cannot be read, everything that is known of the user's stays.
                    guard let entry = ChipIndexFile.entry(uid, print.reader, handle) else { throw .malformed }
                    entries.append(entry)
                }
                return entries
            }
        } catch {
            throw .fault(.prints, RecordFault(error))
        }
    }
}

extension StoreError {
    /// Whether an index that ends with this is made anew; one of a later Signet is not.
    fileprivate var isMendedByAnew: Bool {
        switch self {
        case .fault(.chips, .newer), .fault(.chips, .stuck): false
        case .fault(.chips, _): true
        default: false
        }
    }

    /// What refused to let the index be changed: its lock be taken, it be read, or it be written.
    ///
    /// EPERM is an immutable file or folder (chattr(1)), EBUSY a mount point in the place of the name (rename(2),
    /// rmdir(2)), EACCES a security module's word: no other try ends otherwise.
    fileprivate var ofIndex: StoreError {
        switch self {
        case .system(EPERM), .system(EBUSY), .system(EACCES): .fault(.chips, .stuck)
        default: self
        }
    }
}

/// Reading and writing the file.
enum ChipIndexFile {
    /// The mode bits of others with which they can read and not write: nothing of it is theirs.
    private static let readable: UInt32 = 0o055

    /// The lock of whoever writes it.
    static func lock(
        in folder: borrowing SecureFolder, timing: LockTiming = LockTiming()
    ) throws(StoreError) -> FileLock {
        do throws(StoreError) { return try FileLock(.chipsLock, in: folder, timing: timing) } catch {
            throw error == .fault(.store, .unsafe) ? .fault(.chips, .unsafe) : error.ofIndex
        }
    }

    /// `allowing` are mode bits of others that do not matter.
    static func read(
        in folder: borrowing SecureFolder, _ sealer: borrowing RecordSealer, allowing: UInt32 = 0
    ) throws(StoreError) -> ChipIndex {
        let content = try unsealed(in: folder, sealer, allowing: allowing)
        do throws(RecordError) {
            return try content.withBytes { (bytes) throws(RecordError) in try ChipIndex(decoding: bytes) }
        } catch {
            throw .fault(.chips, RecordFault(error))
        }
    }

    /// What is under the seal, of whatever version.
    private static func unsealed(
        in folder: borrowing SecureFolder, _ sealer: borrowing RecordSealer, allowing: UInt32 = 0
    ) throws(StoreError) -> SecretBytes {
        let file: [UInt8]
        do throws(FileFault) {
            file = try folder.read(
                .chips, limit: ChipIndex.byteLimit + RecordSealer.overhead, allowing: allowing)
        } catch {
            throw StoreError(.chips, error)
        }
        return try sealer.open(file.span, header: header(sealer))
    }

    /// What counts of an index that ended with `error`: all of one that others can read but not write, else nothing.
    ///
    /// It is sealed, but whoever can write it can put an old copy there.
    static func salvage(
        after error: StoreError, in folder: borrowing SecureFolder, _ sealer: borrowing RecordSealer
    ) -> ChipIndex {
        guard error == .fault(.chips, .unsafe) else { return ChipIndex() }
        return (try? read(in: folder, sealer, allowing: readable)) ?? ChipIndex()
    }

    static func write(
        _ index: ChipIndex, in folder: borrowing SecureFolder, _ sealer: borrowing RecordSealer
    ) throws(StoreError) {
        guard let content = try? index.encoded() else { throw .system(errno: EINVAL) }
        try replace(with: sealer.seal(content.span, header: header(sealer)), in: folder)
    }

    private static func write(
        content: borrowing SecretBytes, in folder: borrowing SecureFolder, _ sealer: borrowing RecordSealer
    ) throws(StoreError) {
        try replace(with: content.withBytes { bytes in sealer.seal(bytes, header: header(sealer)) }, in: folder)
    }

    private static func replace(with file: [UInt8]?, in folder: borrowing SecureFolder) throws(StoreError) {
        guard let file else { throw .system(errno: EINVAL) }
        do throws(FileFault) {
            // A link, a pipe and a file of somebody else go when the new one takes their name; a folder does not.
            for name in [FileName.chips, FileName.chips.temporary] { try folder.setFolderAside(name) }
            try folder.replace(.chips, with: file.span)
        } catch { throw StoreError(.chips, error).ofIndex }
    }

    /// Seals it anew under the current key, for a migration; one that cannot be read is made anew by whoever needs it.
    ///
    /// What a later Signet wrote would be lost with the old key: where the seal opens its content is taken as it is, and
    /// where it does not the migration ends here, with both keys in force. So it does where the file cannot be replaced.
    /// Called before the migration, under the key that is in force, it finds that out in time and changes nothing.
    static func reseal(in folder: borrowing SecureFolder, _ sealer: borrowing RecordSealer) throws(StoreError) {
        let lock = try lock(in: folder)
        let content: SecretBytes?
        do throws(StoreError) {
            content = try unsealed(in: folder, sealer)
        } catch {
            guard error.isMendedByAnew else { throw error.ofIndex }
            // Of what others can read everything still counts, see `salvage`.
            content = error == .fault(.chips, .unsafe) ? try? unsealed(in: folder, sealer, allowing: readable) : nil
        }
        if let content { try write(content: content, in: folder, sealer) }
        _ = consume lock
    }

    /// The settled entry of a print; nil where the handle is none in libfprint's form.
    static func entry(
        _ uid: UInt32, _ reader: ReaderIdentity, _ handle: Span<UInt8>, from source: EnrollmentSource = .signet
    ) -> ChipIndex.Entry? {
        guard let digest = HandleDigest.of(handle: handle) else { return nil }
        return ChipIndex.Entry(
            uid: uid, isLoose: false, reader: reader, digest: digest, handle: (0..<handle.count).map { handle[$0] },
            source: source)
    }

    private static func header(_ sealer: borrowing RecordSealer) -> SealedHeader {
        sealer.header(.chips, uid: 0, userName: [])
    }
}
