import Foundation
import Proof
import SignetEngine
import Testing

/// Whoever is killed while a PIN is compared, set, changed, reset or removed leaves records that hold.
@Suite(.serialized, .inWorld, .withProduct) struct KilledPINTests {
    // Would catch a guess that is not counted, or a charge that comes after the comparison.
    @Test func aWrongPIN() throws {
        try asking { (user, service) throws in
            try Sweep(
                what: "a wrong PIN", few: 8, every: Proof.isWhole,
                run: Tasks.authentication(user, service, Signet.wrongPIN(1)),
                isWhole: { $0.code == 1 && $0.compared },
                judge: { ending in
                    let facts = RecordFacts(of: user)
                    var wrong = faults(facts)
                    if !(1...2).contains(facts.pinFailures) { wrong.append("\(facts.pinFailures) failures") }
                    if ending.compared, facts.pinFailures != 2 { wrong.append("a comparison was not counted") }
                    if ending.shown.contains("code 0") { wrong.append("it was let in") }
                    return wrong
                },
                goOn: { try nextAuthentication(user, service, Signet.pin) })()
        }
    }

    // Would catch failures that are forgotten before the PIN was found right.
    @Test func aRightPIN() throws {
        try asking { (user, service) throws in
            try Sweep(
                what: "a right PIN", few: 8,
                run: Tasks.authentication(user, service, Signet.pin),
                isWhole: { $0.code == 0 && $0.compared },
                judge: { ending in
                    let facts = RecordFacts(of: user)
                    var wrong = faults(facts)
                    let allowed = ending.shown.contains("code 0") ? 0...0 : ending.compared ? 0...2 : 1...2
                    if !allowed.contains(facts.pinFailures) { wrong.append("\(facts.pinFailures) failures") }
                    if ending.compared, facts.pinFailures == 1 { wrong.append("a comparison was not counted") }
                    return wrong
                },
                goOn: { try nextAuthentication(user, service, Signet.pin) })()
        }
    }

    // Would catch half a record that nobody can use or replace.
    @Test func theFirstPIN() throws {
        _ = try Signet.user()
        try Signet.alone { (service) throws in
            let user = try User.fresh()
            try Sweep(
                what: "a user's first PIN", few: 5, run: Tasks.firstPIN(user), isWhole: { $0.code == 0 },
                judge: { _ in faults(RecordFacts(of: user), mayBeMissing: true) },
                goOn: { try setAndAuthenticate(user, service) })()
        }
    }

    // Would catch a store that is neither there nor can be made.
    @Test func theFirstPINOfTheMachine() throws {
        try withoutStore { () throws in
            try Signet.alone { (service) throws in
                let user = try User.fresh()
                try Sweep(
                    what: "the machine's first PIN, and the store", few: 5, run: Tasks.firstPIN(user),
                    isWhole: { $0.code == 0 },
                    judge: { _ in [] },
                    goOn: { try setAndAuthenticate(user, service) })()
            }
        }
    }

    // Would catch a change after which neither PIN works, or both do.
    @Test func aPINChange() throws {
        try asking { (user, service) throws in
            try Sweep(
                what: "a PIN change", few: 6, run: Tasks.pinChange(user),
                isWhole: { $0.code == 0 },
                judge: { _ in faults(RecordFacts(of: user)) },
                goOn: { try oneOfTwo(user, service) })()
        }
    }

    // Would catch an administrator's new PIN that leaves the user with none.
    @Test func anAdministratorsPIN() throws {
        try asking { (user, service) throws in
            try Sweep(
                what: "an administrator's new PIN", few: 6, run: Tasks.administratorsPIN(user),
                isWhole: { $0.code == 0 },
                judge: { _ in faults(RecordFacts(of: user)) },
                goOn: { try oneOfTwo(user, service) })()
        }
    }

