import Testing

@testable import signet

@Suite struct ParserTests {
    private let parser = Parser(commands: Verbs.all)

    private func failure(_ line: String) -> Failure? {
        do throws(Failure) {
            _ = try parser.parse(line.split(separator: " ").map(String.init))
            return nil
        } catch { return error }
    }

    private func invocation(_ line: String) throws -> Invocation {
        guard case .run(let invocation) = try parser.parse(line.split(separator: " ").map(String.init)) else {
            throw Failure(.no, "not a command")
        }
        return invocation
    }

    private func help(_ line: String) throws -> Help? {
        guard case .help(let help) = try parser.parse(line.split(separator: " ").map(String.init)) else { return nil }
        return help
    }

    /// Catches verbs and subverbs that are mixed up, and options that lose their value.
    @Test func commandsAreRead() throws {
        let set = try invocation("pin set --user alice --json")
        #expect(set.command.name == "pin set")
        #expect(set.value(of: .user) == "alice" && set.json)
        #expect(try invocation("enroll --user=alice right index").operands == ["right", "index"])
        #expect(try invocation("delete -- --all").operands == ["--all"])
        #expect(try invocation("pam check --dir a --dir b sudo").options.map(\.value) == ["a", "b"])
    }

    /// Catches help that is missing at some level, or that runs the command.
    @Test func helpIsEverywhere() throws {
        #expect(try help("") == .tool)
        #expect(try help("--help") == .tool)
        #expect(try help("pin --help") == .group("pin"))
        #expect(try help("pin set --user x --help") == .command("pin set"))
        #expect(try help("help recovery-code use") == .command("recovery-code use"))
        for command in Verbs.all { #expect(try help(command.name + " --help") == .command(command.name)) }
    }

    /// Catches a mistake that is taken for something else, or that ends without a way out.
    @Test(arguments: [
        ("frobnicate", "there is no command \"frobnicate\"", "see \"signet --help\""),
        ("enrol", "there is no command \"enrol\"", "did you mean \"signet enroll\"?"),
        ("pin sett", "there is no command \"pin sett\"", "did you mean \"signet pin set\"?"),
        ("pin", "\"pin\" needs a subcommand", "see \"signet pin --help\""),
        ("list --colour", "there is no option \"--colour\" here", "see \"signet list --help\""),
        ("--nonsense", "there is no option \"--nonsense\" here", "see \"signet --help\""),
        ("list --user", "--user needs a value", "see \"signet list --help\""),
        ("list --user=", "--user needs a value", "see \"signet list --help\""),
        ("list --json=yes", "--json takes no value", "see \"signet list --help\""),
        ("list --user a --user b", "--user is given twice", "see \"signet list --help\""),
        (
            "--json status", "there is no option \"--json\" here",
            "options stand after the command: \"sudo signet status --json\""
        ),
        ("list alice", "\"list\" does not take \"alice\"", "see \"signet list --help\""),
        ("pin set 123456", "\"pin set\" does not take \"123456\"", "see \"signet pin set --help\""),
    ])
    func mistakesAreUsageErrors(line: String, message: String, hint: String) {
        #expect(failure(line) == Failure(.usage, message, hint: hint))
    }

    /// Catches a verb that takes a secret in its arguments, where every process can see it.
    @Test func noArgumentTakesASecret() {
        for command in Verbs.all {
            #expect(command.path.first != "pin" || command.operandLimit == 0)
            #expect(command.path.first != "recovery-code" || command.operandLimit == 0)
            for option in command.options where option.value != nil {
                #expect(!["--pin", "--code", "--secret"].contains(option.name), "\(command.name) \(option.name)")
            }
        }
    }

    /// Catches two verbs of one name, of which only the first would ever run.
    @Test func namesAreUnique() {
        #expect(Set(Verbs.all.map(\.name)).count == Verbs.all.count)
    }
}

@Suite struct HelpTests {
    /// Catches help that leaves out an option or an operand, or that does not fit 80 columns.
    @Test func eachCommandsHelpSaysWhatItTakes() throws {
        for command in Verbs.all {
            let text = try #require(Help.command(command.name).text(Verbs.all))
            #expect(text.hasPrefix("usage: sudo signet \(command.name)"))
            for option in command.options + [.help] { #expect(text.contains("  \(option.name)"), "\(command.name)") }
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(command.name): \(line)") }
            #expect(!command.summary.hasSuffix("."))
        }
    }

    /// Catches a verb or an exit status that the overview leaves out.
    @Test func theOverviewIsWhole() throws {
        let text = try #require(Help.tool.text(Verbs.all))
        for command in Verbs.all { #expect(text.contains("  \(command.name)")) }
        for code in ExitCode.allCases { #expect(text.contains("\(code.rawValue)")) }
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        #expect(Help.group("pin").text(Verbs.all)?.contains("recovery") == true)
        #expect(Help.group("nothing").text(Verbs.all) == nil)
    }

    /// Catches exit codes that moved: scripts depend on them.
    @Test func exitCodesAreFixed() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 74, 130])
    }
}
