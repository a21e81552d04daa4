/// What a line of a PAM service file is about.
package enum PAMType: UInt8, Equatable, Sendable, CaseIterable {
    case auth
    case account
    case password
    case session

    package var name: String {
        switch self {
        case .auth: "auth"
        case .account: "account"
        case .password: "password"
        case .session: "session"
        }
    }
}

/// One line that calls a module.
package struct PAMModuleLine: Equatable, Sendable {
    package let type: PAMType
    /// Whether the type has a `-` before it: a module that is not there is not logged, and fails all the same.
    package let quiet: Bool
    package let control: PAMControl
    /// The control as written, brackets included.
    package let controlText: [UInt8]
    /// As written: a name, or a path.
    package let module: [UInt8]
    package let arguments: [[UInt8]]

    package init(
        type: PAMType, quiet: Bool, control: PAMControl, controlText: [UInt8], module: [UInt8], arguments: [[UInt8]]
    ) {
        self.type = type
        self.quiet = quiet
        self.control = control
        self.controlText = controlText
        self.module = module
        self.arguments = arguments
    }

    /// The module's name without folders: `pam_unix.so`.
    package var name: ArraySlice<UInt8> {
        guard let slash = module.lastIndex(of: UInt8(ascii: "/")) else { return module[...] }
        return module[(slash + 1)...]
    }
}

/// What a line of a PAM service file says.
package enum PAMDirective: Equatable, Sendable {
    case module(PAMModuleLine)
    /// `TYPE include NAME`.
    case include(PAMType, name: [UInt8])
    /// `TYPE substack NAME`.
    case substack(PAMType, name: [UInt8])
    /// `@include NAME`, Debian's form: all types at once.
    case includeAll(name: [UInt8])
    /// A comment or an empty line.
    case nothing
}

/// A line, joined where it was continued, with the text as it stands in the file.
package struct PAMStatement: Equatable, Sendable {
    package let directive: PAMDirective
    /// The first of its lines, from 1.
    package let line: Int
    /// The bytes as they are in the file, line ends included.
    package let text: [UInt8]
}

/// Why a service file is not understood; libpam would fail at such a line or read something else into it.
package struct PAMFileFault: Error, Equatable, Sendable {
    package enum Reason: UInt8, Equatable, Sendable {
        case tooLarge
        case notText
        case unknownType
        case controlMissing
        case unknownControl
        case bracketOpen
        case moduleMissing
        case tooManyArguments
        case nameMissing
    }
    package let reason: Reason
    /// From 1.
    package let line: Int
}

