/// The recovery code as people read and type it: 128 bits in 26 characters of Crockford's base 32, in groups of five.
///
/// That alphabet has no I, L, O and U, so that what is read off paper can be typed in any case and with the usual
/// confusions. The characters without their dashes are what the key is derived from.
package enum RecoveryCode {
    /// Random bytes in a code: 128 bits.
    package static let byteCount = 16
    /// Characters without dashes.
    package static let symbolCount = 26
    /// Characters with a dash after each fifth.
    package static let textCount = symbolCount + (symbolCount - 1) / 5

    /// The character for a value of 0–31.
    private static func symbol(_ value: UInt8) -> UInt8 {
        switch value {
        case 0...9: 0x30 + value
        case 10...17: 0x41 + value - 10  // A–H
        case 18...19: 0x4A + value - 18  // J K
        case 20...21: 0x4D + value - 20  // M N
        case 22...26: 0x50 + value - 22  // P–T
        default: 0x56 + (value & 31) - 27  // V–Z
        }
    }

    /// Writes the 26 characters for `bytes`, which must be 16; false where either has another length.
    package static func write(_ bytes: Span<UInt8>, into symbols: inout MutableSpan<UInt8>) -> Bool {
        guard bytes.count == byteCount, symbols.count == symbolCount else { return false }
        for position in 0..<symbolCount {
            var value: UInt8 = 0
            for bit in 0..<5 {
                let index = position * 5 + bit
                let set = index < byteCount * 8 && bytes[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                value = value << 1 | (set ? 1 : 0)
            }
            symbols[position] = symbol(value)
        }
        return true
    }

    /// Brings what was typed into the form that is derived from, in place, and answers its length.
    ///
    /// Spaces and dashes are dropped, letters raised, and O, I and L taken for the digits they look like. Other characters
    /// stay: such a code is wrong, and counts as one.
    package static func normalise(_ typed: inout MutableSpan<UInt8>) -> Int {
        var length = 0
        for index in 0..<typed.count {
            var character = typed[index]
            if character == 0x20 || character == 0x2D { continue }
            if character >= 0x61, character <= 0x7A { character -= 0x20 }
            switch character {
            case 0x4F: character = 0x30
            case 0x49, 0x4C: character = 0x31
            default: break
            }
            typed[length] = character
            length += 1
        }
        return length
    }
}
