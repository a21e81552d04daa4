internal import SignetPolicy

/// Writes one message into memory of the caller, so that a template is never copied into memory that is not wiped.
struct SensorPacketWriter {
    /// Where the next byte goes.
    private var end = SensorMessage.headerCount
    private var fits: Bool

    /// Starts a message of `kind`.
    init(kind: UInt8, in packet: inout MutableSpan<UInt8>) {
        fits = packet.count >= SensorMessage.headerCount
        guard fits else { return }
        packet[0] = SensorMessage.version
        packet[1] = kind
    }

    private mutating func append(_ byte: UInt8, to packet: inout MutableSpan<UInt8>) {
        guard fits, end < packet.count, end < SensorMessage.packetLimit else {
            fits = false
            return
        }
        packet[end] = byte
        end += 1
    }

    /// Appends a field of raw bytes.
    mutating func put(_ field: SensorField, _ bytes: Span<UInt8>, to packet: inout MutableSpan<UInt8>) {
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
    mutating func put(_ field: SensorField, _ bytes: [UInt8], to packet: inout MutableSpan<UInt8>) {
        put(field, bytes.span, to: &packet)
    }

    /// Appends a number of one byte.
    mutating func put(_ field: SensorField, _ value: UInt8, to packet: inout MutableSpan<UInt8>) {
        put(field, [value], to: &packet)
    }

    /// Appends a truth.
    mutating func put(_ field: SensorField, _ value: Bool, to packet: inout MutableSpan<UInt8>) {
        put(field, value ? 1 as UInt8 : 0, to: &packet)
    }

    /// Appends a number of four bytes, little endian.
    mutating func put(_ field: SensorField, _ value: UInt32, to packet: inout MutableSpan<UInt8>) {
        put(field, (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }, to: &packet)
    }

    /// Appends driver and device id.
    mutating func put(_ reader: ReaderIdentity, to packet: inout MutableSpan<UInt8>) {
        put(.driver, reader.driver, to: &packet)
        put(.device, reader.device, to: &packet)
    }

    /// Appends where a reader is.
    mutating func put(_ place: ReaderPlace, to packet: inout MutableSpan<UInt8>) {
        put(.bus, place.bus.rawValue, to: &packet)
        put(.attachment, place.attachment.rawValue, to: &packet)
        put(.path, place.path, to: &packet)
    }

    /// Writes the length into the header; answers the length of the whole packet.
    func finish(_ packet: inout MutableSpan<UInt8>) throws(SensorMessageError) -> Int {
        guard fits else { throw .tooLong }
        let length = end - SensorMessage.headerCount
        for index in 0..<4 { packet[2 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        return end
    }
}

/// Reads one message with checked steps only.
struct SensorPacketReader {
    /// The kind of message, not yet known to exist.
    let kind: UInt8
    private var position = SensorMessage.headerCount

    /// Checks the header.
    init(_ packet: Span<UInt8>) throws(SensorMessageError) {
        guard packet.count >= SensorMessage.headerCount else { throw .truncated }
        guard packet.count <= SensorMessage.packetLimit else { throw .tooLong }
        guard packet[0] == SensorMessage.version else { throw .wrongVersion }
        kind = packet[1]
        var length = 0
        for index in 0..<4 { length |= Int(packet[2 + index]) << (8 * index) }
        guard length == packet.count - SensorMessage.headerCount else { throw .wrongLength }
    }

    /// Takes the next field, which must be `field` with a length within `lengths`; answers where its bytes lie.
    mutating func take(
        _ field: SensorField, _ lengths: ClosedRange<Int>, from packet: Span<UInt8>
    ) throws(SensorMessageError) -> Range<Int> {
        guard packet.count - position >= SensorMessage.fieldHeaderCount else { throw .truncated }
        guard packet[position] == field.rawValue else { throw .unexpectedField }
        let length = Int(packet[position + 1]) | Int(packet[position + 2]) << 8
        let start = position + SensorMessage.fieldHeaderCount
        guard length <= packet.count - start else { throw .truncated }
        guard lengths.contains(length) else { throw .badValue }
        position = start + length
        return start..<position
    }

    /// Takes bytes that are no secret and hold no zero, which would end a C string early.
    mutating func bytes(
        _ field: SensorField, _ lengths: ClosedRange<Int>, from packet: Span<UInt8>
    ) throws(SensorMessageError) -> [UInt8] {
        let range = try take(field, lengths, from: packet)
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        for index in range {
            guard packet[index] != 0 else { throw .badValue }
            result.append(packet[index])
        }
        return result
    }

    /// Takes a number of one byte.
    mutating func byte(_ field: SensorField, from packet: Span<UInt8>) throws(SensorMessageError) -> UInt8 {
        packet[try take(field, 1...1, from: packet).lowerBound]
    }

    /// Takes a truth, which is 0 or 1.
    mutating func truth(_ field: SensorField, from packet: Span<UInt8>) throws(SensorMessageError) -> Bool {
        switch try byte(field, from: packet) {
        case 0: return false
        case 1: return true
        default: throw .badValue
        }
    }

    /// Takes a number of four bytes, little endian.
    mutating func word(_ field: SensorField, from packet: Span<UInt8>) throws(SensorMessageError) -> UInt32 {
        let range = try take(field, 4...4, from: packet)
        var value: UInt32 = 0
        for index in range.reversed() { value = value << 8 | UInt32(packet[index]) }
        return value
    }

    /// Takes driver and device id.
    mutating func reader(from packet: Span<UInt8>) throws(SensorMessageError) -> ReaderIdentity {
        let driver = try bytes(.driver, 1...SensorMessage.driverLimit, from: packet)
        let device = try bytes(.device, 0...SensorMessage.deviceLimit, from: packet)
        return ReaderIdentity(driver: driver, device: device)
    }

    /// Takes where a reader is.
    mutating func place(from packet: Span<UInt8>) throws(SensorMessageError) -> ReaderPlace {
        guard let bus = ReaderBus(rawValue: try byte(.bus, from: packet)),
            let attachment = PortAttachment(rawValue: try byte(.attachment, from: packet))
        else { throw .badValue }
        let path = try bytes(.path, 0...ReaderPlace.pathLimit, from: packet)
        return ReaderPlace(bus: bus, attachment: attachment, path: path)
    }

    /// Refuses bytes after the last field.
    func finish(_ packet: Span<UInt8>) throws(SensorMessageError) {
        guard position == packet.count else { throw .trailingBytes }
    }
}
