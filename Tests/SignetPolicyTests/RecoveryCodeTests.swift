import SignetPolicy
import Testing

@Suite struct RecoveryCodeTests {
    private func text(_ bytes: [UInt8]) -> String {
        var symbols = [UInt8](repeating: 0, count: RecoveryCode.symbolCount)
        var span = symbols.mutableSpan
        guard RecoveryCode.write(bytes.span, into: &span) else { return "" }
        return String(decoding: symbols, as: UTF8.self)
    }

    private func normalised(_ typed: String) -> String {
        var bytes = Array(typed.utf8)
        var span = bytes.mutableSpan
        let length = RecoveryCode.normalise(&span)
        return String(decoding: bytes[0..<length], as: UTF8.self)
    }

    /// Catches a change of the alphabet or of the bit order, which would make every paper copy worthless.
    @Test func goldenCodes() {
        #expect(text([UInt8](repeating: 0, count: 16)) == "00000000000000000000000000")
        #expect(text([UInt8](repeating: 255, count: 16)) == "ZZZZZZZZZZZZZZZZZZZZZZZZZW")
        #expect(text(Array(0..<16)) == "000G40R40M30E209185GR38E1W")
        #expect(text([1, 2]) == "")
    }

    /// Catches a character that is written but read back as another.
    @Test func whatIsWrittenReadsBackUnchanged() {
        for seed in 0..<200 {
            var random = Linear(state: UInt64(seed))
            let code = text((0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            #expect(normalised(code) == code)
            #expect(normalised(code.lowercased()) == code)
        }
    }

    /// Catches a code that is refused only for how it was typed.
    @Test(arguments: [
        ("ab-cd e", "ABCDE"), ("o0Il1", "00111"), ("", ""), ("--  ", ""), ("u!", "U!"),
    ]) func typingIsForgiven(typed: String, expected: String) {
        #expect(normalised(typed) == expected)
    }
}
