package import SignetPolicy

/// Something in the configuration file that makes all of it unusable.
package struct ConfigurationProblem: Equatable, Sendable {
    /// What is the matter.
    package enum Cause: Equatable, Sendable {
        /// More than `ConfigurationFile.sizeLimit` bytes.
        case tooLarge
        case notUTF8
        /// A control character, a NUL or a carriage return within the line.
        case controlCharacter
        case missingEqualsSign
        case missingKey
        case unknownKey([UInt8])
        case duplicateKey(ConfigurationKey, firstLine: Int)
        /// The value is not of the key's kind, or is missing.
        case badValue(ConfigurationKey)
        case outOfBounds(ConfigurationKey)
        case commentAfterValue
        /// `pin_max_length` is below `pin_min_length`.
        case maximumBelowMinimum
        /// More problems follow that are not listed.
        case moreProblems
    }

    /// The line, from 1.
    package let line: Int
    /// The character within the line, from 1.
    package let column: Int
    package let cause: Cause

    package init(line: Int, column: Int, cause: Cause) {
        self.line = line
        self.column = column
        self.cause = cause
    }

    /// One sentence for people: "line 3, column 12: finger_limit must be between 1 and 5".
    package var sentence: String { "line \(line), column \(column): \(complaint)" }

    private var complaint: String {
        switch cause {
        case .tooLarge: return "the file is larger than \(ConfigurationFile.sizeLimit / 1024) KiB"
        case .notUTF8: return "this is not UTF-8 text"
        case .controlCharacter: return "a control character is not allowed here"
        case .missingEqualsSign:
            return "\"=\" is missing; a line is \"key = value\", or a comment that begins with \"#\""
        case .missingKey: return "there is no key before \"=\""
        case .unknownKey(let name): return "unknown key \"\(UTF8Text.printable(name, limit: 40))\""
        case .duplicateKey(let key, let firstLine):
            return "\(KeyDescription.describe(key).name) was set in line \(firstLine) already"
        case .badValue(let key), .outOfBounds(let key):
            let description = KeyDescription.describe(key)
            return "\(description.name) must be \(expectation(description.bounds))"
        case .commentAfterValue: return "a comment needs a line of its own"
        case .maximumBelowMinimum: return "pin_max_length must not be below pin_min_length"
        case .moreProblems: return "there are more problems from here on"
        }
    }

    private func expectation(_ bounds: KeyBounds) -> String {
        switch bounds {
        case .yesOrNo: return "yes or no"
        case .preference: return "require, prefer or file"
        case .connection: return "device:/dev/NAME, or swtpm:path= and an absolute path without \"..\""
        case .sign: return "one printable ASCII character but \"#\", or none"
        case .readers: return "internal or any"
        case .matchOnChip: return "allow or refuse"
        case .foreignPrints: return "report or close"
        case .source: return "signet or fprintd"
        case .path: return "an absolute path without \"..\", or empty"
        case .number(let range, let unit):
            let between = "between \(range.lowerBound) and \(range.upperBound)"
            if case .badValue = cause { return "a whole number \(between)" }
            return unit.utf8.isEmpty ? between : "\(between) \(unit)"
        }
    }
}
