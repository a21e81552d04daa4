import SignetPolicy
import Testing

@testable import SignetEngine

@Suite struct ImportTests {
    private static let index = Finger(number: 7)
    private static let thumb = Finger(number: 6)

    /// alice with her right index on the reader inside, which Signet enrolled; or with another set.
    private func ready(
        _ prints: [Print] = [Print(finger: 7, reader: .inside, data: [1, 2, 3])],
        readers: [ReaderDescription] = [.of(.inside)]
    ) throws -> Machine {
        let machine = Machine()
        machine.readers = readers
        try machine.setUp(prints: prints)
        return machine
    }

    private func run(
        _ actor: Actor, _ found: [Print], _ answers: [Answer] = [.types(Machine.pin)], touches: [Touch] = [],
        byAdministrator: Bool = false, on screen: FakeScreen = FakeScreen()
    ) throws -> Result<Imported, ManagementRefusal> {
        let set = try Disk.Prints(generation: 0x1234, found).set()
        actor.person.answers = answers
        actor.sensor.touches = touches
        var screen = screen
        var tasks = actor.tasks(byAdministrator: byAdministrator)
        do throws(ManagementRefusal) {
            return .success(try tasks.importPrints(set, on: &screen))
        } catch {
            return .failure(error)
        }
    }

    private let thumbPrint = Print(finger: 6, reader: .inside, data: [7, 7])

