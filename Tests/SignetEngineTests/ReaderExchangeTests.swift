import SignetPolicy
import SignetRecords
import Testing

@testable import SignetEngine

/// Another reader where the enrolled one was: a repaired machine, or one away from its dock.
@Suite struct ReaderExchangeTests {
    private static let exchange = ReaderExchange(
        present: Array("outside".utf8), enrolled: Array("inside".utf8), isSameKind: false, isKeptElsewhere: false)

    /// Catches a person who is told that there is no reader with their hand on one, and what they are to do about it.
    @Test func theOtherReaderIsNamed() throws {
        let machine = Machine()
        try machine.setUp()
        machine.readers = [.of(.outside)]
        let actor = machine.process()
        let verdict = actor.authenticate([.enter, .right], touches: [.matched(index: 0)])
        #expect(Outcome(verdict) == .granted(.pin))
        #expect(actor.person.met.last == .prompt(.pin(because: .readerExchanged(Self.exchange))))
        #expect(actor.process.count(.open) == 0 && actor.charges == 2, "only the PIN was charged")

        let activation = machine.process()
        #expect(activation.activate([.right], touches: []).refusal == .readerExchanged(Self.exchange))
        #expect(activation.person.met.isEmpty, "known before the PIN is asked for")
        // What it tells them to do helps.
        let enrolled = machine.process().enroll(2, [.right], touches: [.matched(index: 0)])
        #expect(enrolled.outcome?.approved == true)
        let again = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
        #expect(Outcome(again) == .granted(.finger))
    }

    /// Catches a stranger who learns from a prompt what somebody else enrolled with.
    @Test(arguments: [CallerClass.anotherPerson, .remote]) func strangersLearnNothing(caller: CallerClass) throws {
        let machine = Machine()
        try machine.setUp()
        machine.readers = [.of(.outside)]
        let actor = machine.process()
        _ = actor.authenticate([.enter, .cancels], caller: caller)
        #expect(actor.person.met.last == .prompt(.pin(because: .readerNotAvailable(.noReader))))
        let alone = machine.process()
        _ = alone.authenticate([], caller: caller, pin: false)
        let told = Met.notice(.fingerPathClosed(.readerExchanged(Self.exchange)))
        #expect(!alone.person.met.contains(told))
    }

    /// Catches an administrator who is told that there is no reader, and the reader's name beside it.
    @Test func administratorsAreTold() throws {
        let machine = Machine()
        try machine.setUp()
        machine.readers = [.of(.outside)]
        var ledger = machine.process("status").ledger(caller: .anotherPerson)
        let status = ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
        #expect(status.fingerClosure == .readerExchanged(Self.exchange) && status.readerExchange == Self.exchange)
        #expect(status.attention == [.readerExchanged(Self.exchange)])
    }

    /// Catches a device at an outside port that a person is told to enrol on, and a dock without any reader that is told
    /// as an exchange.
    @Test func onlyAReaderThatMayBeUsedIsOffered() throws {
        let machine = Machine()
        try machine.setUp()
        for (readers, closure) in [
            ([ReaderDescription.of(.outside, at: .socket)], FingerClosure.readerNotAvailable(.noReader)),
            ([.of(.outside, at: .socket), .of(.outside)], .readerExchanged(Self.exchange)),
            ([], .readerNotAvailable(.noReader)),
        ] {
            machine.readers = readers
            let actor = machine.process()
            _ = actor.authenticate([.enter, .cancels])
            #expect(actor.person.met.last == .prompt(.pin(because: closure)))
            #expect(!actor.journalHas(.readerRefused(.outside)) && actor.journalHas(.fingerPathClosed(closure)))
            var ledger = machine.process("status").ledger()
            let status = ledger.status(
                uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(readers))
            #expect(status.fingerClosure == closure)
            #expect(!status.attention.isEmpty == (closure == .readerExchanged(Self.exchange)))
        }
    }

