import SignetPolicy
import SignetRecords
import Testing

@testable import SignetEngine

/// Where the reader is: an approval covers the port, and what looks the same elsewhere is not asked.
@Suite struct PlaceTests {
    private func machine(at place: ReaderPlace = .builtIn, _ allowed: AllowedReaders = .inside) throws -> Machine {
        let machine = Machine()
        machine.configuration.readers = allowed
        machine.readers = [.of(.inside, at: place)]
        try machine.setUp()
        return machine
    }

    private func met(_ actor: Actor) -> Met? { actor.person.met.last }

    /// Catches a device with the same ids at another port that is armed and believed, and a person who is shut out for it.
    @Test(arguments: [
        (ReaderPlace.builtIn, ReaderPlace.socket, ReaderDistrust.outside), (.builtIn, .desktop, .moved),
        (.desktop, .usb(.unknown, "4"), .moved), (.desktop, .usb(.fixed, "9"), .moved), (.builtIn, .nowhere, .unplaced),
        (.builtIn, .virtual, .virtual),
    ]) func aReaderElsewhereIsNotAsked(approved: ReaderPlace, now: ReaderPlace, why: ReaderDistrust) throws {
        let machine = try machine(at: approved)
        machine.readers = [.of(.inside, at: now)]
        let actor = machine.process()
        let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)])
        #expect(Outcome(verdict) == .granted(.pin))
        #expect(met(actor) == .prompt(.pin(because: .readerNotTrusted(why))))
        #expect(actor.process.count(.open) == 0 && actor.charges == 2, "only the PIN was charged")
        #expect(actor.journalHas(.readerRefused(why)))
        // No change of the prints: back at its port it counts.
        machine.readers = [.of(.inside, at: approved)]
        let back = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
        #expect(Outcome(back) == .granted(.finger))
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a second device that is asked because it is found first, and a true reader that is lost behind it.
    @Test func ofTwoThatLookTheSameTheApprovedOneIsOpened() throws {
        for first in [ReaderPlace.socket, .usb(.unknown, "8"), .usb(.fixed, "8")] {
            let machine = try machine()
            machine.readers = [.of(.inside, at: first), .of(.inside)]
            let actor = machine.process()
            let verdict = actor.authenticate([.enter], touches: [.matched(index: 0)])
            #expect(Outcome(verdict) == .granted(.finger))
            #expect(actor.sensor.places == [.builtIn])
            // Without the true one, the other is not taken for it.
            machine.readers.removeLast()
            let alone = machine.process()
            let refused = alone.authenticate([.enter, .cancels], touches: [.matched(index: 0)])
            #expect(Outcome(refused) == .refused(.cancelled) && alone.sensor.arms == 0)
        }
    }

    /// Catches a reader that is swapped between the list and the match.
    @Test func theMatchIsJudgedByThePlaceThatWasOpened() throws {
        let machine = try machine()
        let actor = machine.process()
        actor.once(at: .arm) {
            // Everything is read anew at the settling: by now there is no approval.
            machine.disk.identity?.approvals = []
        }
        let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)])
        #expect(Outcome(verdict) == .granted(.pin))

        let elsewhere = ReaderSession(
            reader: .inside, place: .desktop, gallery: [0], presence: [.host], generation: 1)
        let again = try self.machine()
        var other = again.process().ledger()
        _ = try other.chargeFinger()
        #expect(try other.settleMatch(elsewhere, index: 0) == .readerNotTrusted(.moved))
        #expect(again.attempts.finger.count == 1, "the match does not count, and the try stays charged")
    }

    /// Catches an approval whose place can be rewritten: the place is part of what the PIN signed.
    @Test func thePlaceIsSigned() throws {
        let machine = try machine()
        let approval = try #require(machine.disk.identity?.approvals.first)
        #expect(approval.place == .builtIn)
        machine.disk.identity?.approvals[0] = Approval(
            reader: approval.reader, place: .desktop, generation: approval.generation, prints: approval.prints,
            signature: approval.signature, madeAt: approval.madeAt)
        machine.readers = [.of(.inside, at: .desktop)]
        let actor = machine.process()
        let verdict = actor.authenticate([.right], touches: [.matched(index: 0)])
        #expect(Outcome(verdict) == .granted(.pin))
        guard case .prompt(.pin(because: .enrollmentChanged)) = met(actor) else {
            Issue.record("\(String(describing: met(actor)))")
            return
        }
    }

    /// Catches a rule for outside ports that outlives its setting, in both directions.
    @Test func anyLetsOutsideReadersInAndInternalShutsThemOutAgain() throws {
        let machine = try machine(at: .socket, .any)
        for place in [ReaderPlace.socket, .usb(.removable, "2"), .builtIn, .nowhere] {
            machine.readers = [.of(.inside, at: place)]
            let verdict = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
            #expect(Outcome(verdict) == .granted(.finger), "\(place)")
        }
        machine.configuration.readers = .inside
        machine.readers = [.of(.inside, at: .socket)]
        let actor = machine.process()
        let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)])
        #expect(Outcome(verdict) == .granted(.pin))
        #expect(actor.process.count(.open) == 0 && met(actor) == .prompt(.pin(because: .readerNotTrusted(.outside))))
        // Nothing mends it there.
        let refused = machine.process().activate([.right], touches: [.matched(index: 0)])
        #expect(refused.refusal == .readerNotTrusted(.outside))
    }

    /// Catches a prompt that sends people to `activate` where nothing but another port, or a reader, helps.
    @Test(arguments: [
        (ReaderPlace.socket, ReaderPlace?.some(.socket), FingerClosure.readerNotTrusted(.outside)),
        (.socket, .nowhere, .readerNotTrusted(.unplaced)), (.socket, .builtIn, .readerNotTrusted(.moved)),
        (.usb(.removable, "3"), .usb(.fixed, "3"), .readerNotTrusted(.approvedOutside)),
        (.nowhere, .nowhere, .readerNotTrusted(.unplaced)), (.socket, nil, .readerNotAvailable(.noReader)),
        (.nowhere, nil, .readerNotAvailable(.noReader)),
    ]) func anApprovalFromOutsideIsJudgedWhereTheReaderIs(
        approved: ReaderPlace, now: ReaderPlace?, why: FingerClosure
    ) throws {
        let machine = try machine(at: approved, .any)
        machine.configuration.readers = .inside
        machine.readers = now.map { [.of(.inside, at: $0)] } ?? []
        let actor = machine.process()
        let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)])
        #expect(Outcome(verdict) == .granted(.pin) && actor.process.count(.open) == 0)
        #expect(met(actor) == .prompt(.pin(because: why)))
        var ledger = machine.process("status").ledger()
        let status = ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
        #expect(status.fingerClosure == why)
    }

    struct Agreement: Sendable {
        let approved: PortAttachment
        let now: PortAttachment
        let allowed: AllowedReaders
        let keepsPrints: Bool
        let chips: MatchOnChip
    }

    static let agreements: [Agreement] = {
        let words: [PortAttachment] = [.fixed, .unknown, .removable]
        return words.flatMap { approved in
            words.flatMap { now in
                AllowedReaders.allCases.flatMap { allowed in
                    [
                        Agreement(approved: approved, now: now, allowed: allowed, keepsPrints: false, chips: .refuse),
                        Agreement(approved: approved, now: now, allowed: allowed, keepsPrints: true, chips: .allow),
                        Agreement(approved: approved, now: now, allowed: allowed, keepsPrints: true, chips: .refuse),
                    ]
                }
            }
        }
    }()

    /// Catches a status that says "on" of a finger which sudo refuses, or the other way round, where the firmware says
    /// something else of the port than when it was approved; and a closure whose command does not open the path again.
    @Test(arguments: agreements) func statusSaysWhatSudoDoes(_ row: Agreement) throws {
        let machine = Machine()
        machine.configuration.readers = .any
        let reader = ReaderIdentity.inside
        machine.readers = [.of(reader, at: .usb(row.approved, "3"), keepsPrints: row.keepsPrints)]
        try machine.setUp(prints: [Print(finger: 7, reader: reader, onReader: row.keepsPrints, data: [1])])
        machine.configuration.readers = row.allowed
        machine.configuration.matchOnChip = row.chips
        machine.readers = [.of(reader, at: .usb(row.now, "3"), keepsPrints: row.keepsPrints)]

        var ledger = machine.process("status").ledger()
        let status = ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
        let actor = machine.process()
        let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)])
        // Where it is known before, nothing but the PIN is asked for, and enter alone is no answer to that.
        let isOn = Outcome(verdict) == .granted(.finger)
        #expect(isOn == (status.fingerClosure == nil), "\(status.fingerClosure as Any) \(actor.person.met)")
        guard case .readerNotTrusted(let distrust) = status.fingerClosure else {
            #expect(isOn)
            return
        }
        #expect(actor.person.met.contains(.prompt(.pin(because: .readerNotTrusted(distrust)))), "\(actor.person.met)")
        #expect(status.attention.contains(.readerNotTrusted(distrust)) == distrust.isMendedByActivation)
        let activated = machine.process().activate([.right], touches: [.matched(index: 0)])
        #expect((activated.outcome != nil) == distrust.isMendedByActivation, "\(activated.refusal as Any)")
        guard distrust.isMendedByActivation else { return }
        let again = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
        #expect(Outcome(again) == .granted(.finger))
    }

    /// Catches an enrollment on a device that somebody plugged in, and one that asks for the PIN before it says no.
    @Test func enrollingAtAnOutsidePortIsRefused() throws {
        let machine = try machine()
        machine.readers = [.of(.outside, at: .socket)]
        let actor = machine.process()
        #expect(actor.enroll(2, [.right], touches: []).refusal == .readerNotTrusted(.outside))
        #expect(actor.person.met.isEmpty && actor.process.count(.open) == 0)
        #expect(actor.journalHas(.readerRefused(.outside)))

        machine.configuration.readers = .any
        let allowed = machine.process().enroll(2, [.right], touches: [.matched(index: 0)])
        #expect(allowed.outcome?.reader.place == .socket)
        #expect(machine.disk.identity?.approvals.map(\.place) == [.builtIn, .socket])
    }

    /// Catches the outside one of two readers that is enrolled on because it is found first.
    @Test func enrollingTakesTheReaderThatMayBeUsed() throws {
        let machine = Machine()
        machine.readers = [.of(.outside, at: .socket), .of(.inside, at: .desktop)]
        let result = machine.process().enroll(7, [.right, .right], touches: [.matched(index: 0)])
        #expect(result.outcome?.reader.identity == .inside)
        #expect(machine.disk.identity?.approvals.map(\.place) == [.desktop])
    }

    /// Catches a print that is added on a reader which moved, and approves the new port by the way.
    @Test func aMovedReaderIsActivatedFirst() throws {
        let machine = try machine(at: .desktop)
        let elsewhere = ReaderPlace.usb(.unknown, "4")
        machine.readers = [.of(.inside, at: elsewhere)]
        let refused = machine.process().enroll(2, [.right], touches: []).refusal
        #expect(refused == .activateFirst(.readerNotTrusted(.moved)))

        let activated = machine.process().run([.right], touches: [.matched(index: 0)]) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen)
        }
        #expect(activated.outcome?.prints == 1)
        #expect(machine.disk.identity?.approvals.map(\.place) == [elsewhere])
        let verdict = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
        #expect(Outcome(verdict) == .granted(.finger))
        // And the old port is no longer the one.
        machine.readers = [.of(.inside, at: .desktop)]
        let old = machine.process().authenticate([.enter, .right], touches: [.matched(index: 0)])
        #expect(Outcome(old) == .granted(.pin))
    }

    /// Catches a lid that closes the path for the reader beside the docked machine, or opens it for the one inside.
    @Test(arguments: [
        (ReaderPlace.builtIn, true), (.desktop, true), (.socket, false),
    ]) func aClosedLidCoversWhatIsInside(place: ReaderPlace, isCovered: Bool) throws {
        let machine = try machine(at: place, .any)
        let actor = machine.process()
        let verdict = actor.authenticate(
            isCovered ? [.right] : [.enter], touches: [.matched(index: 0)], lidClosed: true)
        #expect(Outcome(verdict) == .granted(isCovered ? .pin : .finger))
        if isCovered { #expect(actor.person.met == [.prompt(.pin(because: .lidClosed))]) }
    }

    /// Catches a lid that is forgotten once another approved reader is outside.
    @Test func underAClosedLidOnlyTheOutsideReaderIsOpened() throws {
        let machine = Machine()
        machine.configuration.readers = .any
        machine.readers = [.of(.inside), .of(.outside, at: .socket)]
        try machine.setUp(prints: [.first, .elsewhere])
        let actor = machine.process()
        let verdict = actor.authenticate([.enter], touches: [.matched(index: 0)], lidClosed: true)
        #expect(Outcome(verdict) == .granted(.finger))
        #expect(actor.sensor.opened == [.outside])
        // Undocked: what is left lies under the lid.
        machine.readers.removeLast()
        let undocked = machine.process()
        let other = undocked.authenticate([.enter, .right], touches: [.matched(index: 0)], lidClosed: true)
        #expect(Outcome(other) == .granted(.pin))
        #expect(met(undocked) == .prompt(.pin(because: .lidClosed)))
        #expect(undocked.journalHas(.fingerPathClosed(.lidClosed)))
    }

    /// Catches a status that shows the finger as on while every prompt refuses it.
    @Test func statusSaysIt() throws {
        let machine = try machine(at: .desktop)
        func status(_ place: ReaderPlace) -> UserStatus {
            var ledger = machine.process("status").ledger()
            return ledger.status(
                uid: 1000, userName: Machine.alice, fingersAllowed: true,
                readers: .present([.of(.inside, at: place)]))
        }
        #expect(status(.desktop).fingerClosure == nil)
        #expect(status(.usb(.unknown, "4")).fingerClosure == .readerNotTrusted(.moved))
        #expect(status(.usb(.unknown, "4")).attention == [.readerNotTrusted(.moved)])
        #expect(status(.socket).fingerClosure == .readerNotTrusted(.outside))
        #expect(status(.socket).attention == [.readerRefused(.outside)])
    }
}
