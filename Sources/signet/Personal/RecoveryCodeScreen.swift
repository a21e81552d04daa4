internal import SignetPlatform
internal import SignetSecrets

/// How long a recovery code stands on the screen; the time is told to it.
struct Exposure: Equatable, Sendable {
    /// In milliseconds.
    struct Times: Equatable, Sendable {
        /// After that it is covered.
        var shown: Int64
        /// Before that no key covers it.
        var deaf: Int64

        /// A minute is enough to write 26 characters down.
        ///
        /// A key of the first second is nobody's who has read them: a second Enter, or what a terminal reports by itself,
        /// too late for the field before.
        static let usual = Times(shown: 60_000, deaf: 1_000)
    }

    /// On the clock that `step` is told.
    private let hearing: Int64
    private let end: Int64

    init(from now: Int64, _ times: Times) {
        hearing = now &+ times.deaf
        end = now &+ times.shown
    }

    /// What to do next.
    enum Step: Equatable, Sendable {
        case wait(milliseconds: Int32)
        case redraw
        /// Throw keys away and wait on.
        case ignoreKeys
        case cover(Ending)
    }

    /// Why it is covered.
    enum Ending: Equatable, Sendable {
        case key, time, interrupted
    }

    /// What follows on what happened.
    func step(after happening: AlternateScreen.Happening, at now: Int64) -> Step {
        switch happening {
        case .signal, .lost: return .cover(.interrupted)
        case .nothing, .resized, .key: break
        }
        guard now < end else { return .cover(.time) }
        switch happening {
        case .key: return now < hearing ? .ignoreKeys : .cover(.key)
        case .resized: return .redraw
        case .nothing, .signal, .lost: return .wait(milliseconds: Int32(clamping: end - now))
        }
    }
}

/// A recovery code on a screen of its own, from guarded memory straight to the terminal.
struct RecoveryCodeScreen: ~Copyable {
    private var screen: AlternateScreen

    init(on screen: consuming AlternateScreen) { self.screen = screen }

    /// Shows the code until a key, a signal or the time covers it; the signal acts when this value goes away.
    mutating func show(_ code: borrowing SecretBytes, _ times: Exposure.Times) -> Exposure.Ending {
        let exposure = Exposure(from: Deadline.now, times)
        var columns = screen.width
        draw(code, columns, seconds: times.shown / 1000)
        var happening = AlternateScreen.Happening.nothing
        while true {
            switch exposure.step(after: happening, at: Deadline.now) {
            case .wait(let milliseconds): happening = screen.awaitChange(milliseconds: milliseconds, columns: columns)
            case .redraw:
                columns = screen.width
                draw(code, columns, seconds: times.shown / 1000)
                happening = .nothing
            case .ignoreKeys:
                screen.dropKeys()
                happening = .nothing
            case .cover(let ending):
                screen.cover()
                return ending
            }
        }
    }

    private func draw(_ code: borrowing SecretBytes, _ columns: Int, seconds: Int64) {
        screen.write(AlternateScreen.erase)
        screen.write(RecoveryCodeText.before(columns))
        RecoveryCodeText.write(code, columns) { screen.write($0) }
        screen.write(RecoveryCodeText.after(columns))
        let howLong = "Press a key when you have written it down. It is covered after \(seconds) seconds."
        screen.write("\n" + RecoveryCodeText.wrapped(howLong, columns) + "\n")
    }
}

/// What stands around a recovery code, and the code itself in groups of five.
enum RecoveryCodeText {
    static func before(_ columns: Int) -> String {
        let text = "Your recovery code. It is shown this once; write it down and keep it away from here."
        return wrapped(text, columns) + "\n\n"
    }

    static func after(_ columns: Int) -> String {
        "\n\n" + wrapped("It sets a new PIN, once, where yours is forgotten or disabled.", columns) + "\n"
    }

    static func wrapped(_ text: String, _ columns: Int) -> String {
        Help.wrapped(text, width: max(columns - 1, 10)).joined(separator: "\n")
    }

    /// Hands the code on in pieces of guarded memory; a line holds as many groups as it has room for.
    static func write(_ code: borrowing SecretBytes, _ columns: Int, _ write: (Span<UInt8>) -> Void) {
        let group = 5
        let perLine = max((columns - 5) / (group + 1), 1)
        code.withBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: group) {
                let place = start / group
                let between = place == 0 ? "    " : place % perLine == 0 ? "-\n    " : "-"
                write(Array(between.utf8).span)
                write(bytes.extracting(start..<min(start + group, bytes.count)))
            }
        }
    }

    /// What is said after it was covered; nil where the person has said that it is written down.
    ///
    /// `next` is the command that goes on where the signal that covered it ends a task which has set the PIN.
    static func afterwards(_ ending: Exposure.Ending, next: String? = nil) -> String? {
        let anew = "If you have not written it down, make a new one with \"sudo signet recovery-code new\"."
        switch ending {
        case .key: return nil
        case .time: return "The time is over, and your recovery code is covered. " + anew
        case .interrupted:
            let way = next.map { " Your PIN is set; where this ends here, go on with \"\($0)\"." } ?? ""
            return "Your recovery code is covered. " + anew + way
        }
    }
}
