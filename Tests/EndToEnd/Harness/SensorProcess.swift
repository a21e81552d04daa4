import Foundation

/// The reader helpers that run in this world.
enum SensorProcess {
    static let program = "/usr/libexec/signet/signet-sensor"

    /// All of them, by process id; or those of another program.
    static func all(_ program: String = program) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")) == program
        }
    }

    /// The uid of the system user that the installer made for the helpers.
    static func ownUser() throws -> String {
        let text = try Command.must("id", "-u", "signet").filter(\.isNumber)
        guard let uid = Int(text), uid > 0, uid < 1000 else {
            throw HarnessError("the user signet has the uid \(text)")
        }
        return text
    }

    /// A line of /proc/PID/status.
    static func line(_ name: String, of process: pid_t) throws -> String {
        let lines = try File.read("/proc/\(process)/status").split(separator: "\n")
        return lines.first { $0.hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 2)) } ?? ""
    }

    /// The one that runs; throws where there are none or several.
    static func only() throws -> pid_t {
        let found = all()
        guard found.count == 1 else { throw HarnessError("\(found.count) reader helpers run") }
        return found[0]
    }

    /// Waits until none is left: one whose reader is closed is killed and not waited for, and may still be on its way out.
    static func waitForNone(within seconds: Double = 5) throws {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while !all().isEmpty {
            guard monotonicMilliseconds() < end else { throw HarnessError("reader helpers still run: \(all())") }
            usleep(5000)
        }
    }
}
