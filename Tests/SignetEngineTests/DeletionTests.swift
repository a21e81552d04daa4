import SignetPolicy
import Testing

@testable import SignetEngine

/// What a deletion asks for and holds on to before it touches anything.
@Suite struct DeletionTests {
    private let index = Finger(number: 7)
    private let two = [Print(finger: 7, reader: .inside, data: [1]), Print(finger: 8, reader: .inside, data: [2])]

    /// Catches a finger of two readers that is deleted from both without a word, and one that can be deleted no more.
    @Test func aFingerOfTwoReadersIsNotDeletedUnasked() throws {
        let machine = Machine()
        machine.readers = [.of(.inside), .of(.outside)]
        try machine.setUp(prints: two + [Print(finger: 7, reader: .outside, data: [3])])
        let finger = try #require(index)
        let actor = machine.process()
        #expect(
            actor.run([.types(Machine.pin)], delete(.finger(finger))).refusal
                == .onSeveralReaders(finger, [.inside, .outside]))
        #expect(actor.person.met.isEmpty && machine.disk.prints?.entries.count == 3)
        let both = machine.process().run([.types(Machine.pin)]) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.delete(.finger(finger), fromEveryReader: true, on: &screen)
        }
        #expect(both.outcome?.fingers == [finger, finger] && both.outcome?.remaining == 1)
    }

    /// Catches a reader that is named and another one's print that goes, or all of them; and a name that means nobody.
    @Test func aReaderIsNamedWhereAFingerIsOnTwo() throws {
        let finger = try #require(index)
        func run(_ selection: FingerSelection, on name: ReaderName) throws -> (
            Result<FingersDeleted, ManagementRefusal>, Machine, Actor
        ) {
            let machine = Machine()
            // The one that is named need not be there.
            machine.readers = [.of(.inside)]
            try machine.setUp(prints: two + [Print(finger: 7, reader: .outside, data: [3])])
            let actor = machine.process()
            let result = actor.run([.types(Machine.pin)]) { (tasks, screen) throws(ManagementRefusal) in
                try tasks.delete(selection, onlyOn: name, on: &screen)
            }
            #expect(machine.disk.violations.isEmpty)
            return (result, machine, actor)
        }
        let outside = ReaderIdentity.outside
        for name in [ReaderName(driver: outside.driver), ReaderName(driver: outside.driver, device: outside.device)] {
            let (one, machine, _) = try run(.finger(finger), on: name)
            #expect(one.outcome?.fingers == [finger] && one.outcome?.remaining == 2 && one.outcome?.approved == true)
            #expect(machine.disk.prints?.entries.allSatisfy { $0.reader == .inside } == true)
        }
        let inside = ReaderName(driver: ReaderIdentity.inside.driver)
        let (all, kept, _) = try run(.all, on: inside)
        #expect(all.outcome?.fingers.count == 2 && kept.disk.prints?.entries.map(\.reader) == [.outside])
        for name in [
            ReaderName(driver: Array("nobody".utf8)), ReaderName(driver: outside.driver, device: [0x39, 0x39]),
        ] {
            let (none, untouched, asked) = try run(.finger(finger), on: name)
            #expect(none.refusal == .notOnThatReader(finger, [.inside, .outside]))
            #expect(asked.person.met.isEmpty && untouched.disk.prints?.entries.count == 3)
            #expect(try run(.all, on: name).0.refusal == .notOnThatReader(nil, [.inside, .outside]))
        }
    }

    /// Catches leftovers that are cut off in the middle by a signal.
    @Test func leftoversHoldSignalsFromTheirBeginning() throws {
        let machine = Machine()
        try machine.setUp(prints: two)
        let screen = FakeScreen()
        let actor = machine.process("admin", isAdministrator: true)
        var before: [Seen]?
        actor.process.onCall = { _ in before = before ?? screen.seen }
        let result = actor.run([], on: screen) { (tasks, screen) throws(ManagementRefusal) in
            try tasks.deleteLeftovers(on: &screen)
        }
        #expect(result.refusal == nil && before == [.beganDeleting])
    }

    /// Catches a signal that ends a deletion after its first step, and a PIN that no signal can end.
    @Test func aDeletionHoldsSignalsFromThePINOn() throws {
        let machine = Machine()
        try machine.setUp(prints: two)
        let screen = FakeScreen()
        let actor = machine.process()
        var seen: [PortCall: [Seen]] = [:]
        actor.process.onCall = { seen[$0] = seen[$0] ?? screen.seen }
        #expect(actor.run([.types(Machine.pin)], on: screen, delete(.all)).refusal == nil)
        #expect(seen[.ask] == [] && seen[.savePrints] == [.beganDeleting])
    }
}
