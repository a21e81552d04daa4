package import SignetEngine
package import SignetPolicy
package import SignetRecords
package import SignetSecrets

/// The enclave that a store was set up with: a TPM or a file, and for the time of a migration something of both.
///
/// It is what the store's files say; nothing here falls back from one to the other.
package struct MachineEnclave: Enclave, ~Copyable {
    package let kind: EnclaveKind
    private var file: FileEnclave
    /// A store on its way to a file still has halves and counters in the TPM.
    private var tpm: TPMEnclave?

    /// A file's.
    package init(_ file: consuming FileEnclave) {
        kind = .file
        self.file = file
        tpm = nil
    }

    /// A TPM's, or, where the store is on its way to a file, a file's beside it.
    init(_ tpm: consuming TPMEnclave, root: [UInt8], direction: EnclaveMigration.Direction?) {
        kind = direction == .toFile ? .file : .tpm
        file = FileEnclave(root: root)
        self.tpm = consume tpm
    }

    package mutating func masterKey() throws(EnclaveError) -> SecretBytes {
        guard kind == .tpm else { return try file.masterKey() }
        guard let key = try tpm?.masterKey() else { throw .keyLost }
        return key
    }

    package mutating func wake() { tpm?.wake() }

    package mutating func rest() { tpm?.rest() }

    package mutating func prepare(_ object: EnclaveObject?) { tpm?.prepare(object) }

    /// As `prepare` for a user who does not exist.
    mutating func prepareForNobody() { tpm?.prepareForNobody() }

    /// Takes as long as the TPM does over a wrong PIN.
    mutating func spendTime(authorization: borrowing SecretBytes) { tpm?.spendTime(authorization: authorization) }

    package mutating func dictionaryAttack() throws(EnclaveError) -> DictionaryAttackState? {
        try tpm?.dictionaryAttack() ?? nil
    }

    package mutating func makeHalf(authorization: borrowing SecretBytes) throws(EnclaveError) -> EnclaveHalf? {
        guard kind == .tpm, let half = try tpm?.makeHalf(authorization: authorization) else { return nil }
        return half
    }

    package mutating func openHalf(
        _ object: EnclaveObject, authorization: borrowing SecretBytes
    ) throws(EnclaveError) -> HalfOpening {
        guard let opening = try tpm?.openHalf(object, authorization: authorization) else {
            return try file.openHalf(object, authorization: authorization)
        }
        return opening
    }

    package mutating func makeCounter(for owner: CounterOwner) throws(EnclaveError) -> EnclaveCounter? {
        guard kind == .tpm else { return nil }
        return try tpm?.makeCounter(for: owner) ?? nil
    }

    package mutating func value(of counter: EnclaveCounter, for owner: CounterOwner) throws(EnclaveError) -> UInt64 {
        guard let value = try tpm?.value(of: counter, for: owner) else {
            return try file.value(of: counter, for: owner)
        }
        return value
    }

    package mutating func bump(_ counter: EnclaveCounter, for owner: CounterOwner) throws(EnclaveError) -> UInt64 {
        guard let value = try tpm?.bump(counter, for: owner) else { return try file.bump(counter, for: owner) }
        return value
    }

    package mutating func remove(_ counter: EnclaveCounter) throws(EnclaveError) { try tpm?.remove(counter) }
}
