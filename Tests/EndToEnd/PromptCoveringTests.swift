import Glibc
import Testing

/// The prompt covers itself when the person or the terminal goes away, and gives back what it took.
@Suite(.serialized, .inWorld, .withProduct) struct PromptCoveringTests {
    /// What a person reads while an armed reader waits beside an empty field.
    private func isEmptyPrompt(_ screen: Screen) -> Bool {
        screen.words.hasSuffix("Touch the reader or type your PIN:") && screen.masks() == 0
            && screen.words.count { $0 == "[" } == 1
    }

    // Would catch a prompt that stays while somebody else's window has the focus, a reader that stays armed meanwhile, a try
    // that is charged for it, and half a PIN that is still there afterwards.
    @Test func withoutTheFocusNothingIsShownAndNoReaderIsArmed() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            let before = terminal.modesAtStart
            try alice.arm(terminal)
            #expect(terminal.transcript.contains("\u{1B}[?1004h"), "focus is not asked for")
            for keys in ["80", "", "9"] {
                try terminal.type(keys)
                try terminal.waitForMasks(keys.count)
                try terminal.type("\u{1B}[O")
                try terminal.waitForScreen("nothing") { $0.text.isEmpty }
                try SensorProcess.waitForNone(within: 2)
                #expect(try alice.fingerFailures() == 0)
                #expect(Processes.state(terminal.process) == "S")
                try terminal.type("\u{1B}[I")
                try terminal.waitForScreen("an empty prompt beside the reader", isEmptyPrompt)
            }
            // Twice the same news is no news.
            try terminal.type("\u{1B}[I\u{1B}[I")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try terminal.modes == before)
            #expect(terminal.transcript.contains("\u{1B}[?1004l"), "focus is still reported")
        }
    }

    // Would catch an absence that never ends, or one in which Ctrl-C is lost.
    @Test func controlCEndsAnAbsence() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            let before = terminal.modesAtStart
            try alice.arm(terminal)
            try terminal.type("80\u{1B}[O")
            try terminal.waitForScreen("nothing") { $0.text.isEmpty }
            try terminal.type("\u{03}")
            #expect(try terminal.ended(within: 3).isRefused)
            #expect(try terminal.modes == before)
            #expect(!terminal.screen().words.contains("PIN"), "\(terminal.screen().text)")
            #expect(try alice.fingerFailures() == 0)
        }
    }

    // Would catch what was typed being kept, or shown twice, on a terminal of another size, and a resize that disarms the
    // reader.
    @Test func aResizeWipesAndDrawsAnew() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let helper = try SensorProcess.only()
            try terminal.type("8063")
            try terminal.waitForMasks(4)
            let shown = terminal.transcript.utf8.count
            try terminal.resize(rows: 24, columns: 40)
            let resized = (after: shown, columns: 40)
            try terminal.waitForScreen("an empty prompt", resized: resized, isEmptyPrompt)
            #expect(terminal.screen(resized: resized).text.allSatisfy { $0.count < 40 })
            #expect(try SensorProcess.only() == helper)
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(terminal.screen(resized: resized).text == ["0"], "\(terminal.screen(resized: resized).text)")
        }
    }

    /// Programs that ask, and whether they ignore SIGHUP.
    private func programs(_ alice: Enrolled) -> [(words: [String], user: User?, variables: [String: String])] {
        let su = "su \(alice.user.name) -c id"
        return [
            (["sudo", "-k", "id", "-u"], alice.user, [:]), (["sh", "-c", "exec \(su)"], alice.user, [:]),
            (["signet", "verify"], nil, alice.asUser),
            (["sh", "-c", "trap '' HUP; exec \(su)"], alice.user, [:]),
            (["sh", "-c", "trap '' HUP; exec sudo -k id"], alice.user, [:]),
        ]
    }

    // Would catch a program that waits for ever at a terminal that is gone, or turns in a loop there, one whose helper
    // stays, and a finger that stays charged.
    @Test func aTerminalThatGoesAwayEndsTheProgram() throws {
        try Enrolled.with { alice in
            for (words, user, variables) in programs(alice) {
                alice.reader.forget()
                let environment = Child.environment.merging(variables) { $1 }
                let terminal = try Terminal(words, as: user, environment: environment)
                try terminal.waitFor("PIN: ")
                try terminal.waitFor(Offer.touch)
                try terminal.type("8063")
                try terminal.waitForMasks(4)
                try terminal.hangUp()
                _ = try terminal.finish(within: 2)
                try SensorProcess.waitForNone(within: 2)
                #expect(try alice.fingerFailures() == 0, "\(words)")
            }
        }
    }

    // Would catch a signal that ends the program while the terminal has the field's modes, or that leaves a part of it on
    // the screen.
    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGXCPU])
    func aSignalEndsTheProgramWithTheTerminalAsItWas(_ number: CInt) throws {
        try Enrolled.with { alice in
            for (words, user, variables) in programs(alice).prefix(3) {
                alice.reader.forget()
                let environment = Child.environment.merging(variables) { $1 }
                let terminal = try Terminal(words, as: user, environment: environment)
                let before = terminal.modesAtStart
                try terminal.waitFor("PIN: ")
                try terminal.waitFor(Offer.touch)
                try terminal.type("8063")
                try terminal.waitForMasks(4)
                terminal.signal(number)
                #expect(try terminal.finish(within: 3) != 0, "\(words)")
                #expect(try terminal.modes == before, "\(words)")
                let screen = terminal.screen()
                #expect(screen.masks() == 0 && !screen.words.contains("PIN"), "\(words): \(screen.text)")
                try SensorProcess.waitForNone(within: 2)
                #expect(try alice.fingerFailures() == 0, "\(words)")
            }
        }
    }

    // Would catch a program that was stopped behind its own back and then reads a PIN that the terminal shows: somebody has
    // given the terminal other modes meanwhile.
    @Test func afterAStopFromOutsideTheModesAreTakenAgain() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            let before = terminal.modesAtStart
            try alice.arm(terminal)
            try terminal.type("80")
            try terminal.waitForMasks(2)
            terminal.signal(SIGSTOP)
            try Processes.wait("the stop") { Processes.state(terminal.process) == "T" }
            try terminal.setUsual()
            #expect(try terminal.modes.isUsual)
            terminal.signal(SIGCONT)
            try terminal.waitForModes { $0.isField }
            try terminal.waitForScreen("no masks") { $0.masks() == 0 }
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try terminal.modes == before)
            expectNoPart(of: Enrolled.pin, in: terminal)
        }
    }
}
