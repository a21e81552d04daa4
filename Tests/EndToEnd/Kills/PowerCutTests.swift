import Foundation
import SignetEngine
import SignetPolicy
import Testing

/// A power cut behind each write of a task leaves records that hold.
@Suite(.serialized, .inWorld, .withProduct) struct PowerCutTests {
    // Would catch a guess that is answered before its charge is on the disk.
    @Test func aWrongPIN() throws {
        try asking { (user, service) throws in
            let run = try CutRun(user, run: Tasks.authentication(user, service, Signet.wrongPIN(1)))
            try run.proof("a wrong PIN", judge: { counted($0, run, $1) }) {
                try nextAuthentication(user, service, Signet.pin)
            }
        }
    }

    // Would catch two slots of the counters that are torn at once.
    @Test func aRightPIN() throws {
        try asking { (user, service) throws in
            let run = try CutRun(user, run: Tasks.authentication(user, service, Signet.pin))
            try run.proof("a right PIN", judge: { counted($0, run, $1) }) {
                try nextAuthentication(user, service, Signet.pin)
            }
        }
    }

    // Would catch a charge that is not on the disk when the reader is armed, and slots that are torn by two touches in a row.
    @Test func aRightFinger() throws {
        try Enrolled.with { alice in
            try Signet.alone { (service) throws in
                let run = try CutRun(alice.user, run: Tasks.touch(Enrolled.finger, alice, service, rounds: 2))
                try #require(run.trace.steps.count { DiskTrace.isArming($0) } == 2)
                try run.proof(
                    "two right fingers",
                    judge: { (facts, done) in
                        var wrong = faults(facts)
                        let last = run.trace.steps[..<done].last { DiskTrace.isArming($0) || DiskTrace.isWrite($0) }
                        if let last, DiskTrace.isArming(last), facts.fingerFailures < 1 {
                            wrong.append("a touch may be compared that is not counted")
                        }
                        if facts.fingerFailures > 2 { wrong.append("\(facts.fingerFailures) failures") }
                        return wrong
                    },
                    goOn: { try nextAuthentication(alice.user, service, Enrolled.pin) })
            }
        }
    }

    // Would catch a first PIN that is half there, or that is said to be set and is gone.
    @Test func theFirstPIN() throws {
        _ = try Signet.user()
        try Signet.alone { (service) throws in
            let user = try User.fresh()
            let run = try CutRun(user, run: Tasks.firstPIN(user))
            let told = run.trace.place(of: "is set")
            try run.proof(
                "a user's first PIN",
                judge: { (facts, done) in
                    faults(facts, mayBeMissing: true)
                        + (done > told && facts.pin == nil ? ["the PIN is gone that was said to be set"] : [])
                },
                goOn: { try setAndAuthenticate(user, service) })
        }
    }

    // Would catch a change that is neither done nor not there, or that is said to be done and is not.
    @Test(arguments: ["a PIN change", "an administrator's new PIN", "a reset"]) func aChange(_ what: String) throws {
        try asking { (user, service) throws in
            let old = RecordFacts(of: user)
            let run =
                switch what {
                case "a PIN change": try CutRun(user, run: Tasks.pinChange(user))
                case "a reset": try CutRun(user, run: Tasks.reset(user))
                default: try CutRun(user, run: Tasks.administratorsPIN(user))
                }
            let new = RecordFacts(of: user)
            try run.proof(
                what, judge: { oneOfTwo($0, old, new, run, $1) },
                goOn: {
                    let pins = try [Signet.pin, Tasks.newPIN].map { try nextAuthentication(user, service, $0) }
                    return pins.contains([]) ? [] : pins[0]
                })
        }
    }

    // Would catch records of which the identity stays and the counters go, with which nobody can do anything.
    @Test func aRemoval() throws {
        try asking { (user, service) throws in
            let run = try CutRun(user, run: Tasks.removal(user))
            let told = run.trace.place(of: "Nothing is kept")
            try run.proof(
                "a removal of all records",
                judge: { (facts, done) in
                    faults(facts, mayBeMissing: true)
                        + (done > told && facts.condition != .notSetUp ? ["it is back"] : [])
                },
                goOn: { try setAndAuthenticate(user, service) })
        }
    }

    // Would catch a set of fingers that is neither the old nor the new one, or that nobody approved.
    @Test(arguments: ["an enrolment", "a deletion"]) func aSetOfFingers(_ what: String) throws {
        try Enrolled.with { alice in
            try Signet.alone { (service) throws in
                if what == "a deletion" { try alice.enroll(Tasks.otherFinger, as: Tasks.otherFinger) }
                let old = RecordFacts(of: alice.user)
                let task = what == "a deletion" ? Tasks.deletion(alice) : Tasks.enrolment(alice)
                let run = try CutRun(alice.user, run: task)
                let new = RecordFacts(of: alice.user)
                try run.proof(
                    what, judge: { oneOfTwo($0, old, new, run, $1) },
                    goOn: { try nextAuthentication(alice.user, service, Enrolled.pin) })
            }
        }
    }