    /// Catches words that changed, a command that does not help where fprintd keeps the prints, and the name of the reader
    /// that is not there, at a prompt that anybody may read.
    @Test func words() {
        let alice = Array("alice".utf8)
        func exchange(_ isKeptElsewhere: Bool) -> FingerClosure {
            .readerExchanged(
                ReaderExchange(
                    present: Array("Elan MOC Sensors".utf8), enrolled: Array("goodixmoc".utf8), isSameKind: false,
                    isKeptElsewhere: isKeptElsewhere))
        }
        let fact = "Your fingerprints are for another reader than this one (Elan MOC Sensors)."
        let outside = "You approved the reader at an outside port, which is not allowed here."
        let service = Array("signet".utf8)
        for (closure, prompt, notice) in [
            (
                exchange(false), "\(fact) Type your PIN; then run \"sudo signet enroll\": ",
                "\(fact) To use this one, run \"sudo signet enroll\"."
            ),
            (
                exchange(true),
                "\(fact) Type your PIN; then enrol in the desktop's settings and run \"sudo signet activate\": ",
                "\(fact) To use this one, enrol in the desktop's settings and run \"sudo signet activate\"."
            ),
            (
                .readerNotTrusted(.approvedOutside),
                "\(outside) Type your PIN; then run \"sudo signet activate\": ",
                "\(outside) Run \"sudo signet activate\"."
            ),
        ] {
            #expect(Prompt.pin(because: closure).text(user: alice, service: service) == prompt)
            #expect(Notice.fingerPathClosed(closure).text(user: alice) == notice)
        }
    }

    /// Catches a second one of the same kind that is told as if it were another make, and prints of fprintd's that
    /// Signet is to enrol.
    @Test func ofTheSameKind() throws {
        let machine = Machine()
        func serial(_ number: String) -> ReaderIdentity {
            ReaderIdentity(driver: Array("goodixmoc".utf8), device: Array(number.utf8))
        }
        machine.readers = [.of(serial("1"))]
        try machine.setUp(prints: [Print(finger: 7, reader: serial("1"), data: [1])])
        machine.configuration.enrollmentSource = .fprintd
        let ledger = machine.process().ledger()
        let prints = try #require(machine.disk.prints)
        let absence = ledger.absence(of: try prints.set(), among: [.of(serial("2"))])
        #expect(
            absence
                == .readerExchanged(
                    ReaderExchange(
                        present: Array("goodixmoc".utf8), enrolled: Array("goodixmoc".utf8), isSameKind: true,
                        isKeptElsewhere: true)))
    }
}

/// What sudo refuses and what status says, where the user has prints on two readers.
@Suite struct TwoReaderTests {
    private static let first = Print(finger: 7, reader: .inside, data: [1])
    private static let second = Print(finger: 2, reader: .outside, data: [2])

    private func machine() throws -> Machine {
        let machine = Machine()
        machine.readers = [.of(.inside), .of(.outside)]
        try machine.setUp(prints: [Self.first, Self.second])
        return machine
    }

    /// Catches a status that says "on" because the one reader's prints are as they were, while each prompt refuses them
    /// for what changed on the other.
    @Test(arguments: [[first], [first, Print(finger: 2, reader: .outside, data: [3])]])
    func aChangeOnOneClosesBoth(prints: [Print]) throws {
        let machine = try machine()
        let generation = try #require(machine.disk.prints?.generation)
        machine.disk.prints = Disk.Prints(generation: generation, prints)
        var ledger = machine.process("status").ledger()
        let status = ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
        guard case .enrollmentChanged = status.fingerClosure else {
            Issue.record("\(String(describing: status.fingerClosure))")
            return
        }
        let actor = machine.process()
        #expect(Outcome(actor.authenticate([.right], touches: [.matched(index: 0)])) == .granted(.pin))
        #expect(actor.person.met == [.prompt(.pin(because: status.fingerClosure))])
    }

    /// Catches a status that says "no reader" of one that is there and waits for its activation, as each prompt says.
    @Test func theOtherOneWaits() throws {
        let machine = try machine()
        machine.disk.identity?.approvals.removeAll { $0.reader == .outside }
        machine.readers = [.of(.outside)]
        var ledger = machine.process("status").ledger()
        let status = ledger.status(
            uid: 1000, userName: Machine.alice, fingersAllowed: true, readers: .present(machine.readers))
        #expect(status.fingerClosure == .notApproved && status.readerExchange == nil)
        let actor = machine.process()
        #expect(Outcome(actor.authenticate([.enter, .right])) == .granted(.pin))
        #expect(actor.person.met.last == .prompt(.pin(because: .notApproved)))
    }
}

extension Actor {
    /// Runs `signet activate`.
    func activate(_ answers: [Answer], touches: [Touch]) -> Result<Activated, ManagementRefusal> {
        run(answers, touches: touches) { (tasks, screen) throws(ManagementRefusal) in try tasks.activate(on: &screen) }
    }
}
