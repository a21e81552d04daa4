import Testing

/// Real sudo, su and login on a terminal, with the system password as a stand-in for Signet: proves that the harness
/// tells a right answer from a wrong one, before anything is said about Signet with it.
@Suite(.serialized, .inWorld) struct ProgramsTests {
    // Would catch a harness in which sudo never asks, or accepts anything.
    @Test func sudoTakesTheRightPasswordAndRefusesTheWrongOne() throws {
        let user = try User.fresh()
        try PAMStack.with("sudo", auth: PAMStack.password) {
            let right = try Terminal(["sudo", "-k", "id", "-u"], as: user)
            try right.waitForSecretPrompt("password for \(user.name):")
            try right.type(line: user.password)
            #expect(try right.finish() == 0)
            #expect(right.transcript.hasSuffix("0\r\n"))
            #expect(!right.transcript.contains(user.password))

            let wrong = try Terminal(["sudo", "-k", "id", "-u"], as: user)
            for _ in 1...3 {
                try wrong.waitForSecretPrompt("password for \(user.name):")
                try wrong.type(line: "wrong")
            }
            try wrong.waitFor("3 incorrect password attempts")
            #expect(try wrong.finish() == 1)
        }
    }

    // Would catch a Ctrl-C that does not reach the program, and so a test of cancelling that never cancels.
    @Test func controlCEndsSudosPrompt() throws {
        let user = try User.fresh()
        try PAMStack.with("sudo", auth: PAMStack.password) {
            let terminal = try Terminal(["sudo", "-k", "id", "-u"], as: user)
            try terminal.waitForSecretPrompt("password for \(user.name):")
            try terminal.press("c")
            #expect(try terminal.finish() != 0)
        }
    }

    // Would catch pipes that carry a controlling terminal with them: sudo would then ask there.
    @Test func sudoReadsStandardInputWithoutATerminal() throws {
        let user = try User.fresh()
        try PAMStack.with("sudo", auth: PAMStack.password) {
            let right = try Command.run(
                ["sudo", "-k", "-S", "-p", "ask: ", "id", "-u"], as: user, input: user.password + "\n")
            #expect((right.code, right.output, right.error) == (0, "0\n", "ask: "))
            let wrong = try Command.run(["sudo", "-k", "-S", "-p", "", "id", "-u"], as: user, input: "wrong\n")
            #expect(wrong.code == 1)
            #expect(wrong.output.isEmpty)
            let nowhere = try Command.run(["sudo", "-k", "id", "-u"], as: user)
            #expect(nowhere.error.contains("a terminal is required"))
        }
    }

    // Would catch a su that is started as root, which never asks.
    @Test func suTakesTheRightPasswordAndRefusesTheWrongOne() throws {
        let (user, other) = (try User.fresh(), try User.fresh())
        try PAMStack.with("su", "su-l", auth: PAMStack.password) {
            for options in [[other.name, "-c", "id -un"], ["-l", other.name, "-c", "id -un"]] {
                let right = try Terminal(["su"] + options, as: user)
                try right.waitForSecretPrompt("Password:")
                try right.type(line: other.password)
                #expect(try right.finish() == 0)
                #expect(right.transcript.contains("\r\n\(other.name)\r\n"))

                let wrong = try Terminal(["su"] + options, as: user)
                try wrong.waitForSecretPrompt("Password:")
                try wrong.type(line: user.password)
                #expect(try wrong.finish() == 1)
                #expect(!wrong.transcript.contains("\r\n\(other.name)\r\n"))
            }
        }
    }

    // Would catch a login that cannot run on our terminals or as a child of the tests.
    @Test func loginTakesTheRightPasswordAndRefusesTheWrongOne() throws {
        let user = try User.fresh()
        try PAMStack.with("login", auth: PAMStack.password) {
            let right = try Terminal(["login", user.name])
            try right.waitForSecretPrompt("Password:")
            try right.type(line: user.password)
            try right.waitFor("$ ")
            try right.type(line: "echo name=$(id -un)")
            try right.waitFor("name=\(user.name)")
            try right.type(line: "exit")
            #expect(try right.finish() == 0)

            let wrong = try Terminal(["login", user.name])
            try wrong.waitForSecretPrompt("Password:")
            try wrong.type(line: "wrong")
            try wrong.waitFor("Login incorrect")
        }
    }

    // Would catch a harness whose sudo does not reach the world's journal.
    @Test func sudoTellsTheJournalOfARefusal() throws {
        let user = try User.fresh()
        let journal = try JournalListener()
        try PAMStack.with("sudo", auth: ["auth required pam_deny.so"]) {
            #expect(try Command.run(["sudo", "-k", "-S", "id"], as: user, input: "x\n").code == 1)
            try journal.waitFor("sudo", user.name, "incorrect password attempt")
        }
    }
}
