import SignetPolicy
import Testing

@testable import SignetEngine

/// What becomes of fingers when they are deleted, activated and switched off.
@Suite struct FingerManagementTests {
    private let index = Finger(number: 7)
    private let middle = Finger(number: 8)

    private func two(on reader: ReaderIdentity = .inside, onReader: Bool = false) -> [Print] {
        [
            Print(finger: 7, reader: reader, onReader: onReader, data: [1]),
            Print(finger: 8, reader: reader, onReader: onReader, data: [2]),
        ]
    }

    /// Catches a deletion that closes the path for what remains, or that leaves the deleted finger in.
    @Test func aDeletedFingerIsGoneAndTheOtherCounts() throws {
        let machine = Machine()
        try machine.setUp(prints: two())
        let finger = try #require(index)
        let deleted = machine.process().run([.types(Machine.pin)], delete(.finger(finger)))
        #expect(deleted.outcome == FingersDeleted(fingers: [finger], left: [], remaining: 1, approved: true))
        let actor = machine.process()
        guard case .granted = actor.authenticate([.enter], touches: [.matched(index: 0)]) else {
            Issue.record("what remains does not count")
            return
        }
        #expect(machine.disk.prints?.entries.map { Optional($0.finger) } == [middle])
        #expect(machine.process().run([.types(Machine.pin)], delete(.finger(finger))).refusal == .noSuchFinger(finger))
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a print that stays in the reader's memory, and a reader that has to be there to delete one.
    @Test func theReadersMemoryIsClearedAfterTheRecord() throws {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: two(on: .chip, onReader: true))
        let actor = machine.process()
        let finger = try #require(index)
        let deleted = actor.run([.types(Machine.pin)], delete(.finger(finger)))
        #expect(deleted.outcome?.approved == true && deleted.outcome?.left == [])
        let calls = actor.process.calls
        let record = try #require(calls.firstIndex(of: .savePrints))
        let chip = try #require(calls.firstIndex(of: .deleteFromReader))
        #expect(record < chip)
        let away = machine.process()
        away.sensor.present = []
        let rest = away.run([.types(Machine.pin)], delete(.all))
        #expect(rest.outcome?.left.map(\.prints) == [1] && rest.outcome?.remaining == 0)
    }

