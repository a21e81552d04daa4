import Testing

@testable import SignetPolicy

@Suite struct AppendingBytesTests {
    /// Catches a digit too few or too many, a lost sign, and a trap at either end of the range.
    @Test(arguments: [0, 1, 9, 10, 99, 100, 65_534, 4_294_967_295, Int64.max, -1, -10, Int64.min])
    func decimals(number: Int64) {
        var bytes = Array("uid ".utf8)
        bytes.append(decimal: number)
        #expect(String(decoding: bytes, as: UTF8.self) == "uid \(number)")
    }

    /// Catches bytes in the machine's own order.
    @Test func theHighestByteComesFirst() {
        var bytes: [UInt8] = [0xFF]
        bytes.append(bigEndian: 0x0102_0304_0506_0708)
        #expect(bytes == [0xFF, 1, 2, 3, 4, 5, 6, 7, 8])
    }

    /// Catches a literal that is cut, or takes its final zero with it.
    @Test func literals() {
        var bytes: [UInt8] = []
        bytes.append("")
        bytes.append("a")
        bytes.append("signet approval v1")
        #expect(bytes == Array("asignet approval v1".utf8))
    }
}
