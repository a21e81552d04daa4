internal import CPlatform

/// How this process stands to its terminal, by fields 5, 7 and 8 of `/proc/self/stat` (proc_pid_stat(5)).
struct JobStatus: Equatable {
    /// The process group.
    let group: Int64
    /// The controlling terminal's device, as stat(2) numbers devices too; nil where the process has none.
    let terminal: UInt64?
    /// The process group that the terminal reads from; -1 where there is no terminal.
    let foreground: Int64

    /// What the file says; nil where it cannot be read.
    ///
    /// `root` stands before /proc, for tests.
    static func read(root: [UInt8] = []) -> JobStatus? {
        guard let stat = ProcessStat(root + KeyedHash.bytes(of: "/proc/self")), let group = stat.group,
            let terminal = stat.terminal, let foreground = stat.foreground
        else { return nil }
        return JobStatus(group: group, terminal: terminal == 0 ? nil : terminal, foreground: foreground)
    }
}

/// What decides whether Signet may read the terminal itself.
///
/// Only where all agree that there is one terminal, and that it is the program's own: a program that asks in a window, on
/// another terminal or from a file has its conversation for that.
package struct TerminalFacts: Equatable, Sendable {
    /// The device that PAM_TTY names; nil where it names none.
    package var named: UInt64?
    /// The device of the controlling terminal; nil where there is none.
    package var controlling: UInt64?
    /// The device of standard input; nil where it is none.
    package var standardInput: UInt64?
    /// Whether the terminal reads from this process's group.
    package var inForeground: Bool

    package init(named: UInt64?, controlling: UInt64?, standardInput: UInt64?, inForeground: Bool) {
        self.named = named
        self.controlling = controlling
        self.standardInput = standardInput
        self.inForeground = inForeground
    }

    /// Who asks the person.
    package enum Use: Equatable, Sendable {
        /// The program, through its conversation.
        case conversation
        /// Signet, at a field of its own on the terminal.
        case field
        /// Nobody: the program runs in the background of its terminal, whose person looks at something else.
        case nobody
    }

    /// `/dev/tty`, which is the controlling terminal under another name (tty(4)): major 5, minor 0.
    private static let ownTerminal: UInt64 = 5 << 8

    package var use: Use {
        guard let controlling, named == controlling,
            standardInput == controlling || standardInput == TerminalFacts.ownTerminal
        else { return .conversation }
        return inForeground ? .field : .nobody
    }

    /// Whether the terminal obeys escape sequences (ECMA-48), by what TERM says of it (environ(7)); nil where it is unset.
    package static func movesCursor(type: [UInt8]?) -> Bool {
        guard let type, !type.isEmpty else { return false }
        return !type.elementsEqual("dumb".utf8) && !type.elementsEqual("unknown".utf8)
    }

    /// The same for the caller's TERM, which may lie: then the person sees odd signs.
    package static func movesCursor() -> Bool {
        // SAFETY: the answer is null or a C string, which nobody changes meanwhile: the module starts no thread.
        guard let type = unsafe getenv("TERM") else { return false }
        // SAFETY: as above; no more than `count` bytes of it are read.
        let count = unsafe strnlen(type, 64)
        return movesCursor(type: (0..<count).map { unsafe UInt8(bitPattern: type[$0]) })
    }

    /// Looks at this process; `terminal` is PAM_TTY, empty where it was not set.
    package static func current(terminal name: [UInt8]) -> TerminalFacts {
        let job = JobStatus.read()
        return TerminalFacts(
            named: device(named: name), controlling: job?.terminal, standardInput: device(of: STDIN_FILENO),
            inForeground: job.map { $0.group == $0.foreground } ?? false)
    }

    /// The character device of a terminal's name: "/dev/pts/3", "pts/3" or "tty1", as programs set PAM_TTY; nil where
    /// there is none.
    package static func device(named name: [UInt8]) -> UInt64? {
        guard let first = name.first, !name.contains(0) else { return nil }
        let path = first == UInt8(ascii: "/") ? name : KeyedHash.bytes(of: "/dev/") + name
        var status = stat()
        // SAFETY: the path is terminated and outlives the call, as `status` does.
        guard unsafe fstatat(AT_FDCWD, path.map { CChar(bitPattern: $0) } + [0], &status, 0) == 0 else { return nil }
        return device(status)
    }

    private static func device(of descriptor: Int32) -> UInt64? {
        var status = stat()
        // SAFETY: `status` is ours and outlives the call.
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        return device(status)
    }

    private static func device(_ status: stat) -> UInt64? {
        signet_is_device(status.st_mode) != 0 ? UInt64(status.st_rdev) : nil
    }
}
