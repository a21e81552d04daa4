import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import Testing

@Suite struct MachineTests {
    /// Catches a boot identity that is read wrongly, and a clock that is not the boot clock or goes backwards.
    @Test func clockIsTheKernels() throws {
        var clock = SystemClock()
        let first = try clock.now()
        let uptime = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
        let seconds = try #require(UInt64(uptime.prefix { $0 != "." }))
        let second = try clock.now()
        #expect(first.boot == second.boot)
        #expect(first.seconds <= seconds && seconds <= second.seconds)
        let text = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        let digits = text.filter { $0 != "-" && $0 != "\n" }
        #expect(first.boot.high == UInt64(digits.prefix(16), radix: 16))
        #expect(first.boot.low == UInt64(digits.suffix(16), radix: 16))
        #expect(abs(clock.wallTime() - Int64(Date().timeIntervalSince1970)) <= 2)
    }

    /// Catches a parser that takes half a boot identity for a whole one: two boots would look like one.
    @Test(arguments: [
        ("01234567-89ab-cdef-fedc-ba9876543210\n", true), ("01234567-89ab-cdef-fedc-ba9876543210", false),
        ("01234567-89ab-cdef-fedc-ba987654321\n", false), ("01234567-89ab-cdef-fedc-ba9876543210\n\n", false),
        ("01234567-89AB-cdef-fedc-ba9876543210\n", false), ("0123456789ab-cdef-fedc--ba9876543210\n", false),
        ("01234567-89ab-cdef-fedc-ba987654321g\n", false), ("", false), ("\n", false),
        ("-1234567-89ab-cdef-fedc-ba9876543210\n", false),
    ]) func bootIdentity(text: String, isValid: Bool) {
        let identity = BootIdentity(text: Array(text.utf8).span)
        #expect(identity == (isValid ? BootIdentity(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210) : nil))
    }

    /// Catches a boot identity that cannot be read and becomes a constant: waits would end with a reboot.
    @Test(arguments: ["/nonexistent/boot_id", "/dev/null", "/etc/passwd", "/"]) func unreadableBoot(path: String) {
        var clock = SystemClock(bootFile: Array(path.utf8))
        #expect(throws: ClockUnreadable.self) { _ = try clock.now() }
    }

    /// Catches names and uids that are mixed up, and a missing account that reads as an error or as root.
    @Test func accounts() throws {
        #expect(try Accounts.named(Array("root".utf8)) == Accounts.numbered(0))
        let root = try #require(try Accounts.numbered(0))
        #expect(root.uid == 0 && root.name == Array("root".utf8))
        #expect(try Accounts.named(Array("signet-no-such-user".utf8)) == nil)
        #expect(try Accounts.numbered(4_000_000_123) == nil)
        #expect(try Accounts.named([]) == nil)
        #expect(try Accounts.named(Array("root\0x".utf8)) == nil)
        #expect(try Accounts.named([UInt8](repeating: 0x61, count: 10_000)) == nil)
    }
}
