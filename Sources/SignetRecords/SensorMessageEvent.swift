package import SignetPolicy

/// What the reader helper tells Signet.
///
/// The template of `enrolled` is never part of the value: the case holds where it lies, in the packet that was decoded
/// or in the bytes that `encode` is given.
package enum SensorEvent: Equatable, Sendable {
    /// One reader, in answer to `list` and before `opened`.
    case reader(ReaderDescription)
    /// The end of the list: how many readers were told, and whether virtual ones were left out.
    case listed(count: Int, virtualRefused: Bool)
    /// The reader is open: where each print of the gallery was found, and the handle digests of the others that the reader
    /// lists, in ascending order, the lowest 255 of them.
    case opened(presence: [PrintPresence], others: [Digest])
    /// The reader waits for a finger.
    case armed
    /// A finger lies on the reader.
    case fingerSeen
    /// The finger is that of the print at this index of the gallery.
    case matched(index: Int)
    /// The finger is that of no print of the gallery.
    case notMatched
    /// The touch was no try.
    case retry(RetryReason)
    /// An enrollment went on: `done` of at most `of` touches.
    case stage(done: Int, of: Int)
    /// An enrollment is done.
    case enrolled(template: Range<Int>, onReader: Bool)
    /// What was begun is over; whether a finger was seen since the try began.
    case cancelled(fingerSeen: Bool)
    /// The same, from a driver that goes on with what it was asked to end: the helper is of no more use.
    case cancelIgnored(fingerSeen: Bool)
    /// The print is no longer in the reader's memory.
    case deleted
    /// The reader is closed and the helper ends.
    case closed
    /// What was asked cannot be done.
    case failed(ReaderProblem)

    private var kind: UInt8 {
        switch self {
        case .reader: return 65
        case .listed: return 66
        case .opened: return 67
        case .armed: return 68
        case .fingerSeen: return 69
        case .matched: return 70
        case .notMatched: return 71
        case .retry: return 72
        case .stage: return 73
        case .enrolled: return 74
        case .cancelled: return 75
        case .deleted: return 76
        case .closed: return 77
        case .failed: return 78
        case .cancelIgnored: return 79
        }
    }

    /// Writes the message into `packet`; answers its length in bytes.
    ///
    /// A template is read from `source`.
    package func encode(
        templateFrom source: Span<UInt8>, into packet: inout MutableSpan<UInt8>
    ) throws(MessageError) -> Int {
        var writer = SensorPacketWriter(kind: kind, in: &packet)
        switch self {
        case .armed, .fingerSeen, .notMatched, .deleted, .closed: break
        case .reader(let description):
            writer.put(description.identity, to: &packet)
            writer.put(description.place, to: &packet)
            writer.put(.name, description.name, to: &packet)
            writer.put(.stages, description.stages, to: &packet)
            writer.put(.abilities, Abilities(description).rawValue, to: &packet)
        case .listed(let count, let virtualRefused):
            writer.put(.count, UInt8(clamping: count), to: &packet)
            writer.put(.virtualRefused, virtualRefused, to: &packet)
        case .opened(let presence, let others):
            writer.put(.presence, presence.map { $0.rawValue }, to: &packet)
            guard others.count <= Approval.othersLimit else { throw .badValue }
            var bytes: [UInt8] = []
            for digest in others { bytes += digest.bytes }
            writer.put(.others, bytes, to: &packet)
        case .matched(let index):
            guard let index = UInt8(exactly: index) else { throw .badValue }
            writer.put(.index, index, to: &packet)
        case .retry(let reason): writer.put(.reason, reason.rawValue, to: &packet)
        case .stage(let done, let total):
            writer.put(.done, UInt8(clamping: done), to: &packet)
            writer.put(.total, UInt8(clamping: total), to: &packet)
        case .enrolled(let template, let onReader):
            guard template.upperBound <= source.count, template.lowerBound >= 0,
                (1...PrintEntry.templateLimit).contains(template.count)
            else { throw .badValue }
            writer.put(.template, source.extracting(template), to: &packet)
            writer.put(.onReader, onReader, to: &packet)
        case .cancelled(let fingerSeen), .cancelIgnored(let fingerSeen):
            writer.put(.fingerSeen, fingerSeen, to: &packet)
        case .failed(let problem): writer.put(.problem, problem.rawValue, to: &packet)
        }
        return try writer.finish(&packet)
    }

    /// Writes a message without a template into `packet`; answers its length in bytes.
    package func encode(into packet: inout MutableSpan<UInt8>) throws(MessageError) -> Int {
        let none: [UInt8] = []
        return try encode(templateFrom: none.span, into: &packet)
    }

    /// Reads exactly one message.
    package init(decoding packet: Span<UInt8>) throws(MessageError) {
        var reader = try SensorPacketReader(packet)
        switch reader.kind {
        case 65:
            let identity = try reader.reader(from: packet)
            let place = try reader.place(from: packet)
            let name = try reader.text(.name, 0...SensorMessage.nameLimit, from: packet)
            let stages = try reader.byte(.stages, from: packet)
            let abilities = Abilities(rawValue: try reader.byte(.abilities, from: packet))
            guard abilities.isSubset(of: .all) else { throw .badValue }
            self = .reader(abilities.description(identity, place, name: name, stages: stages))
        case 66:
            let count = Int(try reader.byte(.count, from: packet))
            guard count <= SensorMessage.readerLimit else { throw .badValue }
            self = .listed(count: count, virtualRefused: try reader.truth(.virtualRefused, from: packet))
        case 67:
            var presence: [PrintPresence] = []
            for index in try reader.take(.presence, 0...SensorMessage.galleryLimit, from: packet) {
                guard let one = PrintPresence(rawValue: packet[index]) else { throw .badValue }
                presence.append(one)
            }
            self = .opened(presence: presence, others: try reader.digests(.others, from: packet))
        case 68: self = .armed
        case 69: self = .fingerSeen
        case 70:
            let index = Int(try reader.byte(.index, from: packet))
            guard index < SensorMessage.galleryLimit else { throw .badValue }
            self = .matched(index: index)
        case 71: self = .notMatched
        case 72:
            guard let reason = RetryReason(rawValue: try reader.byte(.reason, from: packet)) else { throw .badValue }
            self = .retry(reason)
        case 73:
            let done = Int(try reader.byte(.done, from: packet))
            let total = Int(try reader.byte(.total, from: packet))
            guard done <= total, total > 0 else { throw .badValue }
            self = .stage(done: done, of: total)
        case 74:
            let template = try reader.take(.template, 1...PrintEntry.templateLimit, from: packet)
            self = .enrolled(template: template, onReader: try reader.truth(.onReader, from: packet))
        case 75: self = .cancelled(fingerSeen: try reader.truth(.fingerSeen, from: packet))
        case 76: self = .deleted
        case 77: self = .closed
        case 78:
            guard let problem = ReaderProblem(rawValue: try reader.byte(.problem, from: packet)) else {
                throw .badValue
            }
            self = .failed(problem)
        case 79: self = .cancelIgnored(fingerSeen: try reader.truth(.fingerSeen, from: packet))
        default: throw .unknownKind
        }
        try reader.finish(packet)
    }
}

