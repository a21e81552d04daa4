import CPlatform
import CTerminal
import Foundation
import Synchronization
import Testing

/// A pseudo-terminal with somebody at it, who answers to what appears there.
final class Desk: Sendable {
    /// What somebody does once `sign` has appeared after the step before.
    struct Step: Sendable {
        let sign: String
        let act: @Sendable (Desk) -> Void
    }

    let master: Int32
    let path: String
    /// Kept open, so that the terminal keeps its modes and its output.
    private let programs: Int32
    private let seen = Mutex<[UInt8]>([])
    private let isRead = DispatchSemaphore(value: 0)
    private static let end = "<end of the transcript>"

    init(columns: UInt16 = 80, _ steps: [Step] = []) throws {
        var path = [CChar](repeating: 0, count: 64)
        master = signet_terminal_open(&path, path.count)
        try #require(master >= 0)
        self.path = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        programs = open(self.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(programs >= 0 && signet_terminal_resize(master, 24, columns) == 0)
        Thread.detachNewThread { self.read(steps) }
    }

    deinit {
        close(master)
        close(programs)
    }

    /// Gathers what appears, to the transcript's end; after a minute without anything new it gives up.
    private func read(_ steps: [Step]) {
        var rest = steps[...]
        var from = 0
        while true {
            let text = seen.withLock { $0 }
            if let step = rest.first, let place = text[from...].firstRange(of: Array(step.sign.utf8)) {
                from = place.upperBound
                rest.removeFirst()
                step.act(self)
                continue
            }
            if !text.ranges(of: Array(Desk.end.utf8)).isEmpty { break }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = signet_read_within(master, &piece, piece.count, 60_000)
            if count <= 0 { break }
            seen.withLock { $0 += piece.prefix(count) }
        }
        isRead.signal()
    }

    func type(_ text: String) { _ = write(master, Array(text.utf8), text.utf8.count) }

    var echoes: Bool { signet_terminal_echoes(master) == 1 }

    /// Waits until a line that was typed is there to be read, for input takes its way as output does.
    func awaitTypedLine() {
        var watched = pollfd(fd: programs, events: Int16(POLLIN), revents: 0)
        #expect(poll(&watched, 1, 10_000) == 1)
    }

    /// Whether a shell would now get something that was typed before.
    var hasTypedLine: Bool {
        var watched = pollfd(fd: programs, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 50) == 1
    }

    /// Everything that appeared; the desk is left then.
    func transcript() -> Transcript {
        _ = write(programs, Desk.end, Desk.end.utf8.count)
        isRead.wait()
        let text = String(decoding: seen.withLock { $0 }, as: UTF8.self)
        return Transcript(text.replacing(Desk.end, with: "").replacing("\r\n", with: "\n"))
    }
}

/// What appeared on a terminal, the main screen and the alternate one apart.
struct Transcript {
    let all: String
    private(set) var main = ""
    private(set) var alternate = ""
    /// How often the alternate screen was entered and left.
    private(set) var entered = 0
    private(set) var left = 0

    init(_ text: String) {
        all = text
        var rest = text[...]
        while let way = rest.firstRange(of: entered == left ? "\u{1B}[?1049h" : "\u{1B}[?1049l") {
            keep(rest[..<way.lowerBound])
            if entered == left { entered += 1 } else { left += 1 }
            rest = rest[way.upperBound...]
        }
        keep(rest)
    }

    private mutating func keep(_ part: Substring) {
        if entered == left { main += part } else { alternate += part }
    }
}

/// Runs `body` as the foreground job of a session of its own on the terminal at `path`, as a shell does: where it is
/// stopped, the shell writes a line and lets it go on.
///
/// Answers its exit code, 128 and the number where a signal ended it. For processes without other threads.
func runAsJob(on path: String, _ body: () throws -> Void) -> Int32 {
    let shell = startProcess {
        // The tests' threads have all signals blocked.
        signet_reset_signals()
        guard setsid() > 0 else { return 70 }
        let terminal = open(path, O_RDWR)
        _ = signal(SIGTTOU, SIG_IGN)
        let job = startProcess {
            guard setpgid(0, 0) == 0, tcsetpgrp(terminal, getpgrp()) == 0 else { return 71 }
            _ = signal(SIGTTOU, SIG_DFL)
            do { try body() } catch { return 77 }
            return 0
        }
        var status: Int32 = 0
        guard waitpid(job, &status, WUNTRACED) == job else { return 72 }
        if status & 0xFF == 0x7F {
            guard tcsetpgrp(terminal, getpgrp()) == 0 else { return 73 }
            let line = "<stopped, \(signet_terminal_echoes(terminal) == 1 ? "echo" : "no echo")>"
            _ = write(terminal, line, line.utf8.count)
            guard tcsetpgrp(terminal, job) == 0, kill(-job, SIGCONT) == 0 else { return 74 }
            guard waitpid(job, &status, 0) == job else { return 75 }
        }
        return signet_exit_code(status)
    }
    var status: Int32 = 0
    return waitpid(shell, &status, 0) == shell ? signet_exit_code(status) : 76
}

/// Starts a process that ends with what `body` answers; Swift hides fork(2).
private func startProcess(_ body: () -> Int32) -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    let process = unsafeBitCast(dlsym(nil, "fork")!, to: Fork.self)()
    if process == 0 { _exit(body()) }
    return process
}
