import Foundation
import SignetSecrets
import Testing

/// The pages in which small secrets lie side by side.
@Suite struct GuardedPagesTests {
    /// The address of a secret's first byte.
    private static func address(_ secret: inout SecretBytes) -> UnsafeMutablePointer<UInt8>? {
        secret.withMutableBytes { $0.withUnsafeMutableBufferPointer { $0.baseAddress } }
    }

    /// Catches a secret that can be read on into the next one.
    @Test(arguments: [1, 32, 4000]) func oneByteTooFarIsAFault(count: Int) async {
        await #expect(processExitsWith: .signal(SIGSEGV)) { [count] in
            signal(SIGSEGV, SIG_DFL)
            guard let before = SecretBytes(count: count), var secret = SecretBytes(count: count),
                let after = SecretBytes(count: count), let first = Self.address(&secret)
            else { exit(1) }
            exit(Int32(first[count]) + Int32(before.count + after.count))
        }
    }

    /// Catches what is written before a secret and goes unnoticed.
    @Test func whatIsWrittenBeforeEndsTheProcess() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            signal(SIGABRT, SIG_DFL)
            do {
                guard var secret = SecretBytes(count: 32), let first = Self.address(&secret) else { exit(1) }
                (first - 1).pointee ^= 1
            }
            exit(0)
        }
    }

    /// Catches a page that goes to two secrets, one that is not wiped before it goes to the next, and a secret too many or
    /// too large that cannot be had.
    @Test func eachSecretHasItsOwnAndBeginsWithZeros() throws {
        for count in [0, 1, 33, 4079, 4080, 4081, 10_000] {
            for round in 0..<3 {
                try fill(depth: 40, count: count, mark: UInt8(1 + round))
            }
        }
    }

    private func fill(depth: Int, count: Int, mark: UInt8) throws {
        guard depth > 0 else { return }
        guard var secret = SecretBytes(count: count) else { throw POSIXError(.ENOMEM) }
        let isZero = secret.withBytes { bytes in (0..<bytes.count).allSatisfy { bytes[$0] == 0 } }
        #expect(isZero)
        let own = mark &+ UInt8(depth)
        secret.withMutableBytes { bytes in for index in 0..<bytes.count { bytes[index] = own } }
        try fill(depth: depth - 1, count: count, mark: mark)
        let isKept = secret.withBytes { bytes in (0..<bytes.count).allSatisfy { bytes[$0] == own } }
        #expect(isKept)
    }

    /// Catches threads that get each other's pages, or have theirs taken away when the last one elsewhere comes back.
    @Test func threadsDoNotMeet() {
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<2000 {
                let mark = UInt8(truncatingIfNeeded: thread &* 31 &+ round) | 1
                guard var secret = SecretBytes(count: 24) else { continue }
                secret.withMutableBytes { bytes in for index in 0..<bytes.count { bytes[index] = mark } }
                if round % 64 == 0 { sched_yield() }
                let isKept = secret.withBytes { bytes in (0..<bytes.count).allSatisfy { bytes[$0] == mark } }
                #expect(isKept)
            }
        }
    }

    /// Catches secrets that reach a core image or swap, what stays of one that went, and pages that become more and more.
    @Test func pagesAreLockedAndKeptOutOfCoresAndWiped() async {
        await #expect(processExitsWith: .success) {
            /// The mappings that `proc_pid_smaps(5)` tells as locked (`lo`): where, and whether they are kept out of cores.
            func locked() -> [(range: Range<UInt>, isKeptOut: Bool)] {
                var found: [(range: Range<UInt>, isKeptOut: Bool)] = []
                var range: Range<UInt> = 0..<0
                let file = open("/proc/self/smaps", O_RDONLY)
                var bytes = [UInt8](repeating: 0, count: 1 << 20)
                var length = 0
                while true {
                    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress! + length, $0.count - length) }
                    if count <= 0 { break }
                    length += count
                }
                close(file)
                let text = String(decoding: bytes[..<length], as: UTF8.self)
                for line in text.split(separator: "\n") {
                    let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
                    if ends.count == 2 { range = ends[0]..<ends[1] }
                    if line.hasPrefix("VmFlags:"), line.contains(" lo") { found.append((range, line.contains(" dd"))) }
                }
                return found
            }
            guard locked().isEmpty else { exit(1) }
            for _ in 0..<3 {
                do {
                    guard let one = SecretBytes(randomCount: 32), let other = SecretBytes(randomCount: 32) else {
                        exit(2)
                    }
                    let pages = locked()
                    // As many as there are secrets: the guards between them are neither locked nor there.
                    guard pages.count == 2 else { exit(Int32(30 + pages.count)) }
                    guard pages.allSatisfy({ $0.isKeptOut && $0.range.count == 4096 }) else { exit(3) }
                    guard one.count + other.count == 64 else { exit(4) }
                }
                for page in locked() {
                    guard let memory = UnsafeRawPointer(bitPattern: page.range.lowerBound) else { exit(5) }
                    let bytes = UnsafeRawBufferPointer(start: memory, count: page.range.count)
                    guard bytes.allSatisfy({ $0 == 0 }) else { exit(6) }
                }
            }
        }
    }

    /// Catches a child of a fork that waits for ever for a page, or spoils its parent's.
    @Test func aChildHasItsOwn() async {
        await #expect(processExitsWith: .success) {
            typealias Fork = @convention(c) () -> pid_t
            let fork = unsafeBitCast(dlsym(nil, "fork")!, to: Fork.self)
            guard var secret = SecretBytes(copying: ([1, 2, 3] as [UInt8]).span) else { exit(1) }
            for _ in 0..<50 {
                let child = fork()
                if child == 0 {
                    secret.withMutableBytes { $0[0] = 9 }
                    guard let another = SecretBytes(copying: ([4] as [UInt8]).span) else { _exit(2) }
                    _exit(another.withBytes { $0[0] == 4 } ? 0 : 3)
                }
                var status: Int32 = 0
                guard waitpid(child, &status, 0) == child, status == 0 else { exit(4) }
                guard secret.withBytes({ $0[0] == 1 && $0[2] == 3 }) else { exit(5) }
            }
        }
    }
}
