internal import CPlatform
internal import SignetSecrets

/// A terminal that is open for this process alone: the program's own descriptors of it are not touched.
struct TerminalDevice: ~Copyable {
    let descriptor: FileDescriptor
    /// Whether it is the controlling terminal, which stops a background job that reads or changes it (`tty(4)`).
    private let isControlling: Bool

    /// How long a writer waits for a terminal that takes nothing, in milliseconds.
    ///
    /// Ctrl-S stops a terminal's output for as long as its owner likes.
    static let writePatience = 200

    /// Opens the controlling terminal; nil where the process has none.
    init?() { self.init(path: Array("/dev/tty".utf8), isControlling: true) }

    /// Opens the terminal at `path`; nil where it is none.
    init?(path: [UInt8], isControlling: Bool = false) {
        let terminated = path + [0]
        // NONBLOCK belongs to this opening alone (open(2), "open file description"): the program's own descriptors of the
        // same terminal are not touched by it. It also keeps a serial line without a carrier from holding us up here.
        let raw = unsafe terminated.withUnsafeBytes { bytes -> Int32 in
            // SAFETY: the bytes end with 0 and live through the call.
            guard let name = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
            return unsafe signet_openat(AT_FDCWD, name, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK, 0)
        }
        guard raw >= 0 else { return nil }
        let opened = FileDescriptor(owning: raw)
        guard isatty(raw) == 1 else { return nil }
        descriptor = opened
        self.isControlling = isControlling
    }

    /// How this process stands to the terminal.
    enum Standing {
        /// Its group is the one that the terminal reads from (`tcgetpgrp(3)`).
        case foreground
        /// A background job must not ask for anything: the person looks at something else.
        case background
        /// The terminal was hung up, or taken from this process.
        case gone
    }

    borrowing func standing() -> Standing {
        guard isControlling else { return .foreground }
        let group = tcgetpgrp(descriptor.raw)
        return group < 0 ? .gone : group == getpgrp() ? .foreground : .background
    }

    borrowing func isForeground() -> Bool { standing() == .foreground }

    /// The columns; 80 where the terminal does not say.
    borrowing func width() -> Int {
        let columns = signet_terminal_width(descriptor.raw)
        return columns > 0 ? Int(columns) : 80
    }

    /// The rows; 24 where the terminal does not say.
    borrowing func rows() -> Int {
        let rows = signet_terminal_rows(descriptor.raw)
        return rows > 0 ? Int(rows) : 24
    }

    /// Writes bytes, as far as the terminal takes them in time, for nothing depends on them; whether it took them all.
    ///
    /// A job in the background writes nothing: with `stty tostop` that would stop the whole program.
    @discardableResult
    borrowing func write(_ bytes: [UInt8], patience: Int = TerminalDevice.writePatience) -> Bool {
        write(bytes.span, patience: patience)
    }

    /// Writes a secret that the screen is to show, straight from guarded memory.
    borrowing func write(_ secret: borrowing SecretBytes, patience: Int) -> Bool {
        secret.withBytes { write($0, patience: patience) }
    }

    private borrowing func write(_ bytes: Span<UInt8>, patience: Int) -> Bool {
        guard !bytes.isEmpty, isForeground() else { return true }
        return descriptor.write(bytes, within: patience)
    }

    /// What a read found.
    enum Reading {
        case byte
        case nothing
        /// The terminal is gone.
        case end
    }

    /// Reads one byte, if there is one, straight into guarded memory.
    borrowing func readByte(into place: inout SecretBytes) -> Reading {
        let raw = descriptor.raw
        let count = place.withMutableBytes { span in
            unsafe span.withUnsafeMutableBytes { buffer in
                // SAFETY: the kernel writes at most one byte, and no more than the place has.
                unsafe CPlatform.read(raw, buffer.baseAddress, min(1, buffer.count))
            }
        }
        if count == 1 { return .byte }
        let reason = count < 0 ? signet_errno() : EIO
        // Interrupted: whoever reads comes again, and counts how often.
        return reason == EAGAIN || reason == EINTR ? .nothing : .end
    }
}
