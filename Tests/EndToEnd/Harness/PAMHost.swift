/// Runs authentications inside one process of ours, and tells what they left behind there (Tests/Tools/pamhost.c).
struct PAMHost {
    /// One authentication.
    struct Round: Equatable {
        /// The PAM code.
        let code: Int
        /// What was left or changed: children, threads, descriptors, handlers, mask, pending, alarm, modes, limits,
        /// environment, folder, locale, umask, identity; empty where nothing was.
        let left: [String]
        /// From pam_start to the answer.
        let milliseconds: Double
    }

    /// What the module said, in order, such as `prompt: PIN: `.
    let messages: [String]
    /// The PAM environment after the last round, as `NAME=VALUE`.
    let items: Set<String>
    let rounds: [Round]
    /// By how much the process grew after the first rounds, where `--warm` was given: heap in bytes, size, resident and
    /// locked memory in KiB, mappings, descriptors and timers.
    let growth: [String: Int]

    /// The command line; `options` as the C file lists them.
    static func command(_ service: String, _ user: String, options: [String] = []) -> [String] {
        ["\(World.tools)/pamhost"] + options + [service, user]
    }

    /// Runs it on pipes, with the answers to the prompts; `limits` as prlimit(1) takes them.
    static func run(
        _ service: String, _ user: String, answers: [String] = [], options: [String] = [], limits: [String] = [],
        within seconds: Double = 60
    ) throws -> PAMHost {
        let result = try Command.run(
            (limits.isEmpty ? [] : ["prlimit"] + limits) + command(service, user, options: options),
            input: answers.map { $0 + "\n" }.joined(), within: seconds)
        guard result.code < 2 else { throw HarnessError("pamhost answered \(result.code): \(result.error)") }
        return try PAMHost(report: result.output)
    }

    /// Reads the lines that pamhost wrote, be it to a file or to a terminal.
    init(report: String) throws {
        var messages: [String] = []
        var items: Set<String> = []
        var rounds: [Round] = []
        var growth: [String: Int] = [:]
        for line in report.split(whereSeparator: \.isNewline) {
            if let match = line.wholeMatch(of: /round \d+: code (\d+) \(.*\), left (\S+), ([\d.]+) ms/) {
                guard let code = Int(match.1), let time = Double(match.3) else { continue }
                let left = match.2 == "nothing" ? [] : match.2.split(separator: ",").map(String.init)
                rounds.append(Round(code: code, left: left, milliseconds: time))
            } else if line.hasPrefix("growth: ") {
                for match in line.matches(of: /(\w+) (-?\d+)/) { growth[String(match.1)] = Int(match.2) }
            } else if line.hasPrefix("item: ") {
                items.insert(String(line.dropFirst(6)))
            } else {
                messages.append(String(line))
            }
        }
        guard !rounds.isEmpty else { throw HarnessError("pamhost reported no round:\n\(report)") }
        (self.messages, self.items, self.rounds, self.growth) = (messages, items, rounds, growth)
    }
}
