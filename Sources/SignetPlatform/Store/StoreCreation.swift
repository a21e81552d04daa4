internal import CPlatform
package import SignetEngine
internal import SignetSecrets

/// Making the store, which management does once and an authentication never.
package enum StoreCreation {
    /// Makes what is not there yet: the folder, the users' folder, the master key and the sealed values.
    ///
    /// A key or values that are there are never replaced. Where one of them is missing although users have folders,
    /// it was lost, and a new one would only hide that: `fault(.store, .keyLost)` or `fault(.values, .missing)`. The
    /// parent of `root` must be there and safe.
    package static func createStore(root: [UInt8]) throws(StoreError) {
        let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root, creating: true) }
        let lock = try FileLock(.storeLock, in: folder)
        let users = try inStore { () throws(FileFault) in try folder.folder(.users, creating: true) }
        let isUsed = try !inStore { () throws(FileFault) in try users.numbers() }.isEmpty
        let hasKey = try inStore { () throws(FileFault) in try folder.exists(.key) }
        let hasValues = try inStore { () throws(FileFault) in try folder.exists(.values) }
        if !hasKey {
            guard !isUsed else { throw .fault(.store, .keyLost) }
            guard let key = SecretBytes(randomCount: FileEnclave.keyCount) else { throw .system(errno: ENOMEM) }
            // The key comes last: with it the store is whole, and without it the next call begins anew.
            try writeValues(under: key, in: folder)
            try inStore { () throws(FileFault) in
                try key.withBytes { (bytes) throws(FileFault) in try folder.replace(.key, with: bytes, mode: 0o400) }
            }
        } else if !hasValues {
            guard !isUsed else { throw .fault(.values, .missing) }
            try writeValues(under: try inStore { () throws(FileFault) in try FileEnclave.read(in: folder) }, in: folder)
        }
        // Held until here.
        _ = consume lock
    }

    private static func writeValues(
        under key: borrowing SecretBytes, in folder: borrowing SecureFolder
    ) throws(StoreError) {
        let file = try StoreValues.makeFile(masterKey: key)
        try inStore { () throws(FileFault) in try folder.replace(.values, with: file.span) }
    }
}
