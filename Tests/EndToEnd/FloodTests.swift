import Glibc
import Proof
import Testing

/// More callers at once than anybody has fingers: what is compared is counted, and memory has a bound.
@Suite(.serialized, .inWorld, .withProduct) struct FloodTests {
    static let sudo = ["sudo", "-k", "-S", "-p", "", "id", "-u"]
    /// The length of a flood.
    private static let seconds: Double = Proof.isWhole ? 60 : 1
    private static let users = Proof.isWhole ? 16 : 8
    /// The first wait for a wrong PIN is over after 60 seconds, and the sixth guess is open then.
    private static let beforeTheSixth = min(seconds, 45)

    // Would catch a guess too many among 64 callers, one that is not counted, and one that is counted and not made;
    // with the usual limit, where the fifth starts a wait, and with a limit of five, where it ends all.
    @Test(arguments: [10, 5]) func sixtyFourProcessesGetFiveGuesses(limit: Int) throws {
        let began = Proof.now()
        let (user, other) = (try Signet.user(), try User.fresh())
        let journal = try JournalListener()
        let seconds = limit == 5 ? Self.seconds : Self.beforeTheSixth
        try File.replaced("/etc/security/signet.conf", with: "pin_limit = \(limit)\n") {
            try Signet.guarding("sudo", "su") {
                let before = try CountersOnDisk(user)
                // Another person's processes at the same time, who have three tries of their own and are not to add to the five.
                let su = try Flood(
                    ["su", user.name, "-c", "id"], as: [other], answers: Self.wrong(8), seconds: seconds, processes: 8)
                let sudo = try Flood(Self.sudo, as: [user], answers: Self.wrong(9), seconds: seconds)
                let outcomes = [try sudo.outcome(), try su.outcome()]
                let after = try CountersOnDisk(user)
                let pin = after.attempts.pin
                let told = journal.lines.filter { $0.contains("event=failure") && $0.contains("user=\(user.name) ") }
                let compared = Int(after.writes - before.writes)
                // With a limit of five all of them share it; else the fifth of the user's own starts the wait, which
                // shuts every door.
                let isAllowed =
                    limit == 5
                    ? pin.total == 5 && pin.byAnotherPerson <= 3
                    : pin.byPerson == 5 && pin.byAnotherPerson <= 3
                let isExact = isAllowed && compared == pin.total && told.count == pin.total
                #expect(isExact, "\(pin), \(compared) written, \(told.count) told: \(told)")
                for outcome in outcomes {
                    #expect(outcome.granted == 0 && outcome.hung == 0 && outcome.killed == 0, "\(outcome)")
                    #expect(outcome.derivations <= 1, "\(outcome)")
                }
                #expect(outcomes[0].runs >= 64)
                Self.tell("64 sudo and 8 su with wrong PINs, limit \(limit)", outcomes, isExact, began)
            }
        }
    }

