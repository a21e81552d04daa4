// Several bytes at a time. One by one they take several times as long, and a person waits who has touched the reader.

extension [UInt8] {
    /// Appends the eight bytes of a number, the highest first.
    mutating func append(bigEndian number: UInt64) {
        // SAFETY: the buffer is the number's own, for the time of the call.
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { bytes in unsafe append(contentsOf: bytes) }
    }

    /// Appends the decimal digits of a number, with a minus before them where it is negative.
    package mutating func append(decimal number: Int64) {
        if number < 0 { append(0x2D) }
        // From the last digit to the first; 2^64 has twenty.
        var digits = InlineArray<20, UInt8>(repeating: 0x30)
        var first = digits.count
        var rest = number.magnitude
        repeat {
            first -= 1
            digits[first] += UInt8(rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<digits.count { append(digits[index]) }
    }

    /// Appends the bytes of a literal.
    package mutating func append(_ text: StaticString) {
        // SAFETY: the buffer is the literal's own, for the time of the call.
        text.withUTF8Buffer { bytes in unsafe append(contentsOf: bytes) }
    }
}
