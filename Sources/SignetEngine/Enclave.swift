package import SignetPolicy
package import SignetRecords
package import SignetSecrets

/// Why the enclave did not do what was asked; it never says whether a secret was nearly right.
package enum EnclaveError: Error, Equatable, Sendable {
    /// What the TPM, its helper or its connection said.
    case problem(EnclaveProblem)
    /// The master key's file is missing, damaged or not root's alone.
    case keyLost
    case outOfMemory
}

/// What came of an authorisation.
package enum HalfOpening: ~Copyable {
    case half(SecretBytes)
    /// It was wrong; whether the TPM counted it.
    case wrong(counted: Bool)
}

/// Where the machine's secrets are bound to: a TPM, or a file where there is none.
///
/// Which one a machine uses is recorded with its store; nothing here falls back from one to the other. A file holds the
/// master key and nothing else: it has no halves and no counters.
package protocol Enclave: ~Copyable {
    var kind: EnclaveKind { get }
    /// The 32 bytes under which all of a store is sealed.
    mutating func masterKey() throws(EnclaveError) -> SecretBytes

    /// As `KeyVault.wake`.
    mutating func wake()
    /// As `KeyVault.rest`.
    mutating func rest()
    /// Has the object, where there is one, loaded while a person types; waits for nothing, and what fails shows in `openHalf`.
    mutating func prepare(_ object: EnclaveObject?)
    /// How the TPM's protection against guessing stands; nil for a file.
    mutating func dictionaryAttack() throws(EnclaveError) -> DictionaryAttackState?
    /// A fresh half of 32 bytes and the object that gives it for this authorisation of 32 bytes; nil for a file.
    mutating func makeHalf(
        authorization: borrowing SecretBytes
    ) throws(EnclaveError) -> EnclaveHalf?
    /// Asks the object for its half.
    mutating func openHalf(
        _ object: EnclaveObject, authorization: borrowing SecretBytes
    ) throws(EnclaveError) -> HalfOpening

    /// Defines a counter for one user; nil for a file, and where the TPM has no room.
    ///
    /// `owner` tells users apart: uid and instance id go into the counter's authorisation.
    mutating func makeCounter(for owner: CounterOwner) throws(EnclaveError) -> EnclaveCounter?
    /// What the TPM counts to.
    mutating func value(of counter: EnclaveCounter, for owner: CounterOwner) throws(EnclaveError) -> UInt64
    /// Counts one more and answers the new value.
    mutating func bump(_ counter: EnclaveCounter, for owner: CounterOwner) throws(EnclaveError) -> UInt64
    /// Gives the counter's room back; harmless where it is gone.
    mutating func remove(_ counter: EnclaveCounter) throws(EnclaveError)
}

/// A fresh half of a key, and the object that holds it.
package struct EnclaveHalf: ~Copyable {
    package let object: EnclaveObject
    package let half: SecretBytes

    package init(object: EnclaveObject, half: consuming SecretBytes) {
        self.object = object
        self.half = half
    }
}

/// Whose counter it is.
package struct CounterOwner: Equatable, Sendable {
    package let uid: UInt32
    /// 16 bytes.
    package let instance: [UInt8]

    package init(uid: UInt32, instance: [UInt8]) {
        self.uid = uid
        self.instance = instance
    }
}
