internal import CPlatform
internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// What a migration does with one user's records. It knows neither the account nor its name: each file tells in its
// header whose it is, and the seal proves it.

/// What is left to do for one user.
struct ResealedUser: Equatable {
    /// The counter of the TPM that the counters held; it must go where the store leaves the TPM.
    var counter: EnclaveCounter?
    /// Whether the PIN has a half in the TPM, which only the right PIN moves.
    var hasHalf = false
}

extension UserStore {
    /// Seals all records of the user anew under the current key; the lock must be held.
    ///
    /// Doing it again does no harm.
    /// Each file is replaced as a whole, so that after a crash it is under the one key or the other. Prints need no
    /// look beside this: the approval in the identity covers their digest and generation.
    mutating func reseal(leavingTPM: Bool) throws(StoreError) -> ResealedUser {
        var result = ResealedUser()
        var instance: [UInt8]?
        if let name = try recordedName(.identity, limit: IdentityRecord.byteLimit),
            let content = try load(.identity, limit: IdentityRecord.byteLimit, userName: name)
        {
            let identity = try decodeIdentity(content, userName: name)
            instance = identity.instance
            result.hasHalf = identity.pin.half != nil || identity.recovery?.half != nil
            try resealed(.identity, content, userName: name)
        }
        if let name = try recordedName(.prints, limit: PrintsRecord.byteLimit),
            let content = try load(.prints, limit: PrintsRecord.byteLimit, userName: name)
        {
            try resealed(.prints, content, userName: name)
        }
        result.counter = try resealAttempts(instance, leavingTPM: leavingTPM)
        return result
    }

    private borrowing func resealed(
        _ kind: RecordKind, _ content: borrowing SecretBytes, userName: [UInt8]
    ) throws(StoreError) {
        guard try keyIDs(of: kind).contains(where: { $0 != sealer.keyID }) else { return }
        let header = sealer.header(kind, uid: uid, userName: userName)
        guard let file = content.withBytes({ bytes in sealer.seal(bytes, header: header) }) else {
            throw .system(errno: EINVAL)
        }
        let folder = try openFolder()
        do throws(FileFault) {
            try folder.replace(UserStore.name(of: kind), with: file.span)
        } catch {
            throw StoreError(kind, error)
        }
    }

    /// The counters, both slots at once; what they hold stays, and so does what a torn one added.
    ///
    /// Counters without an identity mean nothing, and are sealed anew all the same: a crash while a user's first PIN is
    /// set leaves them.
    private borrowing func resealAttempts(
        _ instance: [UInt8]?, leavingTPM: Bool
    ) throws(StoreError) -> EnclaveCounter? {
        let ids = try keyIDs(of: .attempts)
        guard !ids.isEmpty else { return nil }
        let reading = try openFolder().readAttempts(uid: uid, instance: instance, sealer: sealer)
        var attempts = reading.attempts
        let counter = attempts.counter
        if leavingTPM { attempts.counter = nil }
        if attempts != reading.attempts || ids.contains(where: { $0 != sealer.keyID }) {
            try openFolder().createAttempts(
                attempts, uid: uid, instance: reading.instance, identities: reading.identities, after: reading.sequence,
                sealer: sealer)
        }
        return counter
    }

    /// The ids of the master keys under which a file of the user lies; none where there is no file.
    borrowing func keyIDs(of kind: RecordKind) throws(StoreError) -> [[UInt8]] {
        let limit = kind == .prints ? PrintsRecord.byteLimit : IdentityRecord.byteLimit
        guard let file = try file(kind, limit: limit) else { return [] }
        guard kind == .attempts else {
            guard let id = SealedHeader.claimedKeyID(in: file.span) else { throw .fault(kind, .damaged) }
            return [id]
        }
        guard file.count == AttemptsFile.byteCount else { throw .fault(.attempts, .damaged) }
        let bytes = file.span
        var ids: [[UInt8]] = []
        for start in [0, AttemptsFile.slotCount] {
            if let id = AttemptsFile.keyID(of: bytes.extracting(start..<start + AttemptsFile.slotCount)) {
                ids.append(id)
            }
        }
        return ids
    }
}
