internal import CPlatform
internal import PAMShim
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetSecrets

/// The person behind the program's conversation function (`pam_conv(3)`).
///
/// Questions are asked at a field on the terminal, where Signet may read it, and else through the conversation, as one
/// hidden field. Information goes to the terminal itself, where there is one, and is else held back: sudo prints what a
/// module says on its standard output, where it breaks scripts.
@safe struct PAMConversation: FieldConversation, ~Copyable {
    private let conversation: pam_conv?
    private var asked: Asked
    private var terminal: ControllingTerminal?
    var field: TerminalField?
    /// How the field looks; nil where there is none.
    private let style: FieldStyle?
    /// Whether it has its keypad now.
    private var hasKeypad: Bool
    /// What the field's label says of a touch in its first form.
    private var lastLabel: Notice?
    /// PAM_SILENT: small talk is dropped, never a prompt or the reason of a refusal.
    private let silent: Bool
    /// `prompt=conversation`: information goes through the conversation too, for a program that shows it in a window.
    private let tellsThroughConversation: Bool

    /// The longest answer taken, in bytes: PAM_MAX_RESP_SIZE of `<security/_pam_types.h>`.
    private static let answerLimit = 512

    /// `field` is nil where Signet may not read the terminal itself.
    init(
        _ conversation: pam_conv?, _ asked: Asked, field style: FieldStyle?, silent: Bool,
        tellsThroughConversation: Bool
    ) {
        unsafe self.conversation = conversation
        self.asked = asked
        let terminal = ControllingTerminal()
        // The program sits at a terminal, which could not be opened: a refusal is told nevertheless.
        let isCutOff = terminal == nil && style != nil
        self.terminal = terminal
        self.style = style
        self.hasKeypad = style?.keypad ?? false
        if let style { self.field = TerminalField(style) } else { self.field = nil }
        self.silent = silent
        self.tellsThroughConversation = tellsThroughConversation || isCutOff
    }

    /// Whether a person can be asked to touch, and be told why.
    var hasTerminal: Bool { terminal != nil }

    /// Whether there is a field that can be read while a touch is awaited.
    var hasField: Bool { field != nil }

    mutating func ask(_ prompt: Prompt) throws(ConversationError) -> SecretBytes {
        let text = label(of: prompt)
        if show(prompt, text), let answer = try awaitAnswer(to: prompt) { return answer }
        var response: UnsafeMutablePointer<pam_response>?
        guard let code = unsafe converse(PAM_PROMPT_ECHO_OFF, text, &response) else { throw .unusable }
        return try unsafe PAMConversation.take(response, code: code)
    }

    // MARK: The field

    /// What is typed at the open field; nil where it can be used no further, and the program's own has to do.
    private mutating func awaitAnswer(to prompt: Prompt) throws(ConversationError) -> SecretBytes? {
        do throws(ConversationError) { return try field?.awaitAnswer(orEmpty: prompt == .pinOrTouch) } catch {
            guard error == .unusable else { throw error }
            field = nil
            return nil
        }
    }

    /// Opens the field with this text, or puts it before what was typed already; false where there is no field.
    private mutating func show(_ prompt: Prompt, _ text: String) -> Bool {
        fitField(to: prompt)
        if fieldIsOpen {
            field?.relabel(text)
            return true
        }
        return field?.open(text) ?? false
    }

    /// Puts the keypad away where a recovery code is asked for, whose letters it has not, and brings it out again.
    private mutating func fitField(to prompt: Prompt) {
        guard var style, style.keypad, hasKeypad == (prompt == .recoveryCode) else { return }
        hasKeypad.toggle()
        style.keypad = hasKeypad
        field?.close()
        field = TerminalField(style)
    }

    func label(of prompt: Prompt) -> String { prompt.text(asked) }

    mutating func openField(_ prompt: Prompt) -> Bool { show(prompt, label(of: prompt)) }

    mutating func readerIsHeld(by holder: [UInt8]) { asked.holder = holder }

    // MARK: The program's conversation

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
        if fieldIsOpen {
            guard let label = notice.label(asked, again: notice == lastLabel) else {
                field?.say(notice.text(asked))
                return
            }
            lastLabel = notice == lastLabel ? nil : notice
            field?.relabel(label)
            return
        }
        let sentence = notice.text(asked)
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
