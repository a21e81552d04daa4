internal import SignetEngine
internal import SignetPolicy
internal import SignetSecrets

/// The person at the terminal; or, for `--stdin`, the program that gives one PIN on standard input.
struct CommandConversation: Conversation, ~Copyable {
    private let source: Source
    /// The user's login name, for sentences that name them.
    private let userName: [UInt8]
    /// In the place of the prompt for the current PIN or a recovery code, which speak to the user, who is locked out.
    private let secretPrompt: String?
    /// Why nothing could be read last.
    private(set) var problem: InputProblem?

    private enum Source: ~Copyable {
        case terminal(Terminal)
        case standardInput
        case nobody
    }

    /// The terminal; refuses where there is none, for a secret is never taken from anywhere else unasked.
    static func onTerminal(
        with target: TargetUser, secretPrompt: String? = nil
    ) throws(Failure) -> CommandConversation {
        guard let terminal = Terminal() else {
            throw Failure(.no, "there is no terminal to ask on", hint: "run it in a terminal")
        }
        return CommandConversation(
            source: .terminal(terminal), userName: target.name, secretPrompt: secretPrompt)
    }

    /// One line of standard input for each question.
    static func onStandardInput(with target: TargetUser) -> CommandConversation {
        CommandConversation(source: .standardInput, userName: target.name, secretPrompt: nil)
    }

    /// Nobody, for tasks that ask for nothing.
    static func withNobody(about target: TargetUser) -> CommandConversation {
        CommandConversation(source: .nobody, userName: target.name, secretPrompt: nil)
    }

    mutating func ask(_ prompt: Prompt) throws(ConversationError) -> SecretBytes {
        switch source {
        case .nobody: throw .unusable
        case .standardInput:
            do throws(InputProblem) { return try StandardInput.readSecretLine(limit: Terminal.answerLimit) } catch {
                problem = error
                throw .unusable
            }
        case .terminal(let terminal):
            // A question that was stopped is asked again: nothing was cancelled by that.
            defer { Resumption.watch() }
            do throws(Terminal.Interruption) {
                return try terminal.readHidden(text(of: prompt))
            } catch {
                if error == .tooLong { problem = .tooLong }
                throw error == .cancelled ? .cancelled : .unusable
            }
        }
    }

    mutating func tell(_ notice: Notice) {
        switch source {
        case .standardInput: Output.message(notice.text(user: userName))
        case .nobody: break
        case .terminal(let terminal): terminal.write(notice.text(user: userName) + "\n")
        }
    }

    private func text(of prompt: Prompt) -> String {
        if prompt == .recoveryCode || prompt == .currentPIN, let secretPrompt { return secretPrompt }
        return prompt.text(user: userName, service: Array("signet".utf8))
    }
}
