/// How a command ends; documented in `signet --help` and the manual page.
enum ExitCode: Int32, CaseIterable, Sendable {
    case yes = 0
    case no = 1
    case usage = 2
    case notPermitted = 3
    case stateDamaged = 4
    case readerNotAvailable = 5
    case lockedOut = 6
    case busy = 7
    case fingerClosed = 8
    /// EX_IOERR of sysexits(3).
    case notWritten = 74
    /// 128 and the number of SIGINT, as shells count.
    case cancelled = 130

    /// What `signet --help` says of it.
    var meaning: StaticString {
        switch self {
        case .yes: "done, or the answer is yes"
        case .no: "not done, or the answer is no"
        case .usage: "the command was not understood"
        case .notPermitted: "not permitted; the store belongs to root"
        case .stateDamaged: "a record, a key or the configuration is damaged"
        case .readerNotAvailable: "the reader is not available"
        case .lockedOut: "locked out, or to wait"
        case .busy: "the store or the reader is busy, or the store cannot be written now"
        case .fingerClosed: "no finger is asked for here, or now"
        case .notWritten: "the answer could not be written to standard output"
        case .cancelled: "cancelled"
        }
    }
}

/// Why a command ends without what was asked for: one clear sentence, and the way out.
struct Failure: Error, Equatable {
    let exit: ExitCode
    /// Lower case, no full stop; empty where nothing is said.
    let message: String
    let hint: String?

    init(_ exit: ExitCode, _ message: String, hint: String? = nil) {
        self.exit = exit
        self.message = message
        self.hint = hint
    }

    /// The code that `--json` gives beside the sentence; stable.
    var code: String {
        switch exit {
        case .yes: "ok"
        case .no: "no"
        case .usage: "usage"
        case .notPermitted: "not_permitted"
        case .stateDamaged: "state_damaged"
        case .readerNotAvailable: "reader_not_available"
        case .lockedOut: "locked_out"
        case .busy: "busy"
        case .fingerClosed: "finger_closed"
        case .notWritten: "not_written"
        case .cancelled: "cancelled"
        }
    }
}
