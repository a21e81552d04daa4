import Foundation
import Testing

/// What of the prompt reaches the terminal, and what is left of it, on terminals of all kinds.
@Suite(.serialized, .inWorld, .withProduct) struct PromptScreenTests {
    /// How a prompt can end.
    enum End { case pin, finger, wrongPIN, cancel }

    // Would catch a prompt, a mask or an empty line that stays after the end, whole or in part, and a line of somebody
    // else's that goes with it.
    @Test(arguments: [20, 40, 80] as [UInt16])
    func nothingOfThePromptIsLeftAtItsEnd(_ columns: UInt16) throws {
        try Enrolled.with { alice in
            for end in [End.pin, .finger, .wrongPIN, .cancel] {
                alice.reader.forget()
                let words = ["sh", "-c", "echo above; su \(alice.user.name) -c 'echo in'; echo below"]
                let terminal = try Terminal(words, as: alice.user, columns: columns)
                let before = terminal.modesAtStart
                try terminal.waitForScreen("a prompt that waits for a touch", columns: Int(columns)) {
                    $0.words.filter { $0 != " " }.contains("Touchthereaderortype")
                }
                try terminal.type("8063")
                try terminal.waitForMasks(4, columns: Int(columns))
                #expect(terminal.screen(columns: Int(columns)).text.first == "above")
                try finish(terminal, by: end, alice)
                _ = try terminal.finish()
                let shown = terminal.screen(columns: Int(columns))
                var expected: [String] = []
                switch end {
                case .pin, .finger: expected = ["above", "in", "below"]
                case .wrongPIN: expected = ["above", "Wrong PIN.", "su: Authentication failure", "below"]
                // Ctrl-C interrupts su and the shell that runs it, as at any prompt.
                case .cancel: expected = ["above"]
                }
                // At 20 columns the sentence of su itself wraps.
                #expect(shown.text.joined() == expected.joined(), "\(end) at \(columns): \(shown.text)")
                #expect(shown.unknown.isEmpty, "\(shown.unknown)")
                #expect(try terminal.modes == before, "\(end)")
            }
        }
    }

    private func finish(_ terminal: Terminal, by end: End, _ alice: Enrolled) throws {
        switch end {
        case .pin: try terminal.type("57\r")
        case .wrongPIN: try terminal.type("99\r")
        case .finger: try alice.reader.scan(Enrolled.finger)
        case .cancel: try terminal.type("\u{03}")
        }
    }

    // Would catch a mask that tells the length: the bytes for a short and a long PIN are the same when it is off, and so
    // are they after Backspace.
    @Test func withoutAMaskTheTerminalLearnsNothingOfThePIN() throws {
        try File.replaced("/etc/security/signet.conf", with: "pin_mask = none\n") {
            try Signet.guarding("sudo") {
                var seen: [String] = []
                for (pin, keys) in [
                    ("~^&!%@", "~^&!%@"), ("~^&!%@`{}|<>", "~^&!%@`{}|<>"), ("~^&!%@", "~^x\u{7F}&!%@"),
                ] {
                    let user = try Signet.user(pin: pin)
                    let terminal = try Sudo.start(user)
                    try terminal.waitForSecretPrompt(Sudo.prompt)
                    for key in keys {
                        try terminal.type(String(key))
                        try terminal.gather(within: 5)
                    }
                    try terminal.type("\r")
                    #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                    #expect(!terminal.transcript.contains { pin.contains($0) || $0 == "*" }, "\(terminal.transcript)")
                    seen.append(terminal.transcript.replacingOccurrences(of: user.name, with: "NAME"))
                }
                #expect(Set(seen).count == 1, "\(seen)")
            }
        }
    }

    // Would catch a character of the PIN among the bytes, and a mask that is not the one of the configuration.
    @Test func theMaskIsWhatTheConfigurationSaysAndNoCharacterIsShown() throws {
        try File.replaced("/etc/security/signet.conf", with: "pin_mask = +\n") {
            try Signet.guarding("sudo") {
                let pin = "~^&!%@"
                let terminal = try Sudo.start(try Signet.user(pin: pin))
                try terminal.waitForSecretPrompt(Sudo.prompt)
                try terminal.type(pin)
                try terminal.waitForScreen("six plus signs") { $0.masks("+") == 6 }
                try terminal.type("\r")
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                #expect(!terminal.transcript.contains { pin.contains($0) || $0 == "*" }, "\(terminal.transcript)")
            }
        }
    }

    // Would catch an escape sequence at a terminal that prints it, and masks that stay there.
    @Test(arguments: ["dumb", "", "unknown", nil] as [String?])
    func aTerminalWithoutCursorMovementGetsNoEscapeSequence(_ type: String?) throws {
        try Enrolled.with { alice in
            for columns in [20, 80] as [UInt16] {
                alice.reader.forget()
                var variables = Child.environment
                variables["TERM"] = type
                let terminal = try Terminal(
                    ["su", alice.user.name, "-c", "echo in"], as: alice.user, environment: variables, columns: columns)
                let before = terminal.modesAtStart
                try terminal.waitForScreen("a prompt that waits for a touch", columns: Int(columns)) {
                    $0.words.filter { $0 != " " }.contains("Touchthereaderortype")
                }
                try terminal.type("80635")
                try terminal.waitForMasks(5, columns: Int(columns))
                try terminal.type("\u{7F}57x\u{7F}")
                try terminal.waitForMasks(6, columns: Int(columns))
                try terminal.type("\r")
                #expect(try terminal.finish() == 0, "\(terminal.transcript)")
                let shown = terminal.screen(columns: Int(columns))
                #expect(shown.text.last == "in" && shown.masks() == 0, "\(shown.text)")
                #expect(!terminal.transcript.contains("\u{1B}"), "\(terminal.transcript.debugDescription)")
                #expect(try terminal.modes == before)
            }
        }
    }

    // Would catch colours that nobody asked for, signs beyond ASCII where the locale has none, and a prompt that a locale
    // breaks.
    @Test func localesAndKindsOfTerminalsChangeNothing() throws {
        try Signet.guarding("sudo") {
            let user = try Signet.user()
            let surroundings: [[String: String]] = [
                ["TERM": "linux"], ["TERM": "xterm-256color", "NO_COLOR": "1"], ["TERM": "vt100", "LC_ALL": "C"],
                ["LC_ALL": "de_DE.ISO-8859-1"], ["LC_ALL": "POSIX", "LANG": "nonsense"], ["TERM": "\u{1B}[2J"],
            ]
            for variables in surroundings {
                let terminal = try Terminal(
                    Sudo.command, as: user, environment: Child.environment.merging(variables) { $1 })
                try terminal.waitForSecretPrompt(Sudo.prompt)
                try terminal.type(Signet.pin)
                try terminal.waitForMasks(6)
                try terminal.type("\r")
                #expect(try terminal.ended().isGranted, "\(variables): \(terminal.transcript)")
                let shown = terminal.screen()
                #expect(shown.text == ["0"], "\(variables): \(shown.text)")
                #expect(shown.unknown.isEmpty, "\(variables): \(shown.unknown)")
                #expect(!terminal.transcript.contains(/\u{1B}\[[\d;]*m/), "\(variables) is coloured")
                #expect(terminal.transcript.utf8.allSatisfy { $0 < 0x80 })
            }
        }
    }
}
