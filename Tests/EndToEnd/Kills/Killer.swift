import Glibc

/// A run of a program under `Tests/Tools/killer.c`, which kills it, or a helper of its, at one of its system calls.
struct Killer {
    /// The point at which it is killed, from 1 on; 0: it runs to its end.
    var point = 0
    /// Whether the points are those of the program's helpers, which are then what is killed.
    var helper = false
    /// Whether each system call is a point, and not only those that change, read, wait for or start something.
    var every = false
    /// Where its writes and syncs below the store's folder are written down.
    var trace: String?

    /// How long a program may take that was killed, or whose helper was, before it counts as hanging, in seconds.
    static let deadline = 30.0

    /// How a run ended.
    struct Ending {
        /// Points that were passed, the last one included.
        let points: Int
        /// The number of the system call at which it was killed; nil where it came to its end before.
        let killed: Int?
        /// Whether the comparison of a PIN had begun: the memory for its derivation was asked for.
        let compared: Bool
        /// The program's exit code, or 128 and its signal's number.
        let code: Int
        /// All that it showed.
        let shown: String
    }

    /// What is done once a text is shown at a terminal; each once, whichever comes first.
    struct Rule {
        let text: String
        /// Whether the terminal must have ceased to show what is typed.
        var isSecret = false
        let act: (Terminal) throws -> Void

        static func typing(_ line: String, at text: String) -> Rule {
            Rule(text: text, isSecret: true) { try $0.type(line: line) }
        }
    }

    /// Runs a program without a terminal.
    func run(_ program: [String], environment: [String: String] = Child.environment, input: String = "") throws
        -> Ending
    {
        let folder = try World.scratchFolder()
        // A file, since a program that is killed before it reads breaks a pipe.
        try File.write(input, to: folder + "/input", mode: 0o600)
        let words = command(["--input", folder + "/input"] + program, folder + "/report")
        let result = try Command.run(words, environment: environment, within: Killer.deadline)
        return try ending(folder + "/report", shown: result.output + result.error)
    }

    /// Runs a program at a terminal, and does what the rules say.
    func run(
        _ program: [String], environment: [String: String] = Child.environment, rules: [Rule]
    ) throws -> Ending {
        let report = try World.scratchFolder() + "/report"
        let terminal = try Terminal(command(program, report), environment: environment)
        let end = monotonicMilliseconds() + Int(Killer.deadline * 1000)
        var rest = rules
        var seen = 0
        while !terminal.isOver {
            guard monotonicMilliseconds() < end else { throw HarnessError("it hangs: \(terminal.transcript)") }
            try terminal.gather(within: 20)
            // Bytes, for a text may end within a character.
            let shown = Array(terminal.transcript.utf8)
            let found = rest.indices.compactMap { index in
                place(of: Array(rest[index].text.utf8), in: shown, from: seen).map { (index, $0) }
            }
            guard let (index, place) = found.min(by: { $0.1 < $1.1 }) else { continue }
            seen = place
            let rule = rest.remove(at: index)
            while rule.isSecret, terminal.echoes, !terminal.isOver, monotonicMilliseconds() < end {
                try terminal.gather(within: 2)
            }
            // A program that was killed meanwhile takes no more.
            try? rule.act(terminal)
        }
        _ = try terminal.finish(within: Killer.deadline)
        return try ending(report, shown: terminal.transcript)
    }

    /// Where a text ends that begins at `start` or later.
    private func place(of text: [UInt8], in shown: [UInt8], from start: Int) -> Int? {
        guard shown.count >= start + text.count else { return nil }
        for index in start...(shown.count - text.count) where shown[index..<(index + text.count)].elementsEqual(text) {
            return index + text.count
        }
        return nil
    }

    private func command(_ program: [String], _ report: String) -> [String] {
        var words = ["\(World.tools)/killer", "--report", report, "--at", "\(point)"]
        if helper { words.append("--helper") }
        if every { words.append("--every") }
        if let trace { words += ["--trace", trace, "--folder", Signet.store] }
        return words + program
    }

    private func ending(_ report: String, shown: String) throws -> Ending {
        var values: [Substring: Substring] = [:]
        for line in try File.read(report).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { values[words[0]] = words[1] }
        }
        guard let points = values["points"].flatMap({ Int($0) }), let code = values["code"].flatMap({ Int($0) }) else {
            throw HarnessError("the killer reported nothing: \(shown)")
        }
        return Ending(
            points: points, killed: values["killed"].flatMap { Int($0) }, compared: values["compared"] == "1",
            code: code, shown: shown)
    }
}
