import Glibc
import Proof
import Testing

/// What a flood does to somebody else at the same machine.
@Suite(.serialized, .inWorld, .withProduct) struct FloodedNeighbourTests {
    /// What the neighbour's time beside a flood may be of the quiet time; looser where other programs share the processors, which
    /// `scripts/test` does not know.
    private static let bound = Proof.isWhole ? 2.0 : 10.0

    // Would catch a lock that somebody else's processes keep, and derivations that wait for each other across users.
    @Test func aRightPINBesideSixtyFourOfAnotherUser() throws {
        let (user, neighbour) = (try Signet.user(), try Signet.user())
        try Signet.guarding("sudo") {
            // Right PINs, so that the door stays open and a key is derived all the time.
            try compare("64 sudo of another user", neighbour) {
                try Flood(FloodTests.sudo, as: [user], answers: [Signet.pin], seconds: 600)
            }
        }
    }

    // Would catch the one lock of all unknown names in the way of those who have one.
    @Test func aRightPINBesideNamesOfNobody() throws {
        let neighbour = try Signet.user()
        let root = User(name: "root", password: "", uid: 0, gid: 0)
        try Signet.guarding("sudo") {
            try Signet.alone { service in
                let command = PAMHost.command(service, "nobody-of-this-name")
                try compare("64 names of nobody", neighbour) {
                    try Flood(command, as: [root], answers: [Signet.pin], seconds: 600)
                }
            }
        }
    }

    // Would catch a reader that prompts queue for, or one that is told as broken while another prompt has it, and
    // helpers that stay.
    @Test func manyPromptsAtOneReader() throws {
        let began = Proof.now()
        let count = Proof.isWhole ? 32 : 8
        try Enrolled.with { alice in
            let first = try alice.sudo()
            try alice.arm(first)
            let others = try (1..<count).map { _ in try Terminal(Sudo.command, as: alice.user) }
            let start = monotonicMilliseconds()
            var failed = 0
            for terminal in others {
                try terminal.waitForSecretPrompt("Type your PIN: ", within: 60)
                let isNamed = terminal.transcript.contains("The reader is in use by sudo on pts/")
                if !isNamed { failed += 1 }
                #expect(isNamed, "\(terminal.transcript)")
            }
            // All of them are told while the first still waits for its touch.
            #expect(monotonicMilliseconds() - start < 60_000)
            for (number, terminal) in others.enumerated() {
                if number.isMultiple(of: 2) { try terminal.press("c") } else { try terminal.type(line: Enrolled.pin) }
            }
            for (number, terminal) in others.enumerated() {
                let isRight = (try terminal.finish(within: 60) == 0) != number.isMultiple(of: 2)
                if !isRight { failed += 1 }
                #expect(isRight, "\(terminal.transcript)")
            }
            try alice.reader.scan(Enrolled.finger)
            #expect(try first.ended().isGranted, "\(first.transcript)")
            try SensorProcess.waitForNone(within: 1)
            #expect(try alice.fingerFailures() == 0)
            Proof.report(
                "floods: \(count) prompts at one reader", cases: count, failed: failed, seconds: Proof.now() - began)
        }
    }

    // Would catch somebody who freezes all his `su alice` at once, and keeps alice out longer than one hold may last.
    @Test(.enabled(if: Proof.isWhole, "waits for the longest permitted hold; scripts/prove floods"))
    func aFloodThatIsStoppedInItsMidst() throws {
        let began = Proof.now()
        let user = try File.replaced("/etc/security/signet.conf", with: "argon2_passes = 8\nargon2_memory = 128\n") {
            try Signet.user()
        }
        let other = try User.fresh()
        try Signet.guarding("sudo", "su") {
            let before = try CountersOnDisk(user).writes
            let flood = try Flood(
                ["su", user.name, "-c", "id"], as: [other], answers: [Signet.wrongPIN(1)], seconds: 0, processes: 32)
            let end = monotonicMilliseconds() + 20_000
            while try CountersOnDisk(user).writes == before {
                guard monotonicMilliseconds() < end else { throw HarnessError("nothing was charged") }
                usleep(500)
            }
            flood.signal(SIGSTOP)
            let start = monotonicMilliseconds()
            let sudo = try Sudo.start(user)
            try sudo.waitForSecretPrompt(Sudo.prompt, within: 40)
            try sudo.type(line: Signet.pin)
            #expect(try sudo.finish(within: 40) == 0)
            let taken = monotonicMilliseconds() - start
            #expect(taken < 30_000, "\(taken) ms")
            flood.signal(SIGCONT)
            // One comparison may have ended before the signal came; none is made after it in the name of the dead.
            let outcome = try flood.outcome()
            #expect(outcome.granted == 0 && outcome.hung == 0 && outcome.killed <= 1, "\(outcome)")
            #expect(try CountersOnDisk(user).attempts.pin.byAnotherPerson <= 3)
            print("flood: 32 su, stopped: \(taken) ms until the user was in, \(outcome)", terminator: "")
            Proof.report(
                "floods: 32 su that are stopped while one compares", cases: outcome.runs, failed: outcome.hung,
                seconds: Proof.now() - began)
        }
    }

    /// Asserts that the neighbour's right PIN takes at most `bound` times as long beside the flood as without it,
    /// measured in turn.
    private func compare(_ what: String, _ neighbour: User, _ start: () throws -> Flood) throws {
        let began = Proof.now()
        _ = try time(neighbour)
        var (quiet, flooded): ([Double], [Double]) = ([], [])
        for _ in 0..<(Proof.isWhole ? 6 : 1) {
            for _ in 0..<5 { quiet.append(try time(neighbour)) }
            let flood = try start()
            // 64 programs that start at once take the processors from everybody for a moment, whatever they are.
            usleep(Proof.isWhole ? 5_000_000 : 2_000_000)
            for _ in 0..<5 { flooded.append(try time(neighbour)) }
            flood.stop()
            // Killed programs take their time to go.
            usleep(300_000)
        }
        let (calm, busy) = (quiet.sorted()[quiet.count / 2], flooded.sorted()[flooded.count / 2])
        let isFair = busy <= calm * Self.bound
        #expect(isFair, "\(what): \(calm) ms quiet, \(busy) ms beside it: \(quiet) \(flooded)")
        let ratio = (busy / calm * 100).rounded() / 100
        print(
            "flood: \(what): \(calm) ms quiet, \(busy) ms beside it, ratio \(ratio), longest \(flooded.max() ?? 0) ms")
        Proof.report(
            "floods: another user's right PIN beside \(what): \(ratio) of the quiet time", cases: flooded.count,
            failed: isFair ? 0 : 1, seconds: Proof.now() - began)
    }

    /// Milliseconds from the start of sudo to the end of the command.
    private func time(_ user: User) throws -> Double {
        let start = monotonicMicroseconds()
        let child = try Child(FloodTests.sudo, as: user, attachment: .pipes)
        child.goFirst()
        try child.write(Array("\(Signet.pin)\n".utf8))
        child.closeInput()
        #expect(try child.wait(within: 60_000) == 0)
        return (Double(monotonicMicroseconds() - start) / 10).rounded() / 100
    }

    private func monotonicMicroseconds() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
    }
}
