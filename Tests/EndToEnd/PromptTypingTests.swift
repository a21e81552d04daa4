import Foundation
import Testing

/// Keys at Signet's own field, in real sudo: how fast they come, what they are, and when.
@Suite(.serialized, .inWorld, .withProduct) struct PromptTypingTests {
    // Would catch a field that waits for the reader, one that loses a key when its words change, and a helper that keeps
    // the program waiting after the PIN.
    @Test func keysAreTakenWhileTheReaderStillOpens() throws {
        try Enrolled.with { alice in
            let go = alice.reader.folder + "/go"
            let real = try File.read(alice.reader.folder + "/sensor")
            let slow = real.replacingOccurrences(
                of: "exec ", with: "while [ ! -e \(go) ]; do sleep 0.02; done\nexec ")
            try File.replaced(alice.reader.folder + "/sensor", with: slow, mode: 0o755) {
                let terminal = try alice.sudo()
                try terminal.waitForSecretPrompt(Offer.begun)
                try terminal.type("80")
                try terminal.waitForMasks(2)
                #expect(!terminal.transcript.contains(Offer.touch), "it speaks of a reader that is not armed")
                try File.write("", to: go)
                try terminal.type("63")
                try terminal.waitForScreen("new words before what was typed") {
                    $0.words.contains(Offer.touch) && $0.masks() == 4
                }
                try terminal.type(line: "57")
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            }
            // One that never gets there: the PIN alone lets in, and at once.
            let never = "#!/bin/sh\nexec sleep 299.5\n"
            try File.replaced(alice.reader.folder + "/sensor", with: never, mode: 0o755) {
                let terminal = try alice.sudo()
                try terminal.waitForSecretPrompt(Offer.begun)
                let start = monotonicMilliseconds()
                try terminal.type(line: Enrolled.pin)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                #expect(monotonicMilliseconds() - start < 3000)
                #expect(try Command.run(["pgrep", "-f", "sleep 299.5"]).output.isEmpty, "its helper is left")
            }
        }
    }

    // Would catch keys that are lost or doubled at any speed, beside the reader and without one, and a mask too many.
    @Test func everySpeedOfTypingIsTaken() throws {
        try Enrolled.with { alice in
            for pause in [1000, 50, 5, 0] as [Int] {
                let terminal = try alice.sudo()
                try alice.arm(terminal)
                if pause == 0 {
                    try terminal.type(Enrolled.pin)
                } else {
                    for key in Enrolled.pin {
                        try terminal.type(String(key))
                        try terminal.gather(within: 0)
                        usleep(UInt32(pause) * 1000)
                    }
                }
                try terminal.waitForMasks(Enrolled.pin.count)
                try terminal.type("\r")
                #expect(try terminal.ended().isGranted, "\(pause) ms: \(terminal.transcript)")
                expectNoPart(of: Enrolled.pin, in: terminal)
            }
            let burst = try alice.sudo()
            try alice.arm(burst)
            try burst.type(line: Enrolled.pin)
            #expect(try burst.ended().isGranted, "\(burst.transcript)")
        }
    }

