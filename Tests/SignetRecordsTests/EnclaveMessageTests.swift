import SignetPolicy
import SignetRecords
import Testing

/// The bytes that stand for secrets in these tests.
private let source: [UInt8] = (0..<80).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 1) }

private func packet(_ request: EnclaveRequest, limit: Int = EnclaveMessage.packetLimit) throws -> [UInt8] {
    try packet(request, from: source, limit: limit)
}

private func packet(
    _ request: EnclaveRequest, from source: [UInt8], limit: Int = EnclaveMessage.packetLimit
) throws -> [UInt8] {
    var memory = [UInt8](repeating: 0xEE, count: limit)
    var span = memory.mutableSpan
    let length = try request.encode(secretsFrom: source.span, into: &span)
    return Array(memory[..<length])
}

private func packet(_ reply: EnclaveReply, from source: [UInt8] = source) throws -> [UInt8] {
    var memory = [UInt8](repeating: 0xEE, count: EnclaveMessage.packetLimit)
    var span = memory.mutableSpan
    let length = try reply.encode(secretsFrom: source.span, into: &span)
    return Array(memory[..<length])
}

private func request(_ bytes: [UInt8]) throws -> EnclaveRequest { try EnclaveRequest(decoding: bytes.span) }

private func reply(_ bytes: [UInt8]) throws -> EnclaveReply { try EnclaveReply(decoding: bytes.span) }

private func object(_ publicCount: Int = 48, _ privateCount: Int = 160, counts: Bool = true) throws -> EnclaveObject {
    try #require(
        EnclaveObject(
            publicArea: (0..<publicCount).map { UInt8(truncatingIfNeeded: $0) },
            privateArea: (0..<privateCount).map { UInt8(truncatingIfNeeded: $0 &* 3) }, countsFailures: counts))
}

private let first: UInt32 = EnclaveMessage.counterIndices.lowerBound
private let last: UInt32 = EnclaveMessage.counterIndices.upperBound

/// Every kind at least once; the ranges lie in `source`.
private func requests() throws -> [EnclaveRequest] {
    [
        .look, .open(primaryName: []), .open(primaryName: [UInt8](repeating: 0, count: EnclaveMessage.nameLimit)),
        .seal(secret: 0..<32), .unseal(try object()), .unseal(try object(512, 512, counts: false)),
        .sealUnder(secret: 0..<32, authorization: 32..<64, countsFailures: true),
        .sealUnder(secret: 48..<80, authorization: 0..<32, countsFailures: false), .load(try object(1, 1)),
        .unsealUnder(authorization: 5..<37), .makeCounter(authorization: 0..<32),
        .readCounter(index: first, authorization: 0..<32), .bumpCounter(index: last, authorization: 1..<33),
        .removeCounter(index: first + 7),
        .setLockout(authorization: 0..<1, limit: 32, healSeconds: 7200, recoverySeconds: 86_400),
        .setLockout(authorization: 0..<32, limit: .max, healSeconds: .max, recoverySeconds: 0),
        .resetLockout(authorization: 0..<0), .resetLockout(authorization: 7..<39), .close,
    ]
}

private func description(_ flags: Int) -> EnclaveDescription {
    let state = DictionaryAttackState(
        failures: 1, limit: 32, healSeconds: 7200, recoverySeconds: 86_400, inLockout: flags & 1 != 0,
        hasLockoutAuthorization: flags & 2 != 0)
    return EnclaveDescription(
        maker: Array("IFX".utf8), firmware: 0x0007_0055_0B40_0102, dictionaryAttack: state,
        hasOwnerAuthorization: flags & 4 != 0, countersLeft: 70_000)
}

private func replies() throws -> [EnclaveReply] {
    var all: [EnclaveReply] = (0..<8).map { .facts(description($0)) }
    all += EnclaveProblem.allCases.map { .failed($0) }
    return all + [
        .opened(primaryName: [0, 11, 1]), .object(try object()), .object(try object(512, 1, counts: false)),
        .secret(0..<32), .secret(48..<80), .wrong(counted: true), .wrong(counted: false),
        .counter(EnclaveCounter(index: first, value: 0)), .counter(EnclaveCounter(index: last, value: .max)), .done,
    ]
}

