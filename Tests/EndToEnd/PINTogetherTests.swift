import Glibc
import Testing

/// Several callers at once, and one that holds on to what the others need.
@Suite(.serialized, .inWorld, .withProduct) struct PINTogetherTests {
    // Would catch guesses that run side by side and are counted once, or not at all.
    @Test func thirtyTwoSudosAtOnceGetFiveGuesses() throws {
        let user = try Signet.user()
        let journal = try JournalListener()
        try Signet.guarding("sudo") {
            // Each write is held back for a moment: who counts without the lock then writes over what others counted.
            let slowly = [
                "strace", "-u", user.name, "-f", "--seccomp-bpf", "-qqq", "-o", "/dev/null", "-e", "trace=pwrite64",
                "-e",
                "inject=pwrite64:delay_enter=30000",
            ]
            let children = try (0..<32).map { _ in
                try Child(slowly + ["/usr/bin/sudo", "-k", "-S", "-p", "ask: ", "id", "-u"], attachment: .pipes)
            }
            for child in children { try waitForPrompt(child) }
            for (number, child) in children.enumerated() {
                try child.write(Array("\(Signet.wrongPIN(number))\n".utf8))
                child.closeInput()
            }
            for child in children { #expect(try child.wait(within: 60_000) == 1) }
            let counters = try Signet.lockout(user)
            #expect(counters.pinFailures == 5 && counters.pinState == "waiting", "\(counters)")
            let comparisons = journal.lines.filter { $0.contains("event=failure") && $0.contains("user=\(user.name)") }
            #expect(comparisons.count == 5, "\(comparisons)")
            #expect(!journal.lines.contains { $0.contains("outcome=granted") })
        }
    }

    // Would catch a right PIN among wrong ones that is refused, or a lost charge of the others.
    @Test func aRightPINBesideWrongOnesIsLetIn() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            let answers = [Signet.wrongPIN(1), Signet.pin, Signet.wrongPIN(2), Signet.pin]
            let children = try answers.map { _ in
                try Child(["sudo", "-k", "-S", "-p", "", "id", "-u"], as: user, attachment: .pipes)
            }
            for (child, answer) in zip(children, answers) {
                try child.write(Array("\(answer)\n".utf8))
                child.closeInput()
            }
            for (child, answer) in zip(children, answers) {
                #expect(try child.wait(within: 60_000) == (answer == Signet.pin ? 0 : 1))
            }
            #expect(try Signet.lockout(user).pinFailures <= 2)
        }
    }

    // Would catch somebody who stops his own `su alice` while it holds alice's lock, and so keeps alice out.
    @Test func aStoppedHolderOfTheLockIsKilledAndStaysCharged() throws {
        let (user, other) = (try expensiveUser(), try User.fresh())
        try Signet.guarding("sudo", "su") {
            let su = try startComparison(of: Signet.wrongPIN(1), user, other)
            try send("STOP", to: su, other)
            let start = monotonicMilliseconds()
            while try !File.read("/proc/\(su.process)/stat").contains(") T "), monotonicMilliseconds() < start + 2000 {
                usleep(500)
            }
            let sudo = try Sudo.start(user)
            try sudo.waitForSecretPrompt(Sudo.prompt, within: 40)
            #expect(monotonicMilliseconds() - start < 25_000)
            #expect(try su.finish() == 128 + Int(SIGKILL))
            #expect(try Signet.lockout(user).pinFailures == 1)
            try sudo.type(line: Signet.pin)
            #expect(try sudo.finish() == 0)
        }
    }

    // Would catch a guess that is free because whoever made it kills it before it is counted.
    @Test func aKilledGuessStaysCharged() throws {
        let (user, other) = (try expensiveUser(), try User.fresh())
        try Signet.guarding("su") {
            for number in 1...3 {
                let su = try startComparison(of: Signet.wrongPIN(number), user, other)
                try send("KILL", to: su, other)
                #expect(try su.finish() == 128 + Int(SIGKILL))
                #expect(try Signet.lockout(user).pinFailures == number)
            }
            #expect(try Signet.lockout(user).closedTo == ["another_person"])
        }
    }

    /// A user whose PIN takes long to compare, so that there is time to do something in its midst.
    private func expensiveUser() throws -> User {
        try File.replaced("/etc/security/signet.conf", with: "argon2_passes = 8\nargon2_memory = 128\n") {
            try Signet.user()
        }
    }

    /// Starts `su user` as somebody else, and answers when the attempt is charged and the comparison runs.
    private func startComparison(of answer: String, _ user: User, _ other: User) throws -> Terminal {
        let su = try Terminal(["su", user.name, "-c", "id -u"], as: other)
        try su.waitForSecretPrompt(Sudo.prompt)
        let before = try modified(user)
        try su.type(line: answer)
        let end = monotonicMilliseconds() + 10_000
        while try modified(user) == before {
            guard monotonicMilliseconds() < end else { throw HarnessError("nothing was charged") }
            usleep(500)
        }
        return su
    }

    /// Waits until sudo asks on its standard error.
    private func waitForPrompt(_ child: Child) throws {
        var text: [UInt8] = []
        let end = monotonicMilliseconds() + 30_000
        while !String(decoding: text, as: UTF8.self).contains("ask: ") {
            guard monotonicMilliseconds() < end else { throw HarnessError("sudo does not ask: \(text)") }
            if case .bytes(let bytes) = try child.read(within: 100, fromError: true) { text += bytes }
        }
    }

    /// As the caller himself may: su has his real uid.
    private func send(_ signal: String, to terminal: Terminal, _ caller: User) throws {
        #expect(try Command.run(["sh", "-c", "kill -\(signal) \(terminal.process)"], as: caller).code == 0)
    }

    /// When the user's counters were written last.
    private func modified(_ user: User) throws -> Int {
        var info = stat()
        guard stat(Signet.folder(user) + "/attempts", &info) == 0 else { throw HarnessError("there are no counters") }
        return info.st_mtim.tv_sec * 1_000_000_000 + info.st_mtim.tv_nsec
    }
}
