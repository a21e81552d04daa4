import Glibc

/// A shell in a window of tmux, a terminal emulator that is not ours: it wraps, re-wraps and reports as those do that people
/// use.
final class Tmux {
    private let socket: String
    private let user: User

    /// Starts it as the user, without line editing in the shell.
    init(as user: User, columns: Int = 80) throws {
        self.user = user
        let folder = try World.scratchFolder()
        // It answers at a socket of the user's own.
        guard chown(folder, user.uid, user.gid) == 0 else { throw HarnessError("no folder for tmux (errno \(errno))") }
        socket = folder + "/tmux"
        try command(
            "new-session", "-d", "-x", "\(columns)", "-y", "24",
            "PS1='ready> ' exec bash --noprofile --norc --noediting -i")
        try waitForLines("a shell") { $0 == ["ready>"] }
    }

    deinit { _ = try? Command.run(["tmux", "-S", socket, "kill-server"], as: user) }

    @discardableResult
    private func command(_ arguments: String...) throws -> String {
        let result = try Command.run(["tmux", "-f", "/dev/null", "-S", socket] + arguments, as: user)
        guard result.code == 0 else { throw HarnessError("tmux \(arguments): \(result.error)\(result.output)") }
        return result.output
    }

    /// Presses keys, by tmux's names or as text.
    func press(_ keys: String) throws { try command("send-keys", keys) }

    /// Types text as it is.
    func type(_ text: String) throws { try command("send-keys", "-l", text) }

    /// Types a line and Return.
    func type(line text: String) throws {
        try type(text)
        try press("Enter")
    }

    /// Pastes text, in brackets where the program asked for them.
    func paste(_ text: String) throws {
        try command("set-buffer", text)
        try command("paste-buffer", "-p")
    }

    func resize(columns: Int) throws { try command("resize-window", "-x", "\(columns)", "-y", "24") }

    /// The lines that the pane shows, with those that have left it at its top where asked for; without blanks at their ends
    /// and without empty lines at the end.
    func lines(scrolledBack: Bool = false) throws -> [String] {
        var lines = try command("capture-pane", "-p", "-S", scrolledBack ? "-" : "0", "-t", "0").split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .map { String($0.reversed().drop { $0 == " " }.reversed()) }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// Waits until the lines are so; `what` names it for the failure's text.
    @discardableResult
    func waitForLines(_ what: String, within seconds: Double = 10, _ holds: ([String]) -> Bool) throws -> [String] {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while true {
            let now = try lines()
            if holds(now) { return now }
            guard monotonicMilliseconds() < end else { throw HarnessError("tmux never had \(what):\n\(now)") }
            usleep(10_000)
        }
    }
}
