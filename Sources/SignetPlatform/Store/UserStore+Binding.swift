internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords

/// What ties one user's records to the TPM.
struct UserBinding: Equatable {
    /// 16 bytes.
    let instance: [UInt8]
    let half: EnclaveObject?
    let counter: EnclaveCounter?
}

extension UserStore {
    /// What the records say, whatever the user is called and however old they are; nil where there is no identity.
    mutating func binding() throws(StoreError) -> UserBinding? {
        guard let (identity, reading) = try recorded() else { return nil }
        return UserBinding(instance: identity.instance, half: identity.pin.half, counter: reading.attempts.counter)
    }

    /// Has the counters stand beside the identity that is there, and beside this counter; the lock must be held.
    mutating func accept(_ counter: EnclaveCounter?) throws(StoreError) {
        guard let (identity, reading) = try recorded() else { return }
        var attempts = reading.attempts
        attempts.counter = counter
        try openFolder().createAttempts(
            attempts, uid: uid, instance: identity.instance, identities: [try identity.digest()],
            after: reading.sequence, sealer: sealer)
    }

    private mutating func recorded() throws(StoreError) -> (IdentityRecord, AttemptsFile.Reading)? {
        guard let name = try recordedName(.identity, limit: IdentityRecord.byteLimit),
            let content = try load(.identity, limit: IdentityRecord.byteLimit, userName: name)
        else { return nil }
        let identity = try decodeIdentity(content, userName: name)
        return (identity, try openFolder().readAttempts(uid: uid, instance: identity.instance, sealer: sealer))
    }
}
