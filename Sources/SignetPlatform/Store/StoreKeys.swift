internal import CPlatform
package import SignetRecords
package import SignetSecrets

/// The master keys of a store: one, but for the time of a migration.
package struct StoreKeys: ~Copyable {
    /// What everything is sealed under that is written now.
    package let current: SecretBytes
    /// What is opened as well: the key that the store is moving away from.
    package let former: SecretBytes?
    /// Which way the store moves, while it does.
    package let direction: EnclaveMigration.Direction?
    /// The state of the store's key files when these were read.
    package let stamp: StoreStamp?

    package init(
        current: consuming SecretBytes, former: consuming SecretBytes? = nil,
        direction: EnclaveMigration.Direction? = nil, stamp: StoreStamp? = nil
    ) {
        self.current = current
        self.former = former
        self.direction = direction
        self.stamp = stamp
    }
}

/// Tells whether a store's key files are still those that were read.
///
/// Whoever opened the store before a migration began must not write under the old key after the user's records were moved:
/// so who takes a user's lock looks whether the keys changed meanwhile.
package struct StoreStamp: Equatable, Sendable {
    private struct File: Equatable, Sendable {
        let inode: UInt64
        let seconds: Int
        let nanoseconds: Int

        init?(_ name: FileName, in folder: borrowing SecureFolder) throws(FileFault) {
            guard let status = try folder.look(name) else { return nil }
            inode = UInt64(status.st_ino)
            seconds = status.st_ctim.tv_sec
            nanoseconds = status.st_ctim.tv_nsec
        }
    }

    private let key: File?
    private let keyTPM: File?
    private let enclave: File?

    /// Looks at the files of `folder`, a store's.
    package init(_ folder: borrowing SecureFolder) throws(FileFault) {
        key = try File(.key, in: folder)
        keyTPM = try File(.keyTPM, in: folder)
        enclave = try File(.enclave, in: folder)
    }
}
