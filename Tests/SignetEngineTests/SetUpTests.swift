import SignetPolicy
import Testing

@testable import SignetEngine

/// The first setup, above all where the reader does not serve.
@Suite struct SetUpTests {
    private func setUp(
        _ actor: Actor, _ answers: [Answer] = [.right, .right], touches: [Touch] = [],
        on screen: FakeScreen = FakeScreen()
    ) -> Result<SetUp, ManagementRefusal> {
        actor.sensor.enrolled = template(driver: Array("inside".utf8), device: Array("0".utf8), data: [9, 9])
        return actor.run(answers, touches: touches, on: screen) {
            (tasks, screen) throws(ManagementRefusal) in try tasks.setUp(on: &screen)
        }
    }

    /// Catches a reader that is refused, busy or too hot and keeps the PIN from being set, or a PIN without its code.
    @Test func aReaderThatDoesNotServeKeepsNoPINBack() throws {
        var cases: [(ManagementRefusal, (Machine) -> Void, (Actor) -> Void)] = [
            (.reader(.noReader), { $0.readers = [] }, { _ in }),
            (
                .readerNotTrusted(.chip),
                {
                    $0.readers = [.of(.chip, keepsPrints: true)]
                    $0.configuration.matchOnChip = .refuse
                }, { _ in }
            ),
            (
                .readerNotTrusted(.outside),
                {
                    $0.readers = [.of(.outside, at: .socket)]
                    $0.configuration.readers = .inside
                }, { _ in }
            ),
        ]
        for problem in [ReaderProblem.busy, .tooHot, .removed] {
            cases.append((.reader(problem), { _ in }, { $0.sensor.notOpening = [(.inside, problem)] }))
        }
        for (refusal, arrange, disturb) in cases {
            let machine = Machine()
            arrange(machine)
            let actor = machine.process()
            disturb(actor)
            let screen = FakeScreen()
            #expect(setUp(actor, on: screen).outcome == .pinAlone(refusal))
            #expect(screen.codes.map(\.count) == [26], "\(refusal)")
            #expect(machine.disk.identity?.recovery != nil && machine.disk.prints?.entries.isEmpty != false)
            #expect(machine.disk.violations.isEmpty)
        }
    }

    /// Catches a setup without its finger, and one that gives the PIN although the person cancelled it.
    @Test func whatIsNotTheReadersIsAsInAnEnrollment() throws {
        let machine = Machine()
        guard case .enrolled(let enrolled) = setUp(machine.process(), touches: [.matched(index: 0)]).outcome else {
            Issue.record("no finger")
            return
        }
        #expect(enrolled.pinWasSet && enrolled.approved)
        let other = Machine()
        #expect(setUp(other.process(), [.cancels]).refusal == .cancelled)
        #expect(other.disk.identity == nil)
        other.readers = []
        #expect(setUp(other.process(), [.cancels]).refusal == .cancelled)
        #expect(other.disk.identity == nil)
    }

    /// Catches success for somebody whose PIN stood already and whose finger was not taken.
    @Test func withAPINTheReaderIsWhatIsLeft() throws {
        let machine = Machine()
        try machine.setUp(prints: [])
        let actor = machine.process()
        actor.sensor.notOpening = [(.inside, .busy)]
        #expect(setUp(actor, [.right]).refusal == .reader(.busy))
        machine.readers = []
        #expect(setUp(machine.process(), []).outcome == .pinAlone(.reader(.noReader)))
    }
}
