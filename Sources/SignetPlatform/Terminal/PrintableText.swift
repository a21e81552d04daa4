/// UTF-8 text as the characters that a terminal shows, with nothing among them that could steer it.
///
/// A user's or a service's name comes from outside: a control character in it could move the cursor or answer for the
/// person (CWE-150).
struct PrintableText {
    struct Character {
        var bytes: [UInt8]
        /// The columns it takes on the screen: 0 to 2.
        var columns: Int
        var isSpace: Bool { bytes == [0x20] }
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next character; a control character or an invalid byte becomes a question mark.
    mutating func next() -> Character? {
        guard position < bytes.count else { return nil }
        let first = bytes[position]
        position += 1
        if first >= 0x20 && first <= 0x7E { return Character(bytes: [first], columns: 1) }
        let length = first >= 0xF0 && first <= 0xF4 ? 3 : first >= 0xE0 ? 2 : first >= 0xC2 ? 1 : 0
        guard first >= 0xC2, first <= 0xF4, position + length <= bytes.count else { return .unknown }
        var scalar = UInt32(first) & (0x3F >> UInt32(length))
        for index in position..<position + length {
            guard bytes[index] & 0xC0 == 0x80 else { return .unknown }
            scalar = scalar << 6 | UInt32(bytes[index] & 0x3F)
        }
        let all = Array(bytes[(position - 1)..<(position + length)])
        position += length
        // An overlong form hides what it stands for, and above U+10FFFF nothing does (RFC 3629, section 3).
        let least: [UInt32] = [0, 0x80, 0x800, 0x10000]
        guard scalar >= least[length], scalar <= 0x10FFFF, !PrintableText.steers(scalar) else { return .unknown }
        return Character(bytes: all, columns: PrintableText.columns(of: scalar))
    }

    /// C1 control characters, line and paragraph separators, and what turns the direction of writing.
    private static func steers(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x80...0x9F, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xD800...0xDFFF: true
        default: false
        }
    }

    /// As terminals count them: wide in East Asia and among pictures, none for marks that combine (Unicode UAX #11).
    private static func columns(of scalar: UInt32) -> Int {
        switch scalar {
        case 0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE00...0xFE0F, 0xFE20...0xFE2F: 0
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}

extension PrintableText.Character {
    static var unknown: Self { Self(bytes: [0x3F], columns: 1) }
}

extension PrintableText {
    /// All of it, safe to write.
    static func cleaned(_ bytes: [UInt8]) -> [UInt8] {
        var cleaned: [UInt8] = []
        var characters = PrintableText(bytes)
        while let character = characters.next() { cleaned += character.bytes }
        return cleaned
    }
}
