import Testing

@testable import SignetPlatform

@Suite struct KeyDecoderTests {
    private func keys(_ bytes: [UInt8], _ controls: ControlKeys = ControlKeys(), expiring: Bool = false) -> [Key] {
        var decoder = KeyDecoder(controls: controls)
        var keys = bytes.compactMap { decoder.decode($0) }
        if expiring, let key = decoder.expire() { keys.append(key) }
        return keys
    }

    /// Catches a key that means something else than it does at a shell's prompt, and one that is lost.
    @Test(
        arguments: [
            ("a", [.character]), (" ", [.character]), ("~", [.character]), ("12", [.character, .character]),
            ("\r", [.enter]), ("\n", [.enter]), ("\u{8}", [.backspace]), ("\u{7F}", [.backspace]),
            ("\u{15}", [.clear]), ("\u{17}", [.clear]), ("\u{3}", [.interrupt]), ("\u{4}", [.cancel]),
            ("\u{1C}", [.interrupt]),
            ("\u{1A}", [.stop]), ("\u{0}", [.ignored]), ("\t", [.tab]), ("\u{13}", [.ignored]),
            ("\u{1B}[A", [.up]), ("\u{1B}[B", [.down]), ("\u{1B}[C", [.right]), ("\u{1B}[D", [.left]),
            ("\u{1B}OA", [.up]), ("\u{1B}OP", [.ignored]), ("\u{1B}[1;5C1", [.right, .character]),
            ("\u{1B}[I", [.focusIn]), ("\u{1B}[O", [.focusOut]), ("\u{1B}[1I", [.ignored]),
            ("\u{1B}[200~1\u{1B}[201~", [.pasteBegin, .character, .pasteEnd]), ("\u{1B}[200;1~", [.ignored]),
            ("\u{1B}[3~1", [.ignored, .character]), ("\u{1B}[[A1", [.ignored, .character]),
            ("\u{1B}x1", [.ignored, .character]), ("\u{1B}\u{7F}1", [.ignored, .character]), ("\u{1B}\r", [.ignored]),
            ("\u{1B}\u{3}", [.interrupt]), ("\u{1B}\u{1B}[A", [.clear, .up]), ("\u{1B}[\u{3}", [.interrupt]),
            ("\u{1B}]11;rgb:0000/1111/2222\u{1B}\\1", [.ignored, .character]),
            ("\u{1B}]0;x\u{7}1", [.ignored, .character]),
            ("\u{1B}]\u{3}", [.interrupt]),
            ("é1", [.refused, .character]), ("€1", [.refused, .character]), ("😀1", [.refused, .character]),
            ("\u{1B}é1", [.refused, .character]),
        ] as [(String, [Key])]) func table(typed: String, expected: [Key])
    {
        #expect(keys(Array(typed.utf8)) == expected)
    }

    /// Catches a character of an old eight-bit terminal, or half of one, that takes the PIN's next character with it.
    @Test(
        arguments: [
            ([0xE9, 0x31], [.refused, .character]), ([0xE2, 0x82, 0x31], [.refused, .character]),
            ([0xFF, 0x31], [.refused, .character]), ([0xC0, 0x31], [.refused, .character]), ([0x80], [.refused]),
            ([0xF0, 0x9F, 0xC3, 0xA9], [.refused, .refused]), ([0xE2, 0x82, 0x0D], [.refused, .enter]),
        ] as [([UInt8], [Key])]) func noUTF8(typed: [UInt8], expected: [Key])
    { #expect(keys(typed) == expected) }

    /// Catches Esc that clears only with the key after it, and a sequence without an end that swallows what is typed next.
    @Test(
        arguments: [
            ("\u{1B}", [.clear]), ("\u{1B}[", [.ignored]), ("\u{1B}O", [.ignored]), ("\u{1B}]0;", [.ignored]),
            ("1", [.character]),
            ("é", [.refused]),
        ] as [(String, [Key])]) func nothingMoreComes(typed: String, expected: [Key])
    {
        #expect(keys(Array(typed.utf8), expiring: true) == expected)
    }

    /// Catches a terminal's own settings that are passed over, or that make a digit a control key.
    @Test func theTerminalsOwnKeys() {
        var controls = ControlKeys()
        controls.erase = 0x02
        controls.kill = 0x18
        controls.interrupt = 0x7F
        controls.suspend = 0x19
        #expect(keys([0x02, 0x18, 0x7F, 0x19, 0x08], controls) == [.backspace, .clear, .interrupt, .stop, .backspace])
        var modes = termiosWith(erase: 0x23, interrupt: 0)
        let read = ControlKeys(modes)
        #expect(read.erase == nil && read.interrupt == nil)
        modes = termiosWith(erase: 0x08, interrupt: 0x7F)
        #expect(ControlKeys(modes).erase == 0x08 && ControlKeys(modes).interrupt == 0x7F)
    }

    /// Catches a trap, a sequence without bound, and bytes that become more keys than they are.
    @Test func anyBytes() {
        var generator = SystemRandomNumberGenerator()
        let likely: [UInt8] = [0x1B, 0x5B, 0x4F, 0x5D, 0x3B, 0x32, 0x30, 0x7E, 0xC3, 0xE2, 0xF0, 0x82, 0x0D, 0x07]
        for _ in 0..<2000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<60, using: &generator) {
                let any = UInt8.random(in: 0...255, using: &generator)
                bytes.append(Bool.random(using: &generator) ? any : likely.randomElement(using: &generator) ?? any)
            }
            var decoder = KeyDecoder()
            var count = 0
            for byte in bytes {
                if decoder.decode(byte) != nil { count += 1 }
                if UInt8.random(in: 0...20, using: &generator) == 0, decoder.expire() != nil { count += 1 }
            }
            #expect(count <= bytes.count, "\(bytes)")
        }
        var decoder = KeyDecoder()
        var swallowed = 0
        for byte in [0x1B, 0x5B] + [UInt8](repeating: 0x31, count: 1000) where decoder.decode(byte) == nil {
            swallowed += 1
        }
        #expect(swallowed < 100)
    }
}
