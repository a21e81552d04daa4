import Foundation
import Testing

@testable import SignetPlatform

@Suite struct TerminalFactsTests {
    private static let here: UInt64 = 136 << 8 | 3
    private static let elsewhere: UInt64 = 136 << 8 | 4

    struct Case: Sendable {
        var named: UInt64? = TerminalFactsTests.here
        var controlling: UInt64? = TerminalFactsTests.here
        var input: UInt64? = TerminalFactsTests.here
        var foreground = true
        let use: TerminalFacts.Use
    }

    /// Catches a field on a terminal that is not the program's own, one for a program that asks elsewhere, and a prompt
    /// for a job in the background.
    @Test(arguments: [
        Case(use: .field),
        Case(input: 5 << 8, use: .field),
        Case(foreground: false, use: .nobody),
        Case(named: nil, use: .conversation),
        Case(named: elsewhere, use: .conversation),
        Case(controlling: nil, use: .conversation),
        Case(named: nil, controlling: nil, input: nil, use: .conversation),
        Case(controlling: elsewhere, use: .conversation),
        Case(input: nil, use: .conversation),
        Case(input: elsewhere, use: .conversation),
        Case(input: 1 << 8 | 3, use: .conversation),
        // Without a terminal of its own a job has no background either.
        Case(named: nil, foreground: false, use: .conversation),
        Case(controlling: nil, foreground: false, use: .conversation),
        Case(input: elsewhere, foreground: false, use: .conversation),
    ]) func use(of test: Case) {
        let facts = TerminalFacts(
            named: test.named, controlling: test.controlling, standardInput: test.input,
            inForeground: test.foreground)
        #expect(facts.use == test.use)
    }

    /// Catches a name that is not found as login, su or sudo writes it, and a file or nothing that is taken for a device.
    @Test func names() throws {
        let null = try #require(TerminalFacts.device(named: Array("/dev/null".utf8)))
        #expect(null == 1 << 8 | 3)
        #expect(TerminalFacts.device(named: Array("null".utf8)) == null)
        for name in ["", "/", "/dev", "no-such-terminal", ":0", "/etc/passwd", "ssh", "null\0x"] {
            #expect(TerminalFacts.device(named: Array(name.utf8)) == nil, "\(name)")
        }
    }

    /// Catches fields counted from the front, numbers that trap, and the kernel's signed device number read as another.
    @Test(
        arguments: [
            ("12 (a b) S 1 12 10 34819 12 4", JobStatus(group: 12, terminal: here, foreground: 12)),
            ("12 (a) S 1 1 1) R 1 12 10 34819 10 4", JobStatus(group: 12, terminal: here, foreground: 10)),
            ("12 (a) S 1 12 10 0 -1 4", JobStatus(group: 12, terminal: nil, foreground: -1)),
            ("12 (a) S 1 12 10 -2147448829 12 4", JobStatus(group: 12, terminal: 0x8000_8803, foreground: 12)),
            ("12 (a) S 1 12 10 99999999999999999999 12 4", nil), ("12 (a) S 1 12 10 - 12 4", nil),
            ("12 (a) S 1 12 10 1x 12 4", nil), ("12 (a) S 1", nil), ("12 a S 1 2 3", nil), ("", nil),
        ] as [(String, JobStatus?)]) func status(text: String, status: JobStatus?) throws
    {
        let root = NSTemporaryDirectory() + "signet-job-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root + "/proc/self", withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: root + "/proc/self/stat"))
        #expect(JobStatus.read(root: Array(root.utf8)) == status)
    }

    /// Catches a field of the file that is not what it was taken for, on this machine's own kernel.
    @Test func thisProcess() throws {
        let job = try #require(JobStatus.read())
        #expect(job.group == Int64(getpgrp()))
        #expect((job.terminal == nil) == (open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC) < 0))
    }
}
