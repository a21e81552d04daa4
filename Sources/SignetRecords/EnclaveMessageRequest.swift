/// What a field holds.
enum EnclaveField: UInt8 {
    case primaryName = 1
    case secret = 2
    case publicArea = 3
    case privateArea = 4
    case countsFailures = 5
    case authorization = 6
    case index = 7
    case value = 8
    case limit = 9
    case healSeconds = 10
    case recoverySeconds = 11
    case counted = 12
    case problem = 13
    case maker = 14
    case firmware = 15
    case failures = 16
    case inLockout = 17
    case hasLockoutAuthorization = 18
    case hasOwnerAuthorization = 19
    case countersLeft = 20
}

extension EnclaveMessage: MessageFormat {
    typealias Field = EnclaveField
}

typealias EnclavePacketWriter = PacketWriter<EnclaveMessage>
typealias EnclavePacketReader = PacketReader<EnclaveMessage>

extension EnclavePacketWriter {
    /// Appends the secret that lies at `range` of `source`, of one of `lengths`.
    mutating func put(
        _ field: EnclaveField, _ range: Range<Int>, of source: Span<UInt8>,
        _ lengths: ClosedRange<Int> = EnclaveMessage.secretLengths, to packet: inout MutableSpan<UInt8>
    ) throws(MessageError) {
        guard range.lowerBound >= 0, range.upperBound <= source.count, lengths.contains(range.count) else {
            throw .badValue
        }
        put(field, source.extracting(range), to: &packet)
    }

    /// Appends a sealed object.
    mutating func put(_ object: EnclaveObject, to packet: inout MutableSpan<UInt8>) {
        put(.publicArea, object.publicArea, to: &packet)
        put(.privateArea, object.privateArea, to: &packet)
        put(.countsFailures, object.countsFailures, to: &packet)
    }

    /// Appends the index of one of our counters.
    mutating func putIndex(_ index: UInt32, to packet: inout MutableSpan<UInt8>) throws(MessageError) {
        guard EnclaveMessage.counterIndices.contains(index) else { throw .badValue }
        put(.index, index, to: &packet)
    }
}

extension EnclavePacketReader {
    /// Takes a secret of `secretCount` bytes; answers where it lies.
    mutating func secret(_ field: EnclaveField, from packet: Span<UInt8>) throws(MessageError) -> Range<Int> {
        try take(field, EnclaveMessage.secretLengths, from: packet)
    }

    /// Takes a sealed object.
    mutating func object(from packet: Span<UInt8>) throws(MessageError) -> EnclaveObject {
        let lengths = 1...EnclaveObject.areaLimit
        let publicArea = try bytes(.publicArea, lengths, from: packet)
        let privateArea = try bytes(.privateArea, lengths, from: packet)
        let countsFailures = try truth(.countsFailures, from: packet)
        guard
            let object = EnclaveObject(
                publicArea: publicArea, privateArea: privateArea, countsFailures: countsFailures)
        else { throw .badValue }
        return object
    }

    /// Takes the index of one of our counters.
    mutating func index(from packet: Span<UInt8>) throws(MessageError) -> UInt32 {
        let index = try word(.index, from: packet)
        guard EnclaveMessage.counterIndices.contains(index) else { throw .badValue }
        return index
    }
}

extension EnclaveMessage {
    /// What a secret's or an authorisation's length may be.
    static let secretLengths = secretCount...secretCount
    /// What a lockoutAuth's length may be where it is set: an empty one would be none.
    static let newLockoutLengths = 1...lockoutAuthLimit
    /// What a lockoutAuth's length may be where it is shown: empty where none is set.
    static let lockoutLengths = 0...lockoutAuthLimit
}

extension EnclaveRequest {
    private var kind: UInt8 {
        switch self {
        case .look: return 1
        case .open: return 2
        case .seal: return 3
        case .unseal: return 4
        case .sealUnder: return 5
        case .load: return 6
        case .unsealUnder: return 7
        case .makeCounter: return 8
        case .readCounter: return 9
        case .bumpCounter: return 10
        case .removeCounter: return 11
        case .setLockout: return 12
        case .resetLockout: return 13
        case .close: return 14
        }
    }

