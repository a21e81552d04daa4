import SignetPolicy
import SignetRecords
import Testing

@testable import SignetEngine

/// Prints that are enrolled and gone from their reader's memory: told with the command that cleans up, as long as they are.
@Suite struct GonePrintTests {
    private static let second = Print(finger: 2, reader: .chip, onReader: true, data: [4, 4, 4])
    private static let gone = EnrollmentChange(added: 0, removed: 1, gone: 1)

    private func machine(_ prints: [Print]) throws -> Machine {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: prints)
        return machine
    }

    /// A prompt at which the first print is missing, or one after that, where it is there again.
    private func prompt(_ machine: Machine, missing: Bool) -> Actor {
        let actor = machine.process()
        if missing { actor.sensor.presence = [0: .missing] }
        _ = actor.authenticate(missing ? [.enter, .right] : [.right], touches: [])
        return actor
    }

    private func status(_ machine: Machine) -> UserStatus {
        var ledger = machine.process("status").ledger()
        return ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
    }

    private func activate(_ machine: Machine, missing: [Int], touch: Int) -> Result<Activated, ManagementRefusal> {
        let actor = machine.process()
        for position in missing { actor.sensor.presence[position] = .missing }
        return actor.run([.right], touches: [.matched(index: touch)]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
        }
    }

    /// Catches a print that is gone and told as some change or other, at once and as long as it is remembered.
    @Test func itIsToldAsWhatItIs() throws {
        let machine = try machine([.onChip, Self.second])
        let closed = FingerClosure.enrollmentChanged(Self.gone)
        #expect(prompt(machine, missing: true).person.met.last == .prompt(.pin(because: closed)))
        #expect(machine.change == EnrollmentChange(added: 0, removed: 1), "no record has the rest")
        #expect(prompt(machine, missing: false).person.met.last == .prompt(.pin(because: closed)))
        #expect(status(machine).fingerClosure == closed)
        #expect(status(machine).attention == [.printsGone(1, nil)])
        #expect(machine.process().enroll(3, [.right], touches: []).refusal == .activateFirst(closed))
        let single = try self.machine([.onChip])
        _ = prompt(single, missing: true)
        #expect(status(single).attention == [.printsGone(1, Finger(number: 7))])
    }

    /// Catches an older record that was put in place and taken away again, and for which a good print is to be deleted.
    @Test func whatWasPutBackIsNotDeleted() throws {
        let machine = try machine([.onChip, Self.second])
        let right = machine.disk.prints
        machine.tamper([.onChip])
        _ = prompt(machine, missing: false)
        machine.disk.prints = right
        guard case .prompt(let prompt) = prompt(machine, missing: false).person.met.last else {
            Issue.record("no prompt")
            return
        }
        let text = prompt.text(user: Machine.alice, service: [])
        #expect(text.contains("were changed, or one is gone") && !text.contains("delete"), "\(text)")
        #expect(activate(machine, missing: [], touch: 0).outcome?.gone == [])
    }

    /// Catches a change of the record that is passed off as the reader's, and one that fprintd's programs have to mend.
    @Test func anotherChangeIsNotCalledThat() throws {
        let machine = try machine([.onChip, Self.second])
        machine.tamper([.onChip])
        _ = prompt(machine, missing: false)
        #expect(status(machine).attention == [.enrollmentChanged(EnrollmentChange(added: 0, removed: 1))])
        let elsewhere = try self.machine([.onChip, Self.second])
        elsewhere.configuration.enrollmentSource = .fprintd
        let closed = FingerClosure.enrollmentChanged(EnrollmentChange(added: 0, removed: 1))
        #expect(prompt(elsewhere, missing: true).person.met.last == .prompt(.pin(because: closed)))
        #expect(status(elsewhere).fingerClosure == closed)
    }

    /// Catches a shortage that shuts the PIN out because what is remembered cannot be explained.
    @Test func withoutAnExplanationItIsClosedAllTheSame() throws {
        let machine = try machine([.onChip, Self.second])
        _ = prompt(machine, missing: true)
        let actor = machine.process()
        actor.process.faults = [(.digest, nil)]
        let verdict = actor.authenticate([.right], touches: [])
        let change = EnrollmentChange(added: 0, removed: 1)
        #expect(Outcome(verdict) == .granted(.pin))
        #expect(actor.person.met.last == .prompt(.pin(because: .enrollmentChanged(change))))
    }

    /// Catches an activation that approves a gone print without a word, or asks for a touch that nothing could match.
    @Test func activationNamesIt() throws {
        let machine = try machine([.onChip, Self.second])
        _ = prompt(machine, missing: true)
        let fingers = [7, 2].compactMap { Finger(number: $0) }
        #expect(activate(machine, missing: [0], touch: 1).outcome?.gone == [fingers[0]])
        #expect(status(machine).fingerClosure == nil)
        #expect(
            activate(machine, missing: [0, 1], touch: 1).refusal
                == .goneFromReader(fingers, keptElsewhere: false))
        machine.configuration.enrollmentSource = .fprintd
        #expect(
            activate(machine, missing: [0, 1], touch: 1).refusal
                == .goneFromReader(fingers, keptElsewhere: true))
    }

    /// Catches a print that stays for ever once it is gone, and a reader's memory that is asked for it in vain.
    @Test func deletingCleansUp() throws {
        let machine = try machine([.onChip, Self.second])
        _ = prompt(machine, missing: true)
        let finger = try #require(Finger(number: 7))
        let actor = machine.process()
        actor.sensor.presence = [0: .missing]
        let deleted = actor.run([.right]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.delete(.finger(finger), on: &screen)
        }.outcome
        #expect(deleted?.left == [] && deleted?.remaining == 1 && actor.sensor.deleted.isEmpty)
        #expect(machine.disk.chips.index?.entries.count == 1)
        // What closed the path stays until the user activates the rest.
        #expect(deleted?.approved == false)
        #expect(activate(machine, missing: [], touch: 0).outcome?.gone == [])
        #expect(status(machine).fingerClosure == nil && status(machine).attention.isEmpty)
    }
}
