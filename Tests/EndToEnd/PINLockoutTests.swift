import Testing

/// Counting, waiting, and the ways out, with the boot clock shifted and never waited for.
@Suite(.serialized, .inWorld, .withProduct) struct PINLockoutTests {
    // Would catch free guesses, a wait that is too short or too long, and an eleventh try.
    @Test func tenWrongPINsWaitLongerAndLongerAndDisableThePIN() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
            let fifth = try Sudo.answer(user, [4, 5].map(Signet.wrongPIN))
            #expect(fifth.isRefused && fifth.count(of: "Too many wrong PINs. Try again in ") == 1, "\(fifth)")
            // 60 seconds, of which one or two may be over.
            #expect(fifth.shown.contains(/Try again in (?:1 minute|5\d seconds)\./))
            // One message, and no third prompt: the module left SIGINT pending for sudo's loop.
            #expect(fifth.count(of: Sudo.prompt) == 2)

            var boot = BootShift.later(seconds: 0)
            for (failures, wait) in [(5, 60), (6, 300), (7, 900), (8, 3600), (9, 3600)] {
                let early = try Sudo.answer(user, [], in: boot.later(seconds: wait / 2))
                #expect(early.isRefused && early.count(of: Sudo.prompt) == 0, "\(failures): \(early)")
                #expect(early.count(of: "Too many wrong PINs. Try again in ") == 1)
                #expect(early.count(of: "sudo: 1 incorrect password attempt") == 1)
                boot = boot.later(seconds: wait)
                let next = try Sudo.answer(user, [Signet.wrongPIN(failures + 1)], in: boot)
                #expect(next.isRefused && next.count(of: "Wrong PIN.") == 1, "\(failures): \(next)")
                #expect(try Signet.lockout(user, in: boot).pinFailures == failures + 1)
            }
            #expect(try Signet.lockout(user, in: boot).pinState == "disabled")
            boot = boot.later(seconds: 1_000_000)
            let disabled = try Sudo.answer(user, [], in: boot)
            #expect(disabled.isRefused && disabled.count(of: "Your PIN is disabled.") == 1, "\(disabled)")
            try Signet.reset(user)
            #expect(try Sudo.accepts(user, in: boot))
        }
    }

    // Would catch a wait that ends with a reboot, and one that never ends after it.
    @Test func aRebootStartsTheWaitAnew() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            try failFiveTimes(user)
            // The clock of the new boot begins at 5 s.
            let uptime = try Double(File.read("/proc/uptime").prefix { $0 != " " }) ?? 0
            let reboot = try BootShift.reboot(seconds: 5 - Int(uptime))
            let early = try Sudo.answer(user, [], in: reboot)
            #expect(early.isRefused && early.shown.contains(/Try again in [45]\d seconds\./), "\(early)")
            #expect(early.count(of: Sudo.prompt) == 0)
            #expect(try Signet.lockout(user, in: reboot).pinState == "waiting")
            #expect(try Sudo.accepts(user, in: reboot.later(seconds: 60)))
        }
    }

    // Would catch a login or a su that goes on asking during a wait.
    @Test func loginAndSuEndInAWait() throws {
        let (user, other) = (try Signet.user(), try User.fresh())
        try Signet.guarding("sudo", "su", "login") {
            try failFiveTimes(user)
            for (command, caller) in [(["su", user.name, "-c", "id -u"], other), (["login", user.name], nil)] {
                let terminal = try Terminal(command, as: caller)
                try terminal.waitFor("Too many wrong PINs. Try again in ")
                try terminal.finish()
                #expect(!terminal.transcript.contains(Sudo.prompt))
                #expect(
                    !Terminal.lines(of: terminal.transcript).contains("\(user.uid)")
                        && !terminal.transcript.contains("$ "))
            }
        }
    }

    // Would catch somebody else's `su alice` that locks alice out, or that guesses without end.
    @Test func anotherPersonUsesUpOnlyAShare() throws {
        let (user, other) = (try Signet.user(), try User.fresh())
        try Signet.guarding("sudo", "su") {
            for number in 1...3 {
                let su = try startSu(user, other)
                try su.waitForSecretPrompt(Sudo.prompt)
                try su.type(line: Signet.wrongPIN(number))
                #expect(try su.finish() == 1)
            }
            let closed = try startSu(user, other)
            try closed.waitFor("Too many wrong PINs were typed this way.")
            #expect(try closed.finish() == 1)
            #expect(!closed.transcript.contains(Sudo.prompt))

            let counters = try Signet.lockout(user)
            #expect(counters.pinState == "open" && counters.pinFailures == 3 && counters.closedTo == ["another_person"])
            // The finger's door stays as it is.
            #expect(counters.fingerFailures == 0 && !counters.fingerLockedOut)

            let owner = try Sudo.answer(user, [Signet.pin])
            #expect(owner.isGranted && owner.count(of: "Too many") == 0, "\(owner)")
            let open = try startSu(user, other)
            try open.waitForSecretPrompt(Sudo.prompt)
            try open.type(line: Signet.pin)
            #expect(try open.finish() == 0)
        }
    }

    // Would catch guesses from the network that lock out the person at the machine, or that go on without end.
    @Test func aRemoteCallerUsesUpOnlyAShare() throws {
        let user = try Signet.user()
        let remote = ["--item", "rhost=192.0.2.7"]
        let journal = try JournalListener()
        try Signet.alone { service in
            for (number, code) in [(1, 7), (2, 7), (3, 11), (4, 11)] {
                let host = try PAMHost.run(service, user.name, answers: [Signet.wrongPIN(number)], options: remote)
                #expect(host.rounds.map(\.code) == [code], "\(number): \(host)")
            }
            let counters = try Signet.lockout(user)
            #expect(counters.pinFailures == 3 && counters.pinState == "open" && counters.closedTo == ["remote"])
            try journal.waitFor("reason=share_used_up", "user=\(user.name)", "rhost=192.0.2.7")
            #expect(try PAMHost.run(service, user.name, answers: [Signet.pin], options: remote).rounds[0].code == 11)
        }
        // Whoever knocks at sshd must not keep her from sudo in the session that she has there by her key.
        try Signet.guarding("sudo") {
            var environment = Child.environment
            environment["SSH_TTY"] = "/dev/pts/0"
            let session = try Terminal(Sudo.command, as: user, environment: environment)
            try session.waitForSecretPrompt(Offer.pinRemote)
            try session.type(line: Signet.wrongPIN(4))
            try session.waitFor("Wrong PIN.")
            let counted = try Signet.lockout(user).pinFailures
            #expect(counted == 4)
            try session.waitForSecretPrompt(Offer.pinRemote)
            try session.type(line: Signet.pin)
            #expect(try session.finish() == 0, "\(session.transcript)")
        }
        try Signet.alone { service in
            let again = try PAMHost.run(service, user.name, answers: [Signet.pin], options: remote)
            #expect(again.rounds[0].code == 0)
        }
    }

    // Would catch a recovery that needs root, that can be used twice, or whose wrong codes are free.
    @Test func aDisabledPINIsReplacedByTheRecoveryCodeInTheSameConversation() throws {
        let user = try User.fresh()
        let code = try Signet.setPINAndShowCode(user)
        try withLimitOfFive {
            try failFiveTimes(user)
            let asks = "Your PIN is disabled. Type your recovery code"
            let wrong = try Sudo.start(user)
            for _ in 1...3 {
                try wrong.waitForSecretPrompt(asks)
                try wrong.type(line: "00000-00000-00000-00000-00000-0")
                try wrong.waitFor("Wrong recovery code.")
            }
            #expect(try wrong.finish() == 1)

            // A cancelled new PIN leaves code and lock as they were.
            for (prompt, answers) in [(asks, []), ("New PIN: ", [code]), ("New PIN again: ", [code, "915284"])] {
                for key in ["c", "d"] as [Character] {
                    let cancelled = try Sudo.start(user)
                    for answer in answers {
                        try cancelled.waitForPrompt()
                        try cancelled.type(line: answer)
                    }
                    try cancelled.waitForSecretPrompt(prompt)
                    if answers.isEmpty { try cancelled.waitFor(": ") }
                    try cancelled.press(key)
                    #expect(try cancelled.finish() == 1)
                    #expect(try Signet.lockout(user).pinState == "disabled")
                }
            }

            let right = try Sudo.start(user)
            try right.waitForSecretPrompt(asks)
            try right.type(line: code.lowercased())
            for answer in ["111111", "915284", "915284"] {
                try right.waitForSecretPrompt("New PIN")
                try right.type(line: answer)
            }
            #expect(try right.finish() == 0)
            #expect(right.transcript.contains("That PIN repeats itself."))
            #expect(right.transcript.contains("Your recovery code is used up."))
            #expect(Terminal.lines(of: right.transcript).last == "0")
            #expect(!right.transcript.contains("915284") && !right.transcript.contains(code.lowercased()))

            #expect(try Sudo.accepts(user, "915284"))
            #expect(try Sudo.answer(user, [4, 5, 6].map(Signet.wrongPIN)).isRefused)
            #expect(try Sudo.answer(user, [Signet.pin, Signet.pin]).isRefused)
            // The code is used up: nobody is asked for it again.
            #expect(try Sudo.answer(user, []).count(of: "Your PIN is disabled. Ask an administrator") == 1)
        }
    }

    // Would catch a recovery code that may be guessed for ever, and one whose end locks out the administrator's help.
    @Test func wrongCodesAreCountedLikeWrongPINsAndAnAdministratorReopens() throws {
        let user = try User.fresh()
        let code = try Signet.setPINAndShowCode(user)
        try withLimitOfFive {
            try failFiveTimes(user)
            let journal = try JournalListener()
            for round in [3, 2] {
                let terminal = try Sudo.start(user)
                for _ in 1...round {
                    try terminal.waitForSecretPrompt("Type your recovery code")
                    try terminal.type(line: "00000-00000-00000-00000-00000-0")
                }
                #expect(try terminal.finish() == 1)
            }
            try journal.waitFor("event=failure", "factor=recovery_code", "user=\(user.name)", "recovery_failures=5")
            let closed = try Sudo.answer(user, [])
            #expect(closed.isRefused && closed.count(of: "Type your recovery code") == 0, "\(closed)")
            try Signet.reset(user)
            #expect(try Sudo.accepts(user))
            try journal.waitFor("act=lockout_reset", "by=administrator", "user=\(user.name)")
            #expect(!journal.lines.contains { $0.contains(code) || $0.contains("00000") || $0.contains(Signet.pin) })
        }
    }

    // Would catch a PIN that somebody else set without the user's knowledge, and a reminder that never ends.
    @Test func aPINSetByAnAdministratorIsToldUntilItIsUsed() throws {
        let user = try User.fresh()
        try Signet.setPINAsAdministrator(user)
        try Signet.guarding("sudo") {
            let told = "An administrator set your PIN."
            #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).count(of: told) == 3)
            let first = try Sudo.answer(user, [Signet.pin])
            #expect(first.isGranted && first.count(of: told) == 1, "\(first)")
            #expect(try Sudo.answer(user, [Signet.pin]).count(of: told) == 0)
        }
    }

    private func startSu(_ user: User, _ other: User) throws -> Terminal {
        try Terminal(["su", user.name, "-c", "id -u"], as: other)
    }

    private func failFiveTimes(_ user: User) throws {
        #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
        #expect(try Sudo.answer(user, [4, 5].map(Signet.wrongPIN)).isRefused)
    }

    /// sudo under guard, with a PIN that is disabled by its fifth failure.
    private func withLimitOfFive(_ body: () throws -> Void) throws {
        try File.replaced("/etc/security/signet.conf", with: "pin_limit = 5\n") {
            try Signet.guarding("sudo", body: body)
        }
    }
}
