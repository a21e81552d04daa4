import SignetPolicy
import SignetRecords
import Testing

@testable import SignetEngine

/// Readers whose chips keep the prints: whether they count at all, and what others' prints beside them do.
@Suite struct ChipTests {
    private func machine(_ prints: [Print] = [.onChip]) throws -> Machine {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: prints)
        return machine
    }

    /// An authentication that meets so many prints of others on the chip.
    private func authenticate(_ machine: Machine, foreign: Int, _ answers: [Answer]) -> (Verdict, Actor) {
        let actor = machine.process()
        actor.sensor.foreignPrints = foreign
        return (actor.authenticate(answers, touches: [.matched(index: 0)]), actor)
    }

    private func status(_ machine: Machine) -> UserStatus {
        var ledger = machine.process("status").ledger()
        return ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
    }

    private func activate(_ machine: Machine, foreign: Int) -> Activated? {
        let actor = machine.process()
        actor.sensor.foreignPrints = foreign
        return actor.run([.right], touches: [.matched(index: 0)]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
        }.outcome
    }

    /// Catches a refused chip that is asked all the same, and one that is opened before it is refused.
    @Test func aRefusedChipNeverCounts() throws {
        let machine = try machine()
        machine.configuration.matchOnChip = .refuse
        let (verdict, actor) = authenticate(machine, foreign: 0, [.right])
        #expect(Outcome(verdict) == .granted(.pin))
        #expect(actor.person.met == [.prompt(.pin(because: .readerNotTrusted(.chip)))])
        #expect(actor.process.count(.open) == 0)
        #expect(status(machine).fingerClosure == .readerNotTrusted(.chip))
        // The records say where the prints lie: a device that denies to keep prints is still one.
        machine.readers = [.of(.chip)]
        #expect(Outcome(authenticate(machine, foreign: 0, [.right]).0) == .granted(.pin))
        // Known before the PIN is asked for, and no activation is advised that would be refused.
        let activation = machine.process()
        #expect(activation.activate([.right], touches: []).refusal == .readerNotTrusted(.chip))
        let enrollment = machine.process()
        #expect(enrollment.enroll(2, [.right], touches: []).refusal == .readerNotTrusted(.chip))
        #expect(activation.person.met.isEmpty && enrollment.person.met.isEmpty)
        machine.configuration.matchOnChip = .allow
        machine.readers = [.of(.chip, keepsPrints: true)]
        #expect(Outcome(authenticate(machine, foreign: 0, [.enter]).0) == .granted(.finger))
    }

    /// Catches a match that was awaited while the rule changed, and counts.
    @Test func theMatchIsJudgedByTheRule() throws {
        let machine = try machine()
        machine.configuration.matchOnChip = .refuse
        let session = ReaderSession(
            reader: .chip, place: .builtIn, gallery: [0], presence: [.onReader], generation: 1)
        var ledger = machine.process().ledger()
        _ = try ledger.chargeFinger()
        #expect(try ledger.settleMatch(session, index: 0) == .readerNotTrusted(.chip))
    }

    /// Catches an enrollment on a refused chip, one that asks for the PIN first, and a second reader that is lost behind it.
    @Test func enrollingOnARefusedChipIsRefused() throws {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        machine.configuration.matchOnChip = .refuse
        let actor = machine.process()
        #expect(actor.enroll(2, [.right, .right], touches: []).refusal == .readerNotTrusted(.chip))
        #expect(actor.person.met.isEmpty && actor.process.count(.open) == 0)
        #expect(actor.journalHas(.readerRefused(.chip)))
        machine.readers.append(.of(.inside))
        let other = machine.process().enroll(2, [.right, .right], touches: [.matched(index: 0)])
        #expect(other.outcome?.reader.identity == .inside)
    }

    /// Catches a rise that is told at each prompt, not at all, or after it was approved; and one that closes without
    /// being asked to.
    @Test func aRiseIsReportedOnce() throws {
        let machine = try machine()
        for (foreign, isTold) in [(0, false), (2, true), (2, false), (1, false), (3, true), (3, false)] {
            let (verdict, actor) = authenticate(machine, foreign: foreign, [.enter])
            #expect(Outcome(verdict) == .granted(.finger))
            #expect(actor.journalHas(.foreignPrints(count: foreign)) == isTold, "\(foreign)")
        }
        #expect(status(machine).attention.contains(.foreignPrints(3)))
        #expect(status(machine).fingerClosure == nil)
        #expect(activate(machine, foreign: 3)?.foreignPrints == 3)
        #expect(status(machine).foreignPrints == 0)
        let (verdict, actor) = authenticate(machine, foreign: 3, [.enter])
        #expect(Outcome(verdict) == .granted(.finger) && !actor.journalHas(.foreignPrints(count: 3)))
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a path that stays open, one that opens again when the print is gone, and one that activation does not open.
    @Test func aRiseClosesWhereItShall() throws {
        let machine = try machine()
        machine.configuration.foreignPrints = .close
        #expect(Outcome(authenticate(machine, foreign: 0, [.enter]).0) == .granted(.finger))
        let (verdict, actor) = authenticate(machine, foreign: 1, [.enter, .right])
        #expect(Outcome(verdict) == .granted(.pin))
        #expect(actor.person.met.last == .prompt(.pin(because: .foreignPrints(1))))
        #expect(actor.sensor.arms == 0 && actor.journalHas(.foreignPrints(count: 1)))
        // Gone again, it was there all the same; now nobody is asked to touch.
        let (after, later) = authenticate(machine, foreign: 0, [.right])
        #expect(Outcome(after) == .granted(.pin) && later.process.count(.open) == 0)
        #expect(status(machine).fingerClosure == .foreignPrints(1))
        #expect(machine.process().enroll(2, [.right], touches: []).refusal == .activateFirst(.foreignPrints(1)))

        #expect(activate(machine, foreign: 1)?.prints == 1)
        #expect(Outcome(authenticate(machine, foreign: 1, [.enter]).0) == .granted(.finger))
        #expect(Outcome(authenticate(machine, foreign: 2, [.enter, .right]).0) == .granted(.pin))
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a print that came while the finger was awaited, seen by a second prompt, and a match that counts although.
    @Test func aRiseMeanwhileIsJudgedAtTheMatch() throws {
        let machine = try machine()
        machine.configuration.foreignPrints = .close
        let actor = machine.process()
        actor.once(at: .arm) { _ = self.authenticate(machine, foreign: 1, [.enter, .cancels]) }
        let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)])
        #expect(Outcome(verdict) == .granted(.pin))
    }

    /// Catches a list that can be rewritten: it is part of what the PIN signed.
    @Test func theListIsSigned() throws {
        let machine = try machine()
        machine.configuration.foreignPrints = .close
        let approval = try #require(machine.disk.identity?.approvals.first)
        #expect(approval.others.isEmpty)
        machine.disk.identity?.approvals[0] = Approval(
            reader: approval.reader, place: approval.place, others: try (0..<9).map { try .stranger($0) },
            generation: approval.generation,
            prints: approval.prints, signature: approval.signature, madeAt: approval.madeAt)
        let (verdict, actor) = authenticate(machine, foreign: 9, [.right])
        #expect(Outcome(verdict) == .granted(.pin))
        guard case .prompt(.pin(because: .enrollmentChanged)) = actor.person.met.last else {
            Issue.record("\(actor.person.met)")
            return
        }
    }

    /// Catches a user who has deleted everything after a rise, and can neither activate nor enrol any more.
    @Test(arguments: [true, false]) func withoutPrintsTheRiseIsForgotten(isActivated: Bool) throws {
        let machine = try machine()
        machine.configuration.foreignPrints = .close
        _ = authenticate(machine, foreign: 1, [.enter, .right])
        let deleted = machine.process().run([.types(Machine.pin)]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.delete(.all, on: &screen)
        }
        #expect(deleted.outcome?.remaining == 0)
        if isActivated { _ = activate(machine, foreign: 1) }
        #expect(status(machine).foreignPrints == 0 && status(machine).fingerClosure == .notEnrolled)
        let actor = machine.process()
        actor.sensor.foreignPrints = 1
        #expect(actor.enroll(2, [.right, .right], touches: [.matched(index: 0)]).outcome?.approved == true)
        #expect(Outcome(authenticate(machine, foreign: 1, [.enter]).0) == .granted(.finger))
    }

    /// Catches a deletion that forgets a rise that nobody approved, or closes the path by itself.
    @Test func deletingKeepsWhatIsKnownOfOthers() throws {
        let second = Print(finger: 2, reader: .chip, onReader: true, data: [4, 4])
        let machine = try machine([.onChip, second])
        #expect(activate(machine, foreign: 1)?.prints == 2)
        _ = authenticate(machine, foreign: 2, [.enter])
        let finger = try #require(Finger(number: 2))
        let deleted = machine.process().run([.types(Machine.pin)]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.delete(.finger(finger), on: &screen)
        }
        #expect(deleted.outcome?.approved == true)
        #expect(machine.disk.identity?.approvals.map(\.others.count) == [1])
        #expect(status(machine).foreignPrints == 1)
        machine.configuration.foreignPrints = .close
        #expect(status(machine).fingerClosure == .foreignPrints(1))
    }
}
