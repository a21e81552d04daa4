internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetSecrets

/// What a person sees of an enrollment, an activation or a recovery code, on the terminal itself.
///
/// An enrollment and a recovery code stand on the alternate screen, where the terminal can move its cursor; all else, and
/// everything on a dumb terminal, is lines.
struct TerminalScreen: ManagementScreen, ~Copyable {
    private let path: String
    private let terminal: Terminal?
    private let movesCursor: Bool
    private let exposure: Exposure.Times
    /// Whether recovery codes may be shown.
    let canShowRecoveryCode: Bool
    /// The enrollment's screen while it stands there, and until signals may act.
    private var enrollment: AlternateScreen?
    /// The stages that the bar shows; nil where the cursor stands in no bar.
    private var bar: (done: Int, total: Int)?
    /// The command that goes on where the task ends after it has set the PIN; nil where nothing is left to do then.
    var next: String?
    /// Whose prints are shown, and whether standard output gets them too, where it is not this terminal.
    var shownPrints: (user: String, alsoToOutput: Bool)?
    /// Signals while prints are deleted: they act when this screen goes away.
    private var deletion = HeldSignals()

    /// Without a terminal nothing is shown; `showsCodes` is false where a program stands in for the person.
    init(
        path: String = Terminal.controlling, movesCursor: Bool = TerminalFacts.movesCursor(), showsCodes: Bool = true,
        exposure: Exposure.Times = .usual
    ) {
        let terminal = Terminal(path: path)
        canShowRecoveryCode = showsCodes && terminal != nil
        self.path = path
        self.terminal = terminal
        self.movesCursor = movesCursor
        self.exposure = exposure
    }

    mutating func show(_ found: [FoundPrint]) {
        guard let shownPrints else { return }
        let text = ImportAnswer.list(found, of: shownPrints.user)
        let hasTerminal =
            switch terminal {
            case .some: true
            case .none: false
            }
        if hasTerminal { say(text) }
        if shownPrints.alsoToOutput, !(hasTerminal && Output.isTerminal) { Output.data(text) }
    }

    mutating func begin(_ finger: Finger, on reader: ReaderDescription) {
        if movesCursor { enrollment = AlternateScreen(path: path, .unheard) }
        write(Sheet.hanging("Reader    ", reader.nameAndPlace, width: width))
        write(Sheet.hanging("Finger    ", finger.name, width: width))
        say(
            reader.swipes
                ? "Swipe your finger over the reader, again and again.\n\n"
                : "Touch the reader, lift, and touch again, each time a little differently.\n\n")
    }

    mutating func show(_ progress: EnrollmentProgress) {
        switch progress {
        case .stage(let done, let total):
            guard draw(done, total, remark: "Good") else { return say("\(done) of \(total): good\n") }
            if done >= total { closeBar() }
        case .retry(let reason):
            if let bar, draw(bar.done, bar.total, remark: reason.sentence) { return }
            closeBar()
            say(reason.sentence + "\n")
        }
    }

    mutating func askForTouch(_ purpose: TouchPurpose) {
        closeBar()
        switch purpose {
        case .confirm: say("Touch once more to confirm.\n")
        case .name: say("The reader knows this finger already. Touch once more to see by what name.\n")
        case .activate: say("Touch the reader with an enrolled finger.\n")
        }
    }

    mutating func askAgain(_ reason: RetryReason) { say(reason.sentence + "\n") }

    mutating func notRecognised() { say("Not recognised. Touch again.\n") }

    mutating func beginDeleting() { _ = deletion.hold() }

    mutating func cancelled(pinWasSet: Bool) {
        let stood = cover()
        var sentence = pinWasSet ? "The PIN is set; nothing else was changed." : "Nothing was changed."
        if pinWasSet, let next { sentence += " Go on with \"\(next)\"." }
        // Where lines stand, the cursor may stand behind one, or behind the ^C that the terminal shows.
        say((stood ? "" : "\n") + sentence + "\n")
    }

    mutating func show(recoveryCode: borrowing SecretBytes) {
        guard canShowRecoveryCode else { return }
        if movesCursor, let screen = AlternateScreen(path: path, .heard) {
            var shown = RecoveryCodeScreen(on: screen)
            if let sentence = RecoveryCodeText.afterwards(shown.show(recoveryCode, exposure), next: next) {
                write(RecoveryCodeText.wrapped(sentence, width) + "\n")
            }
            // A signal that covered it acts here, where nothing is left to put back.
            _ = consume shown
            Resumption.watch()
            return
        }
        let columns = width
        write("\n" + RecoveryCodeText.before(columns))
        RecoveryCodeText.write(recoveryCode, columns) { write($0) }
        let warning = "It stays on this terminal: clear it when you have written it down."
        write(RecoveryCodeText.after(columns) + "\n" + RecoveryCodeText.wrapped(warning, columns) + "\n\n")
    }

    /// Ends the enrollment's screen; signals that came meanwhile act before this returns.
    mutating func end() {
        _ = cover()
        enrollment = nil
    }

    /// Wipes the enrollment's screen; whether it stood there.
    private mutating func cover() -> Bool {
        closeBar()
        let stood =
            switch enrollment {
            case .some(let screen): screen.isShown
            case .none: false
            }
        enrollment?.cover()
        return stood
    }

    /// Draws the bar where it fits on one line of a terminal that can move its cursor; whether it did.
    private mutating func draw(_ done: Int, _ total: Int, remark: String) -> Bool {
        let line = ProgressBar.line(done: done, of: total, remark: remark)
        guard movesCursor, line.count < width else { return false }
        write("\r\u{1B}[K" + line)
        bar = (done, total)
        return true
    }

    private mutating func closeBar() {
        if bar != nil { write("\n\n") }
        bar = nil
    }

    private var width: Int {
        switch terminal {
        case .some(let terminal): terminal.width
        case .none: 80
        }
    }

    /// Writes sentences, folded between words.
    private func say(_ text: String) { write(Sheet.folded(text, width: width)) }

    private func write(_ text: String) { write(Array(text.utf8).span) }

    private func write(_ bytes: Span<UInt8>) {
        // Borrowed noncopyable optionals are looked into by switch.
        switch terminal {
        case .some(let terminal): terminal.write(bytes)
        // One that could not be opened before is tried again: who is not told to touch waits in vain.
        case .none: Terminal(path: path)?.write(bytes)
        }
    }
}

/// The bar of an enrollment: `  ███████░░░░░  5 of 8   Good`.
enum ProgressBar {
    private static let cells = 24

    static func line(done: Int, of total: Int, remark: String) -> String {
        let full = total > 0 ? min(max(done, 0), total) * cells / total : 0
        return "  " + String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
            + "  \(done) of \(total)   \(remark)"
    }
}
