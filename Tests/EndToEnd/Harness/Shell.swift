/// An interactive shell with job control, at a terminal of its own.
final class Shell {
    let terminal: Terminal
    /// How the terminal was set before any command.
    let modes: Terminal.Modes
    private static let prompt = "ready> "

    /// `bash` gives the terminal its own modes back when a job stops; `dash` leaves those that the job left.
    enum Kind: String, CaseIterable { case bash, dash }

    /// Starts it as the user, or as root with variables of its own.
    ///
    /// Without line editing, so that the terminal's modes between commands are the ones that it started with.
    init(
        _ kind: Kind = .bash, as user: User? = nil, environment: [String: String] = [:],
        columns: UInt16 = UInt16(Terminal.usualColumns)
    ) throws {
        let variables = Child.environment.merging(["PS1": Shell.prompt]) { $1 }.merging(environment) { $1 }
        let words = kind == .bash ? ["bash", "--noprofile", "--norc", "--noediting", "-i"] : ["dash", "-i"]
        terminal = try Terminal(words, as: user, environment: variables, columns: columns)
        try terminal.waitFor(Shell.prompt)
        modes = try terminal.modes
    }

    /// Types a command line.
    func run(_ line: String) throws { try terminal.type("\(line)\n") }

    /// Waits until the shell asks for a command again.
    func waitForPrompt(within seconds: Double = 5) throws { try terminal.waitFor(Shell.prompt, within: seconds) }

    /// Runs a command and answers what it showed.
    func answer(_ line: String) throws -> String {
        try run(line)
        try terminal.waitFor("\(line)\r\n")
        return try terminal.waitFor(Shell.prompt)
    }
}
