import Testing

@testable import SignetPolicy

@Suite struct KeyDescriptionTests {
    /// Catches a key without a name of its own, or one that the file's reader would not find.
    @Test func everyKeyIsFoundByItsName() {
        #expect(Set(KeyDescription.all.map(\.name)).count == ConfigurationKey.allCases.count)
        for description in KeyDescription.all {
            #expect(KeyDescription.named(Array(description.name.utf8)[...])?.key == description.key)
            #expect(KeyDescription.named(Array("\(description.name)x".utf8)[...]) == nil)
            #expect(KeyDescription.named(Array(description.name.utf8).dropLast()[...])?.key != description.key)
        }
    }

    /// Catches a bound that is off by one, a default outside its bounds, and a key that sets another one's field.
    @Test(arguments: KeyDescription.all.map(\.key)) func boundsHold(key: ConfigurationKey) {
        guard case .number(let range, _) = KeyDescription.describe(key).bounds else { return }
        for number in [range.lowerBound, range.upperBound] {
            var configuration = Configuration()
            let accepted = configuration.set(key, to: .number(number))
            #expect(accepted)
            #expect(configuration.value(of: key) == .number(number))
            for other in ConfigurationKey.allCases where other != key {
                #expect(configuration.value(of: other) == Configuration().value(of: other))
            }
        }
        for value in [.number(range.lowerBound - 1), .number(range.upperBound + 1), .flag(true), .path(nil)]
            as [KeyValue]
        {
            var configuration = Configuration()
            let accepted = configuration.set(key, to: value)
            #expect(!accepted)
            #expect(configuration == Configuration())
        }
        var unchanged = Configuration()
        let accepted = unchanged.set(key, to: KeyDescription.describe(key).defaultValue)
        #expect(accepted)
        #expect(unchanged == Configuration())
    }

    /// Catches a strictest configuration that would not pass its own bounds.
    @Test func theStrictestIsWithinBounds() {
        for key in ConfigurationKey.allCases {
            var configuration = Configuration()
            let accepted = configuration.set(key, to: Configuration.strictest.value(of: key))
            #expect(accepted)
        }
        #expect(!Configuration.strictest.finger)
    }

    /// Catches a flag, sign or path that is not kept.
    @Test func flagSignAndPath() {
        var configuration = Configuration()
        let results = [
            configuration.set(.finger, to: .flag(false)), configuration.set(.sensorHelper, to: .path([0x2F, 0x61])),
            configuration.set(.pinMask, to: .sign(0x2E)), configuration.set(.pinMask, to: .number(1)),
            configuration.set(.finger, to: .sign(nil)), configuration.set(.finger, to: .path(nil)),
            configuration.set(.sensorHelper, to: .flag(true)),
        ]
        #expect(results == [true, true, true, false, false, false, false])
        #expect(!configuration.finger)
        #expect(configuration.pinMask == 0x2E)
        #expect(configuration.sensorHelper == [0x2F, 0x61])
    }

    /// Catches a helper's path that goes to the other helper, and a kind of value that the key does not have.
    @Test func enclaveKeys() {
        var configuration = Configuration()
        let device = Array("device:/dev/tpm0".utf8)
        let results = [
            configuration.set(.enclaveHelper, to: .path([0x2F, 0x62])),
            configuration.set(.enclave, to: .preference(.file)),
            configuration.set(.tpm, to: .connection(device)), configuration.set(.tpm, to: .path([0x2F])),
            configuration.set(.enclave, to: .connection(device)),
            configuration.set(.enclaveHelper, to: .preference(.file)),
        ]
        #expect(results == [true, true, true, false, false, false])
        #expect(configuration.enclaveHelper == [0x2F, 0x62])
        #expect(configuration.sensorHelper == nil)
        #expect(configuration.enclave == .file)
        #expect(configuration.tpm == device)
    }

    /// Catches a sign that moves the cursor, shows nothing, or is half of a character; and a "none" that shows something.
    @Test func signs() {
        for byte in UInt8.min...UInt8.max {
            var configuration = Configuration()
            let accepted = configuration.set(.pinMask, to: .sign(byte))
            #expect(accepted == (0x21...0x7E).contains(byte))
            #expect(configuration.pinMask == (accepted ? byte : 0x2A))
        }
        var configuration = Configuration()
        let accepted = configuration.set(.pinMask, to: .sign(nil))
        #expect(accepted && configuration.pinMask == nil)
        #expect(Configuration.strictest.pinMask == nil)
    }
}

@Suite struct UTF8TextTests {
    /// Catches overlong forms, surrogates, cut characters and everything else that decoders disagree about.
    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3], [0xE2, 0x82], [0xC3, 0x28], [0xFF], [],
        ] as [[UInt8]]) func refusesIllFormed(bytes: [UInt8])
    { #expect(UTF8Text.scalar(in: bytes, at: 0) == nil) }

    /// Catches a decoder that disagrees with Swift's own on any character.
    @Test func readsEveryScalar() {
        for value in UInt32(0)...0x10_FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let bytes = Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            let read = UTF8Text.scalar(in: bytes, at: 0)
            if read?.value != value || read?.length != bytes.count {
                Issue.record("U+\(String(value, radix: 16))")
                return
            }
        }
    }

    /// Catches a name that could move the cursor, colour, hide or turn what is shown.
    @Test(arguments: [
        ("alice", "alice"), ("\u{1B}[2Jroot", "?[2Jroot"), ("a\nb\tc\0d", "a?b?c?d"), ("a\u{9B}31mb", "a?31mb"),
        ("a\u{202E}b\u{200B}c", "a?b?c"), ("Zoë 李", "Zoë 李"), ("", ""), ("a\u{7F}b", "a?b"), ("a\u{E0041}b", "a?b"),
    ]) func printable(name: String, shown: String) { #expect(UTF8Text.printable(Array(name.utf8)) == shown) }

    @Test func printableBytesAndLimit() {
        #expect(UTF8Text.printable([0x61, 0xFF, 0xC3, 0x62]) == "a??b")
        #expect(UTF8Text.printable(Array("abcdef".utf8), limit: 3) == "abc...")
        #expect(UTF8Text.printable(Array("äöü".utf8), limit: 3) == "äöü")
    }
}