    /// Writes the message into `packet`; answers its length in bytes.
    ///
    /// Secrets and authorisations are read from `source`, where the case's ranges say.
    package func encode(
        secretsFrom source: Span<UInt8>, into packet: inout MutableSpan<UInt8>
    ) throws(MessageError) -> Int {
        var writer = EnclavePacketWriter(kind: kind, in: &packet)
        switch self {
        case .look, .close: break
        case .open(let primaryName):
            guard primaryName.count <= EnclaveMessage.nameLimit else { throw .badValue }
            writer.put(.primaryName, primaryName, to: &packet)
        case .seal(let secret): try writer.put(.secret, secret, of: source, to: &packet)
        case .unseal(let object), .load(let object): writer.put(object, to: &packet)
        case .sealUnder(let secret, let authorization, let countsFailures):
            try writer.put(.secret, secret, of: source, to: &packet)
            try writer.put(.authorization, authorization, of: source, to: &packet)
            writer.put(.countsFailures, countsFailures, to: &packet)
        case .unsealUnder(let authorization), .makeCounter(let authorization):
            try writer.put(.authorization, authorization, of: source, to: &packet)
        case .readCounter(let index, let authorization), .bumpCounter(let index, let authorization):
            try writer.putIndex(index, to: &packet)
            try writer.put(.authorization, authorization, of: source, to: &packet)
        case .removeCounter(let index): try writer.putIndex(index, to: &packet)
        case .setLockout(let authorization, let limit, let healSeconds, let recoverySeconds):
            guard limit > 0, healSeconds > 0 else { throw .badValue }
            try writer.put(
                .authorization, authorization, of: source, EnclaveMessage.newLockoutLengths, to: &packet)
            writer.put(.limit, limit, to: &packet)
            writer.put(.healSeconds, healSeconds, to: &packet)
            writer.put(.recoverySeconds, recoverySeconds, to: &packet)
        case .resetLockout(let authorization):
            try writer.put(.authorization, authorization, of: source, EnclaveMessage.lockoutLengths, to: &packet)
        }
        return try writer.finish(&packet)
    }

    /// Writes a message without a secret into `packet`; answers its length in bytes.
    package func encode(into packet: inout MutableSpan<UInt8>) throws(MessageError) -> Int {
        let none: [UInt8] = []
        return try encode(secretsFrom: none.span, into: &packet)
    }

    /// Reads exactly one message; its ranges say where in `packet` the secrets lie.
    package init(decoding packet: Span<UInt8>) throws(MessageError) {
        var reader = try EnclavePacketReader(packet)
        switch reader.kind {
        case 1: self = .look
        case 2: self = .open(primaryName: try reader.bytes(.primaryName, 0...EnclaveMessage.nameLimit, from: packet))
        case 3: self = .seal(secret: try reader.secret(.secret, from: packet))
        case 4: self = .unseal(try reader.object(from: packet))
        case 5:
            let secret = try reader.secret(.secret, from: packet)
            let authorization = try reader.secret(.authorization, from: packet)
            self = .sealUnder(
                secret: secret, authorization: authorization,
                countsFailures: try reader.truth(.countsFailures, from: packet))
        case 6: self = .load(try reader.object(from: packet))
        case 7: self = .unsealUnder(authorization: try reader.secret(.authorization, from: packet))
        case 8: self = .makeCounter(authorization: try reader.secret(.authorization, from: packet))
        case 9:
            let index = try reader.index(from: packet)
            self = .readCounter(index: index, authorization: try reader.secret(.authorization, from: packet))
        case 10:
            let index = try reader.index(from: packet)
            self = .bumpCounter(index: index, authorization: try reader.secret(.authorization, from: packet))
        case 11: self = .removeCounter(index: try reader.index(from: packet))
        case 12: self = try EnclaveRequest.lockout(from: packet, &reader)
        case 13:
            self = .resetLockout(
                authorization: try reader.take(.authorization, EnclaveMessage.lockoutLengths, from: packet))
        case 14: self = .close
        default: throw .unknownKind
        }
        try reader.finish(packet)
    }

    /// A limit of 0 would lock the TPM for good, and one that heals in 0 s would switch the protection off (TPM 2.0
    /// Library, Part 3, TPM2_DictionaryAttackParameters).
    private static func lockout(
        from packet: Span<UInt8>, _ reader: inout EnclavePacketReader
    ) throws(MessageError) -> EnclaveRequest {
        let authorization = try reader.take(.authorization, EnclaveMessage.newLockoutLengths, from: packet)
        let limit = try reader.word(.limit, from: packet)
        let healSeconds = try reader.word(.healSeconds, from: packet)
        guard limit > 0, healSeconds > 0 else { throw .badValue }
        return .setLockout(
            authorization: authorization, limit: limit, healSeconds: healSeconds,
            recoverySeconds: try reader.word(.recoverySeconds, from: packet))
    }
}
