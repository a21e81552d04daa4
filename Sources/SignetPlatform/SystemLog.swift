internal import CPlatform
internal import SignetPolicy

/// The system's log, by one datagram of our own for each line.
///
/// syslog(3) is not used: it keeps its socket, its identifier and its facility for the whole process, which is the
/// caller's (sudo, login), who may use it too. Here the socket lives for one line, close-on-exec and without SIGPIPE, and
/// nothing stays behind. The line bears no time: the receiver takes its own, and no TZ of the caller's is consulted.
package enum SystemLog {
    /// Where syslog daemons and journald listen (syslog(3), systemd-journald.socket(8)).
    package static var standardPath: [UInt8] { Array("/dev/log".utf8) }

    /// The severities of RFC 5424 that are used.
    package enum Severity: UInt8, Equatable, Sendable {
        case warning = 4
        case notice = 5
        case info = 6
    }

    /// LOG_AUTHPRIV: facility 10 of RFC 5424, which syslog daemons keep from ordinary users.
    private static let facility: UInt8 = 10
    /// The longest line that is sent, in bytes; RFC 5424 asks receivers for 2048.
    package static let lineLimit = 1800
    /// The most bytes that usually come before the line.
    private static let headLimit = 64
    /// How long a full queue is waited for, in milliseconds.
    ///
    /// Who fills it could make us wait for each line, and must not make us hang.
    private static let patience: Int32 = 200

    /// Sends one line; false where nobody took it.
    ///
    /// `identifier` is the program's name.
    @discardableResult
    package static func send(
        _ line: [UInt8], severity: Severity, identifier: StaticString, to path: [UInt8] = standardPath
    ) -> Bool {
        let packet = packet(line, severity: severity, identifier: identifier, process: getpid())
        let name = path.map { CChar(bitPattern: $0) } + [0]
        // SAFETY: both live through the call; the name is terminated and the packet's own length is passed.
        return unsafe packet.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return unsafe signet_log_send(name, base, bytes.count, patience) == 0
        }
    }

    /// `<85>pam_signet[4711]: line`, in which no byte can begin a second line.
    static func packet(_ line: [UInt8], severity: Severity, identifier: StaticString, process: Int32) -> [UInt8] {
        var packet: [UInt8] = []
        packet.reserveCapacity(line.count + headLimit)
        packet.append("<")
        packet.append(decimal: Int64(facility * 8 + severity.rawValue))
        packet.append(">")
        packet.append(identifier)
        packet.append("[")
        packet.append(decimal: Int64(process))
        packet.append("]: ")
        let start = packet.count
        packet += line.prefix(lineLimit)
        for index in start..<packet.count where packet[index] < 0x20 || packet[index] == 0x7F {
            packet[index] = UInt8(ascii: "?")
        }
        return packet
    }
}
