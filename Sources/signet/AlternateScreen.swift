internal import CPlatform
internal import SignetPlatform

/// A screen of the command line while it stands on the terminal: the one owner of all that has to be put back.
///
/// It is drawn on the terminal's alternate screen (xterm's control sequences, mode 1049), of which nothing stays in the
/// scrollback; what is typed meanwhile is not shown and reaches no shell. Signals that end or stop the program are held
/// from the first byte until the terminal is as it was, and act then. So every path puts it back: the end, an error, and
/// a signal; only SIGKILL and a crash do not run it.
struct AlternateScreen: ~Copyable {
    private let terminal: Terminal
    /// The modes to go back to.
    private let modes: termios
    private let signals: HeldSignals
    /// Whether it still stands there.
    private(set) var isShown = true

    /// What becomes of keys.
    enum Keys {
        /// They are thrown away.
        case unheard
        /// Each is heard at once, Ctrl-S and Ctrl-Q too; those of signals stay signals.
        case heard
    }

    /// Enters the screen; nil where the terminal cannot be opened or refuses, and then nothing has changed.
    init?(path: String = Terminal.controlling, _ keys: Keys) {
        guard let terminal = Terminal(path: path) else { return nil }
        var signals = HeldSignals()
        guard signals.hold() else { return nil }
        var modes = termios()
        // SAFETY: `modes` lives through the call.
        guard unsafe tcgetattr(terminal.raw, &modes) == 0, AlternateScreen.set(modes, for: keys, on: terminal) else {
            return nil
        }
        self.terminal = terminal
        self.modes = modes
        self.signals = signals
        self.terminal.write("\u{1B}[?1049h" + AlternateScreen.erase)
    }

    /// Home, and everything from there: unlike "erase all", it moves nothing into the scrollback of a terminal that has no
    /// alternate screen.
    static let erase = "\u{1B}[H\u{1B}[J"

    private static func set(_ modes: termios, for keys: Keys, on terminal: borrowing Terminal) -> Bool {
        var changed = modes
        changed.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        if keys == .heard {
            changed.c_lflag &= ~tcflag_t(ICANON)
            changed.c_iflag &= ~tcflag_t(IXON)
            // SAFETY: both places lie within the array of NCCS entries (termios(3)).
            unsafe withUnsafeMutableBytes(of: &changed.c_cc) { places in
                unsafe places[Int(VMIN)] = 1
                unsafe places[Int(VTIME)] = 0
            }
        }
        // SAFETY: `changed` lives through the call.
        return unsafe signet_set_modes(terminal.raw, &changed) != 0
    }

    var width: Int { terminal.width }

    borrowing func write(_ text: String) { terminal.write(text) }
    borrowing func write(_ bytes: Span<UInt8>) { terminal.write(bytes) }

    /// What ended a wait.
    enum Happening: Equatable, Sendable {
        case nothing, key, signal, resized
        /// Nobody is there any more.
        case lost
    }

    /// Waits at most some milliseconds for a key, a signal, or another size than `columns`.
    borrowing func awaitChange(milliseconds: Int32, columns: Int) -> Happening {
        var watched = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal.raw, events: Int16(POLLIN), revents: 0),
        ]
        // A new size has no descriptor here: it is looked for a few times a second.
        // SAFETY: the array lives through the call, which is told its length.
        let ready = unsafe poll(&watched, nfds_t(watched.count), min(max(milliseconds, 0), 200))
        if ready < 0 { return signet_errno() == EINTR ? .nothing : .lost }
        if watched[0].revents != 0 { return .signal }
        if watched[1].revents & Int16(POLLIN) != 0 { return .key }
        if watched[1].revents != 0 { return .lost }
        return width == columns ? .nothing : .resized
    }

    /// Throws away what was typed.
    borrowing func dropKeys() { _ = tcflush(terminal.raw, TCIFLUSH) }

    /// Wipes the screen and puts the terminal back; signals are held on, so that what has to be said can be said.
    mutating func cover() {
        guard isShown else { return }
        isShown = false
        AlternateScreen.restore(terminal, modes)
    }

    private static func restore(_ terminal: borrowing Terminal, _ modes: termios) {
        terminal.write(erase + "\u{1B}[?1049l")
        var modes = modes
        // What was typed meanwhile, and goes with it, was no command for the shell.
        // SAFETY: `modes` lives through the call.
        _ = unsafe signet_set_modes(terminal.raw, &modes)
    }

    deinit {
        // A signal that is pending acts after this, when `signals` goes away.
        if isShown { AlternateScreen.restore(terminal, modes) }
    }
}
