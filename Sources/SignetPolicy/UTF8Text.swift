/// UTF-8 (RFC 3629) from outside, looked at byte by byte.
package enum UTF8Text {
    /// The well-formed character that begins at `index`: its number and its length in bytes; nil where there is none.
    ///
    /// Overlong forms, surrogates and numbers above U+10FFFF are not well-formed.
    package static func scalar(in bytes: [UInt8], at index: Int) -> (value: UInt32, length: Int)? {
        guard index >= 0, index < bytes.count else { return nil }
        let lead = UInt32(bytes[index])
        let (length, smallest): (Int, UInt32)
        switch lead {
        case 0x00...0x7F: return (lead, 1)
        case 0xC2...0xDF: (length, smallest) = (2, 0x80)
        case 0xE0...0xEF: (length, smallest) = (3, 0x800)
        case 0xF0...0xF4: (length, smallest) = (4, 0x1_0000)
        default: return nil
        }
        guard bytes.count - index >= length else { return nil }
        var value = lead & (0xFF >> UInt32(length + 1))
        for offset in 1..<length {
            let next = UInt32(bytes[index + offset])
            guard next & 0xC0 == 0x80 else { return nil }
            value = value << 6 | next & 0x3F
        }
        guard value >= smallest, value <= 0x10_FFFF, !(0xD800...0xDFFF).contains(value) else { return nil }
        return (value, length)
    }

    /// A name from outside as it may be shown on a terminal: at most `limit` characters, a longer one ends in "...".
    ///
    /// Control characters (C0, C1, delete), line and paragraph separators, marks that turn the direction of writing or
    /// are invisible, and bytes that are not UTF-8 become "?": no name can move the cursor, colour, hide or forge what
    /// follows.
    package static func printable(_ bytes: [UInt8], limit: Int = 64) -> String {
        var result: [UInt8] = []
        var index = 0
        var count = 0
        while index < bytes.count {
            guard count < limit else {
                result.append(contentsOf: "...".utf8)
                break
            }
            count += 1
            guard let (value, length) = scalar(in: bytes, at: index) else {
                result.append(0x3F)
                index += 1
                continue
            }
            if isDangerous(value) {
                result.append(0x3F)
            } else {
                for offset in 0..<length { result.append(bytes[index + offset]) }
            }
            index += length
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// What a terminal or a reader's eye obeys instead of showing it (Unicode's categories Cc, Cf, Zl and Zp, as far as
    /// they are used for tricks).
    package static func isDangerous(_ value: UInt32) -> Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0xAD, 0x061C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFFF9...0xFFFB, 0xE0000...0xE007F:
            true
        default: false
        }
    }
}
