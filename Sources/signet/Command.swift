/// One thing that the tool does: a verb, or a verb with its subverb.
struct Command: Sendable {
    /// "enroll", or "pin set".
    let path: [String]
    /// One line, lower case, no full stop.
    let summary: String
    /// What stands after the options: "[FINGER]"; empty where nothing may.
    let operands: String
    /// The most operands that are taken.
    let operandLimit: Int
    let options: [Option]
    /// Whole sentences for the command's own help.
    let details: String
    /// Does it.
    let run: @Sendable (Invocation) throws(Failure) -> ExitCode

    init(
        _ path: String, _ summary: String, operands: String = "", operandLimit: Int = 0, options: [Option] = [],
        details: String = "", run: @escaping @Sendable (Invocation) throws(Failure) -> ExitCode
    ) {
        self.path = path.split(separator: " ").map(String.init)
        self.summary = summary
        self.operands = operands
        self.operandLimit = operandLimit
        self.options = options
        self.details = details
        self.run = run
    }

    var name: String { path.joined(separator: " ") }
}

/// One option of a command.
struct Option: Equatable, Sendable {
    /// With its dashes: "--user".
    let name: String
    /// What its value is called in the help ("U"); nil for a switch.
    let value: String?
    let summary: String
    /// Whether it may be given several times.
    let repeats: Bool

    init(_ name: String, value: String? = nil, repeats: Bool = false, _ summary: String) {
        self.name = name
        self.value = value
        self.summary = summary
        self.repeats = repeats
    }

    static let user = Option("--user", value: "U", "whose PIN and fingers; yours, where you use sudo")
    static let json = Option("--json", "answer as JSON")
    static let help = Option("--help", "say how this command is used")
}

/// What was asked for: a command with its options and operands.
struct Invocation: Sendable {
    let command: Command
    /// The options that were given, with their values; a switch has an empty one.
    let options: [(name: String, value: String)]
    let operands: [String]

    /// The value of an option, the last one where it was given twice.
    func value(of option: Option) -> String? { options.last { $0.name == option.name }?.value }

    /// Whether an option was given.
    func has(_ option: Option) -> Bool { value(of: option) != nil }

    var json: Bool { has(.json) }
}
