internal import CPlatform
internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// The user's folder and the sealed files in it.

extension UserStore {
    borrowing func openFolder(creating: Bool = false) throws(StoreError) -> SecureFolder {
        do throws(FileFault) {
            return try users.folder(FileName(number: uid), creating: creating)
        } catch {
            throw StoreError(.store, error)
        }
    }

    /// Lets `body` work in the user's folder: the one that the lock lies in, where it is held.
    borrowing func inFolder<Result>(
        _ body: (borrowing SecureFolder, borrowing RecordSealer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        switch folder {
        case .some(let folder) where isHeld: return try body(folder, sealer)
        default: return try body(try openFolder(), sealer)
        }
    }

    /// The bytes of a sealed file, or nil where it is not there.
    borrowing func file(_ kind: RecordKind, limit: Int) throws(StoreError) -> [UInt8]? {
        do throws(FileFault) {
            let name = UserStore.name(of: kind)
            switch folder {
            case .some(let folder) where isHeld: return try folder.read(name, limit: limit + RecordSealer.overhead)
            default:
                return try users.folder(FileName(number: uid)).read(name, limit: limit + RecordSealer.overhead)
            }
        } catch {
            guard error == .missing else { throw StoreError(kind, error) }
            return nil
        }
    }

    borrowing func load(
        _ kind: RecordKind, limit: Int, userName: [UInt8]
    ) throws(StoreError) -> SecretBytes? {
        guard let file = try file(kind, limit: limit) else { return nil }
        return try open(file, kind, userName: userName)
    }

    borrowing func open(
        _ file: [UInt8], _ kind: RecordKind, userName: [UInt8]
    ) throws(StoreError) -> SecretBytes {
        try sealer.open(file.span, header: sealer.header(kind, uid: uid, userName: userName))
    }

    borrowing func save(_ kind: RecordKind, _ content: Span<UInt8>) throws(StoreError) {
        let header = sealer.header(kind, uid: uid, userName: userName)
        guard let file = sealer.seal(content, header: header) else { throw .system(errno: EINVAL) }
        try inFolder { (folder, _) throws(StoreError) in
            do throws(FileFault) {
                try folder.replace(UserStore.name(of: kind), with: file.span)
            } catch {
                throw StoreError(kind, error)
            }
        }
    }

    borrowing func decodeIdentity(
        _ content: borrowing SecretBytes, userName: [UInt8]
    ) throws(StoreError) -> IdentityRecord {
        do throws(RecordError) {
            let identity = try content.withBytes { (bytes) throws(RecordError) in try IdentityRecord(decoding: bytes) }
            guard identity.uid == uid, identity.userName == userName else { throw .malformed }
            return identity
        } catch {
            throw .fault(.identity, RecordFault(error))
        }
    }

    borrowing func loadPrints(userName: [UInt8]) throws(StoreError) -> EnrollmentSet {
        guard let content = try load(.prints, limit: PrintsRecord.byteLimit, userName: userName) else {
            guard let nothing = SecretBytes(count: 0),
                let empty = EnrollmentSet(generation: 0, entries: [], templates: nothing)
            else { throw .system(errno: ENOMEM) }
            return empty
        }
        do throws(RecordError) {
            let record = try content.withBytes { (bytes) throws(RecordError) in try PrintsRecord(decoding: bytes) }
            guard
                let set = EnrollmentSet(generation: record.generation, entries: record.entries, templates: content)
            else { throw .malformed }
            return set
        } catch {
            throw .fault(.prints, RecordFault(error))
        }
    }

    /// The name that the clear header of a sealed file tells, not yet proven; nil where the file is not there.
    borrowing func recordedName(_ kind: RecordKind, limit: Int) throws(StoreError) -> [UInt8]? {
        guard let file = try file(kind, limit: limit) else { return nil }
        guard let name = SealedHeader.claimedName(in: file.span) else { throw .fault(kind, .damaged) }
        return name
    }

    static func name(of kind: RecordKind) -> FileName {
        switch kind {
        case .identity: .identity
        case .prints: .prints
        case .attempts: .attempts
        case .values, .store: .values
        case .chips: .chips
        }
    }
}
