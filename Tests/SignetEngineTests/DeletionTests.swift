import SignetPolicy
import Testing

@testable import SignetEngine

/// What a deletion asks for and holds on to before it touches anything.
@Suite struct DeletionTests {
    private let index = Finger(number: 7)
    private let two = [Print(finger: 7, reader: .inside, data: [1]), Print(finger: 8, reader: .inside, data: [2])]

    private func delete(
        _ selection: FingerSelection
    ) -> (inout Actor.Tasks, inout FakeScreen) throws(ManagementRefusal) -> FingersDeleted {
        { (tasks, screen) throws(ManagementRefusal) in try tasks.delete(selection, on: &screen) }
    }

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
