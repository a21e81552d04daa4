package import SignetPolicy

/// What the text of `signet.conf` says: lines of `key = value`, comments that begin with `#`, and blank lines.
///
/// Lines end with LF or CR LF. Any problem makes all of the file unusable: half a policy is not what the administrator
/// meant, so the strictest one rules until the file is mended; only what says where the master key lives is kept.
package struct ConfigurationFile: Equatable, Sendable {
    /// The configuration, or its `madeStrictest` where there is any problem.
    package let configuration: Configuration
    /// All problems in the order of lines, at most `problemLimit`.
    package let problems: [ConfigurationProblem]

    /// The largest file that is read, in bytes.
    package static let sizeLimit = 65_536
    /// The most problems that are listed.
    package static let problemLimit = 50

    /// Reads the file's bytes.
    package init(_ bytes: [UInt8]) {
        var parser = ConfigurationParser()
        if bytes.count > ConfigurationFile.sizeLimit {
            parser.report(column: 1, .tooLarge)
        } else {
            parser.parse(bytes)
        }
        problems = parser.problems
        configuration = parser.problems.isEmpty ? parser.configuration : parser.configuration.madeStrictest
    }
}

private struct ConfigurationParser {
    var configuration = Configuration()
    var problems: [ConfigurationProblem] = []
    private var line = 1
    /// Where each key was set first.
    private var places: [(key: ConfigurationKey, line: Int, column: Int)] = []

    mutating func report(column: Int, _ cause: ConfigurationProblem.Cause) {
        report(line: line, column: column, cause)
    }

    private mutating func report(line: Int, column: Int, _ cause: ConfigurationProblem.Cause) {
        guard problems.count < ConfigurationFile.problemLimit else { return }
        let isLast = problems.count == ConfigurationFile.problemLimit - 1
        problems.append(ConfigurationProblem(line: line, column: column, cause: isLast ? .moreProblems : cause))
    }

    mutating func parse(_ bytes: [UInt8]) {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            var text = rest[..<end]
            if text.last == 0x0D && end < rest.endIndex { text = text.dropLast() }
            parseLine(Array(text))
            rest = rest[end...].dropFirst()
            line += 1
        }
        checkLengths()
    }

    private mutating func parseLine(_ text: [UInt8]) {
        guard isClean(text) else { return }
        guard let start = text.firstIndex(where: { !isBlank($0) }), text[start] != 0x23 else { return }
        guard let equals = text.firstIndex(of: 0x3D) else {
            return report(column: column(of: start, in: text), .missingEqualsSign)
        }
        let name = trimmed(text[..<equals])
        guard !name.isEmpty else { return report(column: column(of: equals, in: text), .missingKey) }
        let nameColumn = column(of: name.startIndex, in: text)
        guard let description = KeyDescription.named(name) else {
            return report(column: nameColumn, .unknownKey(Array(name)))
        }
        if let first = places.first(where: { $0.key == description.key }) {
            return report(column: nameColumn, .duplicateKey(description.key, firstLine: first.line))
        }

        let value = trimmed(text[(equals + 1)...])
        let valueColumn = column(of: value.isEmpty ? equals + 1 : value.startIndex, in: text)
        places.append((description.key, line, valueColumn))
        if let comment = firstComment(in: value) {
            return report(column: column(of: comment, in: text), .commentAfterValue)
        }
        guard let parsed = parseValue(value, as: description.bounds) else {
            return report(column: valueColumn, .badValue(description.key))
        }
        if !configuration.set(description.key, to: parsed) {
            report(column: valueColumn, .outOfBounds(description.key))
        }
    }

    /// Reports the first byte that no text may hold.
    private mutating func isClean(_ text: [UInt8]) -> Bool {
        var index = 0
        while index < text.count {
            guard let (value, length) = UTF8Text.scalar(in: text, at: index) else {
                report(column: column(of: index, in: text), .notUTF8)
                return false
            }
            if (value < 0x20 && value != 0x09) || (0x7F...0x9F).contains(value) {
                report(column: column(of: index, in: text), .controlCharacter)
                return false
            }
            index += length
        }
        return true
    }

    private mutating func checkLengths() {
        guard configuration.pinMaximumLength < configuration.pinMinimumLength else { return }
        let place = places.first { $0.key == .pinMaximumLength } ?? places.first { $0.key == .pinMinimumLength }
        report(line: place?.line ?? 1, column: place?.column ?? 1, .maximumBelowMinimum)
    }

    private func parseValue(_ value: ArraySlice<UInt8>, as bounds: KeyBounds) -> KeyValue? {
        switch bounds {
        case .yesOrNo:
            if value.elementsEqual("yes".utf8) { return .flag(true) }
            if value.elementsEqual("no".utf8) { return .flag(false) }
            return nil
        case .number: return parseNumber(value).map { .number($0) }
        case .sign:
            if value.elementsEqual("none".utf8) { return .sign(nil) }
            return value.count == 1 ? value.first.map { .sign($0) } : nil
        case .readers:
            for readers in AllowedReaders.allCases where value.elementsEqual(readers.word.utf8) {
                return .readers(readers)
            }
            return nil
        case .matchOnChip:
            for rule in MatchOnChip.allCases where value.elementsEqual(rule.word.utf8) { return .matchOnChip(rule) }
            return nil
        case .foreignPrints:
            for rule in ForeignPrintRule.allCases where value.elementsEqual(rule.word.utf8) {
                return .foreignPrints(rule)
            }
            return nil
        case .source:
            for source in EnrollmentSource.allCases where value.elementsEqual(source.word.utf8) {
                return .source(source)
            }
            return nil
        case .path:
            if value.isEmpty { return .path(nil) }
            return isSafePath(value) ? .path(Array(value)) : nil
        case .preference:
            for preference in EnclavePreference.allCases where value.elementsEqual(preference.word.utf8) {
                return .preference(preference)
            }
            return nil
        case .connection: return TPMConnection.isPermitted(value) ? .connection(Array(value)) : nil
        }
    }

    /// Decimal digits without a leading zero, which elsewhere means octal; what is too long for any bound is clamped.
    private func parseNumber(_ value: ArraySlice<UInt8>) -> Int? {
        guard let first = value.first, first != 0x30 || value.count == 1 else { return nil }
        var number = 0
        for byte in value {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            number = min(number * 10 + Int(byte - 0x30), 1_000_000)
        }
        return number
    }

    /// Absolute, below PATH_MAX, and without empty, `.` or `..` parts, so that its text names one place.
    private func isSafePath(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.first == 0x2F, value.count > 1, value.count < 4096 else { return false }
        for part in value.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
        where part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
            return false
        }
        return true
    }

    /// A `#` after a blank.
    private func firstComment(in value: ArraySlice<UInt8>) -> Int? {
        var afterBlank = true
        for index in value.indices {
            if value[index] == 0x23 && afterBlank { return index }
            afterBlank = isBlank(value[index])
        }
        return nil
    }

    private func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var result = text
        while let first = result.first, isBlank(first) { result = result.dropFirst() }
        while let last = result.last, isBlank(last) { result = result.dropLast() }
        return result
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The column in characters: continuation bytes of UTF-8 do not count.
    private func column(of index: Int, in text: [UInt8]) -> Int {
        var column = 1
        for position in 0..<min(index, text.count) where text[position] & 0xC0 != 0x80 { column += 1 }
        return column
    }
}
