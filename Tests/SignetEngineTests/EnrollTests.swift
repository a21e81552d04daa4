import SignetPolicy
import Testing

@testable import SignetEngine

@Suite struct EnrollTests {
    private let index = Finger(number: 7)
    private let leftIndex = Finger(number: 2)

    private func ready() throws -> Machine {
        let machine = Machine()
        try machine.setUp()
        return machine
    }

    /// Catches an enrollment that does not end in a finger that lets its owner in.
    @Test func aNewFingerCounts() throws {
        let machine = try ready()
        let screen = FakeScreen()
        let actor = machine.process()
        actor.sensor.progress = [.stage(done: 1, of: 2), .retry(.centreFinger), .stage(done: 2, of: 2)]
        let enrolled = actor.enroll(nil, [.types(Machine.pin)], touches: [.matched(index: 1)], on: screen)
        let outcome = try #require(enrolled.outcome)
        #expect(outcome.finger == leftIndex && outcome.approved && outcome.prints == 2 && !outcome.pinWasSet)
        #expect(screen.seen.first == leftIndex.map { .began($0, .inside) })
        #expect(screen.seen.contains(.progress(.retry(.centreFinger))))
        #expect(screen.seen.last == .askedForTouch(.confirm))
        #expect(machine.disk.attempts?.finger.count == 0)
        guard case .granted = machine.process().authenticate([.enter], touches: [.matched(index: 1)]) else {
            Issue.record("the new finger does not count")
            return
        }
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a default name that another reader has, as long as there is a free one.
    @Test func theDefaultNameIsFreeOnEveryReader() throws {
        let machine = try ready()
        machine.readers = [.of(.outside)]
        let enrolled = machine.process().enroll(nil, [.types(Machine.pin)], touches: [.matched(index: 0)])
        #expect(enrolled.outcome?.finger == leftIndex)
        machine.readers = [.of(.chip)]
        let named = machine.process().enroll(7, [.types(Machine.pin)], touches: [.matched(index: 0)])
        #expect(named.outcome?.finger == index)
    }

    /// Catches a first enrollment that forgets the PIN or the recovery code.
    @Test func theFirstFingerSetsThePIN() throws {
        let machine = Machine()
        let screen = FakeScreen()
        let enrolled = machine.process().enroll(
            7, [.types(Machine.pin), .types(Machine.pin)], touches: [.matched(index: 0)], on: screen)
        let outcome = try #require(enrolled.outcome)
        #expect(outcome.pinWasSet && outcome.approved && outcome.recoveryCodeMadeAt != nil)
        #expect(screen.codes.map(\.count) == [26])
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a PIN that is not asked for, not charged, or not counted when it is wrong.
    @Test func thePINIsProvenAndCounted() throws {
        let machine = try ready()
        let actor = machine.process()
        let wrong = Answer.types(Machine.wrong)
        #expect(actor.enroll(2, [wrong, wrong, wrong], touches: []).refusal == .wrongPIN)
        #expect(machine.disk.attempts?.pin.byPerson == 3)
        #expect(actor.process.count(.enroll) == 0)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a task that goes on where the PIN waits, and one that asks before it looks.
    @Test func aClosedDoorIsToldBeforeAnybodyTypes() throws {
        let machine = try ready()
        for _ in 0..<5 { _ = machine.process().authenticate([.types(Machine.wrong)], closure: .switchedOff) }
        let actor = machine.process()
        #expect(actor.enroll(2, [.types(Machine.pin)], touches: []).refusal == .pinLockout(.waiting(seconds: 60)))
        #expect(actor.person.prompts.isEmpty)
    }

    /// Catches a duplicate that is enrolled under a second name, and one that is not named.
    @Test func aDuplicateIsRefusedByName() throws {
        let machine = try ready()
        let before = machine.disk.prints
        let refusal = machine.process().enroll(2, [.types(Machine.pin)], touches: [.matched(index: 0)]).refusal
        #expect(refusal == .duplicate(of: index))
        #expect(machine.disk.prints == before)
        #expect(
            machine.process().enroll(7, [.types(Machine.pin)], touches: []).refusal
                == index.map { .alreadyEnrolled($0) })
    }

    /// Catches a reader's own word for a duplicate that stays without a name.
    @Test func theReadersDuplicateIsNamedByATouch() throws {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: [Print(finger: 7, reader: .chip, onReader: true, data: [1])])
        let actor = machine.process()
        actor.process.faults = [(.enroll, nil)]
        actor.process.readerProblem = .duplicate
        let screen = FakeScreen()
        let refusal = actor.enroll(2, [.types(Machine.pin)], touches: [.matched(index: 0)], on: screen).refusal
        #expect(refusal == .duplicate(of: index))
        #expect(screen.seen.last == .askedForTouch(.name))
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches whatever stays behind when somebody cancels: records, counters, or a print in the reader's memory.
    @Test func cancellingChangesNothing() throws {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: [Print(finger: 7, reader: .chip, onReader: true, data: [1])])
        let before = machine.disk.prints
        let identity = machine.disk.identity
        // At the PIN, at the stages, at the confirming touch.
        let atPIN = machine.process().enroll(2, [.cancels], touches: [])
        let atStages = machine.process().enroll(2, [.types(Machine.pin)], touches: [], data: nil)
        let last = machine.process()
        let screen = FakeScreen()
        let atTouch = last.enroll(2, [.types(Machine.pin)], touches: [.interrupted(fingerSeen: false)], on: screen)
        #expect([atPIN.refusal, atStages.refusal, atTouch.refusal] == [.cancelled, .cancelled, .cancelled])
        #expect(machine.disk.prints == before && machine.disk.identity == identity)
        #expect(machine.disk.attempts?.finger.count == 0)
        #expect(last.sensor.deleted == [0], "the new print is alone in the gallery that it is deleted from")
        #expect(last.sensor.galleries.last == [1])
        #expect(screen.seen.last == .cancelled(pinWasSet: false))
        #expect(last.process.calls.last == .stopListening)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches an enrollment that approves what somebody else added.
    @Test func aChangedSetIsActivatedFirst() throws {
        let machine = try ready()
        machine.disk.prints = Disk.Prints(
            generation: 1,
            [Print(finger: 7, reader: .inside, data: [1, 2, 3]), Print(finger: 8, reader: .inside, data: [6])])
        let refusal = machine.process().enroll(2, [.types(Machine.pin)], touches: [.matched(index: 2)]).refusal
        #expect(refusal == .activateFirst(.enrollmentChanged(EnrollmentChange(added: 1, removed: 0))))
        #expect(machine.disk.attempts?.change != nil)
    }

    /// Catches an administrator's print that counts before its owner's PIN said so.
    @Test func anAdministratorApprovesNothing() throws {
        let machine = try ready()
        let admin = machine.process("admin", isAdministrator: true)
        let enrolled = admin.enroll(2, [.enter], touches: [.matched(index: 1)], byAdministrator: true)
        #expect(enrolled.outcome?.approved == false && enrolled.outcome?.prints == 2)
        let verdict = machine.process().authenticate([.enter], touches: [.matched(index: 1)])
        if case .granted = verdict { Issue.record("an administrator's print counts") }
        let activated = machine.process().run([.types(Machine.pin)], touches: [.matched(index: 1)]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
        }
        #expect(activated.outcome == Activated(reader: .inside, prints: 2, readersLeft: 0))
        guard case .granted = machine.process().authenticate([.enter], touches: [.matched(index: 1)]) else {
            Issue.record("not activated")
            return
        }
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a user's PIN that approves nothing where an administrator runs the command, and a wrong one that does.
    @Test func theUsersPINApprovesForAnAdministrator() throws {
        let machine = try ready()
        let wrong = Answer.types(Machine.wrong)
        let refused = machine.process().enroll(2, [wrong, wrong, wrong], touches: [], byAdministrator: true)
        #expect(refused.refusal == .wrongPIN)
        let enrolled = machine.process().enroll(
            2, [.types(Machine.pin)], touches: [.matched(index: 1)], byAdministrator: true)
        #expect(enrolled.outcome?.approved == true)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a print that is kept although nobody could confirm it.
    @Test func anUnconfirmedPrintIsNotKept() throws {
        let machine = try ready()
        let before = machine.disk.prints
        let touches: [Touch] = [.notRecognised, .retry(.tooShort), .notRecognised, .notRecognised]
        #expect(machine.process().enroll(2, [.types(Machine.pin)], touches: touches).refusal == .notConfirmed)
        #expect(machine.disk.prints == before)
        #expect(machine.disk.attempts?.finger.count == 3)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches any step at which a failure or a kill leaves a print that counts without approval, or breaks a rule.
    @Test func everyStepMayFail() throws {
        var steps = 0
        for number in 1... {
            let machine = Machine()
            machine.readers = [.of(.chip, keepsPrints: true)]
            try machine.setUp(prints: [Print(finger: 7, reader: .chip, onReader: true, data: [1])])
            for kills in [false, true] {
                let actor = machine.process("enroll \(number)")
                if kills { actor.process.killAt = number } else { actor.process.failAt = number }
                let result = actor.enroll(2, [.types(Machine.pin)], touches: [.matched(index: 1)])
                steps = max(steps, actor.process.calls.count)
                #expect(machine.disk.violations.isEmpty, "step \(number)")
                if result.outcome?.approved == true { break }
                // Nothing but a print that was there before may count.
                if (machine.disk.prints?.entries.count ?? 0) > 1 { break }
                #expect(actor.process.isKilled || actor.sensor.stops > 0)
            }
            if number > steps { break }
        }
        #expect(steps > 20)
    }

    /// Catches an enrollment that undoes, or takes for its own, what another one wrote while the finger was taken.
    @Test func twoEnrollmentsAtOnceLoseNothing() throws {
        let machine = try ready()
        let actor = machine.process("slow")
        var other: Result<Enrolled, ManagementRefusal>?
        actor.process.onCall = { call in
            guard call == .enroll, other == nil else { return }
            other = machine.process("quick").enroll(8, [.types(Machine.pin)], touches: [.matched(index: 1)], data: [8])
        }
        let slow = actor.enroll(2, [.types(Machine.pin)], touches: [.matched(index: 1)])
        #expect(other?.outcome?.approved == true)
        #expect(slow.refusal == .ledger(.changedMeanwhile))
        #expect(machine.disk.prints?.entries.map(\.finger.number) == [7, 8])
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a missing reader that is told only after the PIN.
    @Test func theReaderIsLookedForFirst() throws {
        let machine = try ready()
        let actor = machine.process()
        actor.sensor.present = []
        #expect(actor.enroll(2, [.types(Machine.pin)], touches: []).refusal == .reader(.noReader))
        #expect(actor.person.prompts.isEmpty)
    }
}
