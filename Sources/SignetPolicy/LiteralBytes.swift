/// The bytes of a literal, to be read one by one: no `String`, no `Array` and no initialisation at load time.
@safe package struct LiteralBytes: Sendable {
    private let text: StaticString

    /// The bytes of a literal of ASCII or UTF-8.
    package init(_ text: StaticString) { self.text = text }

    /// The number of bytes.
    package var count: Int { text.hasPointerRepresentation ? text.utf8CodeUnitCount : 0 }

    /// The byte at `index`, or nil where there is none.
    package subscript(index: Int) -> UInt8? {
        guard index >= 0, index < count else { return nil }
        // SAFETY: a literal with pointer representation has `count` bytes that live as long as the program.
        return unsafe text.utf8Start[index]
    }
}

extension UInt8 {
    /// The value of an ASCII digit, or nil.
    var digitValue: Int? { self >= 0x30 && self <= 0x39 ? Int(self) - 0x30 : nil }

    /// An ASCII letter in lower case; any other byte as it is.
    var lowered: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
