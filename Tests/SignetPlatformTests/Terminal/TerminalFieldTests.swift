import CPlatform
import CTerminal
import Foundation
import SignetEngine
import SignetPolicy
import SignetSecrets
import Testing

@testable import SignetPlatform

/// A field on a real pseudo-terminal, which is not the controlling one.
@Suite struct TerminalFieldTests {
    private func opened(_ terminal: FieldTerminal, _ style: FieldStyle = FieldStyle()) throws -> TerminalField {
        var field = try one(TerminalField(path: terminal.path, style))
        let isOpen = field.open("PIN: ")
        try #require(isOpen)
        terminal.expectScreen(["PIN:"])
        return field
    }

    private func text(_ secret: borrowing SecretBytes) -> String {
        String(decoding: secret.withBytes { span in (0..<span.count).map { span[$0] } }, as: UTF8.self)
    }

    private func answer(_ field: inout TerminalField, orEmpty: Bool = false) -> Result<String, ConversationError> {
        do throws(ConversationError) { return .success(text(try field.awaitAnswer(orEmpty: orEmpty))) } catch {
            return .failure(error)
        }
    }

    /// Catches an answer that is shown, changed or cut, a screen or modes that stay changed, and a field that stays open.
    @Test(arguments: [20, 80]) func whatIsTypedIsTheAnswer(width: Int) throws {
        let terminal = FieldTerminal(width: width)
        var field = try opened(terminal)
        #expect(signet_terminal_echoes(terminal.master) == 0)
        #expect(terminal.screen.modes == ["?2004", "?1004"])
        terminal.type("49 27")
        terminal.expect(["PIN: *****"], &field)
        terminal.type("\r")
        #expect(terminal.event(&field) == .answered)
        // It vanishes with the key, not with the caller's next step; the event stands until then.
        terminal.expectScreen([])
        #expect(field.attend() == .answered && field.patience == 0)
        #expect(text(try field.takeAnswer()) == "49 27")
        #expect(!field.isOpen && field.keys == -1 && field.signals == -1 && field.patience == -1)
        #expect(terminal.isAsBefore)
        terminal.look(20)
        #expect(terminal.screen.modes == [] && terminal.screen.unknown == [] && terminal.screen.column == 0)
        #expect(terminal.written.allSatisfy { !(0x35...0x39).contains($0) })
        #expect(throws: ConversationError.unusable) { _ = try field.takeAnswer() }
    }

