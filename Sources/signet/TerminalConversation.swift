internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetSecrets

/// The person at the terminal; or, for `--stdin`, the program that gives one PIN on standard input.
struct CommandConversation: FieldConversation, ~Copyable {
    private let source: Source
    /// For sentences while no field stands on it; nil where nobody is at a terminal.
    private let terminal: Terminal?
    /// Where secrets are typed; nil where nobody is at a terminal.
    var field: TerminalField?
    /// Whose PIN or finger is asked for, and of what reader.
    private var asked: Asked
    /// In the place of the prompt for the current PIN or a recovery code, which speak to the user, who is locked out.
    private let secretPrompt: String?
    /// The terminal while a touch is awaited that no field stands beside.
    private var silenced: ControllingTerminal?
    /// Why nothing could be read last.
    private(set) var problem: InputProblem?

    private enum Source {
        case terminal, standardInput, nobody
    }

    private init(
        _ source: Source, _ asked: Asked, terminal: consuming Terminal? = nil,
        field: consuming TerminalField? = nil, secretPrompt: String? = nil
    ) {
        self.source = source
        self.asked = asked
        self.terminal = terminal
        self.field = field
        self.secretPrompt = secretPrompt
    }

    /// The terminal; refuses where there is none, for a secret is never taken from anywhere else unasked.
    ///
    /// `secretPrompt` takes the place of the prompt for the current PIN or a recovery code.
    static func onTerminal(
        with target: TargetUser, _ configuration: Configuration, secretPrompt: String? = nil
    ) throws(Failure) -> CommandConversation {
        let reader = StandInReader.isConfigured(configuration) ? StandInReader.label : nil
        return try onTerminal(
            Asked(user: target.name, readerName: reader), .ofCommandLine(configuration), secretPrompt: secretPrompt)
    }

    /// The same for tests, on the terminal at `path`.
    static func onTerminal(
        _ asked: Asked, _ style: FieldStyle, path: String? = nil, secretPrompt: String? = nil
    ) throws(Failure) -> CommandConversation {
        guard let terminal = Terminal(path: path ?? Terminal.controlling),
            let field = path.map({ TerminalField(path: Array($0.utf8), style) }) ?? TerminalField(style)
        else { throw Failure(.no, "there is no terminal to ask on", hint: "run it in a terminal") }
        return CommandConversation(
            .terminal, asked, terminal: terminal, field: field, secretPrompt: secretPrompt)
    }

    /// One line of standard input for each question.
    static func onStandardInput(with target: TargetUser) -> CommandConversation {
        CommandConversation(.standardInput, Asked(user: target.name))
    }

    /// Nobody, for tasks that ask for nothing.
    static func withNobody(about target: TargetUser) -> CommandConversation {
        CommandConversation(.nobody, Asked(user: target.name))
    }

    mutating func ask(_ prompt: Prompt) throws(ConversationError) -> SecretBytes {
        switch source {
        case .nobody: throw .unusable
        case .standardInput:
            do throws(InputProblem) { return try StandardInput.readSecretLine(limit: Terminal.answerLimit) } catch {
                problem = error
                throw .unusable
            }
        case .terminal:
            // A question that was stopped is asked again: nothing was cancelled by that.
            defer { Resumption.watch() }
            let label = label(of: prompt)
            if fieldIsOpen { field?.relabel(label) } else if field?.open(label) != true { throw .unusable }
            // Enter alone is an answer, whose meaning the task knows.
            guard let answer = try field?.awaitAnswer(orEmpty: true) else { throw .unusable }
            return answer
        }
    }

    mutating func tell(_ notice: Notice) {
        // "Not recognised" is the answer itself.
        if notice == .fingerPathClosed(.triesUsedUp) { return }
        if fieldIsOpen, let label = notice.label(asked) { field?.relabel(label) } else { say(notice.text(asked)) }
    }

    mutating func readerIsHeld(by holder: [UInt8]) { asked.holder = holder }

    private mutating func say(_ sentence: String) {
        switch source {
        case .standardInput: Output.message(sentence)
        case .nobody: break
        case .terminal:
            if fieldIsOpen { return field?.say(sentence) ?? () }
            switch terminal {
            case .some(let terminal): terminal.write(Sheet.folded(sentence, width: terminal.width) + "\n")
            case .none: break
            }
        }
    }

    func label(of prompt: Prompt) -> String {
        if prompt == .recoveryCode || prompt == .currentPIN, let secretPrompt { return secretPrompt }
        return prompt.text(asked)
    }
}

extension CommandConversation {
    /// Whether a field can be opened beside the reader.
    var hasField: Bool { source == .terminal }

    mutating func hideTyping() {
        guard source == .terminal else { return }
        silenced = ControllingTerminal()
        silenced?.hideTyping()
    }

    mutating func showTyping() {
        silenced?.showTyping()
        silenced = nil
    }
}

extension FieldStyle {
    /// The command line's: sudo passes Ctrl-Z on to it, so that it may stop.
    static func ofCommandLine(_ configuration: Configuration) -> FieldStyle {
        FieldStyle(
            mask: configuration.pinMask.map { [$0] }, mayStop: true, movesCursor: TerminalFacts.movesCursor())
    }
}
