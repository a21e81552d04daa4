internal import SignetPolicy
package import SignetRecords

/// What makes a path unsafe or unusable, and at which of its components.
package struct PathProblem: Error, Equatable, Sendable {
    package enum Matter: Equatable, Sendable {
        case notAbsolute
        case missing
        /// A symbolic link, or something of another kind than it must be.
        case wrongKind
        case notRoots(owner: UInt32)
        /// Permission bits as in chmod(1), in which group or others may write.
        case writableByOthers(mode: UInt32)
        case tooLarge
        case system(errno: Int32)
    }

    /// The component's own path.
    package let path: [UInt8]
    package let matter: Matter

    package init(path: [UInt8], matter: Matter) {
        self.path = path
        self.matter = matter
    }

    /// What a person is told, without the path.
    package var sentence: String {
        switch matter {
        case .notAbsolute: "does not begin with \"/\", or has an odd component"
        case .missing: "is not there"
        case .wrongKind: "is a link, or not of the right kind"
        case .notRoots(let owner): "belongs to user \(owner), not to root"
        case .writableByOthers(let mode): "can be changed by others than root (mode \(PathProblem.octal(mode)))"
        case .tooLarge: "is too large"
        case .system(let number): "cannot be opened (errno \(number))"
        }
    }

    /// What to do about it, as a command or a few words; nil where nobody can say.
    package var remedy: String? {
        let name = UTF8Text.printable(path, limit: 200)
        switch matter {
        case .notRoots: return "sudo chown root:root \(name)"
        case .writableByOthers: return "sudo chmod go-w \(name)"
        case .wrongKind: return "put the real thing at \(name), no link"
        case .notAbsolute: return "write an absolute path without \"..\""
        case .tooLarge: return "make \(name) smaller"
        case .missing, .system: return nil
        }
    }

    /// Permission bits as chmod(1) takes them.
    private static func octal(_ mode: UInt32) -> String {
        var digits: [UInt8] = []
        for shift in [9, 6, 3, 0] as [UInt32] {
            digits.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: mode >> shift & 7))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

/// Why the configuration file cannot be used.
package enum ConfigurationTrouble: Equatable, Sendable {
    /// The file, or a folder on the way to it, is not root's alone, or cannot be read.
    case path(PathProblem)
    /// Its text; at least one.
    case text([ConfigurationProblem])

    /// One line for journal and doctor.
    package var sentence: String {
        switch self {
        case .path(let problem): return "\(UTF8Text.printable(problem.path, limit: 200)) \(problem.sentence)"
        case .text(let problems):
            guard let first = problems.first else { return "the file is not understood" }
            return problems.count == 1 ? first.sentence : "\(first.sentence) (and \(problems.count - 1) more)"
        }
    }
}
