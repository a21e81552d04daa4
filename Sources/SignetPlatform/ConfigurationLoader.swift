package import SignetEngine
package import SignetPolicy
internal import SignetRecords

/// The configuration that rules, and why it is not the file's where it is not.
package struct LoadedConfiguration: Equatable, Sendable {
    /// The file's; the defaults where there is none; the strictest where it cannot be used (rule 11).
    package let configuration: Configuration
    package let problem: ConfigurationTrouble?
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
                return LoadedConfiguration(configuration: Configuration(), problem: nil, hasFile: false)
            }
            return LoadedConfiguration(configuration: .strictest, problem: .path(error), hasFile: true)
        }
        let file = ConfigurationFile(bytes)
        return LoadedConfiguration(
            configuration: file.configuration, problem: file.problems.isEmpty ? nil : .text(file.problems),
            hasFile: true)
    }
}
