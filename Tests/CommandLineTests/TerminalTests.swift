import CPlatform
import SignetPlatform
import Testing

@testable import signet

@Suite struct TerminalTests {
    /// Catches a file that is taken for a terminal.
    @Test func aFileIsNoTerminal() {
        let isTerminal = Terminal(path: "/dev/null") != nil
        #expect(!isTerminal)
    }

    /// Catches a program that waits for ever, signals held, for a terminal that takes nothing (Ctrl-S).
    @Test func aStoppedTerminalIsNotWaitedForLong() throws {
        let desk = try Desk()
        guard let terminal = Terminal(path: desk.path) else { throw Failure(.no, "no terminal") }
        #expect(tcflow(terminal.raw, TCOOFF) == 0)
        let start = Deadline.now
        terminal.write("lost")
        #expect((1_900...30_000).contains(Deadline.now - start))
        #expect(tcflow(terminal.raw, TCOON) == 0)
        terminal.write("seen")
        #expect(desk.transcript().all == "seen")
    }
}
