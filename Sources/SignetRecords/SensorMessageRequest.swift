package import SignetPolicy

/// What Signet asks of the reader helper.
///
/// A template is never part of the value: the case holds where it lies, in the packet that was decoded or in the bytes
/// that `encode` is given.
package enum SensorRequest: Equatable, Sendable {
    /// Tell all readers: answered by `reader` for each and `listed`.
    case list
    /// Start to open a reader with an empty gallery; not answered.
    ///
    /// `path` is that of its place, for two readers may be of one identity; empty takes the first of them.
    case begin(ReaderIdentity, path: [UInt8])
    /// Append a print to the gallery; not answered.
    case galleryPrint(template: Range<Int>)
    /// Open the reader: answered by `reader` and `opened`, or `failed`.
    case open
    /// Wait for a finger: answered by `armed`, and then by exactly one of `matched`, `notMatched`, `retry`,
    /// `cancelled`, `cancelIgnored` and `failed`, with `fingerSeen` before it where a finger was seen.
    case arm
    /// End what `arm` or `enroll` began: answered by `cancelled` or `cancelIgnored` unless another ending was already on its way.
    case cancel
    /// Enroll a finger: answered by `stage` and `retry` any number of times, then `enrolled`, `cancelled` or `failed`.
    /// The day is the number of days since 1970-01-01.
    case enroll(Finger, userName: [UInt8], day: UInt32)
    /// Delete a print of the gallery from the reader's memory: answered by `deleted` or `failed`.
    case delete(index: Int)
    /// Close the reader and end: answered by `closed`.
    case close

    private var kind: UInt8 {
        switch self {
        case .list: return 1
        case .begin: return 2
        case .galleryPrint: return 3
        case .open: return 4
        case .arm: return 5
        case .cancel: return 6
        case .enroll: return 7
        case .delete: return 8
        case .close: return 9
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
        case .list, .open, .arm, .cancel, .close: break
        case .begin(let reader, let path):
            writer.put(reader, to: &packet)
            writer.put(.path, path, to: &packet)
        case .galleryPrint(let template):
            guard template.upperBound <= source.count, template.lowerBound >= 0,
                (1...PrintEntry.templateLimit).contains(template.count)
            else { throw .badValue }
            writer.put(.template, source.extracting(template), to: &packet)
        case .enroll(let finger, let userName, let day):
            writer.put(.finger, finger.number, to: &packet)
            writer.put(.userName, userName, to: &packet)
            writer.put(.day, day, to: &packet)
        case .delete(let index):
            guard let index = UInt8(exactly: index) else { throw .badValue }
            writer.put(.index, index, to: &packet)
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
        case 1: self = .list
        case 2:
            let identity = try reader.reader(from: packet)
            self = .begin(identity, path: try reader.text(.path, 0...ReaderPlace.pathLimit, from: packet))
        case 3: self = .galleryPrint(template: try reader.take(.template, 1...PrintEntry.templateLimit, from: packet))
        case 4: self = .open
        case 5: self = .arm
        case 6: self = .cancel
        case 7:
            guard let finger = Finger(number: try reader.byte(.finger, from: packet)) else { throw .badValue }
            let userName = try reader.text(.userName, 1...SensorMessage.userNameLimit, from: packet)
            self = .enroll(finger, userName: userName, day: try reader.word(.day, from: packet))
        case 8:
            let index = Int(try reader.byte(.index, from: packet))
            guard index < SensorMessage.galleryLimit else { throw .badValue }
            self = .delete(index: index)
        case 9: self = .close
        default: throw .unknownKind
        }
        try reader.finish(packet)
    }
}
