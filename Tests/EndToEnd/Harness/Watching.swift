import CTerminal
import Glibc
import Testing

// What a terminal shows and how it is set, and terminals that misbehave.

extension Terminal {
    /// How the terminal is set: its flags and control characters (termios(3)).
    struct Modes: Equatable, CustomStringConvertible {
        let input: tcflag_t
        let output: tcflag_t
        let control: tcflag_t
        let local: tcflag_t
        let characters: [UInt8]

        init(_ modes: termios) {
            input = modes.c_iflag
            output = modes.c_oflag
            control = modes.c_cflag
            local = modes.c_lflag
            characters = withUnsafeBytes(of: modes.c_cc) { Array($0) }
        }

        /// What a shell's terminal has and a field takes away, by the names of stty(1).
        private var named: [(name: String, isOn: Bool)] {
            [
                ("echo", local & tcflag_t(ECHO) != 0), ("icanon", local & tcflag_t(ICANON) != 0),
                ("isig", local & tcflag_t(ISIG) != 0), ("iexten", local & tcflag_t(IEXTEN) != 0),
                ("ixon", input & tcflag_t(IXON) != 0),
            ]
        }
        /// Keys are shown, come by lines, and Ctrl-C is a signal.
        var isUsual: Bool { named.allSatisfy(\.isOn) }
        /// None of that.
        var isField: Bool { named.allSatisfy { !$0.isOn } }

        var description: String { named.map { ($0.isOn ? "" : "-") + $0.name }.joined(separator: " ") }
    }

    /// How it is set now.
    var modes: Modes {
        get throws {
            var modes = termios()
            // A master answers with the modes of its other side (tty_ioctl(4)).
            guard tcgetattr(descriptor, &modes) == 0 else { throw HarnessError("no terminal modes (errno \(errno))") }
            return Modes(modes)
        }
    }

    /// How it was set before the program could change it.
    var modesAtStart: Modes { Modes(termiosAtStart) }

    /// Gives the terminal echo, lines and signals from keys, as `stty sane` does.
    func setUsual() throws {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { throw HarnessError("no terminal modes (errno \(errno))") }
        modes.c_lflag |= tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        modes.c_iflag |= tcflag_t(IXON)
        guard tcsetattr(descriptor, TCSANOW, &modes) == 0 else { throw HarnessError("modes not set (errno \(errno))") }
    }

    /// What is on the screen, whose width was changed after so many bytes.
    func screen(columns: Int = Terminal.usualColumns, resized: (after: Int, columns: Int)? = nil) -> Screen {
        var screen = Screen(columns: columns)
        let bytes = Array(transcript.utf8)
        screen.take(bytes.prefix(resized?.after ?? bytes.count))
        if let resized {
            screen.resize(columns: resized.columns)
            screen.take(bytes.dropFirst(resized.after))
        }
        return screen
    }

    /// Waits until the screen is so; `what` names it for the failure's text.
    @discardableResult
    func waitForScreen(
        _ what: String, columns: Int = Terminal.usualColumns, resized: (after: Int, columns: Int)? = nil,
        within seconds: Double = 10,
        _ holds: (Screen) -> Bool
    ) throws -> Screen {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while true {
            let now = screen(columns: columns, resized: resized)
            if holds(now) { return now }
            guard !isOver, monotonicMilliseconds() < end else {
                throw HarnessError("the screen never had \(what):\n\(now.text)\nof\n\(transcript.debugDescription)")
            }
            try gather(within: 20)
        }
    }

    /// Waits until so many characters are shown as masks.
    func waitForMasks(_ count: Int, columns: Int = Terminal.usualColumns) throws {
        try waitForScreen("\(count) masks", columns: columns) { $0.masks() == count }
    }

    /// Waits until the terminal is set so.
    func waitForModes(within seconds: Double = 5, _ holds: (Modes) -> Bool) throws {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while true {
            let now = try modes
            if holds(now) { return }
            guard monotonicMilliseconds() < end else { throw HarnessError("the modes stay \(now):\n\(transcript)") }
            try gather(within: 5)
        }
    }

    /// Takes the terminal away, as a closed window does.
    ///
    /// Its master's number leads nowhere afterwards, but stays taken.
    func hangUp() throws {
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nowhere >= 0, dup2(nowhere, descriptor) == descriptor else { throw HarnessError("no hang-up") }
        close(nowhere)
    }
}

/// Processes, as /proc shows them.
enum Processes {
    /// Fields of `/proc/PID/stat` from the state on (proc_pid_stat(5)); empty where there is no such process.
    static func stat(_ process: pid_t) -> [String] {
        guard let text = try? File.read("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return [] }
        return text[text.index(after: end)...].split(separator: " ").map(String.init)
    }

    /// The state: "S" sleeping, "T" stopped, "Z" ended; nil where there is no such process.
    static func state(_ process: pid_t) -> String? { stat(process).first }

    /// The processor time that it has used, in clock ticks, of which there are 100 a second.
    static func ticks(_ process: pid_t) -> Int {
        let fields = stat(process)
        guard fields.count > 12 else { return 0 }
        return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
    }

    /// The children of a process that run this program, by its short name.
    static func children(of process: pid_t, named name: String) -> [pid_t] {
        let list = (try? File.read("/proc/\(process)/task/\(process)/children")) ?? ""
        return list.split(separator: " ").compactMap { pid_t($0) }.filter { child in
            (try? File.read("/proc/\(child)/comm")) == name + "\n"
        }
    }

    /// Waits until it holds; `what` names it for the failure's text.
    static func wait(_ what: String, within seconds: Double = 5, until holds: () -> Bool) throws {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while !holds() {
            guard monotonicMilliseconds() < end else { throw HarnessError("\(what) did not come in \(seconds) s") }
            usleep(2000)
        }
    }
}
