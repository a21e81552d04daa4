internal import CPlatform

/// The terminal's modes while a field stands on it, and those to go back to (`termios(3)`).
struct TerminalModes {
    /// The modes to go back to; nil where nothing was changed.
    private var before: termios?
    /// Modes that could not be given back, for another job had the terminal: should it still have ours when it comes
    /// back, these are the person's.
    private var owed: termios?

    /// Whether there are modes to go back to.
    var areTaken: Bool { before != nil }

    /// The keys that the person's terminal has for erasing, stopping and so on.
    private(set) var controls = ControlKeys()

    /// Takes the terminal for reading key by key without echo; false where it refuses, and then nothing is changed.
    ///
    /// What was typed before is thrown away: a pasted command line is no PIN.
    mutating func take(_ device: borrowing TerminalDevice) -> Bool {
        guard before == nil, device.isForeground() else { return false }
        let raw = device.descriptor.raw
        var now = termios()
        // SAFETY: `now` is ours and outlives the call.
        guard unsafe tcgetattr(raw, &now) == 0 else { return false }
        if let owed, TerminalModes.areHidden(now) { now = owed }
        controls = ControlKeys(now)
        before = now
        guard set(TerminalModes.hidden(now), raw) else {
            before = nil
            return false
        }
        owed = nil
        return true
    }

    /// Whether the terminal still has the modes that were taken.
    borrowing func areInForce(_ device: borrowing TerminalDevice) -> Bool {
        var now = termios()
        // SAFETY: `now` is ours and outlives the call.
        guard unsafe tcgetattr(device.descriptor.raw, &now) == 0 else { return false }
        return TerminalModes.areHidden(now)
    }

    private static func areHidden(_ modes: termios) -> Bool { modes.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0 }

    /// Takes it again after somebody else may have changed the modes; those to go back to stay what they were.
    borrowing func takeAgain(_ device: borrowing TerminalDevice) -> Bool {
        guard let before, device.isForeground() else { return false }
        return set(TerminalModes.hidden(before), device.descriptor.raw)
    }

    /// Gives the terminal its modes back, and throws away what was typed, so that half a PIN is no command afterwards.
    ///
    /// A process that was put in the background meanwhile would be stopped by SIGTTOU (tcsetattr(3)); the shell that put
    /// it there has set its own modes.
    mutating func giveBack(_ device: borrowing TerminalDevice) {
        if !restore(device) { owed = before }
        before = nil
    }

    /// As above, for somebody who goes away and has nothing to remember; whether it could be done.
    @discardableResult
    borrowing func restore(_ device: borrowing TerminalDevice) -> Bool {
        guard let before, device.isForeground() else { return false }
        return set(before, device.descriptor.raw)
    }

    private borrowing func set(_ modes: termios, _ raw: Int32) -> Bool {
        var modes = modes
        // SAFETY: `modes` is ours and outlives the call.
        return unsafe signet_set_modes(raw, &modes) != 0
    }

    /// No echo, no lines, no signals from keys; Ctrl-S and Ctrl-Q are keys like others, and Enter comes as CR or LF.
    private static func hidden(_ modes: termios) -> termios {
        var hidden = modes
        hidden.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        hidden.c_iflag &= ~tcflag_t(IXON | IGNCR)
        ControlKeys.withCharacters(of: &hidden) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        return hidden
    }
}
