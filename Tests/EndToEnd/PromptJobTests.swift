import Glibc
import Testing

/// The prompt in shells with job control: stopped, continued, sent to the background.
@Suite(.serialized, .inWorld, .withProduct) struct PromptJobTests {
    // Would catch a stopped sudo, which keeps the lock of its ticket: the next one would hang without a word.
    @Test(arguments: Shell.Kind.allCases)
    func underSudoControlZCancels(_ kind: Shell.Kind) throws {
        try Enrolled.with { alice in
            let shell = try Shell(kind, as: alice.user)
            for isSignal in [false, true] {
                try shell.run("sudo -k id -u")
                try alice.arm(shell.terminal)
                try shell.terminal.type("80")
                try shell.terminal.waitForMasks(2)
                let sudo = Processes.children(of: shell.terminal.process, named: "sudo")
                #expect(sudo.count == 1)
                if isSignal {
                    for process in sudo { kill(process, SIGTSTP) }
                } else {
                    try shell.terminal.type("\u{1A}")
                }
                try shell.waitForPrompt()
                #expect(Processes.children(of: shell.terminal.process, named: "sudo").isEmpty)
                #expect(try shell.terminal.modes == shell.modes)
                #expect(!shell.terminal.screen().words.contains("PIN"), "\(shell.terminal.screen().text)")
                #expect(try alice.fingerFailures() == 0)
            }
            #expect(try !shell.answer("jobs").contains("Stopped"))
            try shell.run("sudo id -u")
            try alice.arm(shell.terminal)
            try shell.terminal.type(line: Enrolled.pin)
            try shell.waitForPrompt()
            #expect(shell.terminal.screen().text.suffix(2) == ["0", "ready>"], "\(shell.terminal.screen().text)")
        }
    }

    // Would catch a locker that Ctrl-Z opens: it has switched signals from keys off, and a prompt makes them for it.
    @Test func aProgramWithoutSignalsFromKeysIsNeitherStoppedNorInterrupted() throws {
        try Enrolled.with { alice in
            try Signet.alone { service in
                let shell = try Shell(.bash)
                let locker = "\(World.tools)/pamhost --conversation field --rounds 2 \(service) \(alice.user.name)"
                try shell.run("stty -isig -icanon -echo; \(locker); stty isig icanon echo")
                try shell.terminal.waitFor("PIN: ")
                try shell.terminal.waitForModes { $0.isField }
                try shell.terminal.type("80\u{1A}63")
                try shell.terminal.waitForMasks(4)
                let process = try #require(Processes.children(of: shell.terminal.process, named: "pamhost").first)
                #expect(Processes.state(process) != "T")
                try shell.terminal.type("\u{03}")
                try shell.terminal.waitFor("round 1: code 7")
                try shell.terminal.waitFor("PIN: ")
                try shell.terminal.waitForModes { $0.isField }
                try shell.terminal.type(line: Enrolled.pin)
                try shell.terminal.waitFor("round 2: code 0")
                try shell.waitForPrompt()
            }
        }
    }

    /// What stops a program.
    enum Stop: CaseIterable {
        case key, stopSignal, outside
    }

    // Would catch a prompt that stays on the screen, or an echo that stays off, while the shell is used; half a PIN that
    // the shell reads, or that is still there on return; a reader that is held meanwhile; and a prompt that does not come
    // back.
    @Test(arguments: Shell.Kind.allCases, ["su", "signet"])
    func aStoppedProgramComesBackEmpty(_ kind: Shell.Kind, _ program: String) throws {
        try Enrolled.with { alice in
            let isSu = program == "su"
            let shell = try Shell(kind, as: isSu ? alice.user : nil, environment: isSu ? [:] : alice.asUser)
            let terminal = shell.terminal
            let line = isSu ? "su \(alice.user.name) -c 'echo granted'" : "signet verify"
            for stop in Stop.allCases {
                try shell.run(line)
                try terminal.waitFor("PIN: ")
                try terminal.waitForSecretPrompt(Offer.touch)
                try terminal.type("8063")
                try terminal.waitForMasks(4)
                let process = try #require(Processes.children(of: terminal.process, named: program).first)
                switch stop {
                case .key: try terminal.type("\u{1A}")
                case .stopSignal: kill(process, SIGTSTP)
                case .outside: kill(process, SIGSTOP)
                }
                try shell.waitForPrompt()
                #expect(Processes.state(process) == "T")
                // Nobody can take a prompt off the screen, or give the modes back, who was stopped by SIGSTOP.
                if stop != .outside {
                    #expect(try terminal.modes == shell.modes, "\(stop)")
                    #expect(terminal.screen().masks() == 0, "\(stop): \(terminal.screen().text)")
                    #expect(!terminal.screen().words.contains("type your PIN"), "\(stop): \(terminal.screen().text)")
                    try SensorProcess.waitForNone(within: 1)
                    #expect(try alice.fingerFailures() == 0, "\(stop)")
                    #expect(try shell.answer("expr 40 + 2").contains("42\r\n"))
                    #expect(try shell.answer("jobs").contains("Stopped"))
                }
                try shell.run("fg")
                try terminal.waitForSecretPrompt("PIN: ")
                try terminal.waitForModes { $0.isField }
                if stop != .outside { try terminal.waitForMasks(0) }
                try terminal.type(line: Enrolled.pin)
                try terminal.waitFor(isSu ? "granted\r\n" : "PIN recognised.")
                try shell.waitForPrompt()
                #expect(try terminal.modes == shell.modes, "\(stop)")
                expectNoPart(of: Enrolled.pin, in: terminal)
            }
        }
    }

    // Would catch a stopped prompt that asks, or eats the processor, once it is let go on in the background.
    @Test func inTheBackgroundAStoppedPromptStaysStopped() throws {
        try Enrolled.with { alice in
            let shell = try Shell(as: alice.user)
            let terminal = shell.terminal
            try shell.run("su \(alice.user.name) -c 'echo granted'")
            try alice.arm(terminal)
            let process = try #require(Processes.children(of: terminal.process, named: "su").first)
            try terminal.type("80\u{1A}")
            try shell.waitForPrompt()
            let shown = terminal.transcript.utf8.count
            try shell.run("bg")
            try shell.waitForPrompt()
            try Processes.wait("another stop") { Processes.state(process) == "T" }
            #expect(Processes.ticks(process) < 100)
            #expect(!String(decoding: terminal.transcript.utf8.dropFirst(shown), as: UTF8.self).contains("PIN: "))
            try SensorProcess.waitForNone(within: 1)
            #expect(try terminal.modes == shell.modes)
            alice.reader.forget()
            try shell.run("fg")
            try alice.arm(terminal, chip: [])
            try alice.reader.scan(Enrolled.finger)
            try terminal.waitFor("granted\r\n")
            try shell.waitForPrompt()
            #expect(try terminal.modes == shell.modes)
        }
    }
}
