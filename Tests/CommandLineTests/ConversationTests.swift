import CPlatform
import CTerminal
import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetSecrets
import Testing

@testable import signet

@Suite struct ConversationTests {
    private static let alice = Asked(user: Array("alice".utf8))

    private static func conversation(_ desk: String, _ style: FieldStyle = FieldStyle()) throws -> CommandConversation {
        try CommandConversation.onTerminal(alice, style, path: desk)
    }

    private static func text(_ secret: borrowing SecretBytes) -> String {
        secret.withBytes { bytes in String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self) }
    }

    /// Catches a secret that is shown, changed or cut, one that is told apart from none, and an echo that stays off.
    @Test(arguments: [true, false])
    func theAnswerIsHidden(movesCursor: Bool) throws {
        let desk = try Desk([
            .init(sign: "Current PIN: ") { $0.type("49 0273\r") },
            .init(sign: "New PIN: ") { $0.type("\r") },
        ])
        var person = try ConversationTests.conversation(desk.path, FieldStyle(movesCursor: movesCursor))
        #expect(ConversationTests.text(try person.ask(.currentPIN)) == "49 0273")
        #expect(ConversationTests.text(try person.ask(.newPIN)).isEmpty)
        person.tell(.nothingTyped)
        #expect(desk.echoes)
        let transcript = desk.transcript()
        // Two characters of it in a row; a single one stands in control sequences too.
        #expect(!["49", "02", "27", "73"].contains { transcript.all.contains($0) })
        #expect(transcript.all.hasSuffix("Nothing was typed.\n"))
        #expect(movesCursor || !transcript.all.contains("\u{1B}"))
    }

    /// Catches Ctrl-C that is no end, or that leaves the terminal without echo.
    @Test func cancellingEndsIt() throws {
        let desk = try Desk([.init(sign: "Current PIN: ") { $0.type("49\u{03}") }])
        var person = try ConversationTests.conversation(desk.path)
        #expect(throws: ConversationError.cancelled) { _ = try person.ask(.currentPIN) }
        #expect(desk.echoes)
    }

    /// Catches an administrator's prompt that speaks to the user.
    @Test func theAdministratorIsAskedInTheirWords() throws {
        let desk = try Desk([.init(sign: "PIN of alice: ") { $0.type("1\r") }])
        var person = try CommandConversation.onTerminal(
            ConversationTests.alice, FieldStyle(), path: desk.path, secretPrompt: "PIN of alice: ")
        #expect(ConversationTests.text(try person.ask(.currentPIN)) == "1")
    }

    /// Catches a touch that is never spoken of, a notice that throws away what was typed, and one that is mistaken for it.
    @Test func noticesOfTheTouchBecomeThePrompt() throws {
        let desk = try Desk([
            .init(sign: "PIN: ") { $0.type("4") },
            .init(sign: "*") { $0.type("9") },
            .init(sign: "Touch the reader or type your PIN: **") { $0.type("0") },
            .init(sign: "Not recognised. Touch again or type your PIN: ***") { $0.type("2") },
            .init(sign: "Swipe more slowly, or type your PIN: ****") { $0.type("73\r") },
        ])
        var person = try ConversationTests.conversation(desk.path)
        let opened = person.openField(.pinBeforeTouch)
        try #require(opened)
        var notices = [Notice.retry(.tooFast), .notRecognised, .touchTheReader]
        var event: FieldEvent?
        var typed = 0
        while event == nil {
            try ConversationTests.awaitKeys(&person)
            event = person.attend()
            typed += 1
            if event == nil, typed > 1, let notice = notices.popLast() { person.tell(notice) }
        }
        #expect(event == .answered)
        #expect(ConversationTests.text(try person.takeAnswer()) == "490273")
    }

    /// Catches a busy reader of which nobody says who has it.
    @Test func aHeldReaderIsNamed() throws {
        let desk = try Desk([.init(sign: "The reader is in use by sudo on pts/3. Type your PIN: ") { $0.type("1\r") }])
        var person = try ConversationTests.conversation(desk.path)
        person.readerIsHeld(by: Array("sudo on pts/3".utf8))
        #expect(ConversationTests.text(try person.ask(.pin(because: .readerNotAvailable(.busy)))) == "1")
    }

    /// Lets keys come and be taken, as the reader's adapter does while it waits.
    private static func awaitKeys(_ person: inout CommandConversation) throws {
        var watched = pollfd(fd: person.keys, events: Int16(POLLIN), revents: 0)
        try #require(poll(&watched, 1, 10_000) == 1)
    }

    /// Catches a PIN that stands there while somebody else works in the shell, and half a PIN that counts afterwards.
    @Test func stoppingForgetsWhatWasTyped() async throws {
        let desk = try Desk([
            .init(sign: "Current PIN: ") { $0.type("490\u{1A}") },
            .init(sign: "<stopped, echo>") { _ in },
            .init(sign: "Current PIN: ") { $0.type("273\r") },
        ])
        await #expect(processExitsWith: .exitCode(0)) { [path = desk.path as String] in
            exit(
                runAsJob(on: path) {
                    // The job's own terminal, as the program finds it.
                    var person = try CommandConversation.onTerminal(ConversationTests.alice, FieldStyle())
                    let answer = try person.ask(.currentPIN)
                    if ConversationTests.text(answer) != "273" { throw Failure(.no, "another answer") }
                })
        }
        #expect(desk.echoes)
    }
}
