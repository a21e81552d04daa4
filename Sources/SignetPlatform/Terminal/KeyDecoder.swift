/// A key, without the character that it may stand for: that one stays where its byte was read.
package enum Key: Equatable, Sendable {
    /// The byte just read is a printable ASCII character.
    case character
    /// A character outside ASCII, or a byte that is no character at all.
    case refused
    case enter, backspace, clear, cancel, stop
    /// Cancels, and interrupts the job as the terminal would have done.
    case interrupt
    case up, down, left, right
    /// Changes between the keypad and the ordinary field.
    case tab
    case focusIn, focusOut
    /// What follows up to `pasteEnd` was not typed but pasted.
    case pasteBegin, pasteEnd
    /// A control character or a sequence that means nothing here.
    case ignored
}

/// Makes keys of the bytes that a terminal sends (ECMA-48; xterm's "ctlseqs" for paste and focus).
///
/// It remembers how far it is in a sequence, and never a character that could belong to a PIN.
package struct KeyDecoder: Sendable {
    var controls: ControlKeys

    /// How long a sequence waits for its next byte, in milliseconds: after that Esc was a key of its own.
    static let patience = 50
    /// The longest sequences of a keyboard have some ten bytes; a terminal's late answer to somebody else is longer.
    private static let sequenceLimit = 32
    private static let stringLimit = 512

    private enum State: Equatable {
        case ground
        case escape
        /// After CSI: the number so far, nil where it is more than one number; the bytes so far.
        case control(number: Int?, length: Int)
        /// One more byte belongs to the sequence; `arrows`: SS3, as cursor keys send in application mode.
        case last(arrows: Bool)
        /// A string (DCS, OSC and their like) up to BEL or ST; `ends`: the last byte was ESC.
        case string(length: Int, ends: Bool)
        /// Bytes of a UTF-8 character that are still to come; the key was reported with the first.
        case multibyte(Int)
    }
    private var state = State.ground

    /// In the ground state, for a terminal with these keys.
    package init(controls: ControlKeys = ControlKeys()) { self.controls = controls }

    /// Whether a sequence waits for its next byte.
    package var isWaiting: Bool { state != .ground }

    /// Ends a sequence whose next byte does not come; the key that it was, if any.
    package mutating func expire() -> Key? {
        defer { state = .ground }
        switch state {
        case .ground, .multibyte: return nil
        case .escape: return .clear
        case .control, .last, .string: return .ignored
        }
    }

    /// The key that ends with this byte; nil within a sequence.
    package mutating func decode(_ byte: UInt8) -> Key? {
        switch state {
        case .ground: return begin(byte)
        case .escape: return afterEscape(byte)
        case .control(let number, let length): return inControl(byte, number, length)
        case .last(let arrows):
            if byte < 0x20 || byte >= 0x7F { return begin(byte) }
            state = .ground
            return arrows ? KeyDecoder.arrow(byte) ?? .ignored : .ignored
        case .string(let length, let ends): return inString(byte, length, ends)
        case .multibyte(let left):
            guard byte & 0xC0 == 0x80 else { return begin(byte) }
            state = left > 1 ? .multibyte(left - 1) : .ground
            return nil
        }
    }

    private mutating func begin(_ byte: UInt8) -> Key? {
        state = .ground
        switch byte {
        case 0x1B:
            state = .escape
            return nil
        case 0x20...0x7E: return .character
        case 0..<0x20, 0x7F: return control(byte)
        case 0xC2...0xDF: state = .multibyte(1)
        case 0xE0...0xEF: state = .multibyte(2)
        case 0xF0...0xF4: state = .multibyte(3)
        default: break
        }
        return .refused
    }

    /// What a control character means; the terminal's own settings come first, Enter before all.
    private func control(_ byte: UInt8) -> Key {
        if byte == 0x0D || byte == 0x0A { return .enter }
        if byte == controls.interrupt || byte == controls.quit { return .interrupt }
        if byte == controls.endOfFile { return .cancel }
        if byte == controls.suspend { return .stop }
        if byte == controls.erase { return .backspace }
        if byte == controls.kill || byte == controls.wordErase { return .clear }
        switch byte {
        // Where these make no signal they still leave the prompt.
        case 0x03, 0x04, 0x1C: return .cancel
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x15, 0x17: return .clear
        default: return .ignored
        }
    }

    private mutating func afterEscape(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x1B: return .clear
        case 0x5B: state = .control(number: 0, length: 0)
        case 0x4F: state = .last(arrows: true)
        case 0x50, 0x58, 0x5D...0x5F: state = .string(length: 0, ends: false)
        case 0x80...: return begin(byte)
        default:
            // With Alt: only what ends or stops is taken for what it is without.
            state = .ground
            let key = byte < 0x20 ? control(byte) : .ignored
            return key == .interrupt || key == .cancel || key == .stop ? key : .ignored
        }
        return nil
    }

    private mutating func inControl(_ byte: UInt8, _ number: Int?, _ length: Int) -> Key? {
        switch byte {
        case 0x5B where length == 0:
            // The Linux console's function keys: ESC [ [ and a letter.
            state = .last(arrows: false)
            return nil
        case 0x20...0x3F:
            guard length < KeyDecoder.sequenceLimit else { break }
            let isDigit = byte >= 0x30 && byte <= 0x39
            var next: Int?
            if isDigit, let number, number < 1000 { next = number * 10 + Int(byte - 0x30) }
            state = .control(number: next, length: length + 1)
            return nil
        case 0x40...0x7E:
            state = .ground
            return KeyDecoder.key(byte, number, length)
        default: return begin(byte)
        }
        state = .ground
        return .ignored
    }

    private static func key(_ last: UInt8, _ number: Int?, _ length: Int) -> Key {
        switch last {
        case 0x49 where length == 0: .focusIn
        case 0x4F where length == 0: .focusOut
        case 0x7E where number == 200: .pasteBegin
        case 0x7E where number == 201: .pasteEnd
        default: arrow(last) ?? .ignored
        }
    }

    private static func arrow(_ last: UInt8) -> Key? {
        switch last {
        case 0x41: .up
        case 0x42: .down
        case 0x43: .right
        case 0x44: .left
        default: nil
        }
    }

    private mutating func inString(_ byte: UInt8, _ length: Int, _ ends: Bool) -> Key? {
        let isOver = byte == 0x07 || (ends && byte == 0x5C)
        // No terminal's answer holds it: somebody pressed Alt and a bracket, and wants to leave. It comes before the
        // limit, whose byte is dropped.
        if !isOver, byte < 0x20, [.interrupt, .cancel].contains(control(byte)) { return begin(byte) }
        guard !isOver, length < KeyDecoder.stringLimit else {
            state = .ground
            return .ignored
        }
        state = .string(length: length + 1, ends: byte == 0x1B)
        return nil
    }
}