    /// Catches a screen that tells how much is typed where no mask is wanted.
    @Test func withoutMaskNothingIsWritten() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal, FieldStyle(mask: nil))
        terminal.forgetWritten()
        for byte in Array("1234\u{7F}5".utf8) {
            terminal.type([byte])
            _ = terminal.awaitInput()
            #expect(field.attend() == nil)
        }
        terminal.look(20)
        #expect(terminal.written == [])
        terminal.type("\n")
        #expect(answer(&field) == .success("1235"))
    }

    /// Catches editing keys that do something else than they say.
    @Test(arguments: [
        ("12\u{7F}3\r", "13"), ("12\u{8}\u{8}\u{8}3\r", "3"), ("12\u{15}34\r", "34"), ("12\u{17}34\r", "34"),
        ("1\t2\u{0}\u{13}3\r", "123"), ("1\u{1B}[A2\u{1B}OP3\r", "123"), ("1é2€3😀4\r", "1234"), ("\r\r1\r", "1"),
        ("\u{1B}[200~1234\u{1B}[201~5\r", "12345"), ("\u{1B}[200~1234\r\n\u{1B}[201~5\r", "12345"),
        ("9\u{1B}[200~sudo id\rls\r\u{1B}[201~5\r", "95"), ("9\u{1B}[200~1\t2\u{1B}[201~5\r", "95"),
        ("9\u{1B}[200~1é2\u{1B}[201~5\r", "95"), ("9\u{1B}[200~1\u{1}2\u{1B}[201~5\r", "95"),
        ("\u{1B}[200~\r1\u{1B}[201~5\r", "5"), ("9\u{1B}[200~1\u{1B}x2\u{1B}[201~5\r", "95"),
    ]) func editing(typed: String, expected: String) throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        terminal.type(typed)
        #expect(answer(&field) == .success(expected))
        #expect(terminal.isAsBefore)
        terminal.expectScreen([])
    }

    /// Catches Esc that waits for another key, and a sequence that is cut in two by a slow line.
    @Test func escapeAloneClears() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        terminal.type("12\u{1B}")
        terminal.expect(["PIN:"], &field)
        terminal.type("34\r")
        #expect(answer(&field) == .success("34"))
    }

    /// Catches a paste without an end after which no key works any more.
    @Test func aPasteWithoutEndIsRefused() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        terminal.type("9\u{1B}[200~123")
        terminal.expect(["PIN: *"], &field)
        terminal.attend(&field) { $0.bells == 1 }
        terminal.type("5\r")
        #expect(answer(&field) == .success("95"))
    }

    /// Catches keys that should cancel and do not, and a sudo that is stopped with its ticket's lock.
    ///
    /// Within a paste too: where its end is lost, keys that follow quickly would be thrown away with it.
    @Test(arguments: [
        "1\u{3}", "1\u{4}", "\u{1C}", "1\u{1A}", "1\u{1B}\u{3}", "\u{1B}[200~12\u{3}", "\u{1B}[200~1\r\u{4}",
    ])
    func cancelling(typed: String) throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal, FieldStyle(mayStop: false))
        terminal.type(typed)
        #expect(answer(&field) == .failure(.cancelled))
        #expect(terminal.isAsBefore && !field.isOpen)
        terminal.expectScreen([])
    }

    /// Catches a locker that Ctrl-Z stops or Ctrl-C interrupts: it has switched signals from keys off, and we make them.
    @Test(arguments: ["\u{3}", "\u{1C}"]) func aTerminalWithoutSignalsFromKeys(interrupt: String) throws {
        let terminal = FieldTerminal()
        terminal.makeRaw()
        var field = try opened(terminal, FieldStyle(interruptsJob: true))
        terminal.type("1\u{1A}")
        terminal.expect(["PIN: *"], &field)
        terminal.type(interrupt)
        #expect(answer(&field) == .failure(.cancelled))
        #expect(!field.isInterrupted && signet_take_pending(SIGINT) == 0 && signet_take_pending(SIGTSTP) == 0)
    }

    /// Catches Enter that answers nothing beside a reader, or does not answer where nothing is an answer.
    @Test func enterAlone() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        terminal.type("\r")
        _ = terminal.awaitInput()
        #expect(field.attend() == nil)
        terminal.type("\r")
        #expect(answer(&field, orEmpty: true) == .success(""))
    }

    /// Catches more than a PIN can have that is cut and sent, and one that the person is not told of.
    @Test(arguments: ["\r", "\u{7F}", "\u{15}"]) func tooLong(key: String) throws {
        let terminal = FieldTerminal(width: 40)
        var field = try opened(terminal)
        terminal.type(String(repeating: "1", count: 128))
        terminal.attend(&field) { $0.text.filter { $0 == "*" }.count == 128 }
        terminal.type("2")
        terminal.expect(["PIN: (too long)"], &field)
        #expect(terminal.screen.bells == 1)
        terminal.type("34")
        terminal.attend(&field) { $0.bells >= 2 }
        terminal.type(key)
        terminal.expect(["PIN:"], &field)
        terminal.type("56\r")
        #expect(answer(&field) == .success("56"))
    }

    /// Catches a character that is refused byte by byte.
    @Test func oneBellForOneCharacter() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        for (count, character) in ["é", "€", "😀"].enumerated() {
            terminal.type(character)
            terminal.attend(&field) { $0.bells == count + 1 }
        }
        terminal.look(20)
        #expect(terminal.screen.bells == 3 && terminal.screen.rows == ["PIN:"])
    }

    /// Catches what was typed before the question and is taken for its answer, and half a PIN that is left to the shell.
    @Test func nothingIsTakenFromBeforeOrLeftBehind() throws {
        let terminal = FieldTerminal()
        terminal.makeRaw()
        terminal.type("rm -r\n")
        #expect(terminal.awaitInput())
        var field = try opened(terminal)
        terminal.type("12\r34")
        #expect(terminal.event(&field) == .answered)
        #expect(text(try field.takeAnswer()) == "12")
        var waiting: Int32 = -1
        _ = ioctl(terminal.program, UInt(FIONREAD), &waiting)
        #expect(waiting == 0)
    }

    /// Catches a label that takes what was typed with it, and a sentence that is written into the field.
    @Test func labelsAndSentences() throws {
        let terminal = FieldTerminal(width: 40)
        var field = try opened(terminal)
        terminal.type("123")
        terminal.expect(["PIN: ***"], &field)
        field.relabel("[sudo] Touch the reader or type your PIN: ")
        terminal.expect(["[sudo] Touch the reader or type your", "PIN: ***"], &field)
        field.say("The reader is in use by sudo on pts/3.")
        terminal.expect(
            ["The reader is in use by sudo on pts/3.", "[sudo] Touch the reader or type your", "PIN: ***"], &field)
        terminal.type("4\r")
        #expect(answer(&field) == .success("1234"))
        terminal.expectScreen(["The reader is in use by sudo on pts/3."])
    }

    /// Catches a sentence above the field that a small terminal breaks in the middle of a word.
    @Test func aSentenceFits() throws {
        let terminal = FieldTerminal(width: 20)
        var field = try opened(terminal)
        field.say("The reader is in use by sudo on pts/3.")
        terminal.expect(["The reader is in", "use by sudo on", "pts/3.", "PIN:"], &field)
        terminal.type("4\r")
        #expect(answer(&field) == .success("4"))
    }

    /// Catches a field that stands open for ever.
    @Test func theDeadline() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal, FieldStyle(seconds: 0))
        terminal.type("12\r")
        #expect(answer(&field) == .failure(.timedOut))
        #expect(terminal.isAsBefore)
    }

    /// Catches a wait that turns for ever at a terminal that is gone.
    @Test func theTerminalGoesAway() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        terminal.type("12")
        terminal.expect(["PIN: **"], &field)
        terminal.hangUp()
        #expect(answer(&field) == .failure(.cancelled))
    }

    /// Catches masks, or what was typed, that are still there when the person looks at something else, and a first key that
    /// is lost or taken for a character.
    @Test(arguments: ["\u{1B}[I", "x"]) func lostFocus(key: String) throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        terminal.type("12")
        terminal.expect(["PIN: **"], &field)
        terminal.type("\u{1B}[O")
        #expect(terminal.event(&field) == .left)
        terminal.expectScreen([])
        #expect(signet_terminal_echoes(terminal.master) == 0)
        terminal.type(key)
        try field.awaitReturn("Again: ")
        terminal.expect(["Again:"], &field)
        terminal.type("34\r")
        #expect(answer(&field) == .success("34"))
    }

    /// Catches a person who cannot leave for good while the window has no focus.
    @Test func cancelledWithoutFocus() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal)
        terminal.type("\u{1B}[O\u{3}")
        #expect(answer(&field) == .failure(.cancelled))
        #expect(terminal.isAsBefore && !field.isOpen)
    }

    /// Catches escape sequences at a terminal that shows them as text.
    @Test func aDumbTerminal() throws {
        let terminal = FieldTerminal()
        var field = try opened(terminal, FieldStyle(movesCursor: false))
        terminal.type("12\u{1B}[O3")
        terminal.expect(["PIN: ***"], &field)
        terminal.type("\r")
        #expect(answer(&field) == .success("123"))
        terminal.expectScreen(["PIN:"])
        #expect(!terminal.written.contains(0x1B) && terminal.screen.row == 1)
    }

    /// Catches modes that stay changed where the field just goes away.
    @Test func goingAway() throws {
        let terminal = FieldTerminal()
        do {
            var field = try opened(terminal)
            terminal.type("12")
            terminal.expect(["PIN: **"], &field)
        }
        terminal.expectScreen([])
        #expect(terminal.isAsBefore)
    }

    /// Catches a field that waits as long as somebody has stopped the terminal's output.
    @Test func aStoppedTerminal() throws {
        let terminal = FieldTerminal()
        tcflow(terminal.program, TCOOFF)
        var field = try one(TerminalField(path: terminal.path, FieldStyle()))
        let start = Date()
        _ = field.open("PIN: ")
        terminal.type("12\u{3}")
        while field.attend() == nil {}
        field.close()
        #expect(Date().timeIntervalSince(start) < 1.5)
        #expect(terminal.isAsBefore)
        tcflow(terminal.program, TCOON)
    }

    /// Catches a file or a missing path that is taken for a terminal, and a terminal that refuses and is left changed.
    @Test func noTerminal() {
        for path in ["/dev/null", "/nonexistent", ""] {
            let field = TerminalField(path: Array(path.utf8), FieldStyle())
            let isThere = field != nil
            #expect(!isThere)
        }
    }

    /// Catches a start that a person could notice; 5 ms leave most of the 20 ms between entry and first key to others.
    @Test func openIsFast() throws {
        let terminal = FieldTerminal()
        var best = 1.0
        for _ in 0..<20 {
            let start = Date()
            var field = try one(TerminalField(path: terminal.path, FieldStyle()))
            _ = field.open("PIN: ")
            best = min(best, Date().timeIntervalSince(start))
            field.close()
            terminal.look()
        }
        #expect(best < 0.005)
    }
}
