import SignetPolicy
import SignetRecords
import Testing

@testable import SignetEngine

/// An index of prints in readers' memories that stays as it is until an administrator has seen to it: of a later Signet, or
/// with something in its place that cannot be replaced.
@Suite struct StuckIndexStories {
    private static let second = Print(finger: 2, reader: .chip, onReader: true, data: [4, 4, 4])
    static let faults: [RecordFault] = [.unsafe, .stuck, .newer]

    private func machine(_ prints: [Print], _ fault: RecordFault? = nil) throws -> Machine {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: prints)
        machine.disk.chips.stuck = fault
        return machine
    }

    /// Catches a record that lets a print go where the index can be neither used nor replaced, so that nobody would know of
    /// the print again; and a refusal that has no words for it.
    @Test(arguments: faults) func nothingIsForgotten(_ fault: RecordFault) throws {
        let alice = try machine([.onChip, Self.second], fault)
        let before = alice.disk.prints?.entries.count
        let index = alice.disk.chips.index
        let actor = alice.process()
        let refusal = actor.run([.right]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.delete(.all, on: &screen)
        }.refusal
        #expect(refusal == .ledger(.indexUnusable(fault)))
        #expect(alice.disk.prints?.entries.count == before && actor.sensor.deleted.isEmpty)
        let leftovers = alice.process(isAdministrator: true).run([]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.deleteLeftovers(on: &screen)
        }.refusal
        #expect(leftovers == .ledger(.indexUnusable(fault)))
        var ledger = alice.process("purge", isAdministrator: true).ledger()
        #expect(throws: LedgerFailure.indexUnusable(fault)) { try ledger.purge() }
        #expect(alice.disk.prints?.entries.count == before && alice.disk.identity != nil)
        #expect(alice.disk.chips.index == index)
        alice.disk.chips.stuck = nil
        try ledger.purge()
        #expect(alice.disk.chips.index?.loose.count == 2)
    }

    /// Catches a print that is made in a reader's memory and that no list can take, and a person who gives a PIN and ten
    /// touches before they are told.
    @Test(arguments: faults) func noPrintIsMadeThatNobodyCouldList(_ fault: RecordFault) throws {
        let alice = try machine([.onChip], fault)
        let actor = alice.process()
        let refusal = actor.enroll(2, [.right], touches: [.matched(index: 1)], data: [5, 5, 5]).refusal
        #expect(refusal == .ledger(.indexUnusable(fault)))
        #expect(actor.person.met.isEmpty && actor.process.count(.enroll) == 0)
        // A reader without a memory of its own needs no list.
        alice.readers = [.of(.inside)]
        let host = alice.process().enroll(2, [.right], touches: [.matched(index: 0)])
        #expect(host.outcome?.approved == true)
    }

    /// Catches a person who cannot get in, with PIN or finger, because of a list that says nothing of either; one who cannot
    /// have a PIN; and an administrator who cannot delete somebody of whom no chip has anything.
    @Test(arguments: faults) func thePINAndTheFingerGoOn(_ fault: RecordFault) throws {
        let alice = try machine([.onChip], fault)
        #expect(Outcome(alice.process().authenticate([.enter], touches: [.matched(index: 0)])) == .granted(.finger))
        #expect(Outcome(alice.process().authenticate([.right])) == .granted(.pin))

        let bob = Machine()
        bob.readers = [.of(.chip, keepsPrints: true)]
        bob.disk.chips.stuck = fault
        let setUp = bob.process().run([.right, .right]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.setUp(on: &screen)
        }
        #expect(setUp.outcome == .pinAlone(.ledger(.indexUnusable(fault))), "\(setUp)")
        #expect(Outcome(bob.process().authenticate([.right])) == .granted(.pin))
        var ledger = bob.process("purge", isAdministrator: true).ledger()
        try ledger.purge()
        #expect(bob.disk.identity == nil)

        let carol = Machine()
        try carol.setUp()
        carol.disk.chips.stuck = fault
        var purging = carol.process("purge", isAdministrator: true).ledger()
        try purging.purge()
        #expect(carol.disk.identity == nil)
    }
}
