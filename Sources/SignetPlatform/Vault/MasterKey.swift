internal import CPlatform
package import SignetEngine
package import SignetSecrets

/// Where the master key comes from: the enclave.
package protocol MasterKeySource: ~Copyable {
    /// The 32 bytes under which all of a store is sealed.
    mutating func masterKey() throws(VaultError) -> SecretBytes
}

/// The enclave of a machine without one: a file that only root can read.
package struct FileEnclave: MasterKeySource, ~Copyable {
    private let root: [UInt8]

    package static let keyCount = 32

    /// `root` is the store's folder.
    package init(root: [UInt8]) { self.root = root }

    package mutating func masterKey() throws(VaultError) -> SecretBytes {
        do throws(StoreError) {
            return try FileEnclave.read(root: root)
        } catch {
            throw error == .system(errno: ENOMEM) ? .outOfMemory : .keyLost
        }
    }

    /// The key, with the fault told apart for journal and doctor: keyLost, unsafe, damaged (a wrong length).
    ///
    /// `fault(.store, .missing)` only where there is no store: a store without its key is not taken for a new machine.
    package static func read(root: [UInt8]) throws(StoreError) -> SecretBytes {
        let folder = try storeFolder(root)
        do throws(FileFault) { return try read(in: folder) } catch {
            throw error == .missing ? .fault(.store, .keyLost) : StoreError(.store, error)
        }
    }

    private static func storeFolder(_ root: [UInt8]) throws(StoreError) -> SecureFolder {
        do throws(FileFault) { return try SecureFolder(path: root) } catch { throw StoreError(.store, error) }
    }

    static func read(in folder: borrowing SecureFolder) throws(FileFault) -> SecretBytes {
        let file = try folder.file(.key)
        guard try file.status().st_size == keyCount else { throw .wrongSize }
        guard var key = SecretBytes(count: keyCount) else { throw .system(errno: ENOMEM) }
        let count = try key.withMutableBytes { (target) throws(FileFault) in try file.read(into: &target, at: 0) }
        guard count == keyCount else { throw .wrongSize }
        return key
    }
}
