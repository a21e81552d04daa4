import SignetPolicy
import Testing

@testable import SignetEngine

/// Copies of old records that are put back, the count that tells them, and what it costs the TPM.
@Suite struct RollbackTests {
    private func machine() throws -> Machine {
        let machine = Machine(.tpm)
        try machine.setUp(prints: [.first, .second])
        machine.disk.comparesIdentities = true
        return machine
    }

    /// What a copy of the user's files holds.
    private struct Copy {
        let disk: Disk

        init(_ machine: Machine) {
            disk = machine.copy().disk
        }

        func putBack(_ machine: Machine) {
            machine.disk.identity = disk.identity
            machine.disk.bound = disk.bound
            machine.disk.prints = disk.prints
            machine.disk.attempts = disk.attempts
            machine.disk.guesses = disk.guesses
        }
    }

    private func outcome(_ machine: Machine) -> (Outcome, Actor) {
        let actor = machine.process("next")
        return (Outcome(actor.authenticate([.right])), actor)
    }

    /// Each change after which an older copy must not count.
    private static let changes: [(name: String, change: @Sendable (Machine) throws -> Void)] = [
        ("a wrong PIN", { $0.wrongPINs(1) }),
        (
            "wrong PINs and a right one",
            { machine in
                machine.wrongPINs(2)
                _ = machine.process().authenticate([.right])
            }
        ),
        (
            "a wrong recovery code",
            { machine in
                machine.wrongPINs(10)
                _ = machine.process().authenticate([.types("wrong wrong")])
            }
        ),
        (
            "a reset",
            { machine in
                var ledger = machine.process("reset", isAdministrator: true).ledger()
                try ledger.reset(finger: true, pin: true)
            }
        ),
        (
            "deactivation",
            { machine in
                var ledger = machine.process("deactivate").ledger()
                try ledger.deactivate()
            }
        ),
        (
            "a new PIN",
            { machine in
                let changed = machine.process().run([.right, .newPIN, .newPIN]) {
                    (tasks, screen) throws(ManagementRefusal) in try tasks.changePIN(on: &screen)
                }
                #expect(changed.refusal == nil)
            }
        ),
        (
            "a new recovery code",
            { machine in
                let made = machine.process().run([.right]) {
                    (tasks, screen) throws(ManagementRefusal) in try tasks.renewRecoveryCode(on: &screen)
                }
                #expect(made.refusal == nil)
            }
        ),
        (
            "a used recovery code",
            { machine in
                let used = machine.process().run([.bytes(machine.code), .newPIN, .newPIN]) {
                    (tasks, screen) throws(ManagementRefusal) in try tasks.useRecoveryCode(on: &screen)
                }
                #expect(used.refusal == nil)
            }
        ),
        (
            "a deleted finger",
            { machine in
                let deleted = machine.process().run([.right]) {
                    (tasks, screen) throws(ManagementRefusal) in
                    _ = try tasks.delete(.all, on: &screen)
                }
                #expect(deleted.refusal == nil)
            }
        ),
        (
            "an activation",
            { machine in
                let activated = machine.process().run([.right], touches: [.matched(index: 0)]) {
                    (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
                }
                #expect(activated.refusal == nil)
            }
        ),
    ]

    /// Catches a change that a copy of all records undoes: a guess for nothing, an old PIN, a deleted finger.
    @Test(arguments: 0..<10) func allRecordsTogether(_ index: Int) throws {
        let (name, change) = Self.changes[index]
        let machine = try machine()
        let copy = Copy(machine)
        try change(machine)
        copy.putBack(machine)
        let (outcome, actor) = outcome(machine)
        #expect(outcome == .refused(.recordUnusable), "\(name)")
        #expect(actor.person.met == [.notice(.troubled(.rolledBack))], "\(name)")
        #expect(actor.journalHas(.recordFault(.attempts, .rolledBack)) && !actor.process.wrote, "\(name)")
        #expect(actor.vault.comparisons == 0 && actor.sensor.arms == 0, "\(name)")
    }

    /// Catches a copy of one record that is taken beside the others' newest state.
    @Test func oneRecordAlone() throws {
        let before = try machine()
        // The counters alone.
        var machine = before.copy()
        machine.wrongPINs(1)
        machine.disk.attempts = before.disk.attempts
        #expect(outcome(machine).0 == .refused(.recordUnusable))
        // The identity alone, which the store compares with what the counters say of it.
        machine = before.copy()
        var ledger = machine.process("deactivate").ledger()
        try ledger.deactivate()
        machine.disk.identity = before.disk.identity
        let (refused, actor) = outcome(machine)
        #expect(refused == .refused(.recordUnusable) && actor.person.met == [.notice(.troubled(.rolledBack))])
        // The prints alone: the finger path closes, and the PIN stays.
        machine = before.copy()
        let middle = try #require(Finger(number: 8))
        let deleted = machine.process().run([.right]) { (tasks, screen) throws(ManagementRefusal) in
            _ = try tasks.delete(.finger(middle), on: &screen)
        }
        #expect(deleted.refusal == nil)
        machine.disk.prints = before.disk.prints
        let finger = machine.process()
        #expect(Outcome(finger.authenticate([.right], touches: [.matched(index: 1)])) == .granted(.pin))
        #expect(finger.sensor.arms == 0)
    }

    /// Catches a story after which a guess could be made again for nothing, whatever the story was.
    @Test(arguments: FaultTests.stories) func noGuessIsFree(_ story: Story) throws {
        let machine = try story.prepared(.tpm)
        guard machine.attempts.counter != nil else { return }
        let copy = Copy(machine)
        let actor = story.begin(machine)
        let outcome = story.run(actor)
        // Whoever typed it right has nothing to guess.
        guard case .refused = outcome, actor.vault.comparisons > 0,
            !actor.process.evidence.contains(.comparedRight(.pin)),
            !actor.process.evidence.contains(.comparedRight(.recoveryCode))
        else { return }
        copy.putBack(machine)
        machine.disk.damage = []
        let next = machine.process("next")
        _ = next.authenticate([.right])
        #expect(next.vault.comparisons == 0 && next.journalHas(.recordFault(.attempts, .rolledBack)))
    }

    /// Catches records made good that were not in force: a TPM that is behind by more than one.
    @Test func aCountFromNowhereIsRefused() throws {
        let machine = try machine()
        let held = try #require(machine.attempts.counter)
        machine.disk.attempts?.counter = EnclaveCounter(index: held.index, value: held.value + 2)
        let (refused, actor) = outcome(machine)
        #expect(refused == .refused(.recordUnusable))
        #expect(actor.person.met == [.notice(.troubled(.rolledBack))])
    }

    /// Catches a command that the TPM got twice locking the user out.
    @Test func aSecondCountIsTakenOver() throws {
        let machine = try machine()
        let actor = machine.process()
        actor.once(at: .bump) {
            let counter = machine.attempts.counter ?? EnclaveCounter(index: 0, value: 0)
            _ = try? machine.tpm?.bump(
                counter, CounterOwner(uid: 1000, instance: machine.disk.identity?.instance ?? []))
        }
        #expect(Outcome(actor.authenticate([.wrong])) == .refused(.authenticationFailed))
        #expect(outcome(machine).0 == .granted(.pin))
    }

    /// Catches a backup that nobody can use again, and one whose acceptance lets older copies in as well.
    @Test func anAdministratorAcceptsABackup() throws {
        let machine = try machine()
        let backup = Copy(machine)
        machine.wrongPINs(2)
        let newest = Copy(machine)
        backup.putBack(machine)
        #expect(outcome(machine).0 == .refused(.recordUnusable))

        let admin = machine.process("accept", isAdministrator: true)
        var ledger = admin.ledger()
        #expect(try ledger.acceptOlderRecords())
        #expect(admin.journalHas(.management(.olderRecordsAccepted, byAdministrator: true)))
        // Fingers that the backup brought back may have been deleted since.
        #expect(machine.attempts.change == EnrollmentChange(added: 0, removed: 0))
        #expect(outcome(machine).0 == .granted(.pin))
        let again = try ledger.acceptOlderRecords()
        #expect(!again)
        for copy in [backup, newest] {
            copy.putBack(machine)
            #expect(outcome(machine).0 == .refused(.recordUnusable))
        }
    }

    /// Catches a counter that somebody removed from the TPM shutting the user out for good.
    @Test func aRemovedCounterIsMadeAnew() throws {
        let machine = try machine()
        let held = try #require(machine.attempts.counter)
        machine.tpm?.remove(held)
        #expect(outcome(machine).0 == .refused(.recordUnusable))
        var ledger = machine.process("accept", isAdministrator: true).ledger()
        #expect(try ledger.acceptOlderRecords())
        #expect(outcome(machine).0 == .granted(.pin))
        #expect(machine.attempts.counter?.value ?? 0 > held.value)
    }

    // MARK: Room

    /// Catches counters that stay behind when records are replaced or deleted, until the TPM has no room for anybody.
    @Test func roomIsGivenBack() throws {
        let machine = try machine()
        machine.tpm?.room = 1
        for round in 1...3 {
            let admin = machine.process("set \(round)", isAdministrator: true)
            let set = admin.run([.right, .right], byAdministrator: true) {
                (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen)
            }
            #expect(set.refusal == nil && machine.attempts.counter != nil && machine.tpm?.counters.count == 1)
        }
        var ledger = machine.process("purge", isAdministrator: true).ledger()
        try ledger.purge()
        #expect(machine.tpm?.counters.isEmpty == true)
    }

    /// Catches a first PIN that fails for want of room, or whose lack of a counter nobody is told.
    @Test func withoutRoomOneGoesOn() throws {
        let machine = Machine(.tpm)
        machine.tpm?.room = 0
        let actor = machine.process("setup")
        let set = actor.run([.right, .right]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.setPIN(on: &screen)
        }
        #expect(set.refusal == nil && actor.journalHas(.noCounter))
        var ledger = machine.process("status").ledger()
        let status = ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
        #expect(status.enclave?.hasCounter == false && status.attention == [.noCounter])
    }

    /// Catches an administrator's new PIN that makes the TPM's failures forgotten, and a reset that does.
    @Test func theTPMsFailuresOutliveResets() throws {
        let machine = Machine()
        try EnclaveStories.counting(machine)
        machine.wrongPINs(3)
        var ledger = machine.process("reset", isAdministrator: true).ledger()
        try ledger.reset(finger: true, pin: true)
        #expect(machine.attempts.enclaveFailures?.count == 3)
        let set = machine.process("set", isAdministrator: true).run([.right, .right], byAdministrator: true) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen)
        }
        #expect(set.refusal == nil && machine.attempts.enclaveFailures?.count == 3)
        try ledger.forgetEnclaveFailures()
        #expect(machine.attempts.enclaveFailures == nil)
    }

    /// Catches a management task that tries a PIN where an authentication would not, or charges what the TPM refused.
    @Test func managementMeetsTheSameDoors() throws {
        let machine = Machine()
        try EnclaveStories.counting(machine)
        func change(_ actor: Actor) -> ManagementRefusal? {
            actor.run([.right, .newPIN, .newPIN]) { (tasks, screen) throws(ManagementRefusal) in
                try tasks.changePIN(on: &screen)
            }.refusal
        }
        let locked = machine.process()
        locked.once(at: .unwrap) { machine.tpm?.fail(32) }
        #expect(change(locked) == .pinLockout(.waiting(seconds: 86_400)))
        #expect(machine.attempts.pin.total == 0 && machine.attempts.enclaveFailures == nil)
        let waiting = machine.process()
        #expect(change(waiting) == .pinLockout(.waiting(seconds: 86_400)) && waiting.person.prompts.isEmpty)
        machine.time.pass(200_000)
        let open = machine.process()
        #expect(change(open) == nil)
        let prepared = try #require(open.process.calls.firstIndex(of: .prepareHalf))
        #expect(prepared < open.process.calls.firstIndex(of: .ask) ?? 0)
    }

    /// Catches a TPM helper that is started while a user's lock is held, and so keeps it when its starter is killed.
    @Test func theHelperIsStartedBeforeTheLock() throws {
        let machine = Machine()
        try EnclaveStories.counting(machine)
        for answers in [[.right], [.wrong, .right]] as [[Answer]] {
            let actor = machine.process()
            _ = actor.authenticate(answers)
            let locks = actor.process.calls.indices.filter { actor.process.calls[$0] == .lock }
            #expect(!locks.isEmpty)
            for lock in locks {
                #expect(lock > 0 && actor.process.calls[lock - 1] == .wake)
                let hold = actor.process.calls[lock...].prefix { $0 != .unlock }
                #expect(!hold.contains(.rest), "it would be started again under the lock")
                #expect(actor.process.calls[hold.endIndex...].prefix(2) == [.unlock, .rest])
            }
        }
    }

    // MARK: Wear

    /// Catches a success that writes the TPM's flash, and more than one write an authentication: the arithmetic of
    /// `CounterPolicy` for ten years.
    @Test(arguments: [(wrong: 3, counts: 6), (25, 50), (0, 0)])
    func aDaysCounts(wrong: Int, counts: Int) throws {
        let machine = try machine()
        let before = machine.tpm?.counted ?? 0
        for number in 0..<50 {
            let isWrong = number % 2 == 0 && number / 2 < wrong
            let byFinger = number % 7 == 3 && machine.attempts.pin.total == 0
            let actor = machine.process("\(number)")
            let verdict =
                isWrong
                ? actor.authenticate([.wrong])
                : byFinger ? actor.authenticate([.enter], touches: [.matched(index: 0)]) : actor.authenticate([.right])
            #expect(verdict.isGranted != isWrong)
            machine.time.pass(600)
        }
        #expect((machine.tpm?.counted ?? 0) - before == counts)
        let tenYears = counts * 3653
        #expect(tenYears <= 182_650 && tenYears * 100 <= 500_000 * 37, "of the flash's 500,000 writes")
    }
}
