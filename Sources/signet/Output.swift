internal import CPlatform
internal import Synchronization

/// Where words go: data to standard output, messages to standard error.
///
/// Prompts and progress go to the terminal itself.
enum Output {
    /// Why data could not be written, as errno; 0 where all of it was.
    private static let lost = Atomic<Int32>(0)

    /// Whether a person reads what is written to standard output.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The columns of the terminal behind a descriptor; nil where there is none, or where it does not say.
    static func columns(of descriptor: Int32) -> Int? {
        let columns = isatty(descriptor) == 1 ? Int(signet_terminal_width(descriptor)) : 0
        return columns > 0 ? columns : nil
    }

    /// Writes an answer for people, folded where a terminal shows it.
    static func page(_ text: String) { data(Sheet.folded(text, width: columns(of: STDOUT_FILENO))) }

    /// Writes data as it is.
    static func data(_ text: String) {
        let code = write(text, to: STDOUT_FILENO)
        if code != 0 { lost.store(code, ordering: .relaxed) }
    }

    /// The exit code when all is said: an answer that nobody got is told, and is no success.
    static func settled(_ done: ExitCode) -> ExitCode {
        guard let failure = failure(writing: lost.load(ordering: .relaxed), after: done) else { return done }
        message(failure.message, hint: failure.hint)
        return failure.exit
    }

    /// What a failed write means; nil where nothing failed, or where the reader wanted no more (`| head -1`).
    static func failure(writing code: Int32, after done: ExitCode) -> Failure? {
        let why: String
        switch code {
        case 0, EPIPE: return nil
        case ENOSPC, EDQUOT: why = "no space is left there"
        case EFBIG: why = "the limit on the size of files is reached"
        case EBADF: why = "it is closed"
        default: why = "writing failed with errno \(code)"
        }
        return Failure(
            .notWritten, "the answer cannot be written to standard output: \(why)",
            hint: "the command itself ended with exit status \(done.rawValue)")
    }

    /// Writes one message, and a hint where there is one.
    static func message(_ text: String, hint: String? = nil) {
        var lines = text.isEmpty ? "" : "signet: \(text)\n"
        if let hint { lines += "hint: \(hint)\n" }
        _ = write(Sheet.folded(lines, width: columns(of: STDERR_FILENO)), to: STDERR_FILENO)
    }

    /// A table with aligned columns; the last one is not padded.
    static func table(_ rows: [[String]]) -> String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        var text = ""
        for row in rows {
            for (column, cell) in row.enumerated() {
                let last = column == row.count - 1
                text += last ? cell : cell + String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            text += "\n"
        }
        return text
    }

    /// The calendar day of a wall time in seconds since 1970, as the machine's time zone has it.
    static func day(_ wallTime: Int64) -> String {
        var day = signet_day()
        // SAFETY: `day` lives through the call, which fills it.
        guard unsafe signet_local_day(wallTime, &day) != 0 else { return "?" }
        return "\(day.year)-\(twoDigits(day.month))-\(twoDigits(day.day))"
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Bytes from outside that people read: what is no printable text becomes "?", so that no name can steer a terminal.
    static func text(_ bytes: [UInt8]) -> String {
        let decoded = String(decoding: bytes, as: UTF8.self)
        return String(
            decoded.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: "?"
                default: Character(scalar)
                }
            })
    }

    /// A word that was typed, for a message: printable, and no longer than a line holds.
    static func name(_ word: String) -> String {
        let limit = 64
        let shown = text(Array(word.utf8.prefix(4 * limit + 4)))
        return shown.count > limit ? shown.prefix(limit) + "…" : shown
    }

    /// Answers the errno that ended it, or 0.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // SAFETY: the buffer lives through the call.
            let written = unsafe rest.withUnsafeBytes { unsafe CPlatform.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if signet_errno() != EINTR {
                return signet_errno()
            }
        }
        return 0
    }
}
