import Glibc
import Testing

/// Finger and PIN at one prompt: what a touch does to what was typed, and the other way round.
@Suite(.serialized, .inWorld, .withProduct) struct PromptTouchTests {
    // Would catch a finger that is not recognised and takes what was typed with it, and a second line for its words.
    @Test func aWrongFingerKeepsWhatWasTyped() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try terminal.type("806")
            try terminal.waitForMasks(3)
            try alice.reader.scan("someone-else")
            let screen = try terminal.waitForScreen("the refusal before what was typed") {
                $0.words.contains(Offer.refused) && $0.masks() == 3
            }
            #expect(screen.text.count { $0.contains("[sudo") } == 1, "\(screen.text)")
            try terminal.type(line: "357")
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 0)
            expectNoPart(of: Enrolled.pin, in: terminal)
        }
    }

    // Would catch a third failure that empties the field as it goes over to the PIN alone, or leaves the reader open.
    @Test func theThirdWrongFingerKeepsWhatWasTyped() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try terminal.type("80")
            try terminal.waitForMasks(2)
            for number in 1...3 {
                try alice.reader.scan("someone-else")
                try terminal.waitForScreen("the answer to wrong finger \(number)") {
                    $0.words.contains(number == 1 ? " Not rec" : number == 2 ? " Still not rec" : "] Type your PIN:")
                        && $0.masks() == 2
                }
            }
            try SensorProcess.waitForNone(within: 1)
            try terminal.type(line: "6357")
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch half a PIN that the next program reads after a touch, one that stays on the screen, and modes that do
    // not come back.
    @Test func aTouchWithHalfAPINTypedLetsInAndLeavesNothingOfIt() throws {
        try Enrolled.with { alice in
            alice.reader.forget()
            let terminal = try Terminal(
                ["su", alice.user.name, "-c", "echo in; exec cat"], as: try User.fresh())
            let before = terminal.modesAtStart
            try alice.arm(terminal)
            try terminal.type("8063")
            try terminal.waitForMasks(4)
            #expect(try terminal.modes.isField)
            try alice.reader.scan(Enrolled.finger)
            try terminal.waitForScreen("nothing but what the program said") { $0.text == ["in"] }
            #expect(before.isUsual)
            #expect(try terminal.modes == before)
            try terminal.type(line: "end")
            try terminal.waitForScreen("the line and its copy") { $0.text == ["in", "end", "end"] }
            try terminal.press("d")
            #expect(try terminal.finish() == 0)
        }
    }

    // Would catch a second prompt that waits for the reader, does not say who has it, or takes it from the first.
    @Test func aReaderThatIsHeldIsNamedAtOnce() throws {
        try Enrolled.with { alice in
            let first = try alice.sudo()
            try alice.arm(first)
            let start = monotonicMilliseconds()
            // Not through `alice.sudo`, which would make the reader forget the first one.
            let second = try Terminal(Sudo.command, as: alice.user)
            let pattern = /The reader is in use by sudo on pts\/\d+\. Type your PIN:/
            try second.waitForScreen("who has the reader") { $0.words.contains(pattern) }
            #expect(monotonicMilliseconds() - start < 2000)
            try second.type(line: Enrolled.pin)
            #expect(try second.ended().isGranted, "\(second.transcript)")
            #expect(first.screen().words.hasSuffix("Touch the reader or type your PIN:"))
            try alice.reader.scan(Enrolled.finger)
            #expect(try first.ended().isGranted, "\(first.transcript)")
        }
    }

    // Would catch a typed PIN that waits for the reader to close, one whose charged finger stays charged, and a reader that
    // stays open while the command runs.
    @Test func aPINBesideAnArmedReaderLetsInAndFreesIt() throws {
        try Enrolled.with { alice in
            alice.reader.forget()
            let terminal = try Terminal(["sudo", "-k", "sh", "-c", "echo in; exec cat"], as: alice.user)
            try alice.arm(terminal)
            #expect(try alice.fingerFailures() == 1, "the try is charged while it is awaited")
            try terminal.type(line: Enrolled.pin)
            try terminal.waitFor("in\r\n", within: 3)
            try SensorProcess.waitForNone(within: 1)
            #expect(try alice.fingerFailures() == 0)
            try terminal.press("d")
            #expect(try terminal.finish() == 0)
        }
    }
}
