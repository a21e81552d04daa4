/// What a command line asks for.
enum Request {
    case run(Invocation)
    case help(Help)
    case version(json: Bool)
}

/// What help is about.
enum Help: Equatable {
    case tool
    /// A verb that only its subverbs make a command: "pin".
    case group(String)
    case command(String)
}

/// Reads a command line.
///
/// No secret is ever taken from it, so that none can be seen in the list of processes.
struct Parser {
    let commands: [Command]

    /// Takes the arguments without the program's name.
    func parse(_ arguments: [String]) throws(Failure) -> Request {
        var rest = arguments[...]
        var words: [String] = []
        // The longest chain of words that begins a command's path.
        while let word = rest.first, !word.hasPrefix("-"),
            commands.contains(where: { $0.path.starts(with: words + [word]) })
        {
            words.append(word)
            rest = rest.dropFirst()
        }
        guard let command = commands.first(where: { $0.path == words }) else {
            return try parseWithoutCommand(words, rest)
        }
        return try parse(command, rest)
    }

    private func parseWithoutCommand(_ words: [String], _ rest: ArraySlice<String>) throws(Failure) -> Request {
        guard let next = rest.first else {
            if words.isEmpty { return .help(.tool) }
            throw Failure(.usage, "\"\(words.joined(separator: " "))\" needs a subcommand", hint: nearestHelp(words))
        }
        if next == "--help" || next == "-h" || next == "help" {
            if next == "help", words.isEmpty, rest.count > 1 { return try helpAbout(Array(rest.dropFirst())) }
            return .help(words.isEmpty ? .tool : .group(words.joined(separator: " ")))
        }
        if words.isEmpty, next == "--version" { return .version(json: rest.contains(Option.json.name)) }
        if next.hasPrefix("-") { throw unknownOption(next, words) }
        let candidates = commands.filter { $0.path.starts(with: words) }.map { $0.path[words.count] }
        let typed = Output.name((words + [next]).joined(separator: " "))
        if let near = Parser.nearest(to: next, among: candidates) {
            let meant = (words + [near]).joined(separator: " ")
            throw Failure(.usage, "there is no command \"\(typed)\"", hint: "did you mean \"signet \(meant)\"?")
        }
        throw Failure(.usage, "there is no command \"\(typed)\"", hint: nearestHelp(words))
    }

    private func helpAbout(_ words: [String]) throws(Failure) -> Request {
        if commands.contains(where: { $0.path == words }) { return .help(.command(words.joined(separator: " "))) }
        if commands.contains(where: { $0.path.starts(with: words) }) {
            return .help(.group(words.joined(separator: " ")))
        }
        throw Failure(
            .usage, "there is no command \"\(Output.name(words.joined(separator: " ")))\"", hint: nearestHelp([]))
    }

    private func parse(_ command: Command, _ rest: ArraySlice<String>) throws(Failure) -> Request {
        var options: [(name: String, value: String)] = []
        var operands: [String] = []
        var onlyOperands = false
        var rest = rest
        while let word = rest.popFirst() {
            if onlyOperands || !word.hasPrefix("-") || word == "-" {
                operands.append(word)
            } else if word == "--" {
                onlyOperands = true
            } else if word == "--help" || word == "-h" {
                return .help(.command(command.name))
            } else {
                let taken = try option(word, of: command, &rest)
                if let option = command.options.first(where: { $0.name == taken.name }), option.value != nil,
                    !option.repeats, options.contains(where: { $0.name == taken.name })
                {
                    throw Failure(.usage, "\(taken.name) is given twice", hint: nearestHelp(command.path))
                }
                options.append(taken)
            }
        }
        if operands.count > command.operandLimit {
            throw Failure(
                .usage, "\"\(command.name)\" does not take \"\(Output.name(operands[command.operandLimit]))\"",
                hint: nearestHelp(command.path))
        }
        return .run(Invocation(command: command, options: options, operands: operands))
    }

    private func option(
        _ word: String, of command: Command, _ rest: inout ArraySlice<String>
    ) throws(Failure) -> (name: String, value: String) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.first, let option = command.options.first(where: { $0.name == name }) else {
            throw unknownOption(parts.first ?? word, command.path)
        }
        let given = parts.count > 1 ? parts[1] : nil
        guard option.value != nil else {
            guard given == nil else {
                throw Failure(.usage, "\(name) takes no value", hint: nearestHelp(command.path))
            }
            return (name, "")
        }
        guard let value = given ?? rest.popFirst(), !value.isEmpty else {
            throw Failure(.usage, "\(name) needs a value", hint: nearestHelp(command.path))
        }
        return (name, value)
    }

    private func unknownOption(_ word: String, _ path: [String]) -> Failure {
        Failure(
            .usage, "there is no option \"\(Output.name(word))\" here",
            hint: path.isEmpty && word == Option.json.name
                ? "options stand after the command: \"sudo signet status --json\"" : nearestHelp(path))
    }

    private func nearestHelp(_ path: [String]) -> String {
        let name = (["signet"] + path + ["--help"]).joined(separator: " ")
        return "see \"\(name)\""
    }

    // MARK: Guessing what was meant

    /// The candidate that differs least, where it differs by a slip of the fingers: two edits at most.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = editDistance(Array(word), Array(candidate))
            if distance <= 2, distance < candidate.count, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.name
    }

    // Levenshtein's distance, one row at a time; verbs are short, and a longer word is no slip.
    private static func editDistance(_ left: [Character], _ right: [Character]) -> Int {
        guard left.count <= 32, right.count <= 32 else { return .max }
        var row = Array(0...right.count)
        for (line, first) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, second) in right.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (first == second ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
