/// The clear beginning of a sealed file: what the file is and whose, compared before it is opened.
///
/// The header's bytes are the associated data of the seal, so that nobody can give a file another header. That they
/// are readable without the key tells a moved, renamed or foreign file from a damaged one; without the key the header
/// proves nothing, and nothing is ever granted by it.
///
///     0   4  magic "SGNT"
///     4   1  kind
///     5   1  version
///     6   4  uid
///     10  16 key id
///     26  2  length of the user name, at most 255
///     28  n  user name
package struct SealedHeader: Equatable, Sendable {
    package let kind: UInt8
    package let version: UInt8
    package let uid: UInt32
    /// Names the master key; it is derived from it and tells nothing about it.
    package let keyID: [UInt8]
    /// The login name, at most 255 bytes.
    package let userName: [UInt8]

    package static let magic: [UInt8] = [0x53, 0x47, 0x4E, 0x54]
    package static let version: UInt8 = 1
    package static let keyIDCount = 16
    /// The longest login name; Linux itself stops at 255 (`LOGIN_NAME_MAX` is 256 with the final zero).
    package static let userNameLimit = 255
    /// The longest header.
    package static let byteLimit = 28 + userNameLimit

    package init(kind: UInt8, uid: UInt32, keyID: [UInt8], userName: [UInt8], version: UInt8 = SealedHeader.version) {
        self.kind = kind
        self.version = version
        self.uid = uid
        self.keyID = keyID
        self.userName = userName
    }

    /// Why a sealed file is not the one that is expected.
    package enum Mismatch: Error, Equatable, Sendable {
        /// No header of ours, or another kind of record.
        case damaged
        /// Another master key.
        case foreign
        case otherUser
        case renamed
        case newer
    }

    /// The header's bytes.
    package func encoded() throws(RecordError) -> [UInt8] {
        var writer = ByteWriter()
        try writer.fixed(SealedHeader.magic, count: SealedHeader.magic.count)
        writer.byte(kind)
        writer.byte(version)
        writer.uint32(uid)
        try writer.fixed(keyID, count: SealedHeader.keyIDCount)
        try writer.counted(userName, limit: SealedHeader.userNameLimit)
        return writer.bytes
    }

    /// Compares the beginning of a file with this header and answers how long it is, in bytes.
    ///
    /// The order of the comparisons matters: a later version may have another layout after the version, and a key of
    /// another machine explains a foreign uid and name better than a moved file does.
    package func match(_ file: Span<UInt8>) throws(Mismatch) -> Int {
        var reader = ByteReader(file)
        do throws(RecordError) {
            guard try reader.bytes(SealedHeader.magic.count) == SealedHeader.magic else { throw .malformed }
            try reader.expect(kind: kind, version: version)
        } catch {
            throw error == .newer ? .newer : .damaged
        }
        let found: (uid: UInt32, keyID: [UInt8], userName: [UInt8])
        do throws(RecordError) {
            let uid = try reader.uint32()
            let keyID = try reader.bytes(SealedHeader.keyIDCount)
            found = (uid, keyID, try reader.counted(limit: SealedHeader.userNameLimit))
        } catch {
            throw .damaged
        }
        guard found.keyID == keyID else { throw .foreign }
        guard found.uid == uid else { throw .otherUser }
        guard found.userName == userName else { throw .renamed }
        return reader.offset
    }

    /// The user name that the beginning of a file tells of itself; nil where it is no header.
    ///
    /// It proves nothing.
    package static func claimedName(in file: Span<UInt8>) -> [UInt8]? {
        var reader = ByteReader(file)
        do throws(RecordError) {
            _ = try reader.skip(magic.count + 2 + 4 + keyIDCount)
            return try reader.counted(limit: userNameLimit)
        } catch {
            return nil
        }
    }

    /// How long the header is by what it tells of itself, in bytes; nil where it is no header.
    ///
    /// It proves nothing.
    package static func claimedCount(in file: Span<UInt8>) -> Int? {
        claimedName(in: file).map { magic.count + 2 + 4 + keyIDCount + 2 + $0.count }
    }

    /// The id of the master key that the beginning of a file tells; nil where it is no header.
    ///
    /// It proves nothing.
    package static func claimedKeyID(in file: Span<UInt8>) -> [UInt8]? {
        var reader = ByteReader(file)
        do throws(RecordError) {
            guard try reader.bytes(magic.count) == magic else { return nil }
            _ = try reader.skip(2 + 4)
            return try reader.bytes(keyIDCount)
        } catch {
            return nil
        }
    }
}
