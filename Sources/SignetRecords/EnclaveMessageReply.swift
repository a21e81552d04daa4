internal import SignetPolicy

extension EnclaveReply {
    private var kind: UInt8 {
        switch self {
        case .facts: return 65
        case .opened: return 66
        case .object: return 67
        case .secret: return 68
        case .wrong: return 69
        case .counter: return 70
        case .done: return 71
        case .failed: return 72
        }
    }

    /// Writes the message into `packet`; answers its length in bytes.
    ///
    /// A secret is read from `source`, where the case's range says.
    package func encode(
        secretsFrom source: Span<UInt8>, into packet: inout MutableSpan<UInt8>
    ) throws(MessageError) -> Int {
        var writer = EnclavePacketWriter(kind: kind, in: &packet)
        switch self {
        case .facts(let description): try writer.put(description, to: &packet)
        case .opened(let primaryName):
            guard (1...EnclaveMessage.nameLimit).contains(primaryName.count) else { throw .badValue }
            writer.put(.primaryName, primaryName, to: &packet)
        case .object(let object): writer.put(object, to: &packet)
        case .secret(let secret): try writer.put(.secret, secret, of: source, to: &packet)
        case .wrong(let counted): writer.put(.counted, counted, to: &packet)
        case .counter(let counter):
            try writer.putIndex(counter.index, to: &packet)
            writer.put(.value, counter.value, to: &packet)
        case .done: break
        case .failed(let problem): writer.put(.problem, problem.rawValue, to: &packet)
        }
        return try writer.finish(&packet)
    }

    /// Writes a message without a secret into `packet`; answers its length in bytes.
    package func encode(into packet: inout MutableSpan<UInt8>) throws(MessageError) -> Int {
        let none: [UInt8] = []
        return try encode(secretsFrom: none.span, into: &packet)
    }

    /// Reads exactly one message; the range of `secret` says where in `packet` it lies.
    package init(decoding packet: Span<UInt8>) throws(MessageError) {
        var reader = try EnclavePacketReader(packet)
        switch reader.kind {
        case 65: self = .facts(try reader.description(from: packet))
        case 66: self = .opened(primaryName: try reader.bytes(.primaryName, 1...EnclaveMessage.nameLimit, from: packet))
        case 67: self = .object(try reader.object(from: packet))
        case 68: self = .secret(try reader.secret(.secret, from: packet))
        case 69: self = .wrong(counted: try reader.truth(.counted, from: packet))
        case 70:
            let index = try reader.index(from: packet)
            self = .counter(EnclaveCounter(index: index, value: try reader.doubleWord(.value, from: packet)))
        case 71: self = .done
        case 72:
            guard let problem = EnclaveProblem(rawValue: try reader.byte(.problem, from: packet)) else {
                throw .badValue
            }
            self = .failed(problem)
        default: throw .unknownKind
        }
        try reader.finish(packet)
    }
}

extension EnclaveMessage {
    /// TPM2_PT_MANUFACTURER has four bytes, of which the last may be zero and are left out.
    package static let makerLimit = 4
}

extension EnclavePacketWriter {
    /// Appends what a TPM says of itself.
    fileprivate mutating func put(
        _ description: EnclaveDescription, to packet: inout MutableSpan<UInt8>
    ) throws(MessageError) {
        guard description.maker.count <= EnclaveMessage.makerLimit else { throw .badValue }
        for byte in description.maker where byte == 0 { throw .badValue }
        let state = description.dictionaryAttack
        put(.maker, description.maker, to: &packet)
        put(.firmware, description.firmware, to: &packet)
        put(.failures, state.failures, to: &packet)
        put(.limit, state.limit, to: &packet)
        put(.healSeconds, state.healSeconds, to: &packet)
        put(.recoverySeconds, state.recoverySeconds, to: &packet)
        put(.inLockout, state.inLockout, to: &packet)
        put(.hasLockoutAuthorization, state.hasLockoutAuthorization, to: &packet)
        put(.hasOwnerAuthorization, description.hasOwnerAuthorization, to: &packet)
        put(.countersLeft, description.countersLeft, to: &packet)
    }
}

extension EnclavePacketReader {
    /// Takes what a TPM says of itself.
    fileprivate mutating func description(from packet: Span<UInt8>) throws(MessageError) -> EnclaveDescription {
        let maker = try text(.maker, 0...EnclaveMessage.makerLimit, from: packet)
        let firmware = try doubleWord(.firmware, from: packet)
        let failures = try word(.failures, from: packet)
        let limit = try word(.limit, from: packet)
        let healSeconds = try word(.healSeconds, from: packet)
        let recoverySeconds = try word(.recoverySeconds, from: packet)
        let inLockout = try truth(.inLockout, from: packet)
        let state = DictionaryAttackState(
            failures: failures, limit: limit, healSeconds: healSeconds, recoverySeconds: recoverySeconds,
            inLockout: inLockout, hasLockoutAuthorization: try truth(.hasLockoutAuthorization, from: packet))
        let hasOwnerAuthorization = try truth(.hasOwnerAuthorization, from: packet)
        return EnclaveDescription(
            maker: maker, firmware: firmware, dictionaryAttack: state, hasOwnerAuthorization: hasOwnerAuthorization,
            countersLeft: try word(.countersLeft, from: packet))
    }
}
