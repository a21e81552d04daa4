import SignetEngine
import SignetPolicy
import Testing

/// When the reader's helper is started and when it is told to end.
@Suite struct PreparingTests {
    private func calls(
        _ answers: [Answer], touches: [Touch] = [], pin: Bool = true, closure: FingerClosure? = nil
    ) throws -> [PortCall] {
        let machine = Machine()
        try machine.setUp()
        let actor = machine.process()
        _ = actor.authenticate(answers, touches: touches, pin: pin, closure: closure)
        #expect(machine.disk.violations.isEmpty && !actor.sensor.isRunning)
        return actor.process.calls
    }

    private func index(_ call: PortCall, in calls: [PortCall]) -> Int { calls.firstIndex(of: call) ?? -1 }

    /// Catches a helper that starts only when the person has answered, or something charged for its start.
    @Test func startsBeforeThePersonIsAsked() throws {
        let calls = try calls([.enter], touches: [.matched(index: 0)])
        #expect(calls.count { $0 == .prepare } == 1)
        #expect(index(.prepare, in: calls) == index(.ask, in: calls) - 1)
        #expect(!calls[..<index(.ask, in: calls)].contains { $0.writes || $0 == .readers || $0 == .open })
    }

    /// Catches a match after which the person waits for the reader to close before anything is settled.
    @Test func closesWhileTheMatchIsSettled() throws {
        let calls = try calls([.enter], touches: [.matched(index: 0)])
        let closing = index(.startClosing, in: calls)
        #expect(index(.awaitTouch, in: calls) < closing)
        #expect(closing < calls.lastIndex(of: .saveAttempts) ?? -1)
        #expect(calls.lastIndex(of: .saveAttempts) ?? -1 < calls.lastIndex(of: .close) ?? -1)
    }

    /// Catches a helper that runs on while the PIN is compared, or is waited for before.
    @Test func endsWhileThePINIsCompared() throws {
        let calls = try calls([.right])
        #expect(calls.count { $0 == .prepare } == 1)
        #expect(index(.startClosing, in: calls) < index(.unwrap, in: calls))
        #expect(index(.unwrap, in: calls) < calls.lastIndex(of: .close) ?? -1)
    }

    /// Catches a helper that is started for somebody who is offered no touch: a remote caller, for one.
    @Test func startsForNobodyElse() throws {
        #expect(try !calls([.right], closure: .remote).contains(.prepare))
        #expect(try !calls([.enter], touches: [.matched(index: 0)], pin: false).contains(.prepare))
    }

    /// Catches a reader that stays taken while a person types the PIN after three wrong touches.
    @Test func isClosedBesideThePINPrompt() throws {
        let calls = try calls([.enter, .right], touches: [.notRecognised, .notRecognised, .notRecognised])
        let last = calls.lastIndex(of: .ask) ?? 0
        #expect(last > 0 && calls[last - 1] == .close)
    }
}
