internal import SignetEngine
internal import SignetPolicy
internal import SignetSecrets

/// The person at the terminal; or, for `--stdin`, the program that gives one PIN on standard input.
struct CommandConversation: Conversation, ~Copyable {
    private let source: Source

    private enum Source: ~Copyable {
        case terminal(Terminal)
        case standardInput
    }

    /// The terminal; refuses where there is none, for a secret is never taken from anywhere else unasked.
    static func onTerminal() throws(Failure) -> CommandConversation {
        guard let terminal = Terminal() else {
            throw Failure(.no, "there is no terminal to ask on", hint: "run it in a terminal")
        }
        return CommandConversation(source: .terminal(terminal))
    }

    /// One line of standard input for each question.
    static func onStandardInput() -> CommandConversation { CommandConversation(source: .standardInput) }

    mutating func ask(_ prompt: Prompt) throws(ConversationError) -> SecretBytes {
        switch source {
        case .standardInput:
            guard let line = StandardInput.readSecretLine(limit: Terminal.answerLimit) else { throw .unusable }
            return line
        case .terminal(let terminal):
            do throws(Terminal.Interruption) {
                return try terminal.readHidden(Sentence.text(of: prompt))
            } catch {
                throw error == .cancelled ? .cancelled : .unusable
            }
        }
    }

    mutating func tell(_ notice: Notice) {
        switch source {
        case .standardInput: Output.message(Sentence.text(of: notice))
        case .terminal(let terminal): terminal.write(Sentence.text(of: notice) + "\n")
        }
    }
}
