import CTerminal
import Glibc

/// A program at a pseudo-terminal, driven as a person drives it: wait for a text, type, press Ctrl-C.
///
/// Every wait has a deadline, and a wait that fails throws with all that the terminal showed.
final class Terminal {
    /// Wide enough that no prompt wraps, which else would have to be waited for in two parts.
    static let usualColumns = 132

    private let child: Child
    private var unseen: [UInt8] = []
    private var shown: [UInt8] = []
    private var ended = false

    /// Starts a program on a new terminal, as root or as the user, who then owns the terminal.
    init(
        _ arguments: [String], as user: User? = nil, environment: [String: String] = Child.environment,
        rows: UInt16 = 24, columns: UInt16 = UInt16(usualColumns)
    ) throws {
        child = try Child(
            arguments, as: user, environment: environment,
            attachment: .terminal(owner: user?.uid ?? 0, rows: rows, columns: columns))
    }

    /// Whether nobody holds the terminal any more.
    var isOver: Bool { ended }

    /// The master of the terminal.
    var descriptor: CInt { child.descriptor }

    /// The terminal's modes before the program could change them.
    var termiosAtStart: termios { child.modes }

    /// The process that was started: for a user's sudo, that sudo itself.
    var process: pid_t { child.process }

    /// All that was shown so far, as it came.
    var transcript: String { String(decoding: shown, as: UTF8.self) }

    /// Whether typed keys are shown, which no prompt for a secret may do.
    var echoes: Bool { signet_terminal_echoes(child.descriptor) == 1 }

    /// Waits for `text` in what was not waited for yet; answers what came before it.
    @discardableResult
    func waitFor(_ text: String, within seconds: Double = 10) throws -> String {
        let place = try waitForAny([text], within: seconds)
        return place.before
    }

    /// Waits for the first of several texts; answers its place in the list and what came before it.
    func waitForAny(_ texts: [String], within seconds: Double = 10) throws -> (index: Int, before: String) {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while true {
            let found = texts.enumerated()
                .compactMap { entry in firstRange(of: Array(entry.element.utf8)).map { (entry.offset, $0) } }
                .min { $0.1.lowerBound < $1.1.lowerBound }
            if let (index, range) = found {
                let before = String(decoding: unseen[..<range.lowerBound], as: UTF8.self)
                unseen.removeSubrange(..<range.upperBound)
                return (index, before)
            }
            let left = end - monotonicMilliseconds()
            if ended || left <= 0 {
                throw HarnessError(
                    "\(ended ? "the program ended without" : "\(seconds) s went by without") \(texts); it showed:\n\(transcript)"
                )
            }
            try gather(within: left)
        }
    }

    /// Types text as it is; `line` ends it with Return.
    func type(_ text: String) throws { try child.write(Array(text.utf8)) }

    /// Types a line and Return.
    func type(line text: String) throws { try type(text + "\r") }

    /// Presses Ctrl and a letter, as `press("c")`, once the program waits for a key.
    func press(_ letter: Character) throws {
        _ = signet_terminal_settle(child.descriptor, 1000)
        try child.write([(letter.asciiValue ?? 0) & 0x1f])
    }

    /// Waits for a prompt for a secret: the text, and then that keys are no longer shown.
    func waitForSecretPrompt(_ text: String, within seconds: Double = 10) throws {
        try waitFor(text, within: seconds)
        let end = monotonicMilliseconds() + 2000
        // sudo writes the prompt and switches the echo off in either order.
        while echoes {
            guard monotonicMilliseconds() < end else { throw HarnessError("“\(text)” shows what is typed") }
            try gather(within: 2)
        }
    }

    /// Waits for a prompt of Signet's own, whatever it says: "[sudo: alice] …: ".
    func waitForPrompt(within seconds: Double = 10) throws {
        try waitFor("] ", within: seconds)
        try waitForSecretPrompt(": ", within: seconds)
    }

    /// Presses keys until the recovery code is covered, which takes none in its first second.
    func putCodeAway() throws {
        try waitFor("Press a key")
        for _ in 1...50 {
            try type("x")
            if (try? waitFor("\u{1B}[?1049l", within: 0.2)) != nil { return }
        }
        throw HarnessError("the recovery code stays; the terminal showed:\n\(transcript)")
    }

    /// What stood on lines of their own, without the sequences that move the cursor (ECMA-48).
    static func lines(of shown: String) -> [String] {
        shown.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "\r").split { $0.isNewline || $0 == "\r" }.map(String.init)
    }

    /// Changes the size, of which the program hears by SIGWINCH.
    func resize(rows: UInt16, columns: UInt16) throws {
        guard signet_terminal_resize(child.descriptor, rows, columns) == 0 else { throw HarnessError("no resize") }
    }

    /// Sends a signal to the program's own process.
    func signal(_ number: CInt) { kill(child.process, number) }

    /// Waits for the program's end; answers its exit code, or 128 and the signal's number.
    @discardableResult
    func finish(within seconds: Double = 10) throws -> Int {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while !ended, monotonicMilliseconds() < end { try gather(within: end - monotonicMilliseconds()) }
        guard let code = try child.wait(within: max(end - monotonicMilliseconds(), 100)) else {
            throw HarnessError("the program still runs after \(seconds) s; it showed:\n\(transcript)")
        }
        return code
    }

    /// Takes what was shown meanwhile.
    func gather(within milliseconds: Int) throws {
        switch try child.read(within: milliseconds) {
        case .bytes(let bytes):
            unseen += bytes
            shown += bytes
        case .end: ended = true
        case .nothing: break
        }
    }

    private func firstRange(of bytes: [UInt8]) -> Range<Int>? {
        guard !bytes.isEmpty, unseen.count >= bytes.count else { return nil }
        for start in 0...(unseen.count - bytes.count) where unseen[start..<(start + bytes.count)].elementsEqual(bytes) {
            return start..<(start + bytes.count)
        }
        return nil
    }
}
