import CTerminal
import Glibc

/// Where a program's standard input and outputs lead.
enum Attachment {
    /// A pseudo-terminal of its own, which belongs to this user id.
    case terminal(owner: uid_t, rows: UInt16, columns: UInt16)
    /// Three pipes, in a session without a controlling terminal.
    case pipes
}

/// A running program that ends with its owner: what is left at the end is killed by its process id.
final class Child {
    /// What a program gets where the test does not say otherwise.
    static let environment = [
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "xterm", "LANG": "C.UTF-8", "HOME": "/",
    ]

    let process: pid_t
    /// The terminal's modes before the program could change them.
    let modes: termios
    private var input: CInt
    private let output: CInt
    private let error: CInt
    private var exitCode: Int?

    /// Starts a program; a first word without a slash is looked up in the system's folders.
    init(
        _ arguments: [String], as user: User? = nil, environment: [String: String] = Child.environment,
        attachment: Attachment
    ) throws {
        var words = arguments
        if let user {
            // No PAM session, no shell and no new session between the test and the program, so setpriv and not runuser.
            words =
                ["setpriv", "--reuid=\(user.uid)", "--regid=\(user.gid)", "--init-groups", "--"] + words
        }
        words[0] = try Child.locate(words[0])
        var variables = environment
        variables["USER"] = variables["USER"] ?? user?.name ?? "root"
        variables["LOGNAME"] = variables["LOGNAME"] ?? user?.name ?? "root"
        var child = signet_child()
        let result = withStrings(words) { argv in
            withStrings(variables.map { "\($0.key)=\($0.value)" }) { envp in
                switch attachment {
                case .terminal(let owner, let rows, let columns):
                    signet_terminal_spawn(argv, envp, owner, rows, columns, &child)
                case .pipes: signet_pipes_spawn(argv, envp, &child)
                }
            }
        }
        guard result == 0 else { throw HarnessError("\(words[0]) was not started (errno \(result))") }
        process = child.pid
        input = child.input
        output = child.output < 0 ? child.input : child.output
        error = child.error
        modes = child.modes
    }

    deinit {
        if exitCode == nil {
            var status: CInt = 0
            kill(process, SIGKILL)
            _ = signet_wait_within(process, 5000, &status)
        }
        if input >= 0 { close(input) }
        if output != input { close(output) }
        if error >= 0 { close(error) }
    }

    /// The terminal's master, or the pipe to standard input.
    var descriptor: CInt { input }

    /// Without it a write to a program that has ended ends the tests; a handler, for an ignored signal would be inherited.
    private static let brokenPipes: Void = { _ = signal(SIGPIPE) { _ in } }()

    /// Writes all of it.
    func write(_ bytes: [UInt8]) throws {
        _ = Child.brokenPipes
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { throw HarnessError("the program takes no input (errno \(errno))") }
            rest = rest.dropFirst(count)
        }
    }

    /// Ends standard input; not for a terminal.
    func closeInput() {
        guard output != input, input >= 0 else { return }
        close(input)
        input = -1
    }

    enum Reading { case bytes([UInt8]), end, nothing }

    /// Reads what the program wrote, waiting at most `milliseconds` for it.
    func read(within milliseconds: Int, fromError: Bool = false) throws -> Reading {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = signet_read_within(fromError ? error : output, &buffer, buffer.count, CInt(clamping: milliseconds))
        switch count {
        case 0: return .end
        case -2: return .nothing
        case 1...: return .bytes(Array(buffer.prefix(count)))
        default: throw HarnessError("what the program wrote could not be read (errno \(errno))")
        }
    }

    /// The exit code, or 128 and the signal's number; nil where the program still runs after this time.
    func wait(within milliseconds: Int) throws -> Int? {
        if let exitCode { return exitCode }
        var status: CInt = 0
        switch signet_wait_within(process, CInt(clamping: milliseconds), &status) {
        case 1: exitCode = Int(signet_exit_code(status))
        case 0: return nil
        default: throw HarnessError("process \(process) could not be waited for (errno \(errno))")
        }
        return exitCode
    }

    private static func locate(_ name: String) throws -> String {
        if name.contains("/") { return name }
        for folder in ["/usr/sbin", "/usr/bin", World.tools] where access("\(folder)/\(name)", X_OK) == 0 {
            return "\(folder)/\(name)"
        }
        throw HarnessError("\(name) is not installed")
    }
}

/// Lets `body` see strings as C sees argv: pointers, then a null.
private func withStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let pointers = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: strings.count + 1)
    pointers.initialize(repeating: nil, count: strings.count + 1)
    defer {
        for index in strings.indices { free(UnsafeMutablePointer(mutating: pointers[index])) }
        pointers.deallocate()
    }
    for (index, string) in strings.enumerated() { pointers[index] = UnsafePointer(strdup(string)) }
    return body(pointers)
}

/// The monotonic clock in milliseconds.
func monotonicMilliseconds() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}