    // Would catch a right PIN in the midst of wrong ones that clears more than came before it, or one that is let in while the
    // wrong ones before it have shut the door.
    @Test func rightPINsBetweenDoNotHandOutGuesses() throws {
        let began = Proof.now()
        let user = try Signet.user()
        let journal = try JournalListener()
        try Signet.guarding("sudo") {
            let before = try CountersOnDisk(user)
            let answers = [Signet.pin, Signet.wrongPIN(1), Signet.pin, Signet.pin, Signet.pin]
            let outcome = try Flood(
                Self.sudo, as: [user], answers: answers, seconds: Self.beforeTheSixth,
                processes: Proof.isWhole ? 64 : 24
            ).outcome()
            let after = try CountersOnDisk(user)
            let failures = journal.lines.filter { $0.contains("event=failure") && $0.contains("user=\(user.name) ") }
            // Each failure is told with the count that it made: none beyond the fifth, which starts the wait.
            let counts = failures.compactMap { $0.firstMatch(of: #/pin_failures=(\d+)/#).flatMap { Int($0.1) } }
            let writes = Int(after.writes - before.writes)
            let isExact =
                writes == failures.count + 2 * outcome.granted && counts.count == failures.count
                && counts.allSatisfy { (1...5).contains($0) } && after.attempts.pin.total <= 5
            #expect(isExact, "\(outcome) \(writes) \(counts) \(after.attempts.pin)")
            #expect(outcome.hung == 0 && outcome.killed == 0 && outcome.derivations <= 1, "\(outcome)")
            #expect(outcome.granted > 0)
            Self.tell("sudo with right and wrong PINs in turn", [outcome], isExact, began)
        }
    }

    // Would catch users who shut each other out, count for each other, or derive more keys at once than there are users.
    @Test func manyUsersAtOnce() throws {
        let began = Proof.now()
        let users = try (0..<Self.users).map { _ in try Signet.user() }
        try Signet.guarding("sudo") {
            let before = try users.map { try CountersOnDisk($0).writes }
            let right = try Flood(
                Self.sudo, as: users, answers: [Signet.pin], seconds: Self.seconds, processes: 4 * users.count
            ).outcome()
            let writes = try zip(users, before).map { Int(try CountersOnDisk($0).writes - $1) }
            #expect(right.granted == right.runs && right.derivations <= users.count, "\(right)")
            // A derivation of 64 MiB for each user, and the small rest of the programs.
            #expect(right.memory <= users.count * (64 + 4 * 4), "\(right)")
            #expect(writes.reduce(0, +) == 2 * right.granted && writes.allSatisfy { $0 >= 2 }, "\(right) \(writes)")
            // Six programs for each at least, so that each comes to five guesses however slow the machine is.
            let wrong = try Flood(
                Self.sudo, as: users, answers: Self.wrong(5), seconds: Self.beforeTheSixth, processes: 6 * users.count
            ).outcome()
            let pins = try users.map { try CountersOnDisk($0).attempts.pin }
            let isExact = pins.allSatisfy { $0.byPerson == 5 && $0.total == 5 }
            #expect(isExact, "\(wrong) \(pins)")
            #expect(wrong.granted == 0 && wrong.hung == 0 && wrong.killed == 0)
            Self.tell(
                "\(4 * users.count) sudo of \(users.count) users, right PINs, then wrong ones", [right, wrong], isExact,
                began)
        }
    }

    // Would catch somebody who asks for sixteen accounts at once and has sixteen keys derived at once, each in 64 MiB,
    // or who gets more than his three tries of any of them.
    @Test func onePersonAsksForManyUsers() throws {
        let began = Proof.now()
        let (users, other) = (try (0..<Self.users).map { _ in try Signet.user() }, try User.fresh())
        try Signet.guarding("su") {
            let names = "@" + users.map(\.name).joined(separator: ",")
            let outcome = try Flood(
                ["su", names, "-c", "id"], as: [other], answers: Self.wrong(5), seconds: Self.seconds,
                processes: 4 * users.count
            ).outcome()
            let pins = try users.map { try CountersOnDisk($0).attempts.pin }
            let isExact = pins.allSatisfy { $0.byAnotherPerson == 3 && $0.total == 3 && $0.wait == nil }
            #expect(isExact, "\(outcome) \(pins)")
            #expect(outcome.derivations <= 1 && outcome.memory <= 64 + 4 * 4 * users.count, "\(outcome)")
            #expect(outcome.granted == 0 && outcome.hung == 0 && outcome.killed == 0, "\(outcome)")
            Self.tell("\(4 * users.count) su of one person for \(users.count) users", [outcome], isExact, began)
        }
    }

    // Would catch names of nobody that derive at once, and so fill the memory, or that keep a user waiting.
    @Test func unknownUsersDeriveOneAtATime() throws {
        let began = Proof.now()
        let root = User(name: "root", password: "", uid: 0, gid: 0)
        let count = Proof.isWhole ? 64 : 12
        try Signet.alone { service in
            let outcome = try Flood(
                PAMHost.command(service, "nobody-of-this-name"), as: [root], answers: [Signet.pin],
                seconds: Self.seconds, processes: count
            ).outcome()
            let isExact = outcome.granted == 0 && outcome.derivations == 1 && outcome.memory <= 64 + 4 * count
            #expect(isExact && outcome.hung == 0, "\(outcome)")
            Self.tell("\(count) names of nobody", [outcome], isExact, began)
        }
    }

    private static func wrong(_ count: Int) -> [String] { (0..<count).map(Signet.wrongPIN) }

    /// Shows what the flood did, and counts its programs as cases.
    private static func tell(_ what: String, _ outcomes: [Flood.Outcome], _ isExact: Bool, _ began: Int) {
        for outcome in outcomes { print("flood: \(what): \(outcome)", terminator: "") }
        Proof.report(
            "floods: \(what)", cases: outcomes.map(\.runs).reduce(0, +),
            failed: outcomes.map { $0.hung + $0.killed }.reduce(isExact ? 0 : 1, +), seconds: Proof.now() - began)
    }
}
