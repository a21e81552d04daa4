internal import CPlatform
internal import SignetEngine
internal import SignetPolicy
internal import SignetSecrets

/// What a person sees of an enrollment, an activation or a recovery code, on the terminal itself.
struct TerminalScreen: ManagementScreen, ~Copyable {
    private let terminal: Terminal?
    /// Whether the cursor can be moved back to the line's beginning.
    private let redraws: Bool
    /// Whether recovery codes may be shown.
    let canShowRecoveryCode: Bool
    private var barIsOpen = false

    /// Without a terminal nothing is shown; `showsCodes` is false where a program stands in for the person.
    init(showsCodes: Bool = true) {
        let terminal = Terminal()
        switch terminal {
        case .some(let terminal): redraws = ProgressBar.fits(terminal.width) && TerminalScreen.canRedraw()
        case .none: redraws = false
        }
        canShowRecoveryCode = showsCodes && terminal != nil
        self.terminal = terminal
    }

    mutating func begin(_ finger: Finger, on reader: ReaderDescription) {
        write("Reader    \(Output.text(reader.name))\nFinger    \(finger.name)\n")
        write(
            reader.swipes
                ? "Swipe your finger over the reader, again and again.\n\n"
                : "Touch the reader, lift, and touch again, each time a little differently.\n\n")
    }

    mutating func show(_ progress: EnrollmentProgress) {
        switch progress {
        case .stage(let done, let total):
            guard redraws else { return write("\(done) of \(total): good\n") }
            write("\r\u{1B}[K" + ProgressBar.line(done: done, of: total, remark: "Good"))
            barIsOpen = true
            if done >= total { closeBar() }
        case .retry(let reason):
            closeBar()
            write(reason.sentence + "\n")
        }
    }

    mutating func askForTouch(_ purpose: TouchPurpose) {
        closeBar()
        switch purpose {
        case .confirm: write("Touch once more to confirm.\n")
        case .name: write("The reader knows this finger already. Touch once more to see by what name.\n")
        case .activate: write("Touch the reader with an enrolled finger.\n")
        }
    }

    mutating func askAgain(_ reason: RetryReason) { write(reason.sentence + "\n") }

    mutating func notRecognised() { write("Not recognised. Touch again.\n") }

    mutating func cancelled(pinWasSet: Bool) {
        closeBar()
        write(pinWasSet ? "\nYour PIN is set; nothing else was changed.\n" : "\nNothing was changed.\n")
    }

    mutating func show(recoveryCode: borrowing SecretBytes) {
        guard canShowRecoveryCode else { return }
        write("\nYour recovery code. It is shown this once; write it down and keep it away from here.\n\n    ")
        recoveryCode.withBytes { code in
            // In groups of five, straight from guarded memory.
            for start in stride(from: 0, to: code.count, by: 5) {
                if start > 0 { write("-") }
                write(code.extracting(start..<min(start + 5, code.count)))
            }
        }
        write("\n\nIt sets a new PIN, once, where yours is forgotten or disabled.\n\n")
    }

    private mutating func closeBar() {
        if barIsOpen { write("\n\n") }
        barIsOpen = false
    }

    private func write(_ text: String) { write(Array(text.utf8).span) }

    private func write(_ bytes: Span<UInt8>) {
        // Borrowed noncopyable optionals are looked into by switch.
        switch terminal {
        case .some(let terminal): terminal.write(bytes)
        case .none: break
        }
    }

    /// A terminal without a name, or one that says it is dumb, gets lines only (terminfo(5)).
    private static func canRedraw() -> Bool {
        guard let name = Surroundings.environment("TERM") else { return false }
        return !name.isEmpty && name != "dumb"
    }
}

/// The bar of an enrollment: `  ███████░░░░░  5 of 8   Good`.
enum ProgressBar {
    private static let cells = 24

    /// Whether a terminal of that many columns has room for it.
    static func fits(_ columns: Int) -> Bool { columns >= 48 }

    static func line(done: Int, of total: Int, remark: String) -> String {
        let full = total > 0 ? min(max(done, 0), total) * cells / total : 0
        return "  " + String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
            + "  \(done) of \(total)   \(remark)"
    }
}
