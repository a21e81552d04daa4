import SignetPolicy
import SignetRecords
import Testing

@testable import SignetEngine

/// The index of prints in readers' memories: two users of one chip, what cut tasks leave, and an index that is lost.
@Suite struct ChipIndexStories {
    private static let bobs = Print(finger: 7, reader: .chip, onReader: true, data: [2, 2, 2])
    private static let second = Print(finger: 2, reader: .chip, onReader: true, data: [4, 4, 4])

    private func machine(_ prints: [Print], uid: UInt32 = 1000, beside other: Machine? = nil) throws -> Machine {
        let machine = Machine(uid: uid, beside: other)
        machine.readers = [.of(.chip, keepsPrints: true)]
        try machine.setUp(prints: prints)
        return machine
    }

    /// The digests of a user's prints, as the chip's list shows them to somebody else.
    private func listed(_ machine: Machine) -> [Digest] { machine.disk.chipEntries.map(\.digest) }

    private func authenticate(_ machine: Machine, beside others: [Digest], _ answers: [Answer]) -> (Verdict, Actor) {
        let actor = machine.process()
        actor.sensor.others = others.sorted()
        return (actor.authenticate(answers, touches: [.matched(index: 0)]), actor)
    }

    private func enroll(_ machine: Machine, _ data: [UInt8], touches: [Touch] = [.matched(index: 0)]) -> Actor {
        let actor = machine.process()
        _ = actor.enroll(2, [.right], touches: touches, data: data)
        return actor
    }

    private func delete(
        _ machine: Machine, _ selection: FingerSelection = .all, meanwhile: (Actor) -> Void = { _ in }
    ) -> Actor {
        let actor = machine.process()
        meanwhile(actor)
        _ = actor.run([.right]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.delete(selection, on: &screen)
        }
        return actor
    }

    private func loose(_ machine: Machine) -> [Digest] { (machine.disk.chips.index ?? ChipIndex()).loose.map(\.digest) }

    /// Catches another user's enrolment that closes one's own path, or is told as a foreign print; and a foreign print
    /// that hides behind it.
    @Test(arguments: [ForeignPrintRule.report, .close]) func twoUsersOnOneChip(_ rule: ForeignPrintRule) throws {
        let alice = try machine([.onChip])
        alice.configuration.foreignPrints = rule
        let bob = try machine([Self.bobs], uid: 1001, beside: alice)
        bob.configuration.foreignPrints = rule
        let (verdict, actor) = authenticate(alice, beside: listed(bob), [.enter])
        #expect(Outcome(verdict) == .granted(.finger) && alice.attempts.foreignPrints == 0)
        #expect(actor.process.count(.loadChips) > 0)
        #expect(Outcome(authenticate(bob, beside: listed(alice), [.enter]).0) == .granted(.finger))
        let (later, told) = authenticate(alice, beside: listed(bob) + [try .stranger(1)], [.enter, .right])
        #expect(Outcome(later) == .granted(rule == .close ? .pin : .finger))
        #expect(told.journalHas(.foreignPrints(count: 1)) && alice.attempts.foreignPrints == 1)
        #expect(alice.disk.violations.isEmpty && bob.disk.violations.isEmpty)
    }

    /// Catches an authentication that reads the index for nothing: where nothing came since the approval.
    @Test func theIndexIsReadForNewcomersAlone() throws {
        let alice = try machine([.onChip])
        #expect(authenticate(alice, beside: [], [.enter]).1.process.count(.loadChips) == 0)
        let approving = alice.process()
        approving.sensor.others = [try .stranger(1)]
        let activated = approving.run([.right], touches: [.matched(index: 0)]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
        }
        #expect(activated.outcome?.foreignPrints == 1)
        #expect(authenticate(alice, beside: [try .stranger(1)], [.enter]).1.process.count(.loadChips) == 0)
    }

    /// Catches one foreign print in the place of another that is not told: the number is the same.
    @Test func anExchangedForeignPrintIsTold() throws {
        let alice = try machine([.onChip])
        let approving = alice.process()
        approving.sensor.others = [try .stranger(1)]
        _ = approving.run([.right], touches: [.matched(index: 0)]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
        }
        #expect(authenticate(alice, beside: [try .stranger(2)], [.enter]).1.journalHas(.foreignPrints(count: 1)))
    }

    /// Catches an index that is lost or spoilt and closes a path, is told as a foreign print, or is not made anew.
    @Test(arguments: [RecordFault?.none, .damaged, .foreign])
    func withoutItNobodyIsShutOut(_ fault: RecordFault?) throws {
        let alice = try machine([.onChip])
        let bob = try machine([Self.bobs], uid: 1001, beside: alice)
        alice.disk.chips.index = nil
        alice.disk.chips.fault = fault
        let (verdict, actor) = authenticate(alice, beside: listed(bob), [.enter])
        #expect(Outcome(verdict) == .granted(.finger) && alice.attempts.foreignPrints == 0)
        #expect(actor.journalHas(.recordFault(.chips, fault ?? .missing)))
        #expect(actor.journal.events.count { $0 == .recordFault(.chips, fault ?? .missing) } == 1)
        #expect(actor.process.count(.changeChips) == 0)
        let actors = enroll(alice, [5, 5, 5], touches: [.matched(index: 1)])
        #expect(actors.process.count(.changeChips) > 0 && alice.disk.prints?.entries.count == 2)
        #expect(alice.disk.chips.survey(mending: false).fits && alice.disk.chips.index?.entries.count == 3)
    }

