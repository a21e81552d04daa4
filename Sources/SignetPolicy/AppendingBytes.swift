// Several bytes at a time. One by one they take several times as long, and a person waits who has touched the reader.

extension [UInt8] {
    /// Appends the eight bytes of a number, the highest first.
    mutating func append(bigEndian number: UInt64) {
        // SAFETY: the buffer is the number's own, for the time of the call.
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { bytes in unsafe append(contentsOf: bytes) }
    }

    /// Appends the bytes of a literal.
    package mutating func append(_ text: StaticString) {
        // SAFETY: the buffer is the literal's own, for the time of the call.
        text.withUTF8Buffer { bytes in unsafe append(contentsOf: bytes) }
    }
}
