import CPlatform
import CTerminal
import Foundation
import SignetSecrets
import Synchronization
import Testing

@testable import signet

@Suite struct TerminalTests {
    /// A pseudo-terminal: its master, and the path of the side that a program sees.
    private func open() throws -> (master: Int32, path: String) {
        var path = [CChar](repeating: 0, count: 64)
        let master = signet_terminal_open(&path, path.count)
        try #require(master >= 0)
        return (master, String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// Types as soon as the echo is off, on a thread of its own; after two seconds anyway, so that nothing hangs.
    private func type(_ bytes: [UInt8], on master: Int32, _ echoWasOff: Flag) {
        Thread.detachNewThread {
            for _ in 0..<2000 {
                if signet_terminal_echoes(master) == 0 {
                    echoWasOff.value.withLock { $0 = true }
                    break
                }
                _ = usleep(1000)
            }
            _ = write(master, bytes, bytes.count)
        }
    }

    private final class Flag: Sendable {
        let value = Mutex(false)
    }

    private func ask(_ typed: [UInt8]) throws -> (answer: [UInt8]?, why: Terminal.Interruption?, shown: [UInt8]) {
        let (master, path) = try open()
        defer { _ = close(master) }
        let echoWasOff = Flag()
        type(typed, on: master, echoWasOff)
        var answer: [UInt8]?
        var why: Terminal.Interruption?
        guard let terminal = Terminal(path: path) else { throw Terminal.Interruption.unusable }
        do throws(Terminal.Interruption) {
            let secret = try terminal.readHidden("PIN: ")
            answer = secret.withBytes { span in (0..<span.count).map { span[$0] } }
        } catch { why = error }
        #expect(echoWasOff.value.withLock { $0 }, "the echo was never off")
        #expect(signet_terminal_echoes(master) == 1, "the echo stays off")
        // What was written at two times can come in two pieces; a line's end is written last on every path.
        var shown: [UInt8] = []
        while shown.last != 0x0A {
            var piece = [UInt8](repeating: 0, count: 256)
            let count = signet_read_within(master, &piece, piece.count, 1000)
            if count <= 0 { break }
            shown += piece.prefix(count)
        }
        return (answer, why, shown)
    }

    /// Catches an answer that is shown, changed or cut, and an echo that stays off.
    @Test func theAnswerIsHidden() throws {
        let asked = try ask(Array("49 0273\n".utf8))
        #expect(asked.answer == Array("49 0273".utf8))
        #expect(asked.shown == Array("PIN: \r\n".utf8))
    }

    /// Catches an empty answer that is taken for none.
    @Test func enterAloneIsAnEmptyAnswer() throws {
        #expect(try ask([0x0A]).answer == [])
    }

    /// Catches Ctrl-D that hangs or counts as an answer.
    @Test func theEndOfInputCancels() throws {
        #expect(try ask([0x04]).why == .cancelled)
    }

    /// Catches an answer that is cut where it is too long.
    @Test func whatIsTooLongIsNoAnswer() throws {
        let long = [UInt8](repeating: 0x61, count: Terminal.answerLimit)
        #expect(try ask(long + [0x0A]).why == nil)
        #expect(try ask(long + [0x61, 0x0A]).why == .tooLong)
    }

    /// Catches a file that is taken for a terminal.
    @Test func aFileIsNoTerminal() {
        let isTerminal = Terminal(path: "/dev/null") != nil
        #expect(!isTerminal)
    }
}
