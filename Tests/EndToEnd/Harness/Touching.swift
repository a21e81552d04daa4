import Testing

// sudo and su as a person with a finger meets them.

/// The prompts and sentences of a program that offers a touch.
enum Offer {
    /// The field as it stands open at first, and once the reader waits for a finger.
    static let begun = "] PIN: "
    static let touch = "Touch the reader or type your PIN: "
    static let pin = "Type your PIN: "
    static let pinRemote = "Type your PIN (this session is remote): "
    static let pinElsewhere = "Type your PIN (this session is not at the machine's screen): "
    static let pinUnderLid = "Type your PIN (the lid is closed): "
    /// "Not recognised", and from the second time on "Still not recognised".
    static let refused = "ot recognised. Touch again or type your PIN:"
    /// Where only a finger will do.
    static let fingerOnly = "Touch the reader."
}

extension Enrolled {
    /// Starts sudo as the user; `id -u` shows whether it let the user in.
    func sudo(
        _ options: [String] = [], environment: [String: String] = [:], in boot: BootShift? = nil
    ) throws -> Terminal {
        reader.forget()
        let command = ["sudo", "-k"] + options + ["id", "-u"]
        let variables = Child.environment.merging(environment) { $1 }
        if let boot { return try Terminal(boot.command(command, as: user), environment: variables) }
        return try Terminal(command, as: user, environment: variables)
    }

    /// Waits until the reader is armed beside the field.
    func arm(_ terminal: Terminal, chip: [String] = [finger]) throws {
        try terminal.waitForSecretPrompt(Offer.begun)
        try fill(chip: chip)
        try terminal.waitForSecretPrompt(Offer.touch)
    }

    /// Types the PIN at a prompt that ends in this text, and expects to be let in.
    func typePIN(_ terminal: Terminal, at prompt: String = Offer.pin) throws {
        try terminal.waitForSecretPrompt(prompt)
        try terminal.type(line: Enrolled.pin)
        #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
    }

    /// Whether sudo offers a touch and takes this finger at the first one.
    func acceptsFinger(_ finger: String = finger, chip: [String] = [finger], in boot: BootShift? = nil) throws -> Bool {
        let terminal = try sudo(in: boot)
        try arm(terminal, chip: chip)
        while true {
            try reader.scan(finger)
            switch try terminal.waitForAny(["\u{1B}[?2004l0\r\n", Offer.refused, "Lift your finger"]).index {
            case 0: return try terminal.ended().isGranted
            case 1: break
            default: continue
            }
            break
        }
        try terminal.press("c")
        _ = try terminal.finish()
        return false
    }

    /// Proves the PIN through sudo, at whatever prompt it shows.
    @discardableResult
    func provePIN(in boot: BootShift? = nil) throws -> String {
        let terminal = try sudo(in: boot)
        try terminal.waitForPrompt()
        try terminal.type(line: Enrolled.pin)
        #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        return terminal.transcript
    }

    /// Asserts that no finger is offered, that the prompt says so in these words, and that the PIN lets the user in.
    func expectPINOnly(_ words: String, in boot: BootShift? = nil, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let terminal = try sudo(in: boot)
        try terminal.waitForPrompt()
        #expect(terminal.transcript.contains(words), "\(terminal.transcript)", sourceLocation: sourceLocation)
        #expect(!terminal.transcript.contains(Offer.touch), sourceLocation: sourceLocation)
        try terminal.type(line: Enrolled.pin)
        #expect(try terminal.ended().isGranted, "\(terminal.transcript)", sourceLocation: sourceLocation)
    }
}

extension Terminal {
    /// How a `sudo id -u` ended.
    struct Ending {
        let code: Int
        let shown: String
        /// What the command itself said: the prompt before it is off the screen.
        private var lines: [String] { Terminal.lines(of: shown) }
        /// The command ran, as root.
        var isGranted: Bool { code == 0 && lines.last == "0" }
        /// It did not run.
        var isRefused: Bool { code != 0 && !lines.contains("0") }
    }

    func ended(within seconds: Double = 15) throws -> Ending {
        let code = try finish(within: seconds)
        return Ending(code: code, shown: transcript)
    }
}
