internal import CPlatform

/// The controlling terminal of this process, opened for saying something to the person who sits at it (`tty(4)`).
package struct ControllingTerminal: ~Copyable {
    private let descriptor: FileDescriptor

    /// Opens `/dev/tty`; nil where the process has no controlling terminal.
    package init?() {
        // SAFETY: the path is a C string literal.
        let raw = unsafe signet_openat(AT_FDCWD, "/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC, 0)
        guard raw >= 0 else { return nil }
        descriptor = FileDescriptor(owning: raw)
    }

    /// Whether this process's group is the one that the terminal reads from (`tcgetpgrp(3)`).
    ///
    /// A background job must not be asked for a touch: the person looks at something else.
    package borrowing func isForeground() -> Bool {
        tcgetpgrp(descriptor.raw) == getpgrp()
    }

    /// Says one sentence on a line of its own; what cannot be written is lost, for nothing depends on it.
    ///
    /// A job in the background says nothing: with `stty tostop` the write would stop the whole program.
    package borrowing func say(_ sentence: String) {
        guard isForeground() else { return }
        let line = Array(sentence.utf8) + [0x0D, 0x0A]
        var sent = 0
        while sent < line.count {
            // SAFETY: the pointer and the length describe the rest of the array, which lives through the call.
            let written = unsafe line.withUnsafeBytes { bytes in
                unsafe write(descriptor.raw, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
            }
            if written < 0, signet_errno() == EINTR { continue }
            guard written > 0 else { return }
            sent += written
        }
    }
}
