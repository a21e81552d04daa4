/// The keys of `signet.conf`.
package enum ConfigurationKey: UInt8, CaseIterable, Equatable, Sendable {
    case finger
    case fingerTries
    case fingerLimit
    case fingerTimeout
    case readerTimeout
    case pinLimit
    case pinMinimumLength
    case pinMaximumLength
    case pinFreshHours
    case argon2Passes
    case argon2Memory
    case pinMask
    case readers
    case matchOnChip
    case foreignPrints
    case enrollmentSource
    case sensorHelper
    case enclave
    case tpm
    case enclaveHelper
}

/// What a key may be set to.
package enum KeyBounds: Sendable {
    case yesOrNo
    /// A whole number, both ends included; the unit is empty for a bare count.
    case number(ClosedRange<Int>, unit: String)
    /// One sign, or none.
    case sign
    /// One of the words of `AllowedReaders`.
    case readers
    /// One of the words of `MatchOnChip`.
    case matchOnChip
    /// One of the words of `ForeignPrintRule`.
    case foreignPrints
    /// One of the words of `EnrollmentSource`.
    case source
    /// An absolute path, or nothing for the shipped program.
    case path
    /// One of the words of `EnclavePreference`.
    case preference
    /// How a TPM is reached: `TPMConnection`.
    case connection
}

/// The value of a key.
package enum KeyValue: Equatable, Sendable {
    case flag(Bool)
    case number(Int)
    /// A printable ASCII character; nil: nothing is shown.
    case sign(UInt8?)
    case readers(AllowedReaders)
    case matchOnChip(MatchOnChip)
    case foreignPrints(ForeignPrintRule)
    case source(EnrollmentSource)
    /// nil: the shipped program.
    case path([UInt8]?)
    case preference(EnclavePreference)
    case connection([UInt8])
}

/// A key with its name, meaning and bounds: the one table for the parser, `signet config check` and the manual.
package struct KeyDescription: Sendable {
    package let key: ConfigurationKey
    /// As it is written in the file.
    package let name: String
    /// One sentence for people, without the bounds and the default.
    package let meaning: String
    package let bounds: KeyBounds

    private init(_ key: ConfigurationKey, _ name: String, _ bounds: KeyBounds, _ meaning: String) {
        self.key = key
        self.name = name
        self.bounds = bounds
        self.meaning = meaning
    }

    /// What rules where the file does not name the key.
    package var defaultValue: KeyValue { Configuration().value(of: key) }

    /// The default as it is written in the file; empty for "the shipped program".
    package var defaultText: String {
        switch defaultValue {
        case .flag(let flag): flag ? "yes" : "no"
        case .number(let number): "\(number)"
        case .sign(let sign): sign.map { String(UnicodeScalar($0)) } ?? "none"
        case .readers(let readers): readers.word
        case .matchOnChip(let rule): rule.word
        case .foreignPrints(let rule): rule.word
        case .source(let source): source.word
        case .path: ""
        case .preference(let preference): preference.word
        case .connection(let connection): String(decoding: connection, as: UTF8.self)
        }
    }

    /// The bounds as people read them: "1 to 5", "yes or no".
    package var boundsText: String {
        switch bounds {
        case .yesOrNo: "yes or no"
        case .number(let range, _): "\(range.lowerBound) to \(range.upperBound)"
        case .sign: "one ASCII sign, or none"
        case .readers: "internal or any"
        case .matchOnChip: "allow or refuse"
        case .foreignPrints: "report or close"
        case .source: "signet or fprintd"
        case .path: "an absolute path"
        case .preference: "require, prefer or file"
        case .connection: "device:/dev/NAME or swtpm:path=/PATH"
        }
    }

    /// The description whose name these bytes are.
    package static func named(_ name: ArraySlice<UInt8>) -> KeyDescription? {
        for description in all where name.elementsEqual(description.name.utf8) { return description }
        return nil
    }

    /// All keys, in the order of the shipped file.
    package static var all: [KeyDescription] { ConfigurationKey.allCases.map(describe) }

    /// The description of `key`.
    package static func describe(_ key: ConfigurationKey) -> KeyDescription {
        switch key {
        case .finger:
            KeyDescription(key, "finger", .yesOrNo, "Whether fingers are accepted at all.")
        case .fingerTries:
            KeyDescription(key, "finger_tries", .number(1...3, unit: ""), "Finger tries in one prompt.")
        case .fingerLimit:
            KeyDescription(
                key, "finger_limit", .number(1...5, unit: ""),
                "Failed finger tries in a row until only the PIN helps, which switches fingers on again.")
        case .fingerTimeout:
            KeyDescription(key, "finger_timeout", .number(5...60, unit: "seconds"), "How long a touch is awaited.")
        case .readerTimeout:
            KeyDescription(
                key, "reader_timeout", .number(1...15, unit: "seconds"), "How long a reader may take to open.")
        case .pinLimit:
            KeyDescription(
                key, "pin_limit", .number(5...10, unit: ""), "Wrong PINs in a row until the PIN is disabled.")
        case .pinMinimumLength:
            KeyDescription(
                key, "pin_min_length", .number(4...64, unit: "characters"), "The shortest PIN that may be set.")
        case .pinMaximumLength:
            KeyDescription(
                key, "pin_max_length", .number(4...64, unit: "characters"),
                "The longest PIN that may be set, not below pin_min_length.")
        case .pinFreshHours:
            KeyDescription(
                key, "pin_fresh_hours", .number(1...72, unit: "hours"),
                "How long after the last PIN fingers count; then the PIN is asked once.")
        case .argon2Passes:
            KeyDescription(
                key, "argon2_passes", .number(3...8, unit: ""), "Passes of Argon2id over its memory for new PINs.")
        case .argon2Memory:
            KeyDescription(
                key, "argon2_memory", .number(64...512, unit: "MiB"), "Memory of Argon2id for new PINs.")
        case .pinMask:
            KeyDescription(
                key, "pin_mask", .sign, "What a terminal shows for each character that is typed into Signet's field.")
        case .readers:
            KeyDescription(
                key, "readers", .readers,
                "Which readers may be used: those built in or where the PIN approved them, or any at any port.")
        case .matchOnChip:
            KeyDescription(
                key, "match_on_chip", .matchOnChip,
                "Whether a reader counts whose own chip keeps the prints and says by itself who touched it.")
        case .foreignPrints:
            KeyDescription(
                key, "foreign_prints", .foreignPrints,
                "What others' prints that are added to a reader's memory do: they are told, or close the finger path.")
        case .enrollmentSource:
            KeyDescription(
                key, "enrollment_source", .source,
                "Whose prints may be switched on: Signet's own, or those that fprintd keeps for GNOME and KDE.")
        case .sensorHelper:
            KeyDescription(
                key, "sensor_helper", .path,
                "A program in place of the shipped reader helper, for tests; everything then says \"stand-in reader\".")
        case .enclave:
            KeyDescription(
                key, "enclave", .preference,
                "What a new store's master key is bound to: a TPM, a TPM where there is one, or a file.")
        case .tpm:
            KeyDescription(
                key, "tpm", .connection,
                "Where the TPM is; while it is no device, everything says \"stand-in TPM\".")
        case .enclaveHelper:
            KeyDescription(
                key, "enclave_helper", .path,
                "A program in place of the shipped TPM helper, for tests; everything then says \"stand-in TPM\".")
        }
    }
}

