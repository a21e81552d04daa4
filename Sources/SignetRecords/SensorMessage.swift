// The messages between Signet and its reader helper, one packet each on a SOCK_SEQPACKET socket:
//
//     version (1 byte) · kind (1) · length of what follows (4, little endian) · fields
//     field: tag (1) · length (2, little endian) · bytes
//
// The fields of a kind stand in one fixed order, each exactly once, so that a message has exactly one encoding. All
// else (another version, an unknown kind, a field too many or too few, a value out of its range, a byte left over) is
// an error, and an error ends the helper: there is no message that is half understood.

/// The numbers of the format.
package enum SensorMessage {
    /// The version of the format; both sides are installed together, so another one is always an error.
    package static let version: UInt8 = 1
    /// Version, kind and length.
    package static let headerCount = 6
    /// Tag and length of a field.
    package static let fieldHeaderCount = 3
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

/// Why a packet is no message, or a message fits no packet.
package enum SensorMessageError: Error, Equatable, Sendable {
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
    case foreignPrints = 12
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
