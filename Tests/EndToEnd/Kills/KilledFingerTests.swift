import SignetEngine
import Testing

/// Whoever is killed while a finger is read, enrolled or deleted, and a helper that is killed while it reads one.
@Suite(.serialized, .inWorld, .withProduct) struct KilledFingerTests {
    // Would catch a touch that is compared before it is counted.
    @Test(arguments: [false, true]) func aWrongFinger(_ helper: Bool) throws {
        try touching { (alice, service, before) throws in
            try Sweep(
                what: helper ? "a wrong finger's helper" : "a wrong finger", few: 4, helper: helper,
                run: Tasks.touch(Tasks.stranger, alice, service), isWhole: { $0.code != 0 },
                judge: { ending in
                    let facts = RecordFacts(of: alice.user)
                    var wrong = faults(facts)
                    let armed = ending.shown.contains(Offer.touch)
                    if !(armed ? before + 1...before + 2 : before...before + 1).contains(facts.fingerFailures) {
                        wrong.append("\(facts.fingerFailures) failures")
                    }
                    if ending.shown.contains("code 0") { wrong.append("it was let in") }
                    return wrong
                },
                goOn: { try nextAuthentication(alice.user, service, Enrolled.pin) })()
        }
    }

    // Would catch failures that are forgotten before the finger matched, and a dead helper that lets somebody in.
    @Test(arguments: [false, true]) func aRightFinger(_ helper: Bool) throws {
        try touching { (alice, service, before) throws in
            try Sweep(
                what: helper ? "a right finger's helper" : "a right finger", few: 4, helper: helper,
                run: Tasks.touch(Enrolled.finger, alice, service), isWhole: { $0.code == 0 },
                judge: { ending in
                    let facts = RecordFacts(of: alice.user)
                    var wrong = faults(facts)
                    let armed = ending.shown.contains(Offer.touch)
                    let granted = ending.shown.contains("code 0")
                    let charged = before + 1
                    let allowed = granted ? [0] : armed ? (helper ? [charged] : [0, charged]) : [before, charged]
                    if !allowed.contains(facts.fingerFailures) { wrong.append("\(facts.fingerFailures) failures") }
                    if granted, !armed { wrong.append("it was let in") }
                    return wrong
                },
                goOn: { try nextAuthentication(alice.user, service, Enrolled.pin) })()
        }
    }

    // Would catch a finger that is half enrolled: there and not approved, or approved and not there.
    @Test func anEnrolment() throws {
        try touching { (alice, service, _) throws in
            try Sweep(
                what: "an enrolment", few: 4, run: Tasks.enrolment(alice),
                isWhole: { $0.code == 0 },
                judge: { set(of: alice, $0, after: 2) },
                goOn: { try stillTouches(alice, service) })()
        }
    }

    // Would catch a print that is gone and still approved, so that the rest counts as changed.
    @Test func aDeletion() throws {
        try touching { (alice, service, _) throws in
            try alice.enroll(Tasks.otherFinger, as: Tasks.otherFinger)
            try Sweep(
                what: "a deletion", few: 4, run: Tasks.deletion(alice),
                isWhole: { $0.code == 0 },
                judge: { set(of: alice, $0, after: 1) },
                goOn: { try stillTouches(alice, service) })()
        }
    }

    // MARK: What they share

    /// A user with a finger and a failed touch, a service that asks Signet alone, and how many failures that touch
    /// left: two where Ctrl-C came before the next try had begun, for which nobody says that no finger lay there.
    private func touching(_ body: (Enrolled, String, Int) throws -> Void) throws {
        try Enrolled.with { alice in
            try Signet.alone { (service) throws in
                let first = try Tasks.touch(Tasks.stranger, alice, service)(Killer())
                let failures = RecordFacts(of: alice.user).fingerFailures
                try #require((1...2).contains(failures), "\(first)")
                try body(alice, service, failures)
            }
        }
    }

    /// What is wrong with the set of fingers: it is the old one or the new one, and counts.
    private func set(of alice: Enrolled, _ ending: Killer.Ending, after count: Int) -> [String] {
        let facts = RecordFacts(of: alice.user)
        var wrong = faults(facts)
        if !(ending.code == 0 ? [count] : [1, 2]).contains(facts.fingers.count) { wrong.append("\(facts.fingers)") }
        if let closure = facts.closure { wrong.append("fingers are off: \(closure)") }
        return wrong
    }

    private func stillTouches(_ alice: Enrolled, _ service: String) throws -> [String] {
        let wrong = try nextAuthentication(alice.user, service, Enrolled.pin)
        return try Tasks.touch(Enrolled.finger, alice, service)(Killer()).code == 0
            ? wrong : wrong + ["no finger is taken"]
    }
}