extension Configuration {
    /// The value of one key.
    package func value(of key: ConfigurationKey) -> KeyValue {
        switch key {
        case .finger: .flag(finger)
        case .fingerTries: .number(Int(fingerTries))
        case .fingerLimit: .number(Int(fingerLimit))
        case .fingerTimeout: .number(Int(fingerTimeout))
        case .readerTimeout: .number(Int(readerTimeout))
        case .pinLimit: .number(Int(pinLimit))
        case .pinMinimumLength: .number(Int(pinMinimumLength))
        case .pinMaximumLength: .number(Int(pinMaximumLength))
        case .pinFreshHours: .number(Int(pinFreshHours))
        case .argon2Passes: .number(Int(argon2Passes))
        case .argon2Memory: .number(Int(argon2MemoryMiB))
        case .pinMask: .sign(pinMask)
        case .readers: .readers(readers)
        case .matchOnChip: .matchOnChip(matchOnChip)
        case .foreignPrints: .foreignPrints(foreignPrints)
        case .enrollmentSource: .source(enrollmentSource)
        case .sensorHelper: .path(sensorHelper)
        case .enclave: .preference(enclave)
        case .tpm: .connection(tpm)
        case .enclaveHelper: .path(enclaveHelper)
        }
    }

    /// Sets one key; false, and nothing changed, where the value is of another kind or out of its bounds.
    package mutating func set(_ key: ConfigurationKey, to value: KeyValue) -> Bool {
        switch (KeyDescription.describe(key).bounds, value) {
        case (.yesOrNo, .flag(let flag)):
            finger = flag
            return true
        case (.sign, .sign(let sign)):
            // A terminal shows each of these in one column, which no sign outside ASCII does on every terminal.
            if let sign, sign <= 0x20 || sign >= 0x7F { return false }
            pinMask = sign
            return true
        case (.readers, .readers(let readers)):
            self.readers = readers
            return true
        case (.matchOnChip, .matchOnChip(let rule)):
            matchOnChip = rule
            return true
        case (.foreignPrints, .foreignPrints(let rule)):
            foreignPrints = rule
            return true
        case (.source, .source(let source)):
            enrollmentSource = source
            return true
        case (.path, .path(let path)):
            if key == .enclaveHelper { enclaveHelper = path } else { sensorHelper = path }
            return true
        case (.preference, .preference(let preference)):
            enclave = preference
            return true
        case (.connection, .connection(let connection)):
            guard TPMConnection.isPermitted(connection[...]) else { return false }
            tpm = connection
            return true
        case (.number(let range, _), .number(let number)) where range.contains(number):
            return set(key, to: number)
        default:
            return false
        }
    }

    private mutating func set(_ key: ConfigurationKey, to number: Int) -> Bool {
        let byte = UInt8(clamping: number)
        switch key {
        case .fingerTries: fingerTries = byte
        case .fingerLimit: fingerLimit = byte
        case .fingerTimeout: fingerTimeout = byte
        case .readerTimeout: readerTimeout = byte
        case .pinLimit: pinLimit = byte
        case .pinMinimumLength: pinMinimumLength = byte
        case .pinMaximumLength: pinMaximumLength = byte
        case .pinFreshHours: pinFreshHours = byte
        case .argon2Passes: argon2Passes = byte
        case .argon2Memory: argon2MemoryMiB = UInt16(clamping: number)
        case .finger, .pinMask, .readers, .matchOnChip, .foreignPrints, .enrollmentSource, .sensorHelper, .enclave,
            .tpm, .enclaveHelper:
            return false
        }
        return true
    }
}
