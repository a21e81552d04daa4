internal import CPlatform
package import SignetEngine
package import SignetPolicy
package import SignetRecords
package import SignetSecrets

/// The enclave of a machine without one: a file that only root can read.
package struct FileEnclave: Enclave, ~Copyable {
    private let root: [UInt8]

    package static let keyCount = 32

    /// `root` is the store's folder.
    package init(root: [UInt8]) { self.root = root }

    package var kind: EnclaveKind { .file }

    package mutating func masterKey() throws(EnclaveError) -> SecretBytes {
        do throws(StoreError) {
            return try FileEnclave.read(root: root)
        } catch {
            throw error == .system(errno: ENOMEM) ? .outOfMemory : .keyLost
        }
    }

    package mutating func wake() {}

    package mutating func rest() {}

    package mutating func prepare(_ object: EnclaveObject?) {}

    package mutating func dictionaryAttack() throws(EnclaveError) -> DictionaryAttackState? { nil }

    package mutating func makeHalf(authorization: borrowing SecretBytes) throws(EnclaveError) -> EnclaveHalf? { nil }

    /// A half lies in a TPM: a store that has one was moved here from a machine with another enclave.
    package mutating func openHalf(
        _ object: EnclaveObject, authorization: borrowing SecretBytes
    ) throws(EnclaveError) -> HalfOpening { throw .problem(.noDevice) }

    package mutating func makeCounter(for owner: CounterOwner) throws(EnclaveError) -> EnclaveCounter? { nil }

    package mutating func value(of counter: EnclaveCounter, for owner: CounterOwner) throws(EnclaveError) -> UInt64 {
        throw .problem(.noDevice)
    }

    package mutating func bump(_ counter: EnclaveCounter, for owner: CounterOwner) throws(EnclaveError) -> UInt64 {
        throw .problem(.noDevice)
    }

    package mutating func remove(_ counter: EnclaveCounter) throws(EnclaveError) {}

    /// The key, with the fault told apart for people, journal and doctor.
    ///
    /// `missing`: no store was ever made, or nobody uses it yet. `keyLost`: users have records, and the key is gone.
    /// `damaged`: a wrong length.
    package static func read(root: [UInt8]) throws(StoreError) -> SecretBytes {
        try readOrTell(in: inStore { () throws(FileFault) in try SecureFolder(path: root) })
    }

    static func readOrTell(in folder: borrowing SecureFolder) throws(StoreError) -> SecretBytes {
        let isUsed: Bool
        do throws(FileFault) {
            if try folder.exists(.key) { return try read(in: folder) }
            isUsed = try !folder.folder(.users).numbers().isEmpty
        } catch {
            throw StoreError(.store, error)
        }
        throw .fault(.store, isUsed ? .keyLost : .missing)
    }

    static func read(in folder: borrowing SecureFolder) throws(FileFault) -> SecretBytes {
        let file = try folder.file(.key, size: keyCount)
        guard var key = SecretBytes(count: keyCount) else { throw .system(errno: ENOMEM) }
        let count = try key.withMutableBytes { (target) throws(FileFault) in try file.read(into: &target, at: 0) }
        guard count == keyCount else { throw .wrongSize }
        return key
    }
}
