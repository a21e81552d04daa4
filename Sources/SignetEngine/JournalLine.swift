internal import SignetPolicy

/// One line of the journal: `key=value` pairs with stable names, ASCII, no secret.
///
/// A value with anything but letters, digits and `._/:@%+-` in it stands in double quotes, where `"`, `\` and every
/// byte that is not printable ASCII are `\xHH`: no value can end its quotes, its line, or be taken for another key.
package struct JournalLine {
    /// The longest line in bytes; RFC 5424 asks receivers to take 2,048.
    package static let lengthLimit = 1_200

    /// How long a value from outside gets in the line, in bytes; what is cut ends in "...".
    private static let valueLimit = 160

    /// What most lines have room in, so that no bytes are copied as they grow: somebody waits for the line of a touch.
    private static let usualLength = 512

    private var text: [UInt8] = []

    /// The bytes of the line for `event`, without a line's end.
    package static func render(_ event: JournalEvent, context: JournalContext) -> [UInt8] {
        var line = JournalLine()
        line.text.reserveCapacity(usualLength)
        line.add(event)
        line.add("service", value: context.service)
        // Whoever types a password in the name's place must not find it in the journal.
        if !context.userIsKnown || event.concernsUnknownUser {
            line.add("user", "unknown")
        } else {
            line.add("user", value: context.user)
        }
        line.add("ruid", number: Int(clamping: context.realUID))
        line.add("tty", value: context.terminal)
        line.add("rhost", value: context.remoteHost)
        if context.usesStandInReader { line.add("reader", value: Array("stand-in reader".utf8)) }
        if context.usesStandInTPM { line.add("tpm", value: Array("stand-in TPM".utf8)) }
        return line.text
    }

    /// A pair whose value is one of our own words.
    mutating func add(_ key: StaticString, _ word: StaticString) {
        begin(key)
        text.append(word)
    }

    mutating func add(_ key: StaticString, number: Int) {
        begin(key)
        text.append(decimal: Int64(number))
    }

    /// A pair whose value comes from outside.
    mutating func add(_ key: StaticString, value: [UInt8]) {
        begin(key)
        if !value.isEmpty && value.count <= JournalLine.valueLimit && value.allSatisfy(JournalLine.isPlain) {
            text.append(contentsOf: value)
            return
        }
        text.append(0x22)
        let end = text.count + JournalLine.valueLimit
        for byte in value {
            let isShown = byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
            guard text.count + (isShown ? 1 : 4) <= end else {
                text.append("...")
                break
            }
            if isShown {
                text.append(byte)
            } else {
                text.append(contentsOf: [0x5C, 0x78, JournalLine.hexDigit(byte >> 4), JournalLine.hexDigit(byte & 15)])
            }
        }
        text.append(0x22)
    }

    private mutating func begin(_ key: StaticString) {
        if !text.isEmpty { text.append(0x20) }
        text.append(key)
        text.append(0x3D)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x25, 0x2B, 0x2D...0x3A, 0x40...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}

extension JournalEvent {
    /// Whether the name in the context belongs to nobody.
    fileprivate var concernsUnknownUser: Bool {
        if case .authentication(.refused(.unknownUser), _) = self { return true }
        return false
    }
}
