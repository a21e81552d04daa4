// The layout that the messages of all helpers share, one packet each on a SOCK_SEQPACKET socket:
//
//     version (1 byte) · kind (1) · length of what follows (4, little endian) · fields
//     field: tag (1) · length (2, little endian) · bytes
//
// The fields of a kind stand in one fixed order, each exactly once, so that a message has exactly one encoding. All
// else (another version, an unknown kind, a field too many or too few, a value out of its range, a byte left over) is
// an error, and an error ends the helper: there is no message that is half understood.

/// The messages of one helper.
protocol MessageFormat {
    /// What a field holds; the raw value is its tag.
    associatedtype Field: RawRepresentable<UInt8>
    static var version: UInt8 { get }
    /// The longest packet in bytes.
    static var packetLimit: Int { get }
}

/// Why a packet is no message, or a message fits no packet.
package enum MessageError: Error, Equatable, Sendable {
    /// The packet ends within its header, or a field within its bytes.
    case truncated
    /// The version is not ours.
    case wrongVersion
    /// There is no such kind of message in this direction.
    case unknownKind
    /// The length of the header is not that of what follows.
    case wrongLength
    /// A field that does not belong here, or not yet.
    case unexpectedField
    /// A field's length or value is out of its range.
    case badValue
    /// Bytes are left over after the last field.
    case trailingBytes
    /// The message is longer than the packet may be.
    case tooLong
}

/// The numbers of the layout.
enum PacketLayout {
    /// Version, kind and length.
    static let headerCount = 6
    /// Tag and length of a field.
    static let fieldHeaderCount = 3
}

/// Writes one message into memory of the caller, so that a secret is never copied into memory that is not wiped.
struct PacketWriter<Format: MessageFormat> {
    /// Where the next byte goes.
    private var end = PacketLayout.headerCount
    private var fits: Bool

    /// Starts a message of `kind`.
    init(kind: UInt8, in packet: inout MutableSpan<UInt8>) {
        fits = packet.count >= PacketLayout.headerCount
        guard fits else { return }
        packet[0] = Format.version
        packet[1] = kind
    }

    private mutating func append(_ byte: UInt8, to packet: inout MutableSpan<UInt8>) {
        guard fits, end < packet.count, end < Format.packetLimit else {
            fits = false
            return
        }
        packet[end] = byte
        end += 1
    }

    /// Appends a field of raw bytes.
    mutating func put(_ field: Format.Field, _ bytes: Span<UInt8>, to packet: inout MutableSpan<UInt8>) {
        guard bytes.count <= Int(UInt16.max) else {
            fits = false
            return
        }
        append(field.rawValue, to: &packet)
        append(UInt8(truncatingIfNeeded: bytes.count), to: &packet)
        append(UInt8(truncatingIfNeeded: bytes.count >> 8), to: &packet)
        for index in 0..<bytes.count { append(bytes[index], to: &packet) }
    }

    /// Appends a field of raw bytes that are no secret.
    mutating func put(_ field: Format.Field, _ bytes: [UInt8], to packet: inout MutableSpan<UInt8>) {
        put(field, bytes.span, to: &packet)
    }

    /// Appends a number of one byte.
    mutating func put(_ field: Format.Field, _ value: UInt8, to packet: inout MutableSpan<UInt8>) {
        put(field, [value], to: &packet)
    }

    /// Appends a truth.
    mutating func put(_ field: Format.Field, _ value: Bool, to packet: inout MutableSpan<UInt8>) {
        put(field, value ? 1 as UInt8 : 0, to: &packet)
    }

    /// Appends a number of four bytes, little endian.
    mutating func put(_ field: Format.Field, _ value: UInt32, to packet: inout MutableSpan<UInt8>) {
        put(field, (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }, to: &packet)
    }

    /// Appends a number of eight bytes, little endian.
    mutating func put(_ field: Format.Field, _ value: UInt64, to packet: inout MutableSpan<UInt8>) {
        put(field, (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }, to: &packet)
    }

