/// The file `key.tpm`: which TPM a store is bound to, and the store's master key as only that TPM opens it.
///
/// It lies in the clear. Whoever changes it makes the store unusable and learns nothing: the TPM refuses an object that
/// it did not seal, and a primary key of another Name is refused before anything is sent to it.
package struct EnclaveKeyRecord: Equatable, Sendable {
    /// The Name of the TPM's primary key: a hash algorithm and a digest, 34 bytes with SHA-256.
    package let primaryName: [UInt8]
    /// The sealed master key; it asks for no authorisation and is not subject to dictionary attack.
    package let masterKey: EnclaveObject

    private static let magic: [UInt8] = [0x53, 0x47, 0x4E, 0x4B]
    private static let kind: UInt8 = 6
    private static let version: UInt8 = 1
    /// The longest record in bytes.
    package static let byteLimit = 6 + 2 + EnclaveMessage.nameLimit + 2 * (2 + EnclaveObject.areaLimit) + 1

    package init(primaryName: [UInt8], masterKey: EnclaveObject) {
        self.primaryName = primaryName
        self.masterKey = masterKey
    }

    /// The bytes of the record; throws where a field does not fit the format.
    package func encoded() throws(RecordError) -> [UInt8] {
        // An empty Name would mean "any TPM" to the helper.
        guard !primaryName.isEmpty, !masterKey.countsFailures else { throw .malformed }
        var writer = ByteWriter()
        try writer.fixed(EnclaveKeyRecord.magic, count: EnclaveKeyRecord.magic.count)
        writer.byte(EnclaveKeyRecord.kind)
        writer.byte(EnclaveKeyRecord.version)
        try writer.counted(primaryName, limit: EnclaveMessage.nameLimit)
        try writer.object(masterKey)
        return writer.bytes
    }

    /// Decodes exactly one record of this version.
    package init(decoding bytes: Span<UInt8>) throws(RecordError) {
        var reader = ByteReader(bytes)
        guard try reader.bytes(EnclaveKeyRecord.magic.count) == EnclaveKeyRecord.magic else { throw .wrongKind }
        try reader.expect(kind: EnclaveKeyRecord.kind, version: EnclaveKeyRecord.version)
        let primaryName = try reader.counted(limit: EnclaveMessage.nameLimit)
        let masterKey = try reader.object()
        guard !primaryName.isEmpty, !masterKey.countsFailures else { throw .malformed }
        try reader.finish()
        self.init(primaryName: primaryName, masterKey: masterKey)
    }
}

/// The content of the file `enclave`: a migration that is under way, or that there is none.
///
/// Sealed under the master key that the TPM gives, so that nobody without that TPM can have another key accepted.
package struct EnclaveMigration: Equatable, Sendable {
    /// Where the records go.
    package enum Direction: UInt8, Equatable, Sendable {
        case toFile = 1
        case toTPM = 2
    }

    /// The file key that is accepted beside the TPM's, by its id of 16 bytes, and whether it is the old or the new one.
    package struct FileKey: Equatable, Sendable {
        package let id: [UInt8]
        package let direction: Direction

        package init(id: [UInt8], direction: Direction) {
            self.id = id
            self.direction = direction
        }
    }

    /// nil: the TPM's key alone counts.
    package let fileKey: FileKey?

    private static let kind: UInt8 = 7
    private static let version: UInt8 = 1
    /// The longest content in bytes.
    package static let byteLimit = 3 + SealedHeader.keyIDCount + 1

    package init(_ fileKey: FileKey?) { self.fileKey = fileKey }

    /// The bytes of the content; throws where the id has another length.
    package func encoded() throws(RecordError) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(EnclaveMigration.kind)
        writer.byte(EnclaveMigration.version)
        writer.flag(fileKey != nil)
        if let fileKey {
            try writer.fixed(fileKey.id, count: SealedHeader.keyIDCount)
            writer.byte(fileKey.direction.rawValue)
        }
        return writer.bytes
    }

    /// Decodes exactly one of this version.
    package init(decoding bytes: Span<UInt8>) throws(RecordError) {
        var reader = ByteReader(bytes)
        try reader.expect(kind: EnclaveMigration.kind, version: EnclaveMigration.version)
        var fileKey: FileKey?
        if try reader.flag() {
            let id = try reader.bytes(SealedHeader.keyIDCount)
            guard let direction = Direction(rawValue: try reader.byte()) else { throw .malformed }
            fileKey = FileKey(id: id, direction: direction)
        }
        try reader.finish()
        self.init(fileKey)
    }
}
