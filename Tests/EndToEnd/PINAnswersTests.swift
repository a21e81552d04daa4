import Testing

/// What is typed at the PIN's prompt, through real sudo and su at a terminal.
@Suite(.serialized, .inWorld, .withProduct) struct PINAnswersTests {
    // Would catch a module that lets in whatever is typed, or that asks again after a right PIN.
    @Test func theRightPINLetsInAndAWrongOneDoesNot() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            let right = try Sudo.answer(user, [Signet.pin])
            #expect(right.isGranted && right.count(of: Sudo.prompt) == 1, "\(right)")
            #expect(!right.shown.contains(Signet.pin))
            let wrong = try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN))
            #expect(wrong.isRefused, "\(wrong)")
            #expect(wrong.count(of: "Wrong PIN.") == 3)
            // Of the four that start no wait, and the one that does, two are left after the third.
            #expect(wrong.count(of: "Wrong PIN. 2 tries left.") == 1)
            #expect(try Signet.lockout(user).pinFailures == 3)
            let mended = try Sudo.answer(user, [Signet.wrongPIN(4), Signet.pin])
            #expect(mended.isGranted && mended.count(of: "Wrong PIN. 1 try left.") == 1, "\(mended)")
            #expect(try Signet.lockout(user).pinFailures == 0)
        }
    }

    // Would catch a `sudo -i`, for which sudo asks PAM for a service of its own, that goes on taking the system password.
    @Test func aLoginShellBySudoIsAskedAlike() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo-i") {
            for (answers, code) in [([Signet.wrongPIN(1), Signet.pin], 0), ([1, 2, 3].map(Signet.wrongPIN), 1)] {
                let terminal = try Terminal(["sudo", "-k", "-i", "id", "-u"], as: user)
                for answer in answers {
                    try terminal.waitForSecretPrompt(Sudo.prompt)
                    try terminal.type(line: answer)
                }
                #expect(try terminal.finish() == code)
                #expect(Terminal.lines(of: terminal.transcript).contains("0") == (code == 0))
            }
        }
    }

    // Would catch a stack or a module that falls through to the system password (rule 6).
    @Test func theSystemPasswordIsAWrongPIN() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo", "su") {
            #expect(try Sudo.answer(user, [user.password, user.password, user.password]).isRefused)
            let terminal = try Terminal(["su", user.name, "-c", "id -u"], as: user)
            try terminal.waitForSecretPrompt(Sudo.prompt)
            try terminal.type(line: user.password)
            try terminal.waitFor("Wrong PIN.")
            #expect(try terminal.finish() == 1)
            #expect(try Signet.lockout(user).pinFailures == 4)
        }
    }

    // Would catch an empty answer that counts, is taken for a PIN, or ends the prompt.
    @Test func enterAloneDoesNothing() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            let terminal = try Sudo.start(user)
            try terminal.waitForSecretPrompt(Sudo.prompt)
            for answer in ["", "", "", Signet.pin] { try terminal.type(line: answer) }
            #expect(try terminal.finish() == 0)
            #expect(try Signet.lockout(user).pinFailures == 0)
            // Through a program's own conversation it is asked for again, three times at most.
            let refused = try Sudo.answerOnPipes(user, ["", "", "", Signet.pin])
            #expect(refused.code == 1 && refused.output.isEmpty, "\(refused)")
            #expect(try Signet.lockout(user).pinFailures == 0)
        }
    }

    // Would catch a cancelled prompt that counts, is asked again, or leaves the echo off.
    @Test(arguments: ["c", "d"] as [Character])
    func cancellingEndsSudoAtOnceAndLeavesTheTerminalAsItWas(_ key: Character) throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            let script = "trap : INT; stty -g; sudo -k id -u; echo \"code=$?\"; stty -g"
            let terminal = try Terminal(["sh", "-c", script], as: user)
            try terminal.waitForSecretPrompt(Sudo.prompt)
            try terminal.press(key)
            try terminal.waitFor("code=1")
            try terminal.finish()
            let modes = terminal.transcript.matches(of: /[0-9a-f]+(?::[0-9a-f]+){8,}/).map { String($0.0) }
            #expect(modes.count == 2 && modes.first == modes.last)
            #expect(terminal.transcript.matches(of: /Type your PIN/).count == 1)
            #expect(try Signet.lockout(user).pinFailures == 0)
        }
    }

    // Would catch a su or login that goes on, or counts, after Ctrl-C or Ctrl-D.
    @Test(arguments: [("su", "c"), ("su", "d"), ("login", "c")] as [(String, Character)])
    func cancellingEndsSuAndLogin(_ program: String, _ key: Character) throws {
        let (user, other) = (try Signet.user(), try User.fresh())
        try Signet.guarding("su", "login") {
            let terminal =
                program == "su"
                ? try Terminal(["su", user.name, "-c", "id -u"], as: other) : try Terminal(["login", user.name])
            try terminal.waitForSecretPrompt(Sudo.prompt)
            try terminal.press(key)
            #expect(try terminal.finish() != 0)
            #expect(
                !Terminal.lines(of: terminal.transcript).contains("\(user.uid)") && !terminal.transcript.contains("$ "))
            #expect(try Signet.lockout(user).pinFailures == 0)
        }
    }

    // Would catch an answer that is cut to the right PIN, one that is normalised to it, and an overflow.
    @Test func anAnswerThatIsNotThePINToTheLastByteIsRefused() throws {
        let user = try Signet.user()
        let answers = [
            Signet.pin + String(repeating: "8", count: 494), String(repeating: "€", count: 160), Signet.pin + "é",
            "８０６３５７", Signet.pin + " ",
        ]
        try Signet.guarding("sudo") {
            for answer in answers {
                let refused = try Sudo.answerOnPipes(user, [answer])
                #expect(refused.code == 1 && refused.output.isEmpty, "\(answer): \(refused)")
                try Signet.reset(user)
            }
        }
    }

    // Would catch the same at the field, and a wrong PIN that is counted for keys that are none of a PIN's.
    @Test(arguments: [
        (Signet.pin + String(repeating: "8", count: 594), 0), (String(repeating: "€", count: 200), 0),
        ("８０６３５７", 0), (Signet.pin + " ", 1),
    ])
    func theFieldTakesNoMoreThanItShows(_ answer: String, _ failures: Int) throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            let sudo = try Sudo.start(user)
            try sudo.waitForSecretPrompt(Sudo.prompt)
            try sudo.type(line: answer)
            if failures > 0 { try sudo.waitForSecretPrompt(Sudo.prompt) } else { try sudo.waitFor("\u{7}") }
            try sudo.press("c")
            #expect(try sudo.finish() == 1)
            #expect(try Signet.lockout(user).pinFailures == failures)
        }
    }

    // Would catch information that goes through the conversation: sudo prints it on standard output, and scripts break.
    @Test func standardOutputHasOnlyWhatTheCommandWrote() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            let script = "umask 0; sudo -k id -u > /dev/shm/output-\(user.uid); echo \"code=$?\""
            let terminal = try Terminal(["sh", "-c", script], as: user)
            for answer in [Signet.wrongPIN(1), Signet.pin] {
                try terminal.waitForSecretPrompt(Sudo.prompt)
                try terminal.type(line: answer)
            }
            try terminal.waitFor("code=0")
            #expect(terminal.transcript.contains("Wrong PIN."))
            #expect(try File.read("/dev/shm/output-\(user.uid)") == "0\n")
            let refused = try Sudo.answerOnPipes(user, [Signet.wrongPIN(1)])
            #expect((refused.code, refused.output) == (1, ""))
        }
    }

    // Would catch prompts that sudo cannot replace, and information that is written where nobody sits.
    @Test func withoutATerminalSudoTakesThePINFromStandardInputAndFromAnAskProgram() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            let input = try Sudo.answerOnPipes(user, [Signet.pin], options: ["-p", "ask: "])
            #expect((input.code, input.output, input.error) == (0, "0\n", "ask: "))
            let wrong = try Sudo.answerOnPipes(user, [Signet.wrongPIN(1), Signet.pin], options: ["-p", "ask: "])
            #expect((wrong.code, wrong.output, wrong.error) == (0, "0\n", "ask: Sorry, try again.\nask: "))

            let program = try World.scratchFolder() + "/ask"
            try File.write("#!/bin/sh\nprintf '%s\\n' \"$1\" >&2\necho \(Signet.pin)\n", to: program, mode: 0o755)
            let variables = Child.environment.merging(["SUDO_ASKPASS": program]) { $1 }
            let asked = try Command.run(
                ["sudo", "-k", "-A", "-p", "ask: ", "id", "-u"], as: user, environment: variables)
            #expect((asked.code, asked.output, asked.error) == (0, "0\n", "ask: \n"))
        }
    }

    // Would catch a module that keeps the PIN where the next module finds it, or speaks where nobody reads.
    @Test func whatIsTypedIsKeptFromTheOtherModules() throws {
        let user = try Signet.user()
        try Signet.alone { service in
            for (answer, code) in [(Signet.pin, 0), (Signet.wrongPIN(1), 7), (user.password, 7)] {
                let host = try PAMHost.run(service, user.name, answers: [answer])
                #expect(host.rounds.map(\.code) == [code])
                #expect(host.messages == ["prompt: Password: "])
                if code == 0 { #expect(host.items == ["SIGNET_AUTHTOK=null", "SIGNET_OLDAUTHTOK=null"]) }
            }
        }
        // After a failure too: the probe stands behind a line that goes on.
        let auth = ["auth optional pam_signet.so", "auth required \(World.tools)/pam_probe.so"]
        try PAMStack.with("signet-test", auth: auth) {
            let host = try PAMHost.run("signet-test", user.name, answers: [Signet.wrongPIN(1)])
            #expect(host.items == ["SIGNET_AUTHTOK=null", "SIGNET_OLDAUTHTOK=null"])
        }
    }

    // Would catch a conversation that is missing, fails or answers wrongly and takes the program with it, or lets in.
    @Test(arguments: ["none", "failing", "null", "huge"]) func aBrokenConversationIsRefused(_ kind: String) throws {
        let user = try Signet.user()
        try Signet.alone { service in
            let host = try PAMHost.run(service, user.name, options: ["--conversation", kind, "--rounds", "2"])
            #expect(host.rounds.allSatisfy { $0.code != 0 && $0.left.isEmpty }, "\(host)")
            #expect(try Signet.lockout(user).pinFailures == 0)
        }
    }

    // Would catch a su or login that takes another user's PIN, or none.
    @Test func suAndLoginTakeThePINOfTheirTarget() throws {
        let (user, other) = (try Signet.user(), try Signet.user(pin: "914728"))
        try Signet.guarding("su", "su-l", "login") {
            for options in [[other.name], ["-l", other.name]] {
                let su = try Terminal(["su"] + options + ["-c", "id -u"], as: user)
                try su.waitForSecretPrompt(Sudo.prompt)
                try su.type(line: "914728")
                #expect(try su.finish() == 0)
                #expect(Terminal.lines(of: su.transcript).last == "\(other.uid)")
            }
            let own = try Terminal(["su", other.name, "-c", "id -u"], as: user)
            try own.waitForSecretPrompt(Sudo.prompt)
            try own.type(line: Signet.pin)
            #expect(try own.finish() == 1)

            let login = try Terminal(["login", user.name])
            try login.waitForSecretPrompt(Sudo.prompt)
            try login.type(line: Signet.pin)
            try login.waitFor("$ ")
            try login.type(line: "echo name=$(id -un)")
            try login.waitFor("name=\(user.name)")
            try login.type(line: "exit")
            #expect(try login.finish() == 0)
        }
    }
}
