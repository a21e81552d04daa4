internal import CPlatform

/// The controlling terminal of this process, opened for saying something to the person who sits at it (`tty(4)`).
package struct ControllingTerminal: ~Copyable {
    private let device: TerminalDevice
    /// The modes to go back to; nil where nothing was changed.
    private var shownModes: termios?

    /// Opens `/dev/tty`; nil where the process has no controlling terminal.
    package init?() {
        guard let device = TerminalDevice() else { return nil }
        self.device = device
    }

    /// Whether this process's group is the one that the terminal reads from (`tcgetpgrp(3)`).
    ///
    /// A background job must not be asked for a touch: the person looks at something else.
    package borrowing func isForeground() -> Bool { device.isForeground() }

    /// Says one sentence on a line of its own; what cannot be written in time is lost, for nothing depends on it.
    ///
    /// A job in the background says nothing: with `stty tostop` the write would stop the whole program.
    package borrowing func say(_ sentence: String) {
        if isForeground() { write(sentence) }
    }

    /// Says it also as a job in the background, where the terminal does not stop such a job for it (termios(3), TOSTOP).
    package borrowing func sayFromBackground(_ sentence: String) {
        if isForeground() || !stopsBackgroundWriters() { write(sentence) }
    }

    private borrowing func stopsBackgroundWriters() -> Bool {
        var modes = termios()
        // SAFETY: `modes` is ours and outlives the call.
        guard unsafe tcgetattr(device.descriptor.raw, &modes) == 0 else { return true }
        return modes.c_lflag & tcflag_t(TOSTOP) != 0
    }

    private borrowing func write(_ sentence: String) {
        let line = Array(sentence.utf8) + [0x0D, 0x0A]
        _ = device.descriptor.write(line.span, within: TerminalDevice.writePatience)
    }

    /// Switches the echo off, for a time in which nobody should type.
    package mutating func hideTyping() {
        guard shownModes == nil, isForeground() else { return }
        var modes = termios()
        // SAFETY: `modes` is ours and outlives the calls.
        guard unsafe tcgetattr(device.descriptor.raw, &modes) == 0, modes.c_lflag & tcflag_t(ECHO) != 0 else { return }
        var hidden = modes
        hidden.c_lflag &= ~tcflag_t(ECHO)
        // TCSANOW: to wait for the output of a stopped terminal (TCSADRAIN) could take for ever.
        if unsafe tcsetattr(device.descriptor.raw, TCSANOW, &hidden) == 0 { shownModes = modes }
    }

    /// Gives the terminal its modes back and throws away what was typed, so that half a PIN is no command afterwards.
    package mutating func showTyping() {
        guard var modes = shownModes else { return }
        shownModes = nil
        // A process that was put in the background meanwhile would be stopped by SIGTTOU (tcsetattr(3)).
        guard isForeground() else { return }
        // SAFETY: `modes` is ours and outlives the call.
        _ = unsafe signet_set_modes(device.descriptor.raw, &modes)
    }
}
