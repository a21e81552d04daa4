internal import CPlatform

/// The controlling terminal of this process, opened for saying something to the person who sits at it (`tty(4)`).
package struct ControllingTerminal: ~Copyable {
    private let descriptor: FileDescriptor
    /// The modes to go back to; nil where nothing was changed.
    private var shownModes: termios?

    /// How long a sentence waits for a terminal that takes nothing, in milliseconds.
    ///
    /// Ctrl-S stops a terminal's output for as long as its owner likes.
    private static let patience = 200

    /// Opens `/dev/tty`; nil where the process has no controlling terminal.
    package init?() {
        // NONBLOCK belongs to this opening alone (open(2), "open file description"): the program's own descriptors of the
        // same terminal are not touched by it. It also keeps a serial line without a carrier from holding us up here.
        // SAFETY: the path is a C string literal.
        let raw = unsafe signet_openat(AT_FDCWD, "/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK, 0)
        guard raw >= 0 else { return nil }
        descriptor = FileDescriptor(owning: raw)
    }

    /// Whether this process's group is the one that the terminal reads from (`tcgetpgrp(3)`).
    ///
    /// A background job must not be asked for a touch: the person looks at something else.
    package borrowing func isForeground() -> Bool {
        tcgetpgrp(descriptor.raw) == getpgrp()
    }

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
        guard unsafe tcgetattr(descriptor.raw, &modes) == 0 else { return true }
        return modes.c_lflag & tcflag_t(TOSTOP) != 0
    }

    private borrowing func write(_ sentence: String) {
        let line = Array(sentence.utf8) + [0x0D, 0x0A]
        let deadline = Deadline(milliseconds: ControllingTerminal.patience)
        var sent = 0
        while sent < line.count {
            // SAFETY: the pointer and the length describe the rest of the array, which lives through the call.
            let written = unsafe line.withUnsafeBytes { bytes in
                unsafe CPlatform.write(descriptor.raw, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
            }
            if written > 0 {
                sent += written
                continue
            }
            let reason = written < 0 ? signet_errno() : EIO
            guard reason == EINTR || reason == EAGAIN, !deadline.hasPassed else { return }
            var room = pollfd(fd: descriptor.raw, events: Int16(POLLOUT), revents: 0)
            // SAFETY: one entry, good for the call. An interruption only means another look.
            if reason == EAGAIN { _ = unsafe poll(&room, 1, deadline.pollTimeout) }
        }
    }

    /// Switches the echo off, for a time in which nobody should type.
    package mutating func hideTyping() {
        guard shownModes == nil, isForeground() else { return }
        var modes = termios()
        // SAFETY: `modes` is ours and outlives the calls.
        guard unsafe tcgetattr(descriptor.raw, &modes) == 0, modes.c_lflag & tcflag_t(ECHO) != 0 else { return }
        var hidden = modes
        hidden.c_lflag &= ~tcflag_t(ECHO)
        // TCSANOW: to wait for the output of a stopped terminal (TCSADRAIN) could take for ever.
        if unsafe tcsetattr(descriptor.raw, TCSANOW, &hidden) == 0 { shownModes = modes }
    }

    /// Gives the terminal its modes back and throws away what was typed, so that half a PIN is no command afterwards.
    package mutating func showTyping() {
        guard var modes = shownModes else { return }
        shownModes = nil
        // A process that was put in the background meanwhile would be stopped by SIGTTOU (tcsetattr(3)).
        guard isForeground() else { return }
        _ = tcflush(descriptor.raw, TCIFLUSH)
        // SAFETY: `modes` is ours and outlives the call.
        _ = unsafe tcsetattr(descriptor.raw, TCSANOW, &modes)
    }
}
