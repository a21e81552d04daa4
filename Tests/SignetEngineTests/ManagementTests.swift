import SignetPolicy
import Testing

@testable import SignetEngine

@Suite struct ManagementTests {
    private let index = Finger(number: 7)
    private let middle = Finger(number: 8)
    private let newPIN = "583920"

    private func opens(_ machine: Machine, _ pin: String) -> Bool {
        if case .granted = machine.process().authenticate([.types(pin)], closure: .switchedOff) { true } else { false }
    }

    // MARK: The PIN

    /// Catches a first PIN without a recovery code, and weak ones that pass.
    @Test func aPINIsSetOnce() throws {
        let machine = Machine()
        let screen = FakeScreen()
        let actor = machine.process()
        let answers: [Answer] = [
            .types("111111"), .types(Machine.pin), .types(newPIN), .types(Machine.pin), .types(Machine.pin),
        ]
        let set = actor.run(answers, on: screen) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.setPIN(on: &screen)
        }
        #expect(set.outcome == PINSet(replaced: false, recoveryCodeShown: true))
        #expect(actor.person.notices == [.pinRefused(.repeated), .pinsDiffer])
        #expect(screen.codes.map(\.count) == [26])
        #expect(opens(machine, Machine.pin))
        let again = machine.process().run([.types(newPIN), .types(newPIN)]) {
            (tasks, screen) throws(ManagementRefusal) in
            try tasks.setPIN(on: &screen)
        }
        #expect(again.refusal == .pinAlreadySet)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a program's PIN that is asked for twice, and a code that nobody could see.
    @Test func aProgramGivesThePINOnce() throws {
        let machine = Machine()
        let screen = FakeScreen(canShowRecoveryCode: false)
        let actor = machine.process()
        let set = actor.run([.types(Machine.pin)], asksTwice: false, on: screen) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen)
        }
        #expect(set.outcome?.recoveryCodeShown == false)
        #expect(actor.person.prompts == [.newPIN])
        #expect(machine.disk.identity?.recovery == nil)
        let weak = Machine().process().run([.types("111111"), .types(Machine.pin)], asksTwice: false, on: screen) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen)
        }
        #expect(weak.refusal == .newPINRefused)
    }

    /// Catches an administrator's PIN that keeps old approvals, or that its user is not told of.
    @Test func anAdministratorReplacesALostPIN() throws {
        let machine = Machine()
        try machine.setUp()
        let admin = machine.process("admin", isAdministrator: true)
        let set = admin.run([.types(newPIN), .types(newPIN)], byAdministrator: true) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen)
        }
        #expect(set.outcome == PINSet(replaced: true, recoveryCodeShown: false))
        #expect(machine.disk.identity?.approvals.isEmpty == true)
        let actor = machine.process()
        let verdict = actor.authenticate([.enter, .types(newPIN)], touches: [.matched(index: 0)])
        #expect(verdict != .refused(.recordUnusable) && actor.sensor.arms == 0)
        #expect(actor.person.notices.first == .pinSetByAdministrator)
    }

    /// Catches a change that costs approvals or the recovery code, or that does not ask for the PIN.
    @Test func theOldPINChangesThePIN() throws {
        let machine = Machine()
        try machine.setUp()
        let changed = machine.process().run([
            .types(Machine.wrong), .types(Machine.pin), .types(newPIN), .types(newPIN),
        ]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.changePIN(on: &screen)
        }
        #expect(changed.refusal == nil)
        #expect(opens(machine, newPIN) && !opens(machine, Machine.pin))
        #expect(machine.disk.identity?.recovery != nil)
        guard case .granted = machine.process().authenticate([.enter], touches: [.matched(index: 0)]) else {
            Issue.record("the approval is gone")
            return
        }
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a PIN that is replaced by the proof of one that is no longer in force.
    @Test func ofTwoChangesAtOnceOneHolds() throws {
        let machine = Machine()
        try machine.setUp()
        let change: (inout Actor.Tasks, inout FakeScreen) throws(ManagementRefusal) -> Void = {
            (tasks, screen) throws(ManagementRefusal) in try tasks.changePIN(on: &screen)
        }
        let slow = machine.process("slow")
        var asked = 0
        var quick: ManagementRefusal?
        slow.process.onCall = { call in
            if call == .ask { asked += 1 }
            guard call == .ask, asked == 2 else { return }
            quick = machine.process("quick").run([.types(Machine.pin), .types(newPIN), .types(newPIN)], change).refusal
        }
        let later = slow.run([.types(Machine.pin), .types("739164"), .types("739164")], change)
        #expect(asked == 3 && quick == nil)
        #expect(later.refusal == .ledger(.changedMeanwhile))
        #expect(opens(machine, newPIN) && !opens(machine, "739164"))
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a full or read-only disk that is told as "try again".
    @Test(arguments: [(Int32(28), LedgerFailure.full), (122, .full), (30, .readOnly), (5, .unavailable)])
    func theDisksRefusalIsTold(errno: Int32, failure: LedgerFailure) throws {
        let machine = Machine()
        try machine.setUp()
        let actor = machine.process()
        actor.process.storeError = .system(errno: errno)
        actor.process.onCall = { [unowned process = actor.process] call in
            if call == .ask { process.failAt = process.calls.count + 2 }
        }
        let run = actor.run([.types(Machine.pin)]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.changePIN(on: &screen)
        }
        #expect(run.refusal == .ledger(failure))
    }

    /// Catches a PIN that goes while prints stay in a reader's memory, and one that goes for a wrong PIN.
    @Test func thePINGoesLast() throws {
        let machine = Machine()
        try machine.setUp()
        let remove: (inout Actor.Tasks, inout FakeScreen) throws(ManagementRefusal) -> Void = {
            (tasks, screen) throws(ManagementRefusal) in try tasks.removePIN(on: &screen)
        }
        #expect(machine.process().run([.types(Machine.pin)], remove).refusal == .printsLeft(1))
        _ = machine.process().run([.types(Machine.pin)]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.delete(.all, on: &screen)
        }
        let wrong = Answer.types(Machine.wrong)
        #expect(machine.process().run([wrong, wrong, wrong], remove).refusal == .wrongPIN)
        #expect(machine.process().run([.types(Machine.pin)], remove).refusal == nil)
        #expect(machine.disk.identity == nil)
        #expect(machine.process().run([.types(Machine.pin)], remove).refusal == .pinNotSet)
    }

    // MARK: The recovery code

    /// Catches a code that works twice, is not counted, or is taken only as it was printed.
    @Test func theRecoveryCodeSetsANewPINOnce() throws {
        let machine = Machine()
        try machine.setUp()
        let typed = machine.code.map { $0 == 0x30 ? 0x6F : $0 >= 0x41 ? $0 + 0x20 : $0 }
        let use: (inout Actor.Tasks, inout FakeScreen) throws(ManagementRefusal) -> Void = {
            (tasks, screen) throws(ManagementRefusal) in try tasks.useRecoveryCode(on: &screen)
        }
        let answers: [Answer] = [
            .types("WRONG-CODE"), .bytes(typed.flatMap { [$0, 0x2D] }), .types(newPIN), .types(newPIN),
        ]
        let actor = machine.process()
        #expect(actor.run(answers, use).refusal == nil)
        #expect(actor.person.notices.first == .wrongRecoveryCode(triesLeft: nil))
        #expect(opens(machine, newPIN))
        #expect(machine.process().run(answers, use).refusal == .noRecoveryCode)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a code of dashes alone that costs a try here, where an authentication takes it for nothing typed.
    @Test func dashesAreNothingTyped() throws {
        let machine = Machine()
        try machine.setUp()
        let actor = machine.process()
        let run = actor.run([.types("- -"), .cancels]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.useRecoveryCode(on: &screen)
        }
        #expect(run.refusal == .cancelled)
        #expect(actor.person.notices == [.nothingTyped])
        #expect(machine.attempts.recovery.total == 0 && actor.vault.comparisons == 0)
    }

    /// Catches a new code that leaves the old one working, and one made where nobody sees it.
    @Test func aNewCodeReplacesTheOld() throws {
        let machine = Machine()
        try machine.setUp()
        let renew: (inout Actor.Tasks, inout FakeScreen) throws(ManagementRefusal) -> Void = {
            (tasks, screen) throws(ManagementRefusal) in try tasks.renewRecoveryCode(on: &screen)
        }
        let hidden = machine.process().run([.types(Machine.pin)], on: FakeScreen(canShowRecoveryCode: false), renew)
        #expect(hidden.refusal == .nowhereToShow)
        let screen = FakeScreen()
        #expect(machine.process("renew").run([.types(Machine.pin)], on: screen, renew).refusal == nil)
        #expect(screen.codes.count == 1 && screen.codes.first != machine.code)
        let old = machine.process().run([.bytes(machine.code)]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.useRecoveryCode(on: &screen)
        }
        #expect(old.refusal == .cancelled)
        #expect(machine.disk.attempts?.recovery.byPerson == 1)
    }

    // MARK: Fingers

    private func two(on reader: ReaderIdentity = .inside, onReader: Bool = false) -> [Print] {
        [
            Print(finger: 7, reader: reader, onReader: onReader, data: [1]),
            Print(finger: 8, reader: reader, onReader: onReader, data: [2]),
        ]
    }

    private func delete(
        _ selection: FingerSelection
    ) -> (inout Actor.Tasks, inout FakeScreen) throws(ManagementRefusal) -> FingersDeleted {
        { (tasks, screen) throws(ManagementRefusal) in try tasks.delete(selection, on: &screen) }
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

    /// Catches a kill, wherever it comes, after which a print on the chip matches for the user without being in the record that the
    /// PIN approved.
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
        #expect(machine.disk.identity?.approvals.isEmpty == true && opens(machine, Machine.pin))
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
        #expect(admin.run([.cannotBeAsked], byAdministrator: true, delete(.all)).refusal == .ledger(.recordUnusable))
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
