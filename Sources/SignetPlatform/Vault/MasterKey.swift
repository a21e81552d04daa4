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

    /// The key, with the fault told apart for journal and doctor: unsafe, damaged (a wrong length), and `keyLost` where
    /// records are there without it; `missing` where no store was ever made, which is no fault of anything's.
    package static func read(root: [UInt8]) throws(StoreError) -> SecretBytes {
        do throws(FileFault) {
            let folder = try SecureFolder(path: root)
            do throws(FileFault) {
                return try read(in: folder)
            } catch {
                guard error == .missing, isUsed(folder) else { throw error }
            }
        } catch {
            throw StoreError(.store, error)
        }
        throw .fault(.store, .keyLost)
    }

    /// Whether any user has records in the store, as far as that can be seen.
    private static func isUsed(_ folder: borrowing SecureFolder) -> Bool {
        do throws(FileFault) { return try !folder.folder(.users).numbers().isEmpty } catch { return error != .missing }
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