extension SensorPacketReader {
    /// Takes digests, each greater than the one before it.
    fileprivate mutating func digests(
        _ field: SensorField, from packet: Span<UInt8>
    ) throws(MessageError) -> [Digest] {
        let place = try take(field, 0...Approval.othersLimit * Digest.byteCount, from: packet)
        guard place.count % Digest.byteCount == 0 else { throw .badValue }
        var digests: [Digest] = []
        for start in stride(from: place.lowerBound, to: place.upperBound, by: Digest.byteCount) {
            guard let digest = Digest(packet.extracting(start..<start + Digest.byteCount)) else { throw .badValue }
            if let last = digests.last, digest <= last { throw .badValue }
            digests.append(digest)
        }
        return digests
    }
}

/// What a reader can do, as bits.
private struct Abilities: OptionSet {
    let rawValue: UInt8
    static let swipes = Abilities(rawValue: 1)
    static let identifies = Abilities(rawValue: 2)
    static let storesPrints = Abilities(rawValue: 4)
    static let listsPrints = Abilities(rawValue: 8)
    static let all: Abilities = [.swipes, .identifies, .storesPrints, .listsPrints]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ description: ReaderDescription) {
        self = []
        if description.swipes { insert(.swipes) }
        if description.identifies { insert(.identifies) }
        if description.storesPrints { insert(.storesPrints) }
        if description.listsPrints { insert(.listsPrints) }
    }

    func description(
        _ identity: ReaderIdentity, _ place: ReaderPlace, name: [UInt8], stages: UInt8
    ) -> ReaderDescription {
        ReaderDescription(
            identity: identity, place: place, name: name, stages: stages, swipes: contains(.swipes),
            identifies: contains(.identifies), storesPrints: contains(.storesPrints),
            listsPrints: contains(.listsPrints))
    }
}
