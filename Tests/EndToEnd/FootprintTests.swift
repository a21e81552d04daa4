import Testing

/// The test host that looks for what a module leaves behind, tried on a module that leaves it.
@Suite(.serialized, .inWorld) struct FootprintTests {
    // Would catch a host that overlooks one of the things that the module must never leave behind.
    @Test(arguments: [
        ("child", "children"), ("grandchild", "children"), ("descriptor", "descriptors"), ("handler", "handlers"),
        ("mask", "mask"),
        ("environment", "environment"), ("umask", "umask"),
    ])
    func eachThingLeftBehindIsNamed(_ thing: String, _ name: String) throws {
        try PAMStack.with("untidy", auth: ["auth required \(World.tools)/pam_untidy.so \(thing)"]) {
            let report = try PAMHost.run("untidy", "root")
            #expect(report.rounds.map(\.left) == [[name]])
        }
    }

    // Would catch a host that cannot see the terminal's modes, which a prompt changes most easily.
    @Test func changedTerminalModesAreNamed() throws {
        try PAMStack.with("untidy", auth: ["auth required \(World.tools)/pam_untidy.so modes"]) {
            let terminal = try Terminal(PAMHost.command("untidy", "root", options: ["--conversation", "terminal"]))
            #expect(try terminal.finish() == 0)
            #expect(try PAMHost(report: terminal.transcript).rounds.map(\.left) == [["modes"]])
        }
    }

    // Would catch a probe that answers "null" whatever the module stored as the password.
    @Test func aStoredPasswordIsSeen() throws {
        let probe = "auth required \(World.tools)/pam_probe.so"
        for (thing, answer) in [("nothing", "null"), ("authtok", "set")] {
            try PAMStack.with("untidy", auth: ["auth required \(World.tools)/pam_untidy.so \(thing)", probe]) {
                let report = try PAMHost.run("untidy", "root")
                #expect(report.items == ["SIGNET_AUTHTOK=\(answer)", "SIGNET_OLDAUTHTOK=null"])
            }
        }
    }

    // Would catch a host that blames a tidy module, or whose answers and hostile states break the module's own decision.
    @Test(arguments: [
        [], ["--hostile", "closed-stdio"], ["--hostile", "ignored-pipe"], ["--hostile", "deleted-folder"],
        ["--hostile", "no-memlock"],
        ["--hostile", "umask", "--rounds", "2"], ["--hostile", "no-files"], ["--hostile", "ignored-child"],
    ])
    func aTidyModuleIsFoundTidy(_ options: [String]) throws {
        let user = try User.fresh()
        try PAMStack.with("tidy", auth: PAMStack.password) {
            let right = try PAMHost.run("tidy", user.name, answers: [user.password, user.password], options: options)
            #expect(right.rounds.allSatisfy { $0.code == 0 && $0.left.isEmpty })
            #expect(right.messages.allSatisfy { $0 == "prompt: Password: " })
            let wrong = try PAMHost.run("tidy", user.name, answers: ["wrong", "wrong"], options: options)
            #expect(wrong.rounds.allSatisfy { $0.code == 7 && $0.left.isEmpty })
        }
    }
}