    /// Catches a kill, wherever it comes, after which a print on the chip matches for the user without being in the
    /// record that the PIN approved.
    @Test func aKilledDeletionLeavesNothingUsable() throws {
        let finger = try #require(index)
        var call = 0
        var leftOnChip = false
        while true {
            let machine = Machine()
            machine.readers = [.of(.chip, keepsPrints: true)]
            try machine.setUp(prints: two(on: .chip, onReader: true))
            let actor = machine.process()
            call += 1
            actor.process.killAt = call
            _ = actor.run([.types(Machine.pin)], delete(.finger(finger)))
            let stored = machine.disk.prints?.entries.count
            // The record never keeps a print that the chip has forgotten.
            if !actor.sensor.deleted.isEmpty { #expect(stored == 1) }
            if stored == 1, actor.sensor.deleted.isEmpty { leftOnChip = true }
            // Whoever comes next is given what the record holds, or is asked for the PIN.
            let next = machine.process()
            next.sensor.foreignPrints = stored == 1 ? 1 : 0
            let outcome = Outcome(next.authenticate([.enter, .right], touches: [.matched(index: 1)]))
            if stored == 1 { #expect(outcome != .granted(.finger), "killed at call \(call)") }
            #expect(next.sensor.galleries.allSatisfy { $0.count == stored })
            if !actor.process.isKilled { break }
        }
        #expect(leftOnChip && call > 10, "the kills were really tried")
    }

    /// Catches a damaged record of prints that takes the PIN with it, goes without the PIN, or lets an old approval hold.
    @Test func unreadablePrintsGoAndThePINStays() throws {
        let machine = Machine()
        try machine.setUp(prints: two())
        machine.disk.damage = [(.prints, .damaged)]
        let before = try #require(machine.disk.attempts?.generation)
        let finger = try #require(index)
        #expect(
            machine.process().run([.types(Machine.pin)], delete(.finger(finger))).refusal == .ledger(.recordUnusable))
        #expect(machine.process().run([.cancels], delete(.all)).refusal == .cancelled)
        #expect(machine.disk.damage.count == 1)
        let deleted = machine.process().run([.types(Machine.pin)], delete(.all))
        #expect(deleted.outcome?.unreadable == true && deleted.refusal == nil)
        #expect(machine.disk.prints == Disk.Prints(generation: before + 1))
        #expect(machine.disk.identity?.approvals.isEmpty == true && machine.opens(with: Machine.pin))
        let actor = machine.process()
        _ = actor.authenticate([.enter], touches: [.matched(index: 0)])
        #expect(actor.sensor.arms == 0)
        let enrolled = machine.process().enroll(7, [.types(Machine.pin)], touches: [.matched(index: 0)])
        #expect(enrolled.outcome?.approved == true)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches prints that are thrown away although an administrator can mend what is wrong.
    @Test(arguments: [RecordFault.unsafe, .newer, .renamed, .keyLost])
    func printsThatCanBeMendedStay(fault: RecordFault) throws {
        let machine = Machine()
        try machine.setUp(prints: two())
        machine.disk.damage = [(.prints, fault)]
        let admin = machine.process("admin", isAdministrator: true)
        let refusal = admin.run([.cannotBeAsked], byAdministrator: true, delete(.all)).refusal
        #expect(refusal == .ledger(fault == .renamed ? .troubled(.renamed) : .recordUnusable))
        #expect(machine.disk.prints?.entries.count == 2)
    }

    /// Catches an administrator's deletion after which fingers still count, and one that asks for the user's PIN.
    @Test func anAdministratorsDeletionClosesThePath() throws {
        let machine = Machine()
        try machine.setUp(prints: two())
        let admin = machine.process("admin", isAdministrator: true)
        let finger = try #require(index)
        let deleted = admin.run([.cannotBeAsked], byAdministrator: true, delete(.finger(finger)))
        #expect(deleted.outcome?.approved == false)
        let verdict = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
        if case .granted = verdict { Issue.record("the path is open") }
    }

    /// Catches an activation without PIN or finger, and a change that stays remembered.
    @Test func activationTakesPINAndFinger() throws {
        let machine = Machine()
        try machine.setUp()
        machine.disk.prints = Disk.Prints(generation: 1, two())
        let activate: (inout Actor.Tasks, inout FakeScreen) throws(ManagementRefusal) -> Activated = {
            (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
        }
        _ = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
        #expect(machine.disk.attempts?.change != nil)
        #expect(machine.process().run([.cancels], activate).refusal == .cancelled)
        #expect(machine.process().run([.types(Machine.pin)], touches: [], activate).refusal == .notConfirmed)
        let other = machine.process().run([.types(Machine.pin)], touches: [.notRecognised], activate)
        #expect(other.refusal == .notConfirmed && machine.disk.attempts?.finger.count == 1)
        #expect(machine.disk.attempts?.change != nil)
        let done = machine.process().run([.types(Machine.pin)], touches: [.matched(index: 1)], activate)
        #expect(done.outcome == Activated(reader: .inside, prints: 2, readersLeft: 0))
        #expect(machine.disk.attempts?.change == nil && machine.disk.attempts?.finger.count == 0)
        guard case .granted = machine.process().authenticate([.enter], touches: [.matched(index: 0)]) else {
            Issue.record("not activated")
            return
        }
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a set that vanished and can neither be activated nor added to.
    @Test func aVanishedSetIsForgotten() throws {
        let machine = Machine()
        try machine.setUp()
        machine.disk.prints = Disk.Prints(generation: 1)
        _ = machine.process().authenticate([.enter], touches: [])
        let forgot = machine.process().run([.types(Machine.pin)]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.activate(on: &screen)
        }
        #expect(forgot.outcome == Activated(reader: nil, prints: 0, readersLeft: 0))
        let enrolled = machine.process().enroll(7, [.types(Machine.pin)], touches: [.matched(index: 0)])
        #expect(enrolled.outcome?.approved == true)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches fingers that count after they were switched off, and prints that are lost by it.
    @Test func deactivationKeepsThePrints() throws {
        let machine = Machine()
        try machine.setUp()
        let off = machine.process().run { (tasks, screen) throws(ManagementRefusal) in try tasks.deactivate(on: &screen)
        }
        #expect(off.refusal == nil)
        let actor = machine.process()
        _ = actor.authenticate([.enter], touches: [.matched(index: 0)])
        #expect(actor.sensor.arms == 0 && machine.disk.prints?.entries.count == 1)
    }
}
