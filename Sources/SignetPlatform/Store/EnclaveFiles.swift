internal import SignetEngine
internal import SignetRecords
internal import SignetSecrets

/// The files `key.tpm` and `enclave` of a store.
enum EnclaveFiles {
    static func readKey(in folder: borrowing SecureFolder) throws(StoreError) -> EnclaveKeyRecord {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try folder.read(.keyTPM, limit: EnclaveKeyRecord.byteLimit)
        } catch {
            throw StoreError(.store, error)
        }
        do throws(RecordError) {
            return try EnclaveKeyRecord(decoding: bytes.span)
        } catch {
            throw .fault(.store, RecordFault(error))
        }
    }

    static func write(_ record: EnclaveKeyRecord, in folder: borrowing SecureFolder) throws(StoreError) {
        guard let bytes = try? record.encoded() else { throw .fault(.store, .damaged) }
        try inStore { () throws(FileFault) in try folder.replace(.keyTPM, with: bytes.span, mode: 0o400) }
    }

    /// The file key that counts beside the TPM's; nil where none does.
    ///
    /// Without the file none does. One that does not open is a fault and not "none": a store on its way to a file has
    /// records under the key that it names.
    static func readMigration(
        in folder: borrowing SecureFolder, under masterKey: borrowing SecretBytes
    ) throws(StoreError) -> EnclaveMigration.FileKey? {
        guard try inStore({ () throws(FileFault) in try folder.exists(.enclave) }) else { return nil }
        guard let sealer = RecordSealer(masterKey: masterKey) else { throw .system(errno: outOfMemory) }
        let file = try inStore { () throws(FileFault) in
            try folder.read(.enclave, limit: EnclaveMigration.byteLimit + RecordSealer.overhead)
        }
        let content = try sealer.open(file.span, header: sealer.header(.store, uid: 0, userName: []))
        do throws(RecordError) {
            return try content.withBytes { (bytes) throws(RecordError) in try EnclaveMigration(decoding: bytes) }
                .fileKey
        } catch {
            throw .fault(.store, RecordFault(error))
        }
    }

    static func write(
        _ fileKey: EnclaveMigration.FileKey?, in folder: borrowing SecureFolder, under masterKey: borrowing SecretBytes
    ) throws(StoreError) {
        guard let sealer = RecordSealer(masterKey: masterKey) else { throw .system(errno: outOfMemory) }
        guard let content = try? EnclaveMigration(fileKey).encoded(),
            let file = sealer.seal(content.span, header: sealer.header(.store, uid: 0, userName: []))
        else { throw .fault(.store, .damaged) }
        try inStore { () throws(FileFault) in try folder.replace(.enclave, with: file.span) }
    }

    /// ENOMEM (asm-generic/errno-base.h).
    private static var outOfMemory: Int32 { 12 }
}
