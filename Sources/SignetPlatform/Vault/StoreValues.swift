internal import CPlatform
package import SignetEngine
internal import SignetRecords
package import SignetSecrets

/// The two secrets that belong to the whole store, sealed under the master key in the file `values`.
package struct StoreValues: ~Copyable {
    /// Makes enrollment digests that nobody without it can compute or compare across machines; 32 bytes.
    package let digestKey: SecretBytes
    /// Mixed into what a PIN derives, so that a stolen record alone cannot be tried offline; 32 bytes.
    package let pepper: SecretBytes

    private static let kind = RecordKind.values.rawValue
    private static let version: UInt8 = 1
    private static let secretCount = 32
    static let byteCount = 2 + 2 * secretCount

    /// Takes secrets of 32 bytes each as they are.
    package init(digestKey: consuming SecretBytes, pepper: consuming SecretBytes) {
        self.digestKey = digestKey
        self.pepper = pepper
    }

    /// Reads and opens the file.
    package init(root: [UInt8], masterKey: borrowing SecretBytes) throws(StoreError) {
        guard let sealer = RecordSealer(masterKey: masterKey) else { throw .system(errno: ENOMEM) }
        try self.init(StoreValues.open(root: root, sealer))
    }

    /// The same for a store that may be on its way from one master key to another.
    package init(root: [UInt8], keys: borrowing StoreKeys) throws(StoreError) {
        guard let sealer = RecordSealer(keys) else { throw .system(errno: ENOMEM) }
        try self.init(StoreValues.open(root: root, sealer))
    }

    /// The same with the store's folder and keys at hand.
    init(in folder: borrowing SecureFolder, _ sealer: borrowing RecordSealer) throws(StoreError) {
        try self.init(StoreValues.open(in: folder, sealer))
    }

    private static func open(root: [UInt8], _ sealer: borrowing RecordSealer) throws(StoreError) -> SecretBytes {
        let folder: SecureFolder
        do throws(FileFault) { folder = try SecureFolder(path: root) } catch { throw StoreError(.values, error) }
        return try open(in: folder, sealer)
    }

    private static func open(
        in folder: borrowing SecureFolder, _ sealer: borrowing RecordSealer
    ) throws(StoreError) -> SecretBytes {
        let file: [UInt8]
        do throws(FileFault) {
            file = try folder.read(.values, limit: StoreValues.byteCount + RecordSealer.overhead)
        } catch {
            throw StoreError(.values, error)
        }
        return try sealer.open(file.span, header: StoreValues.header(sealer))
    }

    /// Seals the file anew under the current key; the secrets stay.
    static func reseal(root: [UInt8], _ sealer: borrowing RecordSealer) throws(StoreError) {
        let content = try open(root: root, sealer)
        let file = content.withBytes { bytes in sealer.seal(bytes, header: header(sealer)) }
        guard let file else { throw .system(errno: EINVAL) }
        do throws(FileFault) {
            try SecureFolder(path: root).replace(.values, with: file.span)
        } catch {
            throw StoreError(.values, error)
        }
    }

    private init(_ content: borrowing SecretBytes) throws(StoreError) {
        var digestKey: SecretBytes?
        var pepper: SecretBytes?
        do throws(RecordError) {
            try content.withBytes { (bytes) throws(RecordError) in
                var reader = ByteReader(bytes)
                try reader.expect(kind: StoreValues.kind, version: StoreValues.version)
                digestKey = SecretBytes(copying: bytes.extracting(try reader.skip(StoreValues.secretCount)))
                pepper = SecretBytes(copying: bytes.extracting(try reader.skip(StoreValues.secretCount)))
                try reader.finish()
            }
        } catch {
            throw .fault(.values, RecordFault(error))
        }
        guard let digestKey, let pepper else { throw .system(errno: ENOMEM) }
        self.init(digestKey: digestKey, pepper: pepper)
    }

    /// The bytes of a file with fresh secrets.
    static func makeFile(masterKey: borrowing SecretBytes) throws(StoreError) -> [UInt8] {
        guard let sealer = RecordSealer(masterKey: masterKey), var content = SecretBytes(randomCount: byteCount) else {
            throw .system(errno: ENOMEM)
        }
        content.withMutableBytes { bytes in
            bytes[0] = kind
            bytes[1] = version
        }
        let file = content.withBytes { bytes in sealer.seal(bytes, header: header(sealer)) }
        guard let file else { throw .system(errno: EINVAL) }
        return file
    }

    private static func header(_ sealer: borrowing RecordSealer) -> SealedHeader {
        sealer.header(.values, uid: 0, userName: [])
    }
}
