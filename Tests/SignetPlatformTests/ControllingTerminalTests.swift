import CTerminal
import Foundation
import SignetPlatform
import Testing

@Suite struct ControllingTerminalTests {
    /// Catches a sentence that waits as long as somebody has stopped the terminal with Ctrl-S, one that is said to a
    /// terminal which goes on and is lost, and a change of how the program's own descriptors behave.
    @Test func aStoppedTerminalIsNotWaitedFor() async {
        await #expect(processExitsWith: .success) {
            var name = [CChar](repeating: 0, count: 64)
            let other = signet_terminal_open(&name, name.count)
            require(other >= 0, 10)
            let speaker = startProcess {
                setsid()
                let programs = open(name, O_RDWR)
                require(programs >= 0 && tcflow(programs, TCOOFF) == 0, 12)
                guard let terminal = ControllingTerminal() else { exit(13) }
                alarm(10)
                let start = Date()
                terminal.say("Touch the reader.")
                let waited = Date().timeIntervalSince(start)
                require(waited >= 0.15 && waited < 5, 14)
                require(fcntl(programs, F_GETFL) & O_NONBLOCK == 0, 15)
                require(tcflow(programs, TCOON) == 0, 16)
                terminal.say("Not recognised.")
            }
            require(end(of: speaker) == 0, 17)
            var bytes = [UInt8](repeating: 0, count: 200)
            let count = read(other, &bytes, bytes.count)
            require(count > 0 && String(decoding: bytes[..<count], as: UTF8.self).hasPrefix("Not recognised.\r"), 18)
        }
    }
}
