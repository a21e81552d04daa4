package import SignetPolicy
package import SignetRecords

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

/// The configuration that rules, and why it is not the file's where it is not.
package struct LoadedConfiguration: Equatable, Sendable {
    /// The file's; the defaults where there is none; the strictest where it cannot be used (rule 11).
    package let configuration: Configuration
    package let trouble: ConfigurationTrouble?
    /// Whether there is a file at all.
    package let hasFile: Bool
}

/// Reads the configuration file.
package enum ConfigurationLoader {
    /// Where it lies unless the module argument `conf=PATH` says otherwise.
    package static var standardPath: [UInt8] { Array("/etc/security/signet.conf".utf8) }

    /// Never fails: nobody is shut out by a file that is missing or wrong (rule 11).
    package static func load(_ path: [UInt8] = standardPath) -> LoadedConfiguration {
        let bytes: [UInt8]
        do throws(PathProblem) {
            bytes = try SafePath.read(path, limit: ConfigurationFile.sizeLimit)
        } catch {
            if error.matter == .missing {
                return LoadedConfiguration(configuration: Configuration(), trouble: nil, hasFile: false)
            }
            return LoadedConfiguration(configuration: .strictest, trouble: .path(error), hasFile: true)
        }
        let file = ConfigurationFile(bytes)
        return LoadedConfiguration(
            configuration: file.configuration, trouble: file.problems.isEmpty ? nil : .text(file.problems),
            hasFile: true)
    }
}
