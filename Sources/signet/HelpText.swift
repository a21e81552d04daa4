// The help at each level, made from the table of commands, so that it cannot say other than what the parser takes.

extension Help {
    /// The page, with a line's end after each line; nil where there is no such command.
    func text(_ commands: [Command]) -> String? {
        switch self {
        case .tool: return Help.toolText(commands)
        case .group(let name):
            let words = name.split(separator: " ").map(String.init)
            let members = commands.filter { $0.path.starts(with: words) }
            return members.isEmpty ? nil : Help.groupText(name, members)
        case .command(let name): return commands.first { $0.name == name }.map(Help.commandText)
        }
    }

    private static func toolText(_ commands: [Command]) -> String {
        var lines = [
            "usage: sudo signet COMMAND [OPTION …]", "",
            "Signet lets you prove who you are with a fingerprint or a PIN of its own.", "", "Commands:",
        ]
        lines += table(commands.map { (usageName($0), $0.summary) })
        lines += ["", "Every command takes --help. Exit status:"]
        lines += table(ExitCode.allCases.map { ("\($0.rawValue)", "\($0.meaning)") })
        return page(lines)
    }

    private static func groupText(_ name: String, _ members: [Command]) -> String {
        var lines = ["usage: sudo signet \(name) COMMAND [OPTION …]", "", "Commands:"]
        lines += table(members.map { (usageName($0), $0.summary) })
        return page(lines)
    }

    private static func commandText(_ command: Command) -> String {
        var lines = ["usage: sudo signet \(usageName(command)) [OPTION …]", "", sentence(command.summary)]
        if !command.details.isEmpty { lines += [""] + wrapped(command.details, width: 78) }
        lines += ["", "Options:"]
        lines += table(
            (command.options + [.help]).map { option in
                (option.value.map { "\(option.name) \($0)" } ?? option.name, option.summary)
            })
        return page(lines)
    }

    private static func usageName(_ command: Command) -> String {
        command.operands.isEmpty ? command.name : "\(command.name) \(command.operands)"
    }

    private static func page(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }

    private static func sentence(_ summary: String) -> String {
        summary.prefix(1).uppercased() + summary.dropFirst() + "."
    }

    // Two columns within 80; what is too long for the second goes on below itself.
    private static func table(_ rows: [(String, String)]) -> [String] {
        let width = rows.map { $0.0.count }.max() ?? 0
        var lines: [String] = []
        for (name, text) in rows {
            var label = "  " + name + String(repeating: " ", count: width - name.count + 2)
            for line in wrapped(text, width: max(20, 80 - label.count)) {
                lines.append(label + line)
                label = String(repeating: " ", count: label.count)
            }
        }
        return lines
    }

    /// Breaks at spaces, but not within quotes, where a command stands, unless no line has room for it.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            for word in words(paragraph, width: width) {
                if !line.isEmpty, line.count + 1 + word.count > width {
                    lines.append(line)
                    line = ""
                }
                line += line.isEmpty ? word : " " + word
            }
            lines.append(line)
        }
        return lines
    }

    /// Words, and what stands in quotes as one of them where it fits.
    private static func words(_ text: Substring, width: Int) -> [String] {
        var words: [String] = []
        var open = false
        for part in text.split(separator: " ") {
            if open, let last = words.popLast() { words.append(last + " " + part) } else { words.append(String(part)) }
            if part.count(where: { $0 == "\"" }) % 2 == 1 { open.toggle() }
        }
        return words.flatMap { $0.count <= width ? [$0] : $0.split(separator: " ").map(String.init) }
    }
}
