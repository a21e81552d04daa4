import SignetPolicy
import SignetRecords

/// The bytes of a text of hexadecimal digits; spaces and line ends are for the eye.
func hex(_ text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

/// `count` bytes that rise from `first`.
func bytes(_ count: Int, from first: UInt8 = 0) -> [UInt8] {
    (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
}

/// A generator that makes the same numbers in each run (SplitMix64), so that a failure can be repeated.
struct RepeatableGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

enum Sample {
    static let boot = BootIdentity(high: 0x0102_0304_0506_0708, low: 0x1112_1314_1516_1718)
    static let reader = ReaderIdentity(driver: Array("elan".utf8), device: Array("0".utf8))

    static let place = ReaderPlace(bus: .usb, attachment: .fixed, path: Array("pci0/usb2/9".utf8))

    static func wrapped(from first: UInt8) -> WrappedKey {
        WrappedKey(
            cost: .floor, salt: bytes(16, from: first), nonce: bytes(24, from: first), sealed: bytes(80, from: first))!
    }

    static func digest(from first: UInt8) -> Digest { Digest(bytes(32, from: first).span)! }

    /// All that can be there is there.
    static var identity: IdentityRecord {
        IdentityRecord(
            uid: 1000, userName: Array("alice".utf8), instance: bytes(16, from: 0x20), publicKey: bytes(32, from: 0x40),
            pin: wrapped(from: 1), recovery: wrapped(from: 2), pinChangedAt: 1_800_000_000, recoveryMadeAt: -1,
            pinSetByAdministrator: true,
            approvals: [
                Approval(
                    reader: reader, place: place, others: [digest(from: 3), digest(from: 9)], generation: 7,
                    prints: [
                        ApprovedPrint(digest: digest(from: 1), presence: .host),
                        ApprovedPrint(digest: digest(from: 2), presence: .onReader),
                    ], signature: bytes(64, from: 0x80), madeAt: 1_800_000_001)
            ])
    }

    /// All that can be absent is absent.
    static var bareIdentity: IdentityRecord {
        IdentityRecord(
            uid: 0, userName: Array("root".utf8), instance: bytes(16), publicKey: bytes(32), pin: wrapped(from: 0),
            recovery: nil, pinChangedAt: 0, recoveryMadeAt: 0, pinSetByAdministrator: false, approvals: [])
    }

    /// One print of alice's, and one that a deletion of another user's left.
    static var chips: ChipIndex {
        var index = ChipIndex()
        let kept = chipEntry(uid: 1000, 5, handle: [0xAA, 0xBB, 0xCC])
        index.loosen([kept, chipEntry(uid: 1001, 6, handle: [0xDD])])
        index.settle(1000, [kept])
        return index
    }

    static func chipEntry(
        uid: UInt32, _ first: UInt8, isLoose: Bool = false, handle: [UInt8] = [1]
    ) -> ChipIndex.Entry {
        ChipIndex.Entry(uid: uid, isLoose: isLoose, reader: reader, digest: digest(from: first), handle: handle)
    }

    static let templates = bytes(12, from: 0xA0)
    static var prints: PrintsRecord {
        PrintsRecord(
            generation: 9,
            entries: [
                PrintEntry(finger: Finger(number: 7)!, reader: reader, onReader: false, enrolledAt: 5, template: 0..<8),
                PrintEntry(finger: Finger(number: 2)!, reader: reader, onReader: true, enrolledAt: 6, template: 8..<12),
            ])
    }

    static var attempts: Attempts {
        var attempts = Attempts()
        attempts.pin.byPerson = 5
        attempts.pin.byAnotherPerson = 2
        attempts.pin.byRemote = 1
        attempts.pin.wait = Wait(since: BootInstant(boot: boot, seconds: 99), seconds: 60)
        attempts.pin.epoch = 3
        attempts.recovery.byPerson = 1
        attempts.finger.count = 4
        attempts.finger.epoch = 8
        attempts.lastPIN = BootInstant(boot: boot, seconds: 77)
        attempts.generation = 9
        attempts.change = EnrollmentChange(added: 1, removed: 2)
        attempts.foreignPrints = 7
        return attempts
    }

    static var attemptsRecord: AttemptsRecord {
        AttemptsRecord(uid: 1000, instance: bytes(16, from: 0x20), sequence: 0x1234, attempts: attempts)
    }
}

/// The encoding of the sample prints.
func encodedPrints(_ record: PrintsRecord = Sample.prints, templates: [UInt8] = Sample.templates) throws -> [UInt8] {
    var target = [UInt8](repeating: 0, count: try record.encodedCount())
    var span = target.mutableSpan
    try record.encode(templates: templates.span, into: &span)
    return target
}

/// The error of a decoder, or nil where it accepts.
func failure<Value>(_ decode: () throws(RecordError) -> Value) -> RecordError? {
    do throws(RecordError) {
        _ = try decode()
        return nil
    } catch {
        return error
    }
}
