import SignetPolicy
import SignetRecords
import Testing

@Suite struct StrictnessTests {
    /// One decoder, with bytes that it accepts.
    struct Subject: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let valid: [UInt8]
        let decode: @Sendable ([UInt8]) -> RecordError?
        /// Decodes and encodes again; nil where the bytes are refused.
        let again: @Sendable ([UInt8]) -> [UInt8]?
    }

    static var subjects: [Subject] {
        get throws {
            let identity: @Sendable ([UInt8]) -> RecordError? = { bytes in
                failure { () throws(RecordError) in try IdentityRecord(decoding: bytes.span) }
            }
            let identityAgain: @Sendable ([UInt8]) -> [UInt8]? = { try? IdentityRecord(decoding: $0.span).encoded() }
            return [
                Subject(
                    testDescription: "identity", valid: try Sample.identity.encoded(), decode: identity,
                    again: identityAgain),
                Subject(
                    testDescription: "bare identity", valid: try Sample.bareIdentity.encoded(), decode: identity,
                    again: identityAgain),
                Subject(
                    testDescription: "prints", valid: try encodedPrints(),
                    decode: { bytes in failure { () throws(RecordError) in try PrintsRecord(decoding: bytes.span) } },
                    again: { bytes in
                        guard let record = try? PrintsRecord(decoding: bytes.span) else { return nil }
                        return try? encodedPrints(record, templates: bytes)
                    }),
                Subject(
                    testDescription: "chips", valid: try Sample.chips.encoded(),
                    decode: { bytes in failure { () throws(RecordError) in try ChipIndex(decoding: bytes.span) } },
                    again: { try? ChipIndex(decoding: $0.span).encoded() }),
                Subject(
                    testDescription: "attempts", valid: try Sample.attemptsRecord.encoded(),
                    decode: { bytes in failure { () throws(RecordError) in try AttemptsRecord(decoding: bytes.span) } },
                    again: { try? AttemptsRecord(decoding: $0.span).encoded() }),
            ]
        }
    }

    /// Catches a field that is written but not read, or read in another order.
    @Test(arguments: try subjects) func roundTrips(subject: Subject) {
        #expect(subject.decode(subject.valid) == nil)
        #expect(subject.again(subject.valid) == subject.valid)
    }

    /// Catches a read past the end, and a record that is accepted without its last field.
    @Test(arguments: try subjects) func everyTruncationIsRefused(subject: Subject) {
        for length in 0..<subject.valid.count {
            #expect(subject.decode(Array(subject.valid[..<length])) != nil, "at \(length) bytes")
        }
    }

    /// Catches bytes that are carried along unread.
    @Test(arguments: try subjects) func trailingBytesAreRefused(subject: Subject) {
        #expect(subject.decode(subject.valid + [0]) == .trailing)
    }

    /// Catches a decoder that takes another record's bytes for its own, or a later version for this one.
    @Test(arguments: try subjects) func kindAndVersionAreExact(subject: Subject) {
        for kind in UInt8.min...UInt8.max where kind != subject.valid[0] {
            #expect(subject.decode([kind] + subject.valid[1...]) == .wrongKind)
        }
        #expect(subject.decode([subject.valid[0], 2] + subject.valid[2...]) == .newer)
        #expect(subject.decode([subject.valid[0], 0] + subject.valid[2...]) == .malformed)
    }

    /// Catches two forms of one value: what is accepted after a bit was flipped must encode to exactly those bytes.
    @Test(arguments: try subjects) func everyFlippedBitIsRefusedOrKept(subject: Subject) {
        for index in subject.valid.indices {
            for bit in 0..<8 {
                var bytes = subject.valid
                bytes[index] ^= 1 << UInt8(bit)
                if let again = subject.again(bytes) { #expect(again == bytes, "byte \(index), bit \(bit)") }
            }
        }
    }

    /// Catches a trap: a length or count from the file that is used unchecked would end this process.
    @Test(arguments: try subjects) func randomBytesNeverTrap(subject: Subject) {
        var generator = RepeatableGenerator(state: 1)
        for _ in 0..<20_000 {
            var bytes = subject.valid
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
                case 1: bytes[Int.random(in: bytes.indices, using: &generator)] = 255
                case 2: bytes.insert(0, at: Int.random(in: bytes.indices, using: &generator))
                default: if bytes.count > 1 { bytes.remove(at: Int.random(in: bytes.indices, using: &generator)) }
                }
            }
            if let again = subject.again(bytes) { #expect(again == bytes) }
        }
    }

    /// Catches bounds that are missing or one off; each row breaks one field of a record that is otherwise valid.
    @Test func fieldsOutOfBoundsAreRefused() throws {
        let finger = 11
        var prints = try encodedPrints()
        for number: UInt8 in [0, 11, 255] {
            prints[finger] = number
            #expect(failure { () throws(RecordError) in try PrintsRecord(decoding: prints.span) } == .malformed)
        }
        prints = try encodedPrints()
        prints[10] = 41
        #expect(failure { () throws(RecordError) in try PrintsRecord(decoding: prints.span) } == .malformed)

        var attempts = try Sample.attemptsRecord.encoded()
        let waitSeconds = 34 + 24
        #expect(attempts[waitSeconds] == 60)
        attempts[waitSeconds + 1] = 0x0F
        #expect(failure { () throws(RecordError) in try AttemptsRecord(decoding: attempts.span) } == .malformed)

        var identity = try Sample.identity.encoded()
        let passes = 2 + 4 + 7 + 16 + 32
        #expect(identity[passes] == 3)
        identity[passes] = 2
        #expect(failure { () throws(RecordError) in try IdentityRecord(decoding: identity.span) } == .malformed)
    }

    /// Catches an encoder that writes what its own decoder refuses, and so shuts a person out.
    @Test func encodersRefuseWhatDecodersWould() throws {
        var identity = Sample.identity
        identity.approvals += identity.approvals
        #expect(failure { () throws(RecordError) in try identity.encoded() } == .malformed)
        identity = Sample.identity
        // Two generations of one reader: the set is being replaced.
        let next = Approval(
            reader: identity.approvals[0].reader, place: Sample.place, generation: identity.approvals[0].generation + 1,
            prints: [], signature: bytes(64), madeAt: 0)
        identity.approvals.append(next)
        let both = try identity.encoded()
        #expect(try IdentityRecord(decoding: both.span) == identity)
        #expect(identity.approval(of: next.reader, generation: next.generation) == next)
        #expect(identity.approval(of: next.reader, generation: 99) == identity.approvals[0])
        identity = Sample.identity
        identity.userName = []
        #expect(failure { () throws(RecordError) in try identity.encoded() } == .malformed)
        identity = Sample.identity
        identity.publicKey = bytes(31)
        #expect(failure { () throws(RecordError) in try identity.encoded() } == .malformed)
        let twice = Approval(
            reader: Sample.reader, place: Sample.place, others: [Sample.digest(from: 1), Sample.digest(from: 1)],
            generation: 0, prints: [], signature: bytes(64), madeAt: 0)
        identity = Sample.identity
        identity.approvals = [twice]
        #expect(failure { () throws(RecordError) in try identity.encoded() } == .malformed)
        let unordered = Approval(
            reader: Sample.reader, place: Sample.place, generation: 0,
            prints: [
                ApprovedPrint(digest: Sample.digest(from: 2), presence: .host),
                ApprovedPrint(digest: Sample.digest(from: 1), presence: .host),
            ], signature: bytes(64), madeAt: 0)
        identity = Sample.identity
        identity.approvals = [unordered]
        #expect(failure { () throws(RecordError) in try identity.encoded() } == .malformed)

        var attempts = Sample.attempts
        attempts.pin.wait = Wait(since: BootInstant(boot: Sample.boot, seconds: 0), seconds: 3601)
        let record = AttemptsRecord(uid: 1, instance: bytes(16), sequence: 1, attempts: attempts)
        #expect(failure { () throws(RecordError) in try record.encoded() } == .malformed)

        func prints(_ template: Range<Int>, count: Int = 1) -> PrintsRecord {
            let entry = PrintEntry(
                finger: Finger(number: 1)!, reader: Sample.reader, onReader: false, enrolledAt: 0, template: template)
            return PrintsRecord(generation: 1, entries: Array(repeating: entry, count: count))
        }
        let templates = bytes(40_000)
        #expect(throws: RecordError.malformed) { try encodedPrints(prints(0..<0), templates: templates) }
        #expect(throws: RecordError.malformed) { try encodedPrints(prints(0..<32_769), templates: templates) }
        #expect(throws: RecordError.malformed) { try encodedPrints(prints(39_999..<40_001), templates: templates) }
        #expect(throws: RecordError.malformed) { try encodedPrints(prints(0..<1, count: 41), templates: templates) }
        #expect(try encodedPrints(prints(0..<32_768, count: 40), templates: templates).count < PrintsRecord.byteLimit)
    }

    /// Catches limits that the largest permitted identity does not keep: it could be written and never be read again.
    @Test func largestIdentityFits() throws {
        var identity = Sample.identity
        identity.userName = bytes(255, from: 1)
        let prints = (0..<40).map { ApprovedPrint(digest: Sample.digest(from: UInt8($0)), presence: .host) }
        let others = (0..<255).map { number in Digest((bytes(31) + [UInt8(number)]).span)! }
        identity.approvals = (0..<16).map { number in
            Approval(
                reader: ReaderIdentity(driver: bytes(64), device: bytes(128, from: UInt8(number))),
                place: ReaderPlace(bus: .usb, attachment: .unknown, path: bytes(255)), others: others,
                generation: .max, prints: prints,
                signature: bytes(64), madeAt: .max)
        }
        let encoded = try identity.encoded()
        #expect(encoded.count <= IdentityRecord.byteLimit)
        #expect(try IdentityRecord(decoding: encoded.span) == identity)
    }
}