    // Would catch a key that is destroyed before the other one is on the disk, and a migration that cannot go on.
    @Test(.onlyWhole, .withTPM) func aMigrationToTheTPM() throws {
        try MachineTPM.machine("enclave = file") { (tpm) throws in
            try asking { (user, service) throws in
                let run = try CutRun(user, run: Tasks.migrationToTPM)
                try tpm.keep()
                try run.proof(
                    "a migration from the file to the TPM", limit: 12,
                    judge: { (facts, _) in faults(facts) + (facts.pinFailures < 1 ? ["a failure is forgotten"] : []) },
                    goOn: {
                        try tpm.restore()
                        let again = try Command.run(["signet", "enclave", "migrate", "--to", "tpm"])
                        return try (again.code == 0 ? [] : ["it does not go on: \(again)"])
                            + nextAuthentication(user, service, Signet.pin)
                    })
            }
        }
    }

    // Would catch a checker that finds nothing because it cannot: each of these leaves out a sync that matters.
    @Test func aMissingSyncIsFound() throws {
        try asking { (user, service) throws in
            let isSync: (DiskTrace.Step) -> Bool = { if case .sync = $0 { true } else { false } }
            let wrong = try CutRun(user, run: Tasks.authentication(user, service, Signet.wrongPIN(1)))
            var found = try wrong.without(isSync).check(limit: 24, judge: { counted($0, wrong, $1) })
            #expect(found.failures.contains { $0.contains("not counted") }, "a charge that is not synced: \(found)")

            let right = try CutRun(user, run: Tasks.authentication(user, service, Signet.pin))
            found = try right.without(isSync).check(limit: 24) { (facts, _) in faults(facts) }
            #expect(found.failures.contains { $0.contains("attempts") }, "two torn slots: \(found)")

            let old = RecordFacts(of: user)
            let change = try CutRun(user, run: Tasks.pinChange(user))
            let new = RecordFacts(of: user)
            let files = Set(
                change.trace.steps.compactMap { if case .create(_, _, let node) = $0 { node } else { nil } })
            try #require(!files.isEmpty)
            let empty = change.without { if case .sync(let node) = $0 { files.contains(node) } else { false } }
            found = try empty.check(limit: 24) { (facts, _) in faults(facts) }
            #expect(found.failures.contains { $0.contains("identity") }, "an empty identity: \(found)")

            let folders = Set(
                change.trace.steps.compactMap { if case .create(let folder, _, _) = $0 { folder } else { nil } })
            let forgotten = change.without { if case .sync(let node) = $0 { folders.contains(node) } else { false } }
            found = try forgotten.check(limit: 24) { oneOfTwo($0, old, new, forgotten, $1) }
            #expect(!found.failures.isEmpty, "a rename that is not synced: \(found)")
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

    /// What is wrong where one failure was counted before, and one PIN is compared: its charge is on the disk by then.
    private func counted(_ facts: RecordFacts, _ run: CutRun, _ done: Int) -> [String] {
        var wrong = faults(facts)
        let compared = run.trace.steps[..<done].contains(.compare)
        let settled = run.trace.steps[..<done].drop { $0 != .compare }.contains { DiskTrace.isWrite($0) }
        let allowed = settled ? 0...3 : compared ? 2...3 : 1...3
        if !allowed.contains(facts.pinFailures) {
            wrong.append("\(facts.pinFailures) failures: a comparison is not counted, or more than was charged")
        }
        return wrong
    }

    /// What is wrong with a change that is done or not there, and done once it was said to be.
    private func oneOfTwo(
        _ facts: RecordFacts, _ old: RecordFacts, _ new: RecordFacts, _ run: CutRun, _ done: Int
    ) -> [String] {
        var wrong = faults(facts)
        guard wrong.isEmpty else { return wrong }
        if facts.pin != old.pin, facts.pin != new.pin { wrong.append("the PIN is neither the old nor the new one") }
        if facts.fingers != old.fingers, facts.fingers != new.fingers { wrong.append("\(facts.fingers)") }
        if facts.closure != old.closure, facts.closure != new.closure {
            wrong.append("\(String(describing: facts.closure))")
        }
        let told = ["changed", "is set", "forgotten", "is enrolled", "Deleted"].map { run.trace.place(of: $0) }.min()
        if let told, done > told, facts.pin != new.pin || facts.fingers != new.fingers {
            wrong.append("it was said to be done, and is not")
        }
        return wrong
    }
}

extension DiskTrace {
    /// Whether the reader is told to wait for a finger: a message of kind 5 without fields (SensorMessageRequest.swift).
    static func isArming(_ step: Step) -> Bool {
        if case .send(let bytes) = step { bytes.count == 6 && bytes[1] == 5 } else { false }
    }

    static func isWrite(_ step: Step) -> Bool { if case .write = step { true } else { false } }
}
