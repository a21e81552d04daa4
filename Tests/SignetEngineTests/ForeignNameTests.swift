import SignetPolicy
import Testing

@testable import SignetEngine

@Suite struct ForeignNameTests {
    private static let prompts: [Prompt] = [
        .recoveryCode, .pinOrTouch, .pin(because: .readerNotAvailable(.busy)),
    ]
    private static let notices: [Notice] = [
        .pinNotSet, .recordsGone, .recordUnusable, .troubled(.rolledBack), .troubled(.renamed),
        .pinDisabled(codeHelps: true),
        .shareUsedUp, .fingerPathClosed(.readerNotAvailable(.busy)),
    ]

    /// Catches a name from outside that plays with the terminal: moves, colours, turns, breaks the line.
    @Test(arguments: [
        Array("\u{1B}[2Jroot".utf8), Array("a\nPassword: ".utf8), Array("a\u{202E}b".utf8), Array("a\u{9B}31m".utf8),
        [0xFF, 0xFE, 0x41], Array("a\r\u{8}\u{7F}".utf8), [0], [],
    ]) func isHarmless(name: [UInt8]) {
        let texts =
            Self.prompts.map { $0.text(Asked(user: name, service: name, holder: name)) }
            + Self.notices.map { $0.text(Asked(user: name, holder: name)) }
        for text in texts {
            for scalar in text.unicodeScalars { #expect(!UTF8Text.isDangerous(scalar.value)) }
        }
    }

    /// Catches a name that becomes a second command when somebody copies the sentence into a root shell.
    @Test(arguments: [
        ("a; reboot", "'a; reboot'"), ("$(id)", "'$(id)'"), ("DOM\\joe", "'DOM\\joe'"), ("--help", "USER"),
        ("", "USER"),
    ]) func isNoCommand(name: String, word: String) {
        let text = Notice.pinDisabled(codeHelps: true).text(user: Array(name.utf8))
        #expect(text.hasSuffix("\"signet lockout reset --user \(word)\"."))
    }

    /// Catches a long name that pushes what matters off the screen.
    @Test func isBounded() {
        let text = Notice.pinNotSet.text(user: [UInt8](repeating: 0x61, count: 5000))
        #expect(text.utf8.count < 200)
    }
}