    /// Catches an import whose finger does not get in, and one that takes the approval of the others away.
    @Test func anImportedFingerCounts() throws {
        let machine = try ready()
        let screen = FakeScreen()
        let imported = try run(
            machine.process(isAdministrator: false), [thumbPrint], touches: [.matched(index: 1)], on: screen)
        let outcome = try #require(imported.outcome)
        #expect(outcome.fingers == [Self.thumb].compactMap { $0 } && outcome.approved && outcome.prints == 2)
        #expect(outcome.reader == .inside)
        #expect(screen.seen == [.found([.new]), .askedForTouch(.activate)])
        #expect(machine.disk.prints?.generation == 2)
        for index in 0...1 {
            guard case .granted = machine.process().authenticate([.enter], touches: [.matched(index: index)]) else {
                Issue.record("finger \(index) does not count")
                return
            }
        }
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches several prints that count as several changes, or of which one is forgotten.
    @Test func allOfOneReaderComeAtOnce() throws {
        let machine = try ready([])
        let found = (1...10).map { Print(finger: UInt8($0), reader: .inside, data: [UInt8($0)]) }
        let outcome = try #require(try run(machine.process(), found, touches: [.matched(index: 3)]).outcome)
        #expect(outcome.fingers.map(\.number) == Array(1...10) && outcome.approved)
        #expect(machine.disk.prints?.generation == 1)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a print that stands twice in the set, and one that takes the place of the user's own.
    @Test func whatIsHereAlreadyStays() throws {
        let machine = try ready()
        let before = machine.disk.prints
        let same = Print(finger: 2, reader: .inside, data: [1, 2, 3])
        let other = Print(finger: 7, reader: .inside, data: [9])
        let actor = machine.process()
        let outcome = try #require(try run(actor, [same, other]).outcome)
        #expect(
            outcome.fingers.isEmpty && outcome.count(.known) == 1
                && outcome.fingers(.nameTaken) == [Self.index].compactMap { $0 })
        #expect(actor.person.prompts.isEmpty, "nothing is new, so that nothing needs the PIN")
        #expect(machine.disk.prints == before)
        let twice = Print(finger: 8, reader: .inside, data: [7, 7])
        let second = try #require(
            try run(machine.process(), [thumbPrint, twice], touches: [.matched(index: 1)]).outcome)
        #expect(second.fingers.count == 1 && second.count(.known) == 1)
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches fingers that an administrator took over, and that are told to be on, or as if nothing were left to do.
    @Test func whatIsHereAndNotApprovedIsTold() throws {
        let machine = try ready([])
        let admin = machine.process("admin", isAdministrator: true)
        let taken = try run(admin, [thumbPrint], [.cannotBeAsked], byAdministrator: true).outcome
        #expect(taken?.fingers.count == 1 && taken?.approved == false)
        let own = try run(machine.process(), [thumbPrint]).outcome
        #expect(own?.count(.known) == 1 && own?.fingers.isEmpty == true && own?.approved == false)
        let on = try ready([thumbPrint])
        #expect(try run(on.process(), [thumbPrint]).outcome?.approved == true)
    }

    /// Catches an import that a wrong PIN, a wrong finger, or a finger that counts already lets through.
    @Test func withoutPINAndTouchNothingIsWritten() throws {
        let machine = try ready()
        let before = machine.disk.prints
        let wrong = Answer.types(Machine.wrong)
        #expect(try run(machine.process(), [thumbPrint], [wrong, wrong, wrong]).refusal == .wrongPIN)
        let touches: [([Touch], ManagementRefusal)] = [
            ([.notRecognised, .notRecognised, .notRecognised], .notConfirmed),
            ([.timedOut(fingerSeen: false)], .notConfirmed), ([.interrupted(fingerSeen: false)], .cancelled),
            ([.matched(index: 2)], .reader(.helperFailed)), ([.matched(index: 0)], .duplicate(of: Self.index)),
        ]
        for (touches, refusal) in touches {
            let machine = machine.copy()
            #expect(try run(machine.process(), [thumbPrint], touches: touches).refusal == refusal)
            #expect(machine.disk.prints == before)
            #expect(machine.disk.violations.isEmpty)
        }
    }

    /// Catches a foreign print that an import approves on the side.
    @Test func aChangedSetIsActivatedFirst() throws {
        let machine = try ready()
        machine.disk.prints = Disk.Prints(
            generation: 1,
            [Print(finger: 7, reader: .inside, data: [1, 2, 3]), Print(finger: 1, reader: .inside, data: [6])])
        let refusal = try run(machine.process(), [thumbPrint], touches: [.matched(index: 2)]).refusal
        #expect(refusal == .activateFirst(.enrollmentChanged(EnrollmentChange(added: 1, removed: 0))))
        #expect(machine.disk.attempts?.change != nil)
        #expect(machine.disk.prints?.entries.count == 2)
    }

    /// Catches a print of an absent reader that nobody touched for, and one that is lost for good.
    @Test func oneReaderAtATime() throws {
        let machine = try ready(readers: [.of(.outside)])
        let elsewhere = Print(finger: 7, reader: .outside, data: [8])
        let outcome = try #require(
            try run(machine.process(), [thumbPrint, elsewhere], touches: [.matched(index: 0)]).outcome)
        #expect(outcome.reader == .outside && outcome.count(.otherReader) == 1 && outcome.fingers.count == 1)
        #expect(try run(machine.process(), [thumbPrint]).refusal == .readersOfPrintsMissing)
        #expect(machine.disk.prints?.entries.count == 2)
    }