/// The request as it reads when its secrets come from a packet, one after the other, at any place.
private func secrets(_ request: EnclaveRequest, in bytes: [UInt8]) -> [[UInt8]] {
    switch request {
    case .seal(let secret): return [Array(bytes[secret])]
    case .sealUnder(let secret, let authorization, _): return [Array(bytes[secret]), Array(bytes[authorization])]
    case .unsealUnder(let range), .makeCounter(let range), .readCounter(_, let range), .bumpCounter(_, let range),
        .setLockout(let range, _, _, _), .resetLockout(let range):
        return [Array(bytes[range])]
    default: return []
    }
}

@Suite struct EnclaveMessageTests {
    /// Catches a field that is written in another order, width or place than it is read, and a shifted secret.
    @Test func requestsComeBackAsTheyWere() throws {
        for original in try requests() {
            let bytes = try packet(original)
            let decoded = try request(bytes)
            #expect(secrets(decoded, in: bytes) == secrets(original, in: source))
            // The ranges differ, for they lie in the packet; all else shows in the bytes.
            #expect(try packet(decoded, from: bytes) == bytes)
            if secrets(original, in: source).isEmpty { #expect(decoded == original) }
        }
    }

    /// Catches the same for replies, and a flag or problem that gets lost on the way.
    @Test func repliesComeBackAsTheyWere() throws {
        for original in try replies() {
            let bytes = try packet(original)
            let decoded = try reply(bytes)
            if case .secret(let place) = decoded, case .secret(let from) = original {
                #expect(Array(bytes[place]) == Array(source[from]))
            } else {
                #expect(decoded == original)
            }
        }
    }

    /// Catches numbers and flags that are written into each other's fields, which a round trip would not show.
    @Test func messagesByHand() throws {
        #expect(
            try packet(EnclaveRequest.removeCounter(index: first + 1))
                == [1, 11, 7, 0, 0, 0, 7, 4, 0, 0x01, 0x53, 0x80, 0x01])
        #expect(
            try packet(EnclaveRequest.setLockout(authorization: 0..<1, limit: 2, healSeconds: 3, recoverySeconds: 4))
                == [1, 12, 25, 0, 0, 0, 6, 1, 0, 1, 9, 4, 0, 2, 0, 0, 0, 10, 4, 0, 3, 0, 0, 0, 11, 4, 0, 4, 0, 0, 0])
        #expect(
            try packet(EnclaveRequest.load(try object(1, 1)))
                == [1, 6, 12, 0, 0, 0, 3, 1, 0, 0, 4, 1, 0, 0, 5, 1, 0, 1])
        #expect(
            try packet(EnclaveReply.counter(EnclaveCounter(index: first, value: 0x0102)))
                == [1, 70, 18, 0, 0, 0, 7, 4, 0, 0, 0x53, 0x80, 1, 8, 8, 0, 2, 1, 0, 0, 0, 0, 0, 0])
        #expect(try packet(EnclaveReply.wrong(counted: true)) == [1, 69, 4, 0, 0, 0, 12, 1, 0, 1])
        #expect(try packet(EnclaveReply.failed(.stalled)) == [1, 72, 4, 0, 0, 0, 13, 1, 0, 11])
        #expect(
            try packet(EnclaveReply.facts(description(2))) == [
                1, 65, 64, 0, 0, 0, 14, 3, 0, 73, 70, 88, 15, 8, 0, 2, 1, 0x40, 0x0B, 0x55, 0, 7, 0, 16, 4, 0, 1, 0, 0,
                0,
                9, 4, 0, 32, 0, 0, 0, 10, 4, 0, 0x20, 0x1C, 0, 0, 11, 4, 0, 0x80, 0x51, 1, 0, 17, 1, 0, 0, 18, 1, 0, 1,
                19, 1, 0, 0, 20, 4, 0, 0x70, 0x11, 1, 0,
            ])
    }

    /// Catches a decoder that takes less than the whole message, or reads past its end.
    @Test func everyTruncationIsRefused() throws {
        func shortened(_ message: [UInt8], to length: Int) -> [[UInt8]] {
            let short = Array(message[..<length])
            guard length >= 6 else { return [short] }
            // The same with a header that says so.
            var consistent = short
            consistent[2] = UInt8(truncatingIfNeeded: length - 6)
            consistent[3] = UInt8(truncatingIfNeeded: (length - 6) >> 8)
            return [short, consistent]
        }
        for message in try requests().map({ try packet($0) }) {
            for length in 0..<message.count {
                for short in shortened(message, to: length) {
                    #expect(throws: MessageError.self) { try request(short) }
                }
            }
        }
        for message in try replies().map({ try packet($0) }) {
            for length in 0..<message.count {
                for short in shortened(message, to: length) {
                    #expect(throws: MessageError.self) { try reply(short) }
                }
            }
        }
    }

    /// Catches bytes that nobody looks at: a message has one encoding, so each accepted mutant must encode to itself.
    @Test func everyMutantIsRefusedOrCanonical() throws {
        let values: [UInt8] = [0, 1, 2, 3, 5, 7, 8, 32, 64, 65, 127, 128, 255]
        for message in try requests().map({ try packet($0) }) {
            for position in message.indices {
                for value in values + [message[position] ^ 1, message[position] ^ 128] {
                    var mutant = message
                    mutant[position] = value
                    guard let decoded = try? request(mutant) else { continue }
                    #expect(try packet(decoded, from: mutant) == mutant)
                }
            }
        }
        for message in try replies().map({ try packet($0) }) {
            for position in message.indices {
                for value in values + [message[position] ^ 1, message[position] ^ 128] {
                    var mutant = message
                    mutant[position] = value
                    guard let decoded = try? reply(mutant) else { continue }
                    #expect(try packet(decoded, from: mutant) == mutant)
                }
            }
        }
    }

    /// Catches an index that is somebody else's, and limits that switch the TPM's protection off or lock it for good.
    @Test func refusesValuesThatDoHarm() throws {
        for index: UInt32 in [0, first - 1, last + 1, 0x8100_0001] {
            #expect(throws: MessageError.badValue) { try packet(EnclaveRequest.removeCounter(index: index)) }
            var bytes = try packet(EnclaveRequest.removeCounter(index: first))
            for place in 0..<4 { bytes[9 + place] = UInt8(truncatingIfNeeded: index >> UInt32(8 * place)) }
            #expect(throws: MessageError.badValue) { try request(bytes) }
        }
        for (limit, heal) in [(0, 1), (1, 0)] as [(UInt32, UInt32)] {
            let message = EnclaveRequest.setLockout(
                authorization: 0..<8, limit: limit, healSeconds: heal, recoverySeconds: 1)
            #expect(throws: MessageError.badValue) { try packet(message) }
        }
        let bytes: [UInt8] = [
            1, 12, 25, 0, 0, 0, 6, 1, 0, 1, 9, 4, 0, 2, 0, 0, 0, 10, 4, 0, 0, 0, 0, 0, 11, 4, 0, 4, 0, 0, 0,
        ]
        #expect(throws: MessageError.badValue) { try request(bytes) }
    }

    /// Catches a secret of another length or from outside the caller's memory, and a packet that is too small.
    @Test func refusesWhatDoesNotFit() throws {
        for range in [0..<31, 0..<33, 49..<81, 0..<0] {
            #expect(throws: MessageError.badValue) { try packet(EnclaveRequest.seal(secret: range)) }
            #expect(throws: MessageError.badValue) { try packet(EnclaveRequest.unsealUnder(authorization: range)) }
            #expect(throws: MessageError.badValue) { try packet(EnclaveReply.secret(range)) }
        }
        #expect(throws: MessageError.badValue) { try packet(EnclaveRequest.resetLockout(authorization: 0..<33)) }
        #expect(throws: MessageError.badValue) {
            try packet(
                EnclaveRequest.setLockout(authorization: 0..<0, limit: 1, healSeconds: 1, recoverySeconds: 1))
        }
        #expect(throws: MessageError.badValue) {
            try packet(EnclaveRequest.open(primaryName: [UInt8](repeating: 1, count: EnclaveMessage.nameLimit + 1)))
        }
        #expect(throws: MessageError.badValue) { try packet(EnclaveReply.opened(primaryName: [])) }
        #expect(throws: MessageError.tooLong) { try packet(EnclaveRequest.look, limit: 5) }
        #expect(throws: MessageError.tooLong) { try packet(EnclaveRequest.seal(secret: 0..<32), limit: 40) }
    }

    /// Catches a packet of the other direction that is taken for one of this.
    @Test func directionsAreTold() throws {
        for message in try requests().map({ try packet($0) }) {
            #expect(throws: MessageError.unknownKind) { try reply(message) }
        }
        for message in try replies().map({ try packet($0) }) {
            #expect(throws: MessageError.unknownKind) { try request(message) }
        }
    }
}
