package import SignetEngine
package import SignetPolicy
package import SignetSecrets

/// A conversation whose questions are asked at a field on the terminal, where there is one: it says what the field's
/// prompt is, and the rest is the field's.
package protocol FieldConversation: Conversation, ~Copyable {
    /// nil where there is no terminal that Signet may read.
    var field: TerminalField? { get set }
    /// The label of a prompt at the field.
    func label(of prompt: Prompt) -> String
}

extension FieldConversation where Self: ~Copyable {
    package var fieldIsOpen: Bool {
        // Borrowed noncopyable optionals are looked into by switch.
        switch field {
        case .some(let field): field.isOpen
        case .none: false
        }
    }

    package var keys: Int32 {
        switch field {
        case .some(let field): field.keys
        case .none: -1
        }
    }

    package var signals: Int32 {
        switch field {
        case .some(let field): field.signals
        case .none: -1
        }
    }

    package var patience: Int32 {
        switch field {
        case .some(let field): field.patience
        case .none: -1
        }
    }

    package mutating func attend() -> FieldEvent? { field?.attend() ?? nil }

    package mutating func openField(_ prompt: Prompt) -> Bool {
        let label = label(of: prompt)
        return field?.open(label) ?? false
    }

    package mutating func takeAnswer() throws(ConversationError) -> SecretBytes {
        guard let answer = try field?.takeAnswer() else { throw .unusable }
        return answer
    }

    package mutating func awaitReturn(_ prompt: Prompt) throws(ConversationError) {
        let label = label(of: prompt)
        guard try field?.awaitReturn(label) != nil else { throw .unusable }
    }

    package mutating func closeField() { field?.close() }
}
