import SignetPolicy
import Testing

@testable import SignetEngine

@Suite struct ManagementTests {
    private let newPIN = "583920"

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
        #expect(set.outcome == PINSet(replaced: nil, recoveryCodeShown: true))
        #expect(actor.person.notices == [.pinRefused(.repeated), .pinsDiffer])
        #expect(screen.codes.map(\.count) == [26])
        #expect(machine.opens(with: Machine.pin))
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
        #expect(
            set.outcome == PINSet(replaced: .init(fingers: true, recoveryCode: true), recoveryCodeShown: false))
        #expect(machine.disk.identity?.approvals.isEmpty == true)
        let actor = machine.process()
        let verdict = actor.authenticate([.enter, .types(newPIN)], touches: [.matched(index: 0)])
        #expect(verdict != .refused(.recordUnusable) && actor.sensor.arms == 0)
        #expect(actor.person.notices.first == .pinSetByAdministrator)
    }

    /// Catches an administrator who is told of fingers or a recovery code that never were.
    @Test func whatGoesWithAReplacedPINIsTold() throws {
        let machine = Machine()
        try machine.setUp(prints: [], code: false)
        let admin = machine.process("admin", isAdministrator: true)
        let set = admin.run([.types(newPIN), .types(newPIN)], byAdministrator: true) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen)
        }
        #expect(
            set.outcome == PINSet(replaced: .init(fingers: false, recoveryCode: false), recoveryCodeShown: false))
    }

    /// Catches an administrator's PIN that takes the place of records which were only to be given the account's new name.
    @Test func recordsOfAnotherNameAreNotReplaced() throws {
        let machine = Machine()
        try machine.setUp()
        machine.disk.damage = [(.identity, .renamed), (.prints, .renamed)]
        let admin = machine.process("admin", isAdministrator: true)
        let set = admin.run([.types(newPIN), .types(newPIN)], byAdministrator: true) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen)
        }
        #expect(set.refusal == .ledger(.troubled(.renamed)) && !admin.process.wrote && admin.person.prompts.isEmpty)
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
        #expect(machine.opens(with: newPIN) && !machine.opens(with: Machine.pin))
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
        #expect(machine.opens(with: newPIN) && !machine.opens(with: "739164"))
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
        #expect(machine.opens(with: newPIN))
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
}