    /// Catches an index that is spoilt to open what a foreign print is to close.
    @Test func withoutItWhatCameCloses() throws {
        let alice = try machine([.onChip])
        alice.configuration.foreignPrints = .close
        let bob = try machine([Self.bobs], uid: 1001, beside: alice)
        alice.disk.chips.index = nil
        alice.disk.chips.fault = .damaged
        let (verdict, _) = authenticate(alice, beside: listed(bob), [.enter])
        #expect(Outcome(verdict) != .granted(.finger) && alice.attempts.foreignPrints == 1)
    }

    /// Catches a shortage in a process that somebody else started (`ulimit -n` before `su alice`), at any of the looks into
    /// the index, that opens the path, or closes it for longer than this once.
    @Test(arguments: [StoreError.system(errno: 24), .system(errno: 12), .busy], [ForeignPrintRule.report, .close])
    func aShortageIsNotRemembered(_ error: StoreError, _ rule: ForeignPrintRule) throws {
        let alice = try machine([.onChip])
        alice.configuration.foreignPrints = rule
        let bob = try machine([Self.bobs], uid: 1001, beside: alice)
        for nth in [Int?.none, 1, 2, 3] {
            let actor = alice.process()
            actor.sensor.others = listed(bob)
            actor.process.storeError = error
            actor.process.faults = [(.loadChips, nth)]
            let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)])
            // The first look only tells of what came; with `report` nothing else looks.
            let isClosed = rule == .close && nth != 1
            #expect(Outcome(verdict) == .granted(isClosed ? .pin : .finger), "\(nth ?? 0)")
            if isClosed { #expect(actor.person.met.last == .prompt(.pin(because: .printsUnavailable)), "\(nth ?? 0)") }
            #expect(alice.attempts.foreignPrints == 0 && alice.change == nil, "\(nth ?? 0)")
            #expect(!actor.journal.events.contains { if case .foreignPrints = $0 { true } else { false } })
            #expect(Outcome(authenticate(alice, beside: listed(bob), [.enter]).0) == .granted(.finger), "\(nth ?? 0)")
        }
        #expect(alice.disk.violations.isEmpty)
    }

    /// Catches a host-only machine that gets an index, or is slowed by it.
    @Test func readersWithoutAMemoryHaveNone() throws {
        let machine = Machine()
        try machine.setUp()
        _ = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
        #expect(machine.disk.chips.index == nil)
    }

    /// Catches a deletion that is cut off at any step, whose print matches for somebody, is forgotten, or cannot be taken
    /// off the chip; and a print of a record, or a foreign one, that is deleted with it.
    @Test func aDeletionCutOffAtEachStep() throws {
        let steps = delete(try machine([.onChip, Self.second]), .finger(try #require(Finger(number: 2)))).process.calls
        #expect(steps.contains(.deleteFromReader))
        var leftAtLeastOnce = false
        for step in 1...steps.count {
            let alice = try machine([.onChip, Self.second])
            let bob = try machine([Self.bobs], uid: 1001, beside: alice)
            let doomed = try #require(alice.disk.chipEntries.last)
            let finger = try #require(Finger(number: 2))
            let cut = delete(alice, .finger(finger)) { $0.process.killAt = step }
            let isOnChip = cut.sensor.deleted.isEmpty
            let isInRecord = alice.disk.prints?.entries.count == 2
            // Whatever a deletion left is no foreign print to anybody.
            if isOnChip, !isInRecord {
                #expect(loose(alice) == [doomed.digest], "step \(step)")
                leftAtLeastOnce = true
                bob.configuration.foreignPrints = .close
                let chip = listed(alice) + [doomed.digest]
                #expect(Outcome(authenticate(bob, beside: chip, [.enter]).0) == .granted(.finger), "step \(step)")
            }
            let (outcome, actor) = bob.deleteLeftovers()
            let isLeft = isOnChip && !isInRecord
            #expect(actor.sensor.deleted == (isLeft ? [0] : []) || !isOnChip, "step \(step)")
            #expect(
                (outcome?.deleted ?? 9) + (outcome?.gone ?? 9) <= 1 && outcome?.left.isEmpty == true, "step \(step)")
            #expect(loose(alice).isEmpty && alice.disk.chips.survey(mending: false).fits, "step \(step)")
            #expect(alice.disk.chips.index?.entries.count == (isInRecord ? 3 : 2), "step \(step)")
        }
        #expect(leftAtLeastOnce)
    }

    /// Catches an enrolment that is cut off and leaves a print that nobody knows; and one in a record that is deleted.
    @Test func anEnrolmentCutOffAtEachStep() throws {
        let steps = enroll(try machine([.onChip]), [5, 5, 5], touches: [.matched(index: 1)]).process.calls
        let made = try #require(steps.firstIndex(of: .enroll))
        for step in 1...steps.count {
            let alice = try machine([.onChip])
            let actor = alice.process()
            actor.process.killAt = step
            _ = actor.enroll(2, [.right], touches: [.matched(index: 1)], data: [5, 5, 5])
            let isInRecord = alice.disk.prints?.entries.count == 2
            // Between the chip's last word and the first write nobody can know of it.
            let isKnown = step > made + 3
            let left = alice.deleteLeftovers().1.sensor.deleted.count
            #expect(left == 0 || !isInRecord, "step \(step): \(steps[step - 1])")
            if isKnown, !isInRecord { #expect(left == 1, "step \(step): \(steps[step - 1])") }
            #expect(alice.disk.chips.survey(mending: false).fits, "step \(step)")
        }
    }

    /// Catches a deletion from the chip that goes on although the record has the print again, or the reader is not there.
    @Test func onlyWhatIsInNoRecordGoes() throws {
        let alice = try machine([.onChip, Self.second])
        let bob = try machine([Self.bobs], uid: 1001, beside: alice)
        // A copy of an older index was put back, in which everything was loose.
        alice.disk.chips.change { $0.loosen(allOf: 1000) }
        alice.disk.chips.change { $0.loosen(allOf: 1001) }
        let (outcome, actor) = alice.deleteLeftovers()
        #expect(outcome == LeftoversDeleted() && actor.process.count(.open) == 0)
        #expect(alice.disk.chips.index?.entries.count == 3 && loose(bob).isEmpty)

        _ = delete(alice, .finger(try #require(Finger(number: 2)))) { $0.process.faults = [(.deleteFromReader, nil)] }
        #expect(loose(alice).count == 1)
        let (held, _) = alice.deleteLeftovers { $0.process.faults = [(.open, nil)] }
        #expect(held?.left.map(\.prints) == [1] && loose(alice).count == 1)
        // While the reader was being opened somebody's record got the print.
        let (late, actorLate) = alice.deleteLeftovers { actor in
            actor.once(at: .open) { bob.disk.prints = Disk.Prints(generation: 2, [Self.bobs, Self.second]) }
        }
        #expect(late == LeftoversDeleted() && actorLate.sensor.deleted.isEmpty)
    }

    /// Catches prints of a purged user that stay on the chip for ever, as foreign ones.
    @Test func whatAPurgedUserLeft() throws {
        let alice = try machine([.onChip, Self.second])
        let bob = try machine([Self.bobs], uid: 1001, beside: alice)
        var ledger = alice.process("purge", isAdministrator: true).ledger()
        try ledger.purge()
        #expect(loose(bob).count == 2)
        let (outcome, actor) = bob.deleteLeftovers()
        #expect(outcome?.deleted == 2 && actor.sensor.deleted == [0, 1])
        #expect(actor.journalHas(.management(.leftoversDeleted(prints: 2), byAdministrator: false)))
        #expect(bob.disk.chips.index?.entries.map(\.uid) == [1001])
    }

    /// Catches left-over prints of Signet's own that nobody can delete any more since fprintd keeps the prints.
    @Test func whereFprintdKeepsThePrintsLeftoversGoToo() throws {
        let alice = try machine([.onChip, Self.second])
        let bob = try machine([Self.bobs], uid: 1001, beside: alice)
        var ledger = alice.process("purge", isAdministrator: true).ledger()
        try ledger.purge()
        bob.configuration.enrollmentSource = .fprintd
        #expect(bob.deleteLeftovers().0?.deleted == 2 && loose(bob).isEmpty)
    }

    /// Catches a shortage that takes a user's prints out of the index, so that they are called foreign, or deletes a leftover's
    /// name with it.
    @Test func aShortageMakesNoPrintForeign() throws {
        let finger = try #require(Finger(number: 2))
        for nth in [Int?.none] + (1...6).map(Optional.some) {
            let alice = try machine([.onChip, Self.second])
            let bob = try machine([Self.bobs], uid: 1001, beside: alice)
            bob.configuration.foreignPrints = .close
            let all = listed(alice)
            let short = delete(alice, .finger(finger)) {
                $0.process.faults = [(.handleDigest, nth), (.deleteFromReader, nil)]
            }
            #expect(alice.disk.prints?.entries.count == 1, "\(short.person.met)")
            #expect(Outcome(authenticate(bob, beside: all, [.enter]).0) == .granted(.finger), "call \(nth ?? 0)")
            let activating = alice.process()
            activating.process.faults = [(.handleDigest, nth)]
            _ = activating.run([.right], touches: [.matched(index: 0)]) {
                (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
            }
            #expect(Outcome(authenticate(bob, beside: all, [.enter]).0) == .granted(.finger), "call \(nth ?? 0)")
            #expect(bob.deleteLeftovers().1.sensor.deleted == [0], "call \(nth ?? 0)")
        }
    }
}
