import CPlatform
import Testing

@testable import SignetPlatform

struct SystemLogTests {
    // Would catch: a name in the line that forges a second one, and a wrong facility or severity.
    @Test func `a packet is one line`() {
        let line = Array("user=al\nice outcome=no\u{7F}".utf8)
        let packet = SystemLog.packet(line, severity: .notice, identifier: "pam_signet", process: 42)
        #expect(String(decoding: packet, as: UTF8.self) == "<85>pam_signet[42]: user=al?ice outcome=no?")
        let long = SystemLog.packet(
            [UInt8](repeating: 0x61, count: 9000), severity: .warning, identifier: "signet", process: 1)
        #expect(long.count == "<84>signet[1]: ".utf8.count + SystemLog.lineLimit)
    }

    // Would catch: a line that nobody gets, and a socket that stays open in the caller.
    @Test func `a line arrives and leaves nothing open`() throws {
        let path = "/tmp/signet-log-test-\(getpid())"
        let receiver = try #require(Receiver(path))
        #expect(SystemLog.send(Array("a=b".utf8), severity: .info, identifier: "signet", to: Array(path.utf8)))
        #expect(socketsConnected(to: path) == 0)
        #expect(receiver.next() == "<86>signet[\(getpid())]: a=b")
    }

    // Would catch: an authentication that hangs, or dies, because the log is full or gone.
    @Test func `a full or missing log is given up`() throws {
        let path = "/tmp/signet-log-full-\(getpid())"
        let receiver = try #require(Receiver(path))
        var sent = 0
        while sent < 10_000,
            SystemLog.send(Array("x".utf8), severity: .info, identifier: "signet", to: Array(path.utf8))
        { sent += 1 }
        #expect(sent > 0 && sent < 10_000)
        #expect(receiver.next() != nil)
        #expect(!SystemLog.send([0x61], severity: .info, identifier: "signet", to: Array("/nowhere/log".utf8)))
        let tooLong = Array("/\(String(repeating: "a", count: 300))".utf8)
        #expect(!SystemLog.send([0x61], severity: .info, identifier: "signet", to: tooLong))
    }

    /// How many descriptors of this process are connected to the socket at `path`.
    private func socketsConnected(to path: String) -> Int {
        var found = 0
        for file in 0..<Int32(1024) {
            var address = [UInt8](repeating: 0, count: 128)
            var length = socklen_t(address.count)
            let named = unsafe address.withUnsafeMutableBytes { bytes in
                unsafe getpeername(file, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            if named == 0, address.dropFirst(2).starts(with: Array(path.utf8)) { found += 1 }
        }
        return found
    }

    /// A datagram socket in the log daemon's place.
    final class Receiver {
        private let file: Int32
        private let path: String

        init?(_ path: String) {
            self.path = path
            file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            unsafe unlink(path)
            var address: [UInt8] = [UInt8(AF_UNIX), 0] + Array(path.utf8)
            address += [UInt8](repeating: 0, count: 110 - address.count)
            let bound = unsafe address.withUnsafeBytes { bytes in
                unsafe bind(file, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            }
            if bound != 0 { return nil }
        }

        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe recv(file, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: bytes[0..<count], as: UTF8.self)
        }

        deinit {
            close(file)
            unsafe unlink(path)
        }
    }
}
