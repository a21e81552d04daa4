import Foundation
import SignetSecrets
import Testing

@Suite struct SecretBytesTests {
    /// Catches a copy that loses, reorders or shares bytes.
    @Test func copyHoldsTheSameBytes() throws {
        let source: [UInt8] = [1, 2, 3, 250]
        let secret = try made(SecretBytes(copying: source.span))
        let read = secret.withBytes { span in (0..<span.count).map { span[$0] } }
        #expect(read == source)
    }

    /// Catches a truncation that keeps the tail readable or grows the secret.
    @Test(arguments: [(0, 0), (2, 2), (4, 4), (9, 4), (-1, 4)]) func truncates(length: Int, expected: Int) throws {
        let source: [UInt8] = [9, 9, 9, 9]
        var secret = try made(SecretBytes(copying: source.span))
        secret.truncate(to: length)
        #expect(secret.count == expected)
    }

    /// Catches a comparison that stops early, or takes a prefix for the whole.
    @Test func equalityNeedsEveryByte() throws {
        let one = try made(SecretBytes(copying: ([1, 2, 3] as [UInt8]).span))
        let same = try made(SecretBytes(copying: ([1, 2, 3] as [UInt8]).span))
        let last = try made(SecretBytes(copying: ([1, 2, 4] as [UInt8]).span))
        let prefix = try made(SecretBytes(copying: ([1, 2] as [UInt8]).span))
        let results = [one.isEqual(to: same), one.isEqual(to: last), one.isEqual(to: prefix)]
        #expect(results == [true, false, false])
    }

    /// Catches a secret that cannot be had, or comes without its memory, where none may be locked (RLIMIT_MEMLOCK): then
    /// only the lock is missing.
    @Test func memoryThatCannotBeLockedWillDo() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            guard setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0 else { exit(1) }
            // Root's CAP_IPC_LOCK passes the limit over.
            if geteuid() == 0, setuid(65_534) != 0 { exit(2) }
            var page = [UInt8](repeating: 0, count: 4096)
            guard mlock(&page, page.count) != 0 else { exit(3) }
            for _ in 0..<100 {
                guard let secret = SecretBytes(copying: ([1, 2, 3] as [UInt8]).span) else { exit(4) }
                guard secret.withBytes({ $0[0] == 1 && $0[2] == 3 }) else { exit(5) }
                // Nobody would hear of it else.
                guard !secret.isLocked() else { exit(6) }
            }
        }
    }

    /// Catches a warning of memory that is not locked where it is.
    @Test func memoryIsLocked() throws {
        let secret = try made(SecretBytes(count: 32))
        let isLocked = secret.isLocked()
        #expect(isLocked)
    }

    /// Catches a generator that is not called: two secrets of 32 zero bytes would be equal.
    @Test func randomSecretsDiffer() throws {
        let one = try made(SecretBytes(randomCount: 32))
        let other = try made(SecretBytes(randomCount: 32))
        let equal = one.isEqual(to: other)
        #expect(!equal)
    }
}

/// Unwraps what `#require` cannot: a noncopyable optional.
private func made(_ secret: consuming SecretBytes?) throws -> SecretBytes {
    guard let secret else { throw AllocationFailed() }
    return secret
}

private struct AllocationFailed: Error {}