    /// Catches a handle whose print the reader has lost, which would be a change at the next authentication.
    @Test func whatTheReaderHasLostIsLeftOut() throws {
        let machine = try ready([], readers: [.of(.chip, keepsPrints: true)])
        let here = Print(finger: 7, reader: .chip, onReader: true, data: [1])
        let gone = Print(finger: 6, reader: .chip, onReader: true, data: [2])
        let actor = machine.process()
        actor.sensor.presence = [1: .missing]
        let outcome = try #require(try run(actor, [here, gone], touches: [.matched(index: 0)]).outcome)
        #expect(
            outcome.fingers(.gone) == [Self.thumb].compactMap { $0 }
                && outcome.fingers == [Self.index].compactMap { $0 } && outcome.approved)
        #expect(actor.sensor.opened.count == 2 && outcome.goneMeanwhile.isEmpty, "it was told before the PIN")
        let empty = try ready([], readers: [.of(.chip, keepsPrints: true)])
        let only = empty.process()
        only.sensor.presence = [0: .missing]
        let screen = FakeScreen()
        let nothing = try #require(try run(only, [gone], on: screen).outcome)
        #expect(nothing.fingers.isEmpty && nothing.count(.gone) == 1)
        #expect(only.person.prompts.isEmpty, "nobody is asked for a PIN for what is not there")
        #expect(screen.seen == [.found([.gone])])
        #expect(empty.disk.prints?.entries.isEmpty ?? true)
        // A chip that cannot list says nothing before it is asked to compare.
        let silent = try ready([], readers: [.of(.chip, keepsPrints: true, lists: false)])
        let blind = silent.process()
        let seen = FakeScreen()
        #expect(try run(blind, [gone], touches: [.matched(index: 0)], on: seen).outcome?.fingers.count == 1)
        #expect(seen.seen.first == .found([.new]) && blind.sensor.opened.count == 1)
        // One that is lost while the reader is opened the second time.
        let fickle = empty.process()
        fickle.sensor.presence = [0: .missing, 1: .missing]
        #expect(try run(fickle, [here, gone, thumbOnChip]).refusal == .reader(.printNotFound))
    }

    /// Catches a reader that is away, busy or refused, for which the list or the PIN is held back, and a print that goes
    /// between the list and the touch and is not told, or told twice.
    @Test func whatTheReaderDoesNotSayIsSaidLater() throws {
        let machine = try ready([], readers: [.of(.chip, keepsPrints: true)])
        let here = Print(finger: 7, reader: .chip, onReader: true, data: [1])
        let busy = machine.process()
        busy.sensor.notOpening = [(.chip, .busy)]
        let screen = FakeScreen()
        #expect(try run(busy, [here], on: screen).refusal == .reader(.busy))
        #expect(screen.seen == [.found([.new])] && busy.person.prompts.count == 1)
        let actor = machine.process()
        let late = FakeScreen()
        late.onShow = { actor.sensor.presence = [1: .missing] }
        let outcome = try #require(
            try run(actor, [here, thumbOnChip], touches: [.matched(index: 0)], on: late).outcome)
        #expect(late.seen.first == .found([.new, .new]) && outcome.fingers.count == 1)
        #expect(outcome.goneMeanwhile.map(\.number) == [1] && outcome.count(.gone) == 1)
        #expect(machine.disk.violations.isEmpty)
    }

    private let thumbOnChip = Print(finger: 1, reader: .chip, onReader: true, data: [3])

    /// Catches an administrator whose import counts without the user, or needs a reader.
    @Test func anAdministratorsImportWaitsForTheUser() throws {
        let machine = try ready([])
        machine.readers = []
        let actor = machine.process(isAdministrator: true)
        let outcome = try #require(try run(actor, [thumbPrint], [.enter], byAdministrator: true).outcome)
        #expect(!outcome.approved && outcome.fingers.count == 1)
        machine.readers = [.of(.inside)]
        let verdict = machine.process().authenticate([.types(Machine.pin)], touches: [.matched(index: 0)])
        guard case .granted(let proof) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(proof.factor == .pin)
    }

    /// Catches a set of fprintd's that Signet's own commands change, and a PIN that cannot be removed for prints of others.
    @Test func whereThePrintsAreFprintdsNobodyElseChangesThem() throws {
        let machine = try ready()
        machine.configuration.enrollmentSource = .fprintd
        #expect(machine.process().enroll(2, [.types(Machine.pin)], touches: []).refusal == .printsKeptElsewhere)
        #expect(try run(machine.process(), [thumbPrint]).refusal == .printsKeptElsewhere)
        let deletion = machine.process().run([.types(Machine.pin)]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.delete(.all, on: &screen)
        }
        #expect(deletion.refusal == .printsKeptElsewhere)
        let removal = machine.process().run([.types(Machine.pin)]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.removePIN(on: &screen)
        }
        #expect(removal.refusal == nil)
        #expect(machine.disk.identity == nil)
    }

    /// Catches a user without a PIN, and a store without prints, that are asked for anything.
    @Test func nothingToWorkOn() throws {
        let machine = Machine()
        #expect(try run(machine.process(), [thumbPrint]).refusal == .pinNotSet)
        #expect(try run(try ready().process(), []).refusal == .nothingToImport)
    }
}
