internal import CPlatform
internal import SignetPlatform
internal import SignetSecrets

/// The terminal that a person sits at, whatever standard input and output are.
struct Terminal: ~Copyable {
    private let descriptor: FileDescriptor

    /// The longest answer, in bytes.
    static let answerLimit = 512

    /// Why no answer came.
    enum Interruption: Error, Equatable {
        /// Ctrl-C, or the end of input.
        case cancelled
        /// Longer than `answerLimit`.
        case tooLong
        /// The terminal is gone, or memory is short.
        case unusable
    }

    /// Opens the controlling terminal; nil where there is none (tty(4)).
    init?() { self.init(path: "/dev/tty") }

    /// Opens another terminal, for tests.
    init?(path: String) {
        // SAFETY: the path is passed as a C string for the time of the call.
        let raw = unsafe signet_openat(AT_FDCWD, path, O_RDWR | O_NOCTTY | O_CLOEXEC, 0)
        guard raw >= 0 else { return nil }
        let descriptor = FileDescriptor(owning: raw)
        guard isatty(raw) == 1 else { return nil }
        self.descriptor = descriptor
    }

    /// Columns; 80 where the terminal does not say.
    var width: Int {
        let columns = signet_terminal_width(descriptor.raw)
        return columns > 0 ? Int(columns) : 80
    }

    /// Writes text.
    borrowing func write(_ text: String) { write(Array(text.utf8).span) }

    /// Writes bytes; what cannot be written is lost, for nothing depends on it.
    borrowing func write(_ bytes: Span<UInt8>) {
        var sent = 0
        while sent < bytes.count {
            // SAFETY: the buffer lives through the call, and `sent` lies within it.
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe CPlatform.write(descriptor.raw, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
            }
            if written > 0 {
                sent += written
            } else if signet_errno() != EINTR {
                return
            }
        }
    }

    /// Shows `prompt` and reads a line that is not shown, each byte straight into guarded memory.
    ///
    /// The terminal's modes are put back on every path. A signal that asks the program to stop is held until that is done:
    /// ctrl-C then cancels, a suspension asks anew afterwards, and the others act.
    borrowing func readHidden(_ prompt: String) throws(Interruption) -> SecretBytes {
        while true {
            switch try readHiddenOnce(prompt) {
            case .answer(let secret): return secret
            case .signal(SIGINT): throw .cancelled
            case .signal(let number):
                // It acts now that the echo is back; where it let the program go on (TSTP and CONT), the question comes again.
                guard raise(number) == 0, number == SIGTSTP else { throw .cancelled }
            }
        }
    }

    private enum Reading: ~Copyable {
        case answer(SecretBytes)
        case signal(Int32)
    }

    private borrowing func readHiddenOnce(_ prompt: String) throws(Interruption) -> Reading {
        guard var secret = SecretBytes(count: Terminal.answerLimit + 1) else { throw .unusable }
        var mask = sigset_t()
        // SAFETY: `mask` lives through the call, which fills it.
        let signals = unsafe signet_hold_signals(&mask)
        guard signals >= 0 else { throw .unusable }
        defer {
            _ = close(signals)
            // SAFETY: `mask` was filled above.
            unsafe signet_release_signals(&mask)
        }
        var modes = termios()
        // SAFETY: `modes` lives through the call.
        guard unsafe tcgetattr(descriptor.raw, &modes) == 0 else { throw .unusable }
        var hidden = modes
        hidden.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        hidden.c_lflag |= tcflag_t(ICANON | ISIG)
        // What was typed before the question is no answer to it: TCSAFLUSH drops it.
        // SAFETY: `hidden` lives through the call.
        guard unsafe tcsetattr(descriptor.raw, TCSAFLUSH, &hidden) == 0 else { throw .unusable }
        defer {
            // SAFETY: `modes` was filled above.
            _ = unsafe tcsetattr(descriptor.raw, TCSAFLUSH, &modes)
            write("\n")
        }
        write(prompt)
        return try readLine(into: &secret, signals)
    }

    private borrowing func readLine(
        into secret: inout SecretBytes, _ signals: Int32
    ) throws(Interruption) -> Reading {
        var length = 0
        while true {
            if let number = try awaitInput(signals) { return .signal(number) }
            if length == secret.capacity { throw .tooLong }
            let count = secret.withMutableBytes { bytes in
                // SAFETY: `length` is below the capacity, and one byte is read into the place it names.
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe read(descriptor.raw, buffer.baseAddress?.advanced(by: length), 1)
                }
            }
            if count < 0, signet_errno() == EINTR || signet_errno() == EAGAIN { continue }
            guard count > 0 else { throw count == 0 ? .cancelled : .unusable }
            if secret.withBytes({ $0[length] }) == 0x0A {
                var answer: SecretBytes?
                secret.withBytes { bytes in answer = SecretBytes(copying: bytes.extracting(0..<length)) }
                guard let taken = answer.take() else { throw .unusable }
                return .answer(taken)
            }
            length += 1
        }
    }

    /// Waits for a byte; answers the number of a signal that came first.
    private borrowing func awaitInput(_ signals: Int32) throws(Interruption) -> Int32? {
        while true {
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0),
            ]
            // SAFETY: the array lives through the call, which is told its length.
            let ready = unsafe poll(&waiting, nfds_t(waiting.count), -1)
            if ready < 0, signet_errno() == EINTR { continue }
            guard ready > 0 else { throw .unusable }
            if waiting[0].revents != 0 { return signet_take_signal(signals) }
            if waiting[1].revents != 0 { return nil }
        }
    }
}
