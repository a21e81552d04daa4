import SignetPolicy
import Testing

@testable import SignetRecords

@Suite struct FprintdNameTests {
    /// Catches a name that stands for another finger than fprintd means, and one that fprintd never gives.
    @Test func fingersAreOneHexadecimalDigit() {
        for number in UInt8(1)...10 {
            let name = Array(String(number, radix: 16).utf8)
            #expect(FprintdName.finger(name)?.number == number)
            #expect(FprintdName.finger(name + [0x7E]) == nil)
            #expect(FprintdName.finger([0x30] + name) == nil)
        }
        for byte in UInt8.min...UInt8.max where !(Array("123456789a".utf8).contains(byte)) {
            #expect(FprintdName.finger([byte]) == nil, "\(byte)")
        }
        #expect(FprintdName.finger([]) == nil)
    }

    /// Catches a driver's name that leads elsewhere, acts on a terminal, or is longer than a record holds.
    @Test(arguments: [
        ("virtual_device", true), ("elan-cobo", true), ("aes3500", true), (String(repeating: "d", count: 64), true),
        (String(repeating: "d", count: 65), false), ("", false), (".", false), ("..", false), ("a/b", false),
        ("a.b", false), ("a b", false), ("\u{1B}[2J", false), ("a\0", false), ("é", false),
    ]) func drivers(name: String, isOne: Bool) { #expect(FprintdName.isDriver(Array(name.utf8)) == isOne) }

    /// Catches a device id that leads elsewhere or acts on a terminal, and a serial number that is refused for its odd signs.
    @Test(arguments: [
        ("0", true), ("00:11:22", true), ("{a b}.c", true), ("Gerät", true), (String(repeating: "9", count: 128), true),
        (String(repeating: "9", count: 129), false), ("", false), (".", false), ("..", false), ("../0", false),
        ("a\u{202E}b", false), ("\u{1B}c", false), ("a\nb", false),
    ]) func devices(name: String, isOne: Bool) { #expect(FprintdName.isDevice(Array(name.utf8)) == isOne) }

    /// Catches a half character, which two programs may read differently.
    @Test func deviceIsText() { #expect(!FprintdName.isDevice([0x30, 0xC3])) }

    /// Catches any bytes that trap a decoder, or that are taken for two kinds of name at once where they are no digit.
    @Test func anyBytes() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...140, using: &generator)
            let name = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if FprintdName.isDriver(name) { #expect(FprintdName.isDevice(name) && !name.contains(0x2F)) }
            if FprintdName.finger(name) != nil { #expect(name.count == 1) }
        }
    }
}
