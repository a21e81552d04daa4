import SignetPolicy
import SignetRecords
import Testing

/// The bytes of each record, spelled field by field from the format and not by the encoder.
@Suite struct GoldenTests {
    static let boot = "08070605 04030201 18171615 14131211"

    /// Catches any change of the format that would shut people out of their records after an update.
    @Test func attempts() throws {
        let golden = hex(
            """
            03 01  e8030000  202122232425262728292a2b2c2d2e2f  3412000000000000
            05 02 01  01 \(Self.boot) 6300000000000000 3c000000  0300000000000000
            01 00 00  00  0000000000000000
            04 0800000000000000
            01 \(Self.boot) 4d00000000000000
            0900000000000000
            01 01 02
            07
            00 00 00
            """)
        #expect(try Sample.attemptsRecord.encoded() == golden)
        #expect(try AttemptsRecord(decoding: golden.span) == Sample.attemptsRecord)
    }

    /// Catches a change in the layout of the prints: entries first, then all templates.
    @Test func prints() throws {
        let reader = "0400 656c616e 0100 30"
        let golden = hex(
            """
            02 01  0900000000000000  02
            07 \(reader) 00 0500000000000000 08000000
            02 \(reader) 01 0600000000000000 04000000
            a0a1a2a3a4a5a6a7 a8a9aaab
            """)
        #expect(try encodedPrints() == golden)
        let decoded = try PrintsRecord(decoding: golden.span)
        let ranges = decoded.entries.map(\.template)
        #expect(ranges.map { Array(golden[$0]) } == [bytes(8, from: 0xA0), bytes(4, from: 0xA8)])
        #expect(decoded.generation == 9)
        #expect(decoded.entries.map(\.finger.number) == [7, 2])
        #expect(decoded.entries.map(\.onReader) == [false, true])
    }

    /// Catches a change in the layout of the identity.
    @Test func identity() throws {
        func wrapped(_ first: UInt8) -> [UInt8] {
            hex("03000000 40000000") + bytes(16, from: first) + bytes(24, from: first) + bytes(80, from: first) + [0]
        }
        var golden = hex("01 01 e8030000 0500 616c696365") + bytes(16, from: 0x20) + bytes(32, from: 0x40)
        golden += wrapped(1) + [1] + wrapped(2) + hex("00d2496b00000000 ffffffffffffffff 01 01")
        golden +=
            hex("0400 656c616e 0100 30 02 01 0b00 706369302f757362322f39 02") + bytes(32, from: 3) + bytes(32, from: 9)
        golden += hex("0700000000000000 02")
        golden += bytes(32, from: 1) + [1] + bytes(32, from: 2) + [2]
        golden += bytes(64, from: 0x80) + hex("01d2496b00000000")
        #expect(try Sample.identity.encoded() == golden)
        #expect(try IdentityRecord(decoding: golden.span) == Sample.identity)
    }

    /// Catches a change in the layout of the index of prints in readers' memories.
    @Test func chips() throws {
        let reader = hex("0400 656c616e 0100 30")
        var golden = hex("06 01 0200")
        golden += hex("e8030000 00") + reader + bytes(32, from: 5) + hex("0300 aabbcc")
        golden += hex("e9030000 01") + reader + bytes(32, from: 6) + hex("0100 dd")
        #expect(try Sample.chips.encoded() == golden)
        #expect(try ChipIndex(decoding: golden.span) == Sample.chips)
    }

    /// Catches a change in the clear header, by which every sealed file is recognised.
    @Test func header() throws {
        let header = SealedHeader(kind: 1, uid: 1000, keyID: bytes(16), userName: Array("alice".utf8))
        let golden = hex("53474e54 01 01 e8030000") + bytes(16) + hex("0500 616c696365")
        #expect(try header.encoded() == golden)
        #expect(try header.match((golden + [1, 2, 3]).span) == golden.count)
        #expect(SealedHeader.claimedName(in: golden.span) == Array("alice".utf8))
    }
}
