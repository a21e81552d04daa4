import SignetRecords
import Testing

@Suite struct SealedHeaderTests {
    static let expected = SealedHeader(kind: 1, uid: 1000, keyID: bytes(16), userName: Array("alice".utf8))

    static func mismatch(_ file: [UInt8], with header: SealedHeader = expected) -> SealedHeader.Mismatch? {
        do throws(SealedHeader.Mismatch) {
            _ = try header.match(file.span)
            return nil
        } catch {
            return error
        }
    }

    struct Row: Sendable {
        let header: SealedHeader
        let expected: SealedHeader.Mismatch?
    }

    /// Catches faults that are confused with each other: an administrator would mend the wrong thing.
    @Test(arguments: [
        Row(header: expected, expected: nil),
        Row(
            header: SealedHeader(kind: 2, uid: 1000, keyID: bytes(16), userName: Array("alice".utf8)),
            expected: .damaged),
        Row(
            header: SealedHeader(kind: 1, uid: 1001, keyID: bytes(16), userName: Array("alice".utf8)),
            expected: .otherUser),
        Row(
            header: SealedHeader(kind: 1, uid: 1000, keyID: bytes(16, from: 1), userName: Array("alice".utf8)),
            expected: .foreign),
        Row(
            header: SealedHeader(kind: 1, uid: 1000, keyID: bytes(16), userName: Array("alicia".utf8)),
            expected: .renamed),
        Row(
            header: SealedHeader(kind: 1, uid: 1000, keyID: bytes(16), userName: Array("alic".utf8)),
            expected: .renamed),
        Row(
            header: SealedHeader(kind: 1, uid: 7, keyID: bytes(16, from: 1), userName: Array("bob".utf8)),
            expected: .foreign),
        Row(
            header: SealedHeader(kind: 1, uid: 1000, keyID: bytes(16), userName: Array("alice".utf8), version: 2),
            expected: .newer),
        Row(
            header: SealedHeader(kind: 1, uid: 1000, keyID: bytes(16), userName: Array("alice".utf8), version: 0),
            expected: .damaged),
    ]) func mismatchesAreToldApart(row: Row) throws {
        #expect(Self.mismatch(try row.header.encoded()) == row.expected)
    }

    /// Catches a comparison that stops before the last byte: the header of another file would pass.
    @Test func everyFlippedBitIsSeen() throws {
        let valid = try Self.expected.encoded()
        for index in valid.indices {
            for bit in 0..<8 {
                var file = valid
                file[index] ^= 1 << UInt8(bit)
                #expect(Self.mismatch(file) != nil, "byte \(index), bit \(bit)")
            }
        }
    }

    /// Catches a read past the end of a short file.
    @Test func everyTruncationIsDamaged() throws {
        let valid = try Self.expected.encoded()
        for length in 0..<valid.count {
            let file = Array(valid[..<length])
            #expect(Self.mismatch(file) == .damaged)
            #expect(SealedHeader.claimedName(in: file.span) == nil)
        }
    }

    /// Catches a name that would not fit the length field, or a key id of a wrong length.
    @Test func encoderRefusesWhatDoesNotFit() {
        let long = SealedHeader(kind: 1, uid: 1, keyID: bytes(16), userName: bytes(256))
        #expect(throws: RecordError.malformed) { try long.encoded() }
        let short = SealedHeader(kind: 1, uid: 1, keyID: bytes(15), userName: [])
        #expect(throws: RecordError.malformed) { try short.encoded() }
    }
}
