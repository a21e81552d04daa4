import Glibc
import Testing

/// Several callers at once, and one that holds on to what the others need.
@Suite(.serialized, .inWorld, .withProduct) struct PINTogetherTests {
    // Would catch guesses that run side by side and are counted once, or not at all.
    @Test func thirtyTwoSudosAtOnceGetFiveGuesses() throws {
        let user = try Signet.user()
        let journal = try JournalListener()
        try Signet.guarding("sudo") {
            let children = try (0..<32).map { _ in
                try Child(["sudo", "-k", "-S", "-p", "", "id", "-u"], as: user, attachment: .pipes)
            }
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
        let (user, other) = (try User.fresh(), try User.fresh())
        // A dear derivation, so that there is time to stop it in its midst.
        try File.replaced("/etc/security/signet.conf", with: "argon2_passes = 8\nargon2_memory = 128\n") {
            try Signet.setPIN(user)
        }
        try Signet.guarding("sudo", "su") {
            let su = try Terminal(["su", user.name, "-c", "id -u"], as: other)
            try su.waitForSecretPrompt(Sudo.prompt)
            let before = try modified(user)
            try su.type(line: Signet.wrongPIN(1))
            let end = monotonicMilliseconds() + 10_000
            while try modified(user) == before, monotonicMilliseconds() < end { usleep(500) }
            su.signal(SIGSTOP)
            // A signal stops a process where it next leaves the kernel.
            let stopped = monotonicMilliseconds() + 1000
            while try !File.read("/proc/\(su.process)/stat").contains(") T "), monotonicMilliseconds() < stopped {
                usleep(500)
            }
            #expect(try File.read("/proc/\(su.process)/stat").contains(") T "))

            let start = monotonicMilliseconds()
            let sudo = try Sudo.start(user)
            try sudo.waitForSecretPrompt(Sudo.prompt, within: 40)
            #expect(monotonicMilliseconds() - start < 25_000)
            #expect(try su.finish() == 128 + Int(SIGKILL))
            #expect(try Signet.lockout(user).pinFailures == 1)
            try sudo.type(line: Signet.pin)
            #expect(try sudo.finish() == 0)
        }
    }

    /// When the user's counters were written last.
    private func modified(_ user: User) throws -> Int {
        var info = stat()
        guard stat(Signet.folder(user) + "/attempts", &info) == 0 else { throw HarnessError("there are no counters") }
        return info.st_mtim.tv_sec * 1_000_000_000 + info.st_mtim.tv_nsec
    }
}
