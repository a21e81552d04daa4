internal import CPlatform
internal import PAMShim
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetSecrets

/// The person behind the program's conversation function (`pam_conv(3)`).
///
/// Questions go through the conversation, as one hidden field. Information goes to the terminal itself, where there is
/// one, and is else held back: sudo prints what a module says on its standard output, where it breaks scripts.
@safe struct PAMConversation: Conversation, ~Copyable {
    private let conversation: pam_conv?
    private let user: [UInt8]
    private let service: [UInt8]
    private var terminal: ControllingTerminal?
    /// PAM_SILENT: small talk is dropped, never a prompt or the reason of a refusal.
    private let silent: Bool
    /// Whether the reader is not the shipped helper's: whoever is asked to touch is told.
    private let standInReader: Bool
    /// `prompt=conversation`: information goes through the conversation too, for a program that shows it in a window.
    private let tellsThroughConversation: Bool

    /// The longest answer taken, in bytes: PAM_MAX_RESP_SIZE of `<security/_pam_types.h>`.
    private static let answerLimit = 512

    init(
        _ conversation: pam_conv?, user: [UInt8], service: [UInt8], terminal: consuming ControllingTerminal?,
        silent: Bool,
        standInReader: Bool, tellsThroughConversation: Bool
    ) {
        unsafe self.conversation = conversation
        self.user = user
        self.service = service
        self.terminal = terminal
        self.silent = silent
        self.standInReader = standInReader
        self.tellsThroughConversation = tellsThroughConversation
    }

    mutating func ask(_ prompt: Prompt) throws(ConversationError) -> SecretBytes {
        var text = prompt.text(user: user, service: service)
        if standInReader, prompt == .pinOrTouch { text = "(\(StandInReader.label)) \(text)" }
        var response: UnsafeMutablePointer<pam_response>?
        guard let code = unsafe converse(PAM_PROMPT_ECHO_OFF, text, &response) else { throw .unusable }
        return try unsafe PAMConversation.take(response, code: code)
    }

    /// Calls the program's conversation function with one message; nil where there is none.
    private func converse(
        _ style: CInt, _ text: String, _ response: inout UnsafeMutablePointer<pam_response>?
    ) -> CInt? {
        guard let function = unsafe conversation?.conv else { return nil }
        var terminated = Array(text.utf8) + [0]
        return unsafe terminated.withUnsafeMutableBytes { bytes in
            // SAFETY: message and text outlive the call, which answers before it returns (`pam_conv(3)`).
            var message = unsafe pam_message(
                msg_style: style, msg: bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
            return unsafe withUnsafePointer(to: &message) { pointer in
                var messages: UnsafePointer<pam_message>? = unsafe pointer
                return unsafe function(1, &messages, &response, conversation?.appdata_ptr)
            }
        }
    }

    /// Moves the answer into guarded memory, then wipes and frees what libpam's caller allocated, on every path.
    private static func take(
        _ response: UnsafeMutablePointer<pam_response>?, code: CInt
    ) throws(ConversationError) -> SecretBytes {
        guard let response = unsafe response else { throw .cancelled }
        // SAFETY: the conversation allocated an array of one response, and its text is ours to free (`pam_conv(3)`).
        defer { unsafe free(response) }
        guard let text = unsafe response.pointee.resp else { throw .cancelled }
        let length = unsafe strlen(text)
        // SAFETY: `text` is a C string of `length` bytes.
        defer {
            unsafe explicit_bzero(text, length)
            unsafe free(text)
        }
        guard code == PAM_SUCCESS else { throw .cancelled }
        guard length <= answerLimit, var answer = SecretBytes(count: length) else { throw .unusable }
        answer.withMutableBytes { target in
            for index in 0..<target.count { target[index] = UInt8(bitPattern: unsafe text[index]) }
        }
        return answer
    }

    mutating func hideTyping() { terminal?.hideTyping() }

    mutating func showTyping() { terminal?.showTyping() }

    mutating func tell(_ notice: Notice) {
        if silent, notice.isSmallTalk { return }
        var sentence = notice.text(user: user)
        if standInReader, notice == .touchTheReader { sentence = "\(sentence) (\(StandInReader.label))" }
        guard tellsThroughConversation else {
            terminal?.say(sentence)
            return
        }
        var response: UnsafeMutablePointer<pam_response>?
        // Nothing is asked, but a program may answer all the same: what it allocated is ours to wipe and free.
        guard let code = unsafe converse(PAM_TEXT_INFO, sentence, &response) else { return }
        _ = try? unsafe PAMConversation.take(response, code: code)
    }
}

extension Notice {
    /// Whether a program that asks for silence may be spared it.
    var isSmallTalk: Bool {
        switch self {
        case .nothingTyped: true
        default: false
        }
    }
}
