internal import SignetPolicy

// The messages between Signet and its reader helper, in the layout of `PacketCodec.swift`.

/// The numbers of the format.
package enum SensorMessage {
    /// The version of the format; both sides are installed together, so another one is always an error.
    package static let version: UInt8 = 1
    /// The longest packet in bytes: the longest template, and room for all other fields of its message.
    package static let packetLimit = PrintEntry.templateLimit + 1024

    /// The longest driver name in bytes.
    package static let driverLimit = 64
    /// The longest device id in bytes.
    package static let deviceLimit = 128
    /// The longest name of a reader for people in bytes.
    package static let nameLimit = 128
    /// The longest user name in bytes (LOGIN_NAME_MAX of Linux, less its zero).
    package static let userNameLimit = 255
    /// The most prints that a gallery holds.
    package static let galleryLimit = 64
    /// The most readers that are listed.
    package static let readerLimit = 16
}

/// What a field holds.
enum SensorField: UInt8 {
    case driver = 1
    case device = 2
    case name = 3
    case stages = 4
    case abilities = 5
    case template = 6
    case finger = 7
    case userName = 8
    case day = 9
    case index = 10
    case presence = 11
    case others = 12
    case reason = 13
    case done = 14
    case total = 15
    case fingerSeen = 16
    case onReader = 17
    case problem = 18
    case count = 19
    case virtualRefused = 20
    case bus = 21
    case attachment = 22
    case path = 23
}

extension SensorMessage: MessageFormat {
    typealias Field = SensorField
}

typealias SensorPacketWriter = PacketWriter<SensorMessage>
typealias SensorPacketReader = PacketReader<SensorMessage>

extension SensorPacketWriter {
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
}

extension SensorPacketReader {
    /// Takes driver and device id.
    mutating func reader(from packet: Span<UInt8>) throws(MessageError) -> ReaderIdentity {
        let driver = try text(.driver, 1...SensorMessage.driverLimit, from: packet)
        let device = try text(.device, 0...SensorMessage.deviceLimit, from: packet)
        return ReaderIdentity(driver: driver, device: device)
    }

    /// Takes where a reader is.
    mutating func place(from packet: Span<UInt8>) throws(MessageError) -> ReaderPlace {
        guard let bus = ReaderBus(rawValue: try byte(.bus, from: packet)),
            let attachment = PortAttachment(rawValue: try byte(.attachment, from: packet))
        else { throw .badValue }
        let path = try text(.path, 0...ReaderPlace.pathLimit, from: packet)
        return ReaderPlace(bus: bus, attachment: attachment, path: path)
    }
}
