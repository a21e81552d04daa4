internal import CPlatform
internal import SignetPlatform

/// The terminal that a person sits at, whatever standard input and output are.
struct Terminal: ~Copyable {
    private let descriptor: FileDescriptor

    /// The longest answer to a question, in bytes.
    static let answerLimit = 512

    /// How long a write waits for a terminal that takes nothing, in milliseconds: Ctrl-S stops it for as long as somebody
    /// likes, and signals may be held meanwhile.
    private static let patience: Int64 = 2000

    /// Opens the controlling terminal; nil where there is none (tty(4)).
    init?() { self.init(path: Terminal.controlling) }

    static let controlling = "/dev/tty"

    /// Opens another terminal, for tests.
    init?(path: String) {
        // NONBLOCK belongs to this opening alone (open(2)): other programs' descriptors of the terminal do not have it.
        // SAFETY: the path is passed as a C string for the time of the call.
        let raw = unsafe signet_openat(AT_FDCWD, path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK, 0)
        guard raw >= 0 else { return nil }
        let descriptor = FileDescriptor(owning: raw)
        guard isatty(raw) == 1 else { return nil }
        self.descriptor = descriptor
    }

    /// For poll(2) and terminal modes; it stays this value's.
    var raw: Int32 { descriptor.raw }

    /// Columns; 80 where the terminal does not say.
    var width: Int {
        let columns = signet_terminal_width(descriptor.raw)
        return columns > 0 ? Int(columns) : 80
    }

    /// Writes text.
    borrowing func write(_ text: String) { write(Array(text.utf8).span) }

    /// Writes bytes; what cannot be written in time is lost, for nothing depends on it.
    borrowing func write(_ bytes: Span<UInt8>) {
        let end = BootMilliseconds.now &+ Terminal.patience
        var sent = 0
        while sent < bytes.count {
            // SAFETY: the buffer lives through the call, and `sent` lies within it.
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe CPlatform.write(descriptor.raw, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
            }
            if written > 0 {
                sent += written
                continue
            }
            let reason = written < 0 ? signet_errno() : EIO
            guard reason == EINTR || reason == EAGAIN, BootMilliseconds.now < end else { return }
            var room = pollfd(fd: descriptor.raw, events: Int16(POLLOUT), revents: 0)
            // SAFETY: one entry, good for the call. An interruption only means another look.
            if reason == EAGAIN { _ = unsafe poll(&room, 1, 100) }
        }
    }
}

/// Milliseconds since boot, the time that the machine sleeps included.
enum BootMilliseconds {
    /// The end of time where the clock cannot be read, so that every wait is over.
    static var now: Int64 {
        var time = timespec()
        // SAFETY: `time` is good for the call.
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return Int64.max / 2 }
        return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
    }
}