/// A file of /etc/pam.d, read by the rules of pam.conf(5).
package struct PAMFile: Equatable, Sendable {
    package let statements: [PAMStatement]

    /// The largest file accepted, in bytes; Debian's longest has 4 kB.
    package static let byteLimit = 65_536
    /// The most arguments of one module.
    package static let argumentLimit = 64

    /// Reads a whole file; refuses it at the first line that is not understood.
    package init(parsing bytes: [UInt8]) throws(PAMFileFault) {
        guard bytes.count <= PAMFile.byteLimit else { throw PAMFileFault(reason: .tooLarge, line: 1) }
        var found: [PAMStatement] = []
        var reader = PAMLineReader(bytes)
        while let joined = reader.next() {
            let directive = try PAMFile.directive(of: joined.content, at: joined.line)
            found.append(PAMStatement(directive: directive, line: joined.line, text: joined.text))
        }
        statements = found
    }

    private static func directive(of content: [UInt8], at line: Int) throws(PAMFileFault) -> PAMDirective {
        for byte in content where byte == 0 || byte == 0x7F || (byte < 0x20 && byte != 0x09) {
            throw PAMFileFault(reason: .notText, line: line)
        }
        let words = try tokens(of: content, at: line)
        guard let first = words.first else { return .nothing }
        if first.isText("@include") {
            guard words.count == 2 else { throw PAMFileFault(reason: .nameMissing, line: line) }
            return .includeAll(name: words[1])
        }
        let quiet = first.first == UInt8(ascii: "-")
        guard let type = type(named: quiet ? Array(first.dropFirst()) : first) else {
            throw PAMFileFault(reason: .unknownType, line: line)
        }
        guard words.count > 1 else { throw PAMFileFault(reason: .controlMissing, line: line) }
        let isInclude = words[1].isText("include", ignoringCase: true)
        if isInclude || words[1].isText("substack", ignoringCase: true) {
            guard words.count == 3 else { throw PAMFileFault(reason: .nameMissing, line: line) }
            return isInclude ? .include(type, name: words[2]) : .substack(type, name: words[2])
        }
        guard let control = PAMControl(words[1]) else { throw PAMFileFault(reason: .unknownControl, line: line) }
        guard words.count > 2 else { throw PAMFileFault(reason: .moduleMissing, line: line) }
        guard words.count - 3 <= argumentLimit else { throw PAMFileFault(reason: .tooManyArguments, line: line) }
        return .module(
            PAMModuleLine(
                type: type, quiet: quiet, control: control, controlText: words[1], module: words[2],
                arguments: Array(words.dropFirst(3))))
    }

    private static func type(named name: [UInt8]) -> PAMType? {
        for type in PAMType.allCases where name.isText(type.name, ignoringCase: true) { return type }
        return nil
    }

    /// Splits at blanks; `[…]` is one token, and `\]` in it stands for a bracket.
    private static func tokens(of content: [UInt8], at line: Int) throws(PAMFileFault) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var word: [UInt8] = []
        var inBrackets = false
        var escaped = false
        var hasWord = false
        for byte in content {
            if inBrackets {
                if byte == UInt8(ascii: "]"), !escaped {
                    // The control list keeps its brackets, so that it is told from a plain word.
                    if found.count == 1 { word.append(byte) }
                    found.append(word)
                    word = []
                    hasWord = false
                    inBrackets = false
                } else if byte == UInt8(ascii: "\\"), !escaped {
                    escaped = true
                    continue
                } else {
                    if escaped, byte != UInt8(ascii: "]") { word.append(UInt8(ascii: "\\")) }
                    word.append(byte)
                }
                escaped = false
            } else if byte == UInt8(ascii: "["), !hasWord {
                inBrackets = true
                hasWord = true
                if found.count == 1 { word.append(byte) }
            } else if byte == 0x20 || byte == 0x09 {
                if hasWord { found.append(word) }
                word = []
                hasWord = false
            } else {
                word.append(byte)
                hasWord = true
            }
        }
        guard !inBrackets else { throw PAMFileFault(reason: .bracketOpen, line: line) }
        if hasWord { found.append(word) }
        return found
    }
}

/// Joins continued lines and takes comments away, as libpam does before it looks at words.
private struct PAMLineReader {
    struct Joined {
        let content: [UInt8]
        let line: Int
        let text: [UInt8]
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> Joined? {
        guard position < bytes.count else { return nil }
        let firstLine = line
        let start = position
        var content: [UInt8] = []
        var continues = true
        while continues, position < bytes.count {
            continues = false
            var end = position
            while end < bytes.count, bytes[end] != 0x0A { end += 1 }
            var part = bytes[position..<end]
            // A '#' ends the line wherever it stands, in brackets too; a backslash in a comment continues nothing.
            if let comment = part.firstIndex(of: UInt8(ascii: "#")) {
                part = part[..<comment]
            } else if part.last == UInt8(ascii: "\\") {
                part = part.dropLast()
                continues = true
            }
            content.append(contentsOf: part)
            if continues { content.append(0x20) }
            position = end < bytes.count ? end + 1 : end
            line += 1
        }
        return Joined(content: content, line: firstLine, text: Array(bytes[start..<position]))
    }
}

extension Collection where Element == UInt8 {
    /// Whether these bytes are exactly this ASCII text.
    package func isText(_ text: String, ignoringCase: Bool = false) -> Bool {
        var index = startIndex
        for expected in text.utf8 {
            guard index < endIndex else { return false }
            var byte = self[index]
            if ignoringCase, byte >= 0x41, byte <= 0x5A { byte |= 0x20 }
            guard byte == expected else { return false }
            index = self.index(after: index)
        }
        return index == endIndex
    }

    /// Whether these bytes begin with this ASCII text.
    package func startsWith(_ text: String) -> Bool {
        var index = startIndex
        for expected in text.utf8 {
            guard index < endIndex, self[index] == expected else { return false }
            index = self.index(after: index)
        }
        return true
    }
}
