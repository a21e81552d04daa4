import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

extension FakeStore: AdoptingRecordStore {
    /// The disk of the tests tells a rename as damage of both records; adopting takes that away.
    func adopt() throws(StoreError) {
        disk.needsLock("adopted", process)
        if process.begin(.saveIdentity) { throw process.storeError }
        disk.damage = []
        disk.identity?.userName = Array("alicia".utf8)
    }
}

struct UserAdministrationTests {
    private func renamed() throws -> Machine {
        let machine = Machine()
        try machine.setUp()
        machine.disk.damage = [(.identity, .renamed), (.prints, .renamed)]
        return machine
    }

    // Would catch: a finger that lets in under a new name before its owner approved that with the PIN.
    @Test func `adopting withdraws every approval`() throws {
        let machine = try renamed()
        let actor = machine.process("adopt", isAdministrator: true)
        var ledger = actor.ledger()
        #expect(try ledger.adopt() == .adopted)
        #expect(machine.disk.identity?.approvals.isEmpty == true)
        #expect(machine.disk.prints?.entries.count == 1)
        #expect(actor.journal.events.last == .management(.adopted, byAdministrator: true))
        #expect(machine.process().authenticate([.types(Machine.pin)]).isGranted)
        #expect(!machine.process().authenticate([.enter], touches: [.matched(index: 0)]).isGranted)
        #expect(machine.disk.violations.isEmpty)
    }

    // Would catch: records of a user who needs no adoption being rewritten, or made.
    @Test func `nothing is adopted where the name fits`() throws {
        let machine = Machine()
        var ledger = machine.process("adopt", isAdministrator: true).ledger()
        #expect(try ledger.adopt() == .nothingThere)
        try machine.setUp()
        let before = machine.disk.identity
        #expect(try ledger.adopt() == .nameFits)
        #expect(machine.disk.identity == before && before?.approvals.count == 1)
    }

    // Would catch: adoption as a way to make foreign, swapped or damaged records work.
    @Test(arguments: [RecordFault.damaged, .foreign, .otherUser, .newer, .unsafe, .keyLost])
    func `only a rename is mended`(fault: RecordFault) throws {
        let machine = try renamed()
        machine.disk.damage = [(.identity, fault)]
        var ledger = machine.process("adopt", isAdministrator: true).ledger()
        #expect(throws: LedgerFailure.recordUnusable) { try ledger.adopt() }
        #expect(machine.disk.damage.count == 1 && machine.disk.holder == nil)
    }

    // Would catch: a lock that is kept, or approvals that survive, where adoption stops in the middle.
    @Test func `adoption may fail at any call`() throws {
        for number in 1...12 {
            let machine = try renamed()
            let actor = machine.process("adopt", isAdministrator: true)
            actor.process.failAt = number
            var ledger = actor.ledger()
            _ = try? ledger.adopt()
            #expect(machine.disk.holder == nil)
            #expect(machine.disk.violations.isEmpty)
        }
    }

    // Would catch: something of a purged user staying behind, or a purge that leaves no trace in the journal.
    @Test func `purging deletes everything, whatever its state`() throws {
        let machine = Machine()
        try machine.setUp()
        machine.disk.damage = [(.identity, .damaged)]
        let actor = machine.process("purge", isAdministrator: true)
        var ledger = actor.ledger()
        try ledger.purge()
        #expect(machine.disk.identity == nil && machine.disk.prints == nil && machine.disk.attempts == nil)
        #expect(actor.journal.events == [.management(.purged, byAdministrator: true)])
        #expect(machine.disk.holder == nil && machine.disk.violations.isEmpty)
    }
}

extension Verdict {
    fileprivate var isGranted: Bool { if case .granted = self { true } else { false } }
}