    /// Writes the length into the header; answers the length of the whole packet.
    func finish(_ packet: inout MutableSpan<UInt8>) throws(MessageError) -> Int {
        guard fits else { throw .tooLong }
        let length = end - PacketLayout.headerCount
        for index in 0..<4 { packet[2 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        return end
    }
}

/// Reads one message with checked steps only.
struct PacketReader<Format: MessageFormat> {
    /// The kind of message, not yet known to exist.
    let kind: UInt8
    private var position = PacketLayout.headerCount

    /// Checks the header.
    init(_ packet: Span<UInt8>) throws(MessageError) {
        guard packet.count >= PacketLayout.headerCount else { throw .truncated }
        guard packet.count <= Format.packetLimit else { throw .tooLong }
        guard packet[0] == Format.version else { throw .wrongVersion }
        kind = packet[1]
        var length = 0
        for index in 0..<4 { length |= Int(packet[2 + index]) << (8 * index) }
        guard length == packet.count - PacketLayout.headerCount else { throw .wrongLength }
    }

    /// Takes the next field, which must be `field` with a length within `lengths`; answers where its bytes lie.
    mutating func take(
        _ field: Format.Field, _ lengths: ClosedRange<Int>, from packet: Span<UInt8>
    ) throws(MessageError) -> Range<Int> {
        guard packet.count - position >= PacketLayout.fieldHeaderCount else { throw .truncated }
        guard packet[position] == field.rawValue else { throw .unexpectedField }
        let length = Int(packet[position + 1]) | Int(packet[position + 2]) << 8
        let start = position + PacketLayout.fieldHeaderCount
        guard length <= packet.count - start else { throw .truncated }
        guard lengths.contains(length) else { throw .badValue }
        position = start + length
        return start..<position
    }

    /// Takes bytes that are no secret.
    mutating func bytes(
        _ field: Format.Field, _ lengths: ClosedRange<Int>, from packet: Span<UInt8>
    ) throws(MessageError) -> [UInt8] {
        let range = try take(field, lengths, from: packet)
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        for index in range { result.append(packet[index]) }
        return result
    }

    /// Takes bytes that hold no zero, which would end a C string early.
    mutating func text(
        _ field: Format.Field, _ lengths: ClosedRange<Int>, from packet: Span<UInt8>
    ) throws(MessageError) -> [UInt8] {
        let result = try bytes(field, lengths, from: packet)
        for byte in result where byte == 0 { throw .badValue }
        return result
    }

    /// Takes a number of one byte.
    mutating func byte(_ field: Format.Field, from packet: Span<UInt8>) throws(MessageError) -> UInt8 {
        packet[try take(field, 1...1, from: packet).lowerBound]
    }

    /// Takes a truth, which is 0 or 1.
    mutating func truth(_ field: Format.Field, from packet: Span<UInt8>) throws(MessageError) -> Bool {
        switch try byte(field, from: packet) {
        case 0: return false
        case 1: return true
        default: throw .badValue
        }
    }

    /// Takes a number of four bytes, little endian.
    mutating func word(_ field: Format.Field, from packet: Span<UInt8>) throws(MessageError) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(field, ofBytes: 4, from: packet))
    }

    /// Takes a number of eight bytes, little endian.
    mutating func doubleWord(_ field: Format.Field, from packet: Span<UInt8>) throws(MessageError) -> UInt64 {
        try number(field, ofBytes: 8, from: packet)
    }

    private mutating func number(
        _ field: Format.Field, ofBytes count: Int, from packet: Span<UInt8>
    ) throws(MessageError) -> UInt64 {
        let range = try take(field, count...count, from: packet)
        var value: UInt64 = 0
        for index in range.reversed() { value = value << 8 | UInt64(packet[index]) }
        return value
    }

    /// Refuses bytes after the last field.
    func finish(_ packet: Span<UInt8>) throws(MessageError) {
        guard position == packet.count else { throw .trailingBytes }
    }
}
