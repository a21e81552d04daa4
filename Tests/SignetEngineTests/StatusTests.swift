import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

struct StatusTests {
    private func status(
        of machine: Machine, readers: ReaderPresence? = nil, fingers: Bool = true
    ) -> (status: UserStatus, calls: [PortCall]) {
        let actor = machine.process("status", isAdministrator: true)
        var ledger = actor.ledger()
        let status = ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: fingers,
            readers: readers ?? .present(machine.readers))
        return (status, actor.process.calls)
    }

    // Would catch: a healthy user shown as needing something, or a date or finger that is not told.
    @Test func `a user who is set up needs nobody`() throws {
        let machine = Machine()
        try machine.setUp()
        machine.time.pass(90)
        let status = status(of: machine).status
        #expect(status.record == .usable && status.fingerClosure == nil && status.attention.isEmpty)
        #expect(status.fingers.map(\.finger.number) == [7])
        #expect(status.pin?.lastUse == .at(machine.time.wall - 90))
        #expect(status.lockout?.pin == nil && status.lockout?.fingerLimit == 5 && status.lockout?.pinLimit == 10)
        #expect(status.recovery == .ready(madeAt: machine.time.wall - 90, lockout: nil))
        #expect(machine.disk.violations.isEmpty)
    }

    // Would catch: looking that writes, or that makes a folder for whoever is looked at (taking the lock does).
    @Test func `looking changes nothing`() throws {
        let machine = Machine()
        let nobody = status(of: machine)
        #expect(nobody.status.record == .notSetUp && nobody.status.attention == [.notSetUp])
        #expect(!nobody.calls.contains(.lock))

        try machine.setUp()
        machine.disk.prints = Disk.Prints(generation: 1, [Print(finger: 3, reader: .inside, data: [9])])
        let changed = status(of: machine)
        #expect(!changed.calls.contains { $0.writes })
        #expect(machine.disk.holder == nil && machine.disk.attempts?.change == nil)
        #expect(
            changed.status.attention == [.enrollmentChanged(EnrollmentChange(added: 1, removed: 1))])
    }

    // Would catch: a print that came without the PIN being shown as switched on, or the wrong command being named.
    @Test func `prints without approval need the user`() throws {
        let machine = Machine()
        try machine.setUp(prints: [])
        #expect(status(of: machine).status.fingerClosure == .notEnrolled)
        machine.disk.prints = Disk.Prints(generation: 1, [Print(finger: 3, reader: .inside, data: [9])])
        let found = status(of: machine).status
        #expect(found.fingerClosure == .notApproved && found.attention == [.notApproved])
        #expect(found.fingers.count == 1)
    }

    // Would catch: fingers that nobody is asked for, and nobody to do anything about it, the more where something else
    // closes them too.
    @Test func `a reader that may not be used needs somebody`() throws {
        let machine = Machine()
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: [.onChip])
        #expect(status(of: machine).status.attention.isEmpty)
        machine.configuration.matchOnChip = .refuse
        #expect(status(of: machine).status.attention == [.readerRefused(.chip)])
        machine.time.reboot()
        let late = status(of: machine).status
        #expect(late.fingerClosure == .pinRequiredAfterBoot && late.attention == [.readerRefused(.chip)])
        // Another reader that holds a finger serves.
        machine.readers = [.of(.chip, keepsPrints: true), .of(.inside)]
        machine.configuration.matchOnChip = .allow
        try machine.setUp(prints: [.onChip, .first])
        machine.configuration.matchOnChip = .refuse
        #expect(status(of: machine).status.attention.isEmpty)
    }

    // Would catch: two words for one reader, or a reader that needs its owner and is passed over because another one serves.
    @Test func `of two readers each is judged where it is`() throws {
        let machine = Machine()
        machine.configuration.readers = .any
        machine.readers = [.of(.inside), .of(.outside, at: .desktop)]
        try machine.setUp(prints: [.first, .elsewhere])
        machine.configuration.readers = .inside
        func attention(_ readers: [ReaderDescription]) -> [Attention] {
            status(of: machine, readers: .present(readers)).status.attention
        }
        let moved = ReaderDescription.of(.outside, at: .usb(.unknown, "4"))
        let plugged = ReaderDescription.of(.inside, at: .socket)
        #expect(attention(machine.readers).isEmpty)
        #expect(attention([.of(.inside), moved]) == [.readerNotTrusted(.moved)])
        #expect(attention([plugged, moved]) == [.readerNotTrusted(.moved)])
        #expect(attention([plugged]) == [.readerRefused(.outside)])
        // The approved one is there, too.
        #expect(attention([plugged, .of(.inside)]).isEmpty)
        #expect(attention([plugged, .of(.outside, at: .desktop)]).isEmpty)
    }

    // Would catch: all prints removed behind the user's back being shown as "none enrolled".
    @Test func `a set that is gone is a change`() throws {
        let machine = Machine()
        try machine.setUp()
        machine.disk.prints = nil
        #expect(status(of: machine).status.fingerClosure == .enrollmentChanged(EnrollmentChange(added: 0, removed: 1)))
    }

    // Would catch: the finger path being shown open while it is closed by the counters, and the reason mixed up.
    @Test func `counters close the finger path`() throws {
        let machine = Machine()
        try machine.setUp()
        machine.disk.attempts?.finger.count = 5
        let locked = status(of: machine).status
        #expect(locked.fingerClosure == .biometryLockout(limit: 5))
        #expect(locked.attention == [.fingerLockedOut(failures: 5)])

        machine.disk.attempts?.finger.count = 0
        machine.time.reboot()
        let rebooted = status(of: machine).status
        #expect(rebooted.fingerClosure == .pinRequiredAfterBoot && rebooted.attention.isEmpty)
        #expect(rebooted.pin?.lastUse == .beforeStartUp)
        #expect(status(of: machine, fingers: false).status.fingerClosure == .switchedOff)
    }

    // Would catch: a disabled PIN, a wait or a used-up share that an administrator is not told of.
    @Test func `the PIN's door is told`() throws {
        let machine = Machine()
        try machine.setUp()
        machine.disk.attempts?.pin.byAnotherPerson = 3
        #expect(status(of: machine).status.lockout?.closedTo == [.anotherPerson])
        machine.disk.attempts?.pin.byPerson = 5
        machine.disk.attempts?.pin.wait = Wait(since: machine.time.now, seconds: 900)
        machine.time.pass(100)
        #expect(status(of: machine).status.lockout?.pin == .waiting(seconds: 800))
        machine.disk.attempts?.pin.byPerson = 7
        let disabled = status(of: machine).status
        #expect(disabled.lockout?.pin == .disabled && disabled.attention.first == .pinDisabled)
    }

    // Would catch: "on" while no reader could take a touch, or another reader being taken for the user's.
    @Test func `the user's reader must be there`() throws {
        let machine = Machine()
        try machine.setUp()
        let other = status(of: machine, readers: .present([.of(.outside)])).status
        let exchange = ReaderExchange(
            present: Array("outside".utf8), enrolled: Array("inside".utf8), isSameKind: false, isKeptElsewhere: false)
        #expect(other.fingerClosure == .readerExchanged(exchange) && other.attention == [.readerExchanged(exchange)])
        let none = status(of: machine, readers: .present([])).status
        #expect(none.fingerClosure == .readerNotAvailable(.noReader) && none.attention.isEmpty)
        #expect(other.readers == .present([.of(.outside)]))
        #expect(
            status(of: machine, readers: .problem(.busy)).status.fingerClosure == .readerNotAvailable(.busy))
        let both = status(of: machine, readers: .present([.of(.outside), .of(.inside)])).status
        #expect(both.fingerClosure == nil && both.readers == .present([.of(.inside)]))
    }

    // Would catch: faults of the records mixed up, or told as "not set up", which would invite to overwrite them.
    @Test(arguments: [RecordFault.damaged, .foreign, .otherUser, .newer, .keyLost, .unsafe])
    func `faults are told apart`(fault: RecordFault) throws {
        let machine = Machine()
        try machine.setUp()
        for kind in [RecordKind.identity, .attempts, .prints] {
            machine.disk.damage = [(kind, fault)]
            let found = status(of: machine).status
            #expect(found.record == .faulty(kind, fault))
            #expect(found.attention == [.recordFaulty(kind, fault)])
            #expect((found.pin != nil) == (kind == .prints))
            #expect(machine.disk.holder == nil)
        }
        machine.disk.damage = [(.identity, .renamed)]
        #expect(status(of: machine).status.attention == [.renamed])
    }

    // Would catch: a shortage told as a record that is damaged, which invites to delete all fingers.
    @Test func `a shortage is no damage`() throws {
        let machine = Machine()
        try machine.setUp()
        for (call, isTold) in [(PortCall.digest, false), (.loadPrints, true)] {
            let actor = machine.process("status", isAdministrator: true)
            actor.process.storeError = .system(errno: 24)
            actor.process.faults = [(call, nil)]
            var ledger = actor.ledger()
            let found = ledger.status(
                uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
            #expect(found.fingerClosure == .printsUnavailable && found.attention.isEmpty, "\(call)")
            #expect(found.record == (isTold ? .refused(errno: 24) : .usable) && found.pin != nil, "\(call)")
        }
        machine.disk.prints?.templates[0] = 0
        #expect(status(of: machine).status.attention == [.recordFaulty(.prints, .damaged)])
    }

    // Would catch: a user whose PIN is guessable offline, who waits for the TPM, or whose records can be put back unseen,
    // told as well off; and a machine without a TPM told of one.
    @Test func `the TPM's part is told`() throws {
        let file = Machine()
        try file.setUp()
        #expect(status(of: file).status.enclave == nil && !status(of: file).status.pinIsToBeRenewed)

        let machine = Machine()
        try EnclaveStories.counting(machine)
        let well = status(of: machine).status
        #expect(
            well.enclave
                == EnclaveFact(
                    hasCounter: true, pinHasHalf: true, countsFailures: true, failures: 0, share: 8, wait: nil))
        #expect(well.attention.isEmpty)
        machine.wrongPINs(8)
        let waiting = status(of: machine).status
        #expect(waiting.enclave?.failures == 8 && waiting.enclave?.wait == 3600 && waiting.attention.isEmpty)

        // Set up with a file, before the machine had a TPM.
        file.tpm = FakeTPM(file.time)
        let moved = status(of: file).status
        #expect(moved.enclave?.pinHasHalf == false && moved.enclave?.hasCounter == false)
        #expect(moved.attention == [.pinToBeRenewed])
        _ = file.process().authenticate([.right])
        let bound = status(of: file).status
        #expect(bound.enclave?.hasCounter == true && bound.attention.isEmpty)
    }

    // Would catch: records that were put back, or another TPM, shown as usable; and looking that makes them good.
    @Test func `the TPM's count is told and not touched`() throws {
        let machine = Machine(.tpm)
        try machine.setUp()
        let held = try #require(machine.attempts.counter)
        func told(_ value: UInt64) -> RecordCondition {
            machine.disk.attempts?.counter = EnclaveCounter(index: held.index, value: value)
            let (status, calls) = status(of: machine)
            #expect(!calls.contains { $0.writes })
            return status.record
        }
        #expect(told(held.value) == .usable && told(held.value + 1) == .usable)
        #expect(told(held.value - 1) == .faulty(.attempts, .rolledBack))
        #expect(told(held.value + 2) == .faulty(.attempts, .rolledBack))
        machine.tpm?.isThere = false
        #expect(told(held.value) == .faulty(.attempts, .enclaveGone))
        machine.tpm?.isThere = true
        machine.tpm?.clear()
        #expect(told(held.value) == .faulty(.attempts, .rolledBack))
    }

    // Would catch: a lock kept, or a fault swallowed, when any one call fails.
    @Test func `every call may fail`() throws {
        let machine = Machine()
        try machine.setUp()
        let calls = status(of: machine).calls.count
        for number in 1...calls {
            let actor = machine.process("status", isAdministrator: true)
            actor.process.failAt = number
            var ledger = actor.ledger()
            let found = ledger.status(
                uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
            #expect(machine.disk.holder == nil, "the lock is kept after call \(number)")
            if actor.process.calls[number - 1].canFail {
                #expect(found.record != .usable || found.fingerClosure != nil, "call \(number) was swallowed")
            }
        }
        #expect(machine.disk.violations.isEmpty)
    }
}
