import SignetPolicy
import SignetRecords
import Testing

/// Version, kind and length.
private let headerCount = 6
/// The bytes that stand for a template in these tests.
private let source: [UInt8] = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 1) }

private func finger(_ number: UInt8) throws -> Finger { try #require(Finger(number: number)) }

private func packet(_ request: SensorRequest, limit: Int = SensorMessage.packetLimit) throws -> [UInt8] {
    var memory = [UInt8](repeating: 0xEE, count: limit)
    var span = memory.mutableSpan
    let length = try request.encode(templateFrom: source.span, into: &span)
    return Array(memory[..<length])
}

private func packet(_ event: SensorEvent, limit: Int = SensorMessage.packetLimit) throws -> [UInt8] {
    var memory = [UInt8](repeating: 0xEE, count: limit)
    var span = memory.mutableSpan
    let length = try event.encode(templateFrom: source.span, into: &span)
    return Array(memory[..<length])
}

private func request(_ bytes: [UInt8]) throws -> SensorRequest { try SensorRequest(decoding: bytes.span) }

private func event(_ bytes: [UInt8]) throws -> SensorEvent { try SensorEvent(decoding: bytes.span) }

/// Encodes the whole of `template` as a print of the gallery; answers the length of the packet.
private func encodeWhole(_ template: [UInt8]) throws -> Int {
    var memory = [UInt8](repeating: 0, count: SensorMessage.packetLimit)
    var span = memory.mutableSpan
    let request = SensorRequest.galleryPrint(template: 0..<template.count)
    return try request.encode(templateFrom: template.span, into: &span)
}

private let identity = ReaderIdentity(driver: Array("aes3500".utf8), device: Array("0".utf8))

private let places = [
    ReaderPlace(bus: .usb, attachment: .fixed, path: Array("pci0000:00/0000:00:14.0/usb2/9".utf8)),
    ReaderPlace(bus: .spi, attachment: .removable, path: [UInt8](repeating: 97, count: ReaderPlace.pathLimit)),
    .virtual, .nowhere,
]

private func descriptions() -> [ReaderDescription] {
    (0..<16).map { (bits: Int) -> ReaderDescription in
        return ReaderDescription(
            identity: identity, place: places[bits % places.count], name: Array("AuthenTec".utf8),
            stages: UInt8(bits * 17), swipes: bits & 1 != 0, identifies: bits & 2 != 0, storesPrints: bits & 4 != 0,
            listsPrints: bits & 8 != 0)
    }
}

/// Requests without a template, each kind at least once.
private func requests() throws -> [SensorRequest] {
    [
        .list, .begin(identity, path: Array("pci0/usb2/9".utf8)),
        .begin(ReaderIdentity(driver: [120], device: []), path: []), .open, .arm, .cancel,
        .enroll(try finger(7), userName: Array("tester".utf8), day: 20_786),
        .enroll(try finger(1), userName: [UInt8](repeating: 97, count: 255), day: .max), .delete(index: 0),
        .delete(index: SensorMessage.galleryLimit - 1), .close,
    ]
}

/// Events without a template, each kind at least once.
private func events() -> [SensorEvent] {
    let presence: [PrintPresence] = [.host, .onReader, .missing, .unlistable]
    let others = (0..<3).map { number in Digest((bytes(31) + [UInt8(number)]).span)! }
    let reasons: [RetryReason] = [.general, .tooShort, .centreFinger, .removeFinger, .tooFast]
    var all: [SensorEvent] = descriptions().map { .reader($0) }
    all += reasons.map { .retry($0) }
    for number in 1...13 as ClosedRange<UInt8> {
        if let problem = ReaderProblem(rawValue: number) { all.append(.failed(problem)) }
    }
    return all + [
        .listed(count: 0, virtualRefused: true), .listed(count: 16, virtualRefused: false),
        .opened(presence: [], others: []), .opened(presence: presence, others: others), .armed,
        .fingerSeen, .matched(index: 0), .matched(index: SensorMessage.galleryLimit - 1), .notMatched,
        .stage(done: 0, of: 1), .stage(done: 255, of: 255), .cancelled(fingerSeen: true),
        .cancelled(fingerSeen: false), .cancelIgnored(fingerSeen: true), .cancelIgnored(fingerSeen: false), .deleted,
        .closed,
    ]
}

@Suite struct SensorMessageTests {
    /// Catches a field that is written in another order, width or place than it is read.
    @Test func requestsComeBackAsTheyWere() throws {
        for original in try requests() {
            #expect(try request(packet(original)) == original)
        }
    }

    /// Catches the same for events, and an ability or problem that gets lost on the way.
    @Test func eventsComeBackAsTheyWere() throws {
        for original in events() {
            #expect(try event(packet(original)) == original)
        }
    }

    /// Catches a template that is shifted or cut by a byte.
    @Test func templatesLieWhereTheMessageSays() throws {
        let first = try packet(SensorRequest.galleryPrint(template: 3..<50))
        if case .galleryPrint(let range) = try request(first) {
            #expect(Array(first[range]) == Array(source[3..<50]))
        } else {
            Issue.record("another kind")
        }
        let second = try packet(SensorEvent.enrolled(template: 0..<64, onReader: true))
        if case .enrolled(let place, let onReader) = try event(second) {
            #expect(Array(second[place]) == source)
            #expect(onReader)
        } else {
            Issue.record("another kind")
        }
    }

    /// Catches a format that changes without its version: the bytes of one message, worked out by hand.
    @Test func oneMessageByHand() throws {
        #expect(try packet(SensorRequest.delete(index: 5)) == [1, 8, 4, 0, 0, 0, 10, 1, 0, 5])
        #expect(try packet(SensorEvent.cancelled(fingerSeen: true)) == [1, 75, 4, 0, 0, 0, 16, 1, 0, 1])
        let reader = ReaderIdentity(driver: [120], device: [48])
        #expect(
            try packet(SensorRequest.begin(reader, path: [49, 45]))
                == [1, 2, 13, 0, 0, 0, 1, 1, 0, 120, 2, 1, 0, 48, 23, 2, 0, 49, 45])
        let place = ReaderPlace(bus: .usb, attachment: .removable, path: [49])
        let description = ReaderDescription(
            identity: reader, place: place, name: [], stages: 5, swipes: true, identifies: false, storesPrints: false,
            listsPrints: false)
        #expect(
            try packet(SensorEvent.reader(description))
                == [1, 65, 31, 0, 0, 0, 1, 1, 0, 120, 2, 1, 0, 48, 21, 1, 0, 2, 22, 1, 0, 2, 23, 1, 0, 49]
                + [3, 0, 0, 4, 1, 0, 5, 5, 1, 0, 1])
    }

    /// Catches a decoder that takes less than the whole message, or reads past its end.
    @Test func everyTruncationIsRefused() throws {
        for message in try requests().map({ try packet($0) }) {
            for length in 0..<message.count {
                #expect(throws: MessageError.self) {
                    try request(Array(message[..<length]))
                }
                // The same with a header that says so.
                guard length >= headerCount else { continue }
                var short = Array(message[..<length])
                short[2] = UInt8(truncatingIfNeeded: length - headerCount)
                short[3] = UInt8(truncatingIfNeeded: (length - headerCount) >> 8)
                #expect(throws: MessageError.self) { try request(short) }
            }
        }
        for message in try events().map({ try packet($0) }) {
            for length in 0..<message.count {
                #expect(throws: MessageError.self) { try event(Array(message[..<length])) }
            }
        }
    }

    /// Catches bytes that nobody looks at: a message has one encoding, so each accepted mutant must encode to itself.
    @Test func everyMutantIsRefusedOrCanonical() throws {
        for message in try events().map({ try packet($0) }) {
            for position in message.indices {
                for value in 0...255 {
                    var mutant = message
                    mutant[position] = UInt8(value)
                    guard let decoded = try? event(mutant) else { continue }
                    #expect(try packet(decoded) == mutant)
                }
            }
        }
        for message in try requests().map({ try packet($0) }) where message.count < 64 {
            for position in message.indices {
                for value in 0...255 {
                    var mutant = message
                    mutant[position] = UInt8(value)
                    guard let decoded = try? request(mutant) else { continue }
                    if case .galleryPrint = decoded { continue }
                    #expect(try packet(decoded) == mutant)
                }
            }
        }
    }

    /// Catches each check of header and fields by itself: dropping one lets its message through.
    @Test(
        arguments: [
            ([2, 4, 0, 0, 0, 0], MessageError.wrongVersion), ([1, 99, 0, 0, 0, 0], .unknownKind),
            ([1, 65, 0, 0, 0, 0], .unknownKind), ([1, 4, 1, 0, 0, 0], .wrongLength),
            ([1, 4, 0, 0, 0, 0, 0], .wrongLength), ([1, 4, 1, 0, 0, 0, 0], .trailingBytes),
            ([1, 4, 0, 0, 0, 128], .wrongLength), ([1, 8, 4, 0, 0, 0, 11, 1, 0, 5], .unexpectedField),
            ([1, 8, 5, 0, 0, 0, 10, 2, 0, 5, 5], .badValue), ([1, 8, 4, 0, 0, 0, 10, 1, 0, 64], .badValue),
            ([1, 8, 4, 0, 0, 0, 10, 255, 255, 5], .truncated), ([1, 3, 3, 0, 0, 0, 6, 0, 0], .badValue),
            ([1, 2, 7, 0, 0, 0, 1, 1, 0, 0, 2, 0, 0], .badValue), ([1, 4], .truncated),
        ] as [([UInt8], MessageError)])
    func refuses(bytes: [UInt8], error: MessageError) {
        #expect(throws: error) { try request(bytes) }
    }

    /// Catches events whose numbers contradict each other.
    @Test(
        arguments: [
            [1, 73, 8, 0, 0, 0, 14, 1, 0, 6, 15, 1, 0, 5], [1, 73, 8, 0, 0, 0, 14, 1, 0, 0, 15, 1, 0, 0],
            [1, 75, 4, 0, 0, 0, 16, 1, 0, 2], [1, 78, 4, 0, 0, 0, 18, 1, 0, 0], [1, 72, 4, 0, 0, 0, 13, 1, 0, 6],
            [1, 66, 8, 0, 0, 0, 19, 1, 0, 17, 20, 1, 0, 0], [1, 5, 0, 0, 0, 0],
        ] as [[UInt8]])
    func refusesEvent(bytes: [UInt8]) {
        #expect(throws: MessageError.self) { try event(bytes) }
    }

    /// Catches a writer that runs over the packet, or sends a template that is empty, too long or not there.
    @Test func refusesWhatDoesNotFit() throws {
        #expect(throws: MessageError.tooLong) { try packet(SensorRequest.list, limit: 5) }
        #expect(throws: MessageError.tooLong) { try packet(SensorRequest.delete(index: 5), limit: 9) }
        #expect(throws: MessageError.badValue) { try packet(SensorRequest.galleryPrint(template: 0..<0)) }
        #expect(throws: MessageError.badValue) { try packet(SensorRequest.galleryPrint(template: 60..<65)) }
        #expect(throws: MessageError.badValue) { try packet(SensorRequest.delete(index: 300)) }
        let big = [UInt8](repeating: 1, count: PrintEntry.templateLimit + 1)
        #expect(try encodeWhole(Array(big.dropLast())) <= SensorMessage.packetLimit)
        #expect(throws: MessageError.badValue) { try encodeWhole(big) }
    }
}
