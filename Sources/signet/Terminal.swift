internal import CPlatform
internal import SignetPlatform

/// The terminal that a person sits at, whatever standard input and output are.
struct Terminal: ~Copyable {
    private let descriptor: FileDescriptor

    /// The longest answer to a question, in bytes.
    static let answerLimit = 512

    /// How long a write waits for a terminal that takes nothing, in milliseconds: Ctrl-S stops it for as long as somebody
    /// likes, and signals may be held meanwhile.
    private static let patience = 2000

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
        // One whose driver fails once is a terminal all the same: what is not shown to a person, they wait for in vain.
        guard isatty(raw) == 1 || signet_errno() != ENOTTY else { return nil }
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
        _ = descriptor.write(bytes, within: Terminal.patience)
    }
}