    // Would catch an editing key that does something else, and one that is taken for a part of the PIN.
    @Test func editingKeysEditAndOthersAreNoCharacters() throws {
        try Signet.guarding("sudo") {
            let alice = try Signet.user()
            let cases = [
                "80635x\u{7F}7", "80635x\u{08}7", "999\u{15}806357", "999\u{17}806357", "9\u{7F}\u{7F}\u{7F}806357",
                "80\u{1B}[A6\u{1B}[B3\u{1B}[C5\u{1B}[D7", "80\u{1B}OA63\u{1B}OP5\u{1B}[15~7\u{1B}[24~",
                "8\u{1B}[[A0\u{1B}[3~6\u{1B}[1;5C357\u{1B}[H", "806\u{01}\u{09}\u{0C}\u{0E}\u{1F}357\u{0B}",
                "806\u{13}357\u{11}", "8\u{1B}a06357\u{1B}]11;rgb:1234/5678/9abc\u{07}",
            ]
            for keys in cases {
                let terminal = try Sudo.start(alice)
                try terminal.waitForSecretPrompt(Sudo.prompt)
                try terminal.type(line: keys)
                #expect(try terminal.ended().isGranted, "\(keys.debugDescription): \(terminal.transcript)")
                #expect(terminal.screen().bells == 0, "\(keys.debugDescription) rings")
            }
            // Esc is a key of its own only once nothing follows it.
            let terminal = try Sudo.start(alice)
            try terminal.waitForSecretPrompt(Sudo.prompt)
            try terminal.type("99")
            try terminal.waitForMasks(2)
            try terminal.type("\u{1B}")
            try terminal.waitForMasks(0)
            try terminal.type(line: Signet.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch a character of several bytes that is refused byte by byte, taken in part, or echoed.
    @Test func aKeyOutsideASCIIIsRefusedAsOne() throws {
        try Signet.guarding("sudo") {
            let alice = try Signet.user()
            let terminal = try Sudo.start(alice)
            try terminal.waitForSecretPrompt(Sudo.prompt)
            var bells = 0
            for key in ["é", "€", "🔑"] {
                try terminal.type("8\(key)")
                bells += 1
                try terminal.waitForScreen("\(bells) masks and bells") { $0.masks() == bells && $0.bells == bells }
            }
            try terminal.type("\u{15}")
            try terminal.type(line: Signet.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(terminal.screen().bells == 3)
            #expect(terminal.transcript.utf8.allSatisfy { $0 < 0x80 })
        }
    }

    // Would catch a paste that is no PIN and counts as one: a command line with its Return, or something far too long.
    @Test func aPasteIsTakenWholeOrNotAtAll() throws {
        try Signet.guarding("sudo") {
            let alice = try Signet.user()
            for line in ["806357", "806357\n", "806357\r"] {
                let terminal = try Sudo.start(alice)
                try terminal.waitForSecretPrompt(Sudo.prompt)
                try terminal.type("\u{1B}[200~\(line)\u{1B}[201~")
                try terminal.waitForMasks(6)
                #expect(try Signet.lockout(alice).pinFailures == 0)
                try terminal.type("\r")
                #expect(try terminal.ended().isGranted, "\(line.debugDescription): \(terminal.transcript)")
            }
            let long = String(repeating: "rm -rf ~; ", count: 30)
            let terminal = try Sudo.start(alice)
            try terminal.waitForSecretPrompt(Sudo.prompt)
            try terminal.type("80")
            try terminal.type("\u{1B}[200~ls -l\nsudo reboot\n\u{1B}[201~")
            try terminal.waitForScreen("a bell for the command lines") { $0.bells == 1 && $0.masks() == 2 }
            // Without brackets too, where its Return is nothing that one would want to answer with.
            try terminal.type("\(long)\r")
            try terminal.waitForScreen("a bell for what is too long, and it is gone") {
                $0.bells > 1 && $0.masks() == 0
            }
            try terminal.waitForScreen("nothing typed") { !$0.words.contains("(too long)") }
            try terminal.type("\u{1B}[200~\(long)\u{1B}[201~")
            try terminal.waitForScreen("the sign for what is too long") { $0.words.contains("(too long)") }
            try terminal.type("\r")
            try terminal.waitForScreen("nothing typed") { !$0.words.contains("(too long)") && $0.masks() == 0 }
            #expect(try Signet.lockout(alice).pinFailures == 0)
            try terminal.type(line: Signet.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch a line that was typed before the prompt and is compared as a PIN: the command after this one, or what
    // somebody pastes.
    @Test func whatWasTypedBeforeThePromptIsNoPIN() throws {
        try Signet.guarding("sudo") {
            let alice = try Signet.user()
            let terminal = try Sudo.start(alice)
            try terminal.type("ls -l\rid")
            try terminal.waitForSecretPrompt(Sudo.prompt)
            #expect(terminal.screen().masks() == 0)
            try terminal.type(line: Signet.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(!terminal.transcript.contains("Wrong PIN"))
        }
    }

    // Would catch a flood of keys that keeps the reader or Ctrl-C waiting, and a bell for each of them.
    @Test(arguments: [true, false])
    func aFloodOfKeysHoldsNobodyUp(_ isTouch: Bool) throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            for _ in 1...50 {
                try terminal.type(String(repeating: "x", count: 2000))
                try terminal.gather(within: 0)
            }
            if isTouch { try alice.reader.scan(Enrolled.finger) } else { try terminal.type("\u{03}") }
            let ending = try terminal.ended(within: 3)
            #expect(isTouch ? ending.isGranted : ending.isRefused, "\(terminal.transcript)")
            #expect(terminal.screen().bells < 5000)
            #expect(try alice.fingerFailures() == 0)
        }
    }

    // Would catch Enter as an answer of its own beside the reader: an attempt, or an end of the wait for the finger.
    @Test func enterAloneDoesNothingBesideTheReader() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            for _ in 1...5 { try terminal.type("\r") }
            try terminal.type("8")
            try terminal.waitForMasks(1)
            try terminal.type("\u{7F}\r")
            try terminal.waitForMasks(0)
            #expect(SensorProcess.all().count == 1)
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(!terminal.transcript.contains("Nothing was typed"))
        }
    }
}

/// Asserts that no two neighbouring characters of the PIN came to the terminal.
func expectNoPart(of pin: String, in terminal: Terminal, sourceLocation: SourceLocation = #_sourceLocation) {
    let shown = terminal.transcript.replacing(/u\d+x\d+/, with: "").replacing(/\u{1B}\[\?\d+[hl]/, with: "")
    for (first, second) in zip(pin, pin.dropFirst()) {
        #expect(!shown.contains("\(first)\(second)"), "\(terminal.transcript)", sourceLocation: sourceLocation)
    }
}
