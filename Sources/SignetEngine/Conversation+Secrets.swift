internal import SignetPolicy
internal import SignetSecrets

extension Conversation where Self: ~Copyable {
    /// Asks for a secret in the form that its key is derived from: a recovery code without dashes, in one case.
    ///
    /// Whoever asks comes through here, so that no code is right in one place and wrong in another, and so that dashes
    /// alone are nothing typed everywhere.
    mutating func askForSecret(_ prompt: Prompt) throws(ConversationError) -> SecretBytes {
        var answer = try ask(prompt)
        guard prompt == .recoveryCode else { return answer }
        let length = answer.withMutableBytes { typed in RecoveryCode.normalise(&typed) }
        answer.truncate(to: length)
        return answer
    }
}