    // Would catch a reset that is said to be done and is not, or that spoils the counters.
    @Test func aReset() throws {
        try asking { (user, service) throws in
            try Sweep(
                what: "a reset", few: 5, run: Tasks.reset(user),
                isWhole: { $0.code == 0 },
                judge: { ending in
                    let facts = RecordFacts(of: user)
                    var wrong = faults(facts)
                    let allowed = ending.shown.contains("forgotten") ? [0] : [0, 1]
                    if !allowed.contains(facts.pinFailures) { wrong.append("\(facts.pinFailures) failures") }
                    return wrong
                },
                goOn: { try nextAuthentication(user, service, Signet.pin) })()
        }
    }

    // Would catch records that are half removed, so that the user has no PIN and can set none.
    @Test func aRemoval() throws {
        try asking { (user, service) throws in
            try Sweep(
                what: "a removal of all records", few: 5, run: Tasks.removal(user),
                isWhole: { $0.code == 0 },
                judge: { ending in
                    let facts = RecordFacts(of: user)
                    var wrong = faults(facts, mayBeMissing: true)
                    if ending.code == 0, facts.condition != .notSetUp { wrong.append("it is still there") }
                    return wrong
                },
                goOn: { try setAndAuthenticate(user, service) })()
        }
    }

    // MARK: What they share

    /// A user whose one wrong PIN is counted, and a service that asks Signet alone.
    private func asking(_ body: (User, String) throws -> Void) throws {
        let user = try Signet.user()
        try Signet.alone { (service) throws in
            _ = try PAMHost.run(service, user.name, answers: [Signet.wrongPIN(0)])
            try body(user, service)
        }
    }

    private func oneOfTwo(_ user: User, _ service: String) throws -> [String] {
        let old = try nextAuthentication(user, service, Signet.pin)
        let new = try nextAuthentication(user, service, Tasks.newPIN)
        return old.isEmpty == new.isEmpty ? ["of the two PINs \(old.isEmpty ? "both work" : "none works"): \(old)"] : []
    }

    private func withoutStore(_ body: () throws -> Void) throws {
        try Command.must("sh", "-euc", "mv \(Signet.store) \(Signet.store).aside; mkdir -m 700 \(Signet.store)")
        defer {
            _ = try? Command.must("sh", "-euc", "rm -rf \(Signet.store); mv \(Signet.store).aside \(Signet.store)")
        }
        try body()
    }
}

/// What is wrong with records that were left by whoever was killed.
func faults(_ facts: RecordFacts, mayBeMissing: Bool = false) -> [String] {
    if facts.condition == .usable || (mayBeMissing && facts.condition == .notSetUp) { return [] }
    return ["the record is \(facts.condition)"]
}

/// What is wrong with the next authentication, and with what an administrator is told: that an old key is left, where
/// `doctor` has to tell how to be rid of it, and no other failure.
func nextAuthentication(
    _ user: User, _ service: String, _ pin: String, remedy: String? = nil
) throws -> [String] {
    var wrong: [String] = []
    let status = try Command.run(["signet", "status", "--user", user.name])
    if status.code == 4 { wrong.append("status: \(status.output)") }
    let doctor = try Command.run(["signet", "doctor"])
    // Which services are guarded is the tests' own doing.
    let told = doctor.output.split(separator: "\n").filter { $0.hasPrefix("fail") && !$0.hasPrefix("fail  pam ") }
    wrong += told.filter { remedy == nil || !$0.contains("/key does not count") }.map { "doctor: \($0)" }
    if let remedy, !doctor.output.contains(remedy) { wrong.append("doctor does not tell \(remedy)") }
    let host = try PAMHost.run(service, user.name, answers: [pin])
    // A lock that nobody holds any more must not be waited for; who holds one is taken for frozen after 15 s.
    if host.rounds[0].code != 0 || host.rounds[0].milliseconds > 10_000 { wrong.append("next: \(host)") }
    return wrong
}

/// Sets the PIN where there is none, as the user would.
func setAndAuthenticate(_ user: User, _ service: String) throws -> [String] {
    if RecordFacts(of: user).condition == .notSetUp {
        let set = try Tasks.firstPIN(user)(Killer())
        if set.code != 0 { return ["no PIN can be set: \(set.shown)"] }
    }
    return try nextAuthentication(user, service, Signet.pin)
}
