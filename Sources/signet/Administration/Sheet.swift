internal import CPlatform

/// Lines of facts about one thing, and tables of many; laid out for the width of what they are written to.
enum Sheet {
    /// Below this many columns a row's details stand on lines of their own, and a table becomes a list.
    private static let narrow = 60

    /// The columns of standard output; 80 where it is no terminal.
    static var width: Int { Output.columns(of: STDOUT_FILENO).map { max($0, 16) } ?? 80 }

    /// One row of facts: "PIN", "set", "changed 2026-11-30".
    struct Row: Equatable {
        let label: String
        let state: String
        var details = ""
    }

    /// Rows with aligned columns; details that are too long go on below themselves.
    static func facts(_ rows: [Row], width: Int) -> String {
        let labelWidth = rows.map(\.label.count).max() ?? 0
        let stateWidth = rows.filter { !$0.details.isEmpty }.map(\.state.count).max() ?? 0
        var text = ""
        for row in rows {
            let label = "  " + padded(row.label, to: labelWidth) + "  "
            if row.details.isEmpty {
                text += hanging(label, row.state, width: width)
            } else if width < narrow {
                text += hanging(label, row.state, width: width) + hanging("    ", row.details, width: width)
            } else {
                text += hanging(label + padded(row.state, to: stateWidth) + "  ", row.details, width: width)
            }
        }
        return text
    }

    /// A table with a heading; where it does not fit, each row is a list of "heading: cell" after its first cell.
    static func table(_ heading: [String], _ rows: [[String]], width: Int) -> String {
        let whole = Output.table([heading] + rows)
        let longest = whole.split(separator: "\n").map(\.count).max() ?? 0
        if longest <= width { return whole }
        var text = ""
        for row in rows {
            text += (row.first ?? "") + "\n"
            for (name, cell) in zip(heading, row).dropFirst() where !cell.isEmpty {
                text += hanging("  \(name.lowercased()): ", cell, width: width)
            }
        }
        return text
    }

    /// Text after a prefix; lines that follow are indented below it, but never so far that nothing fits.
    static func hanging(_ prefix: String, _ text: String, width: Int) -> String {
        let indent = prefix.count > width / 2 ? 4 : prefix.count
        let first = Help.wrapped(text, width: max(width - prefix.count, 8))
        guard first.count > 1, let line = first.first else { return prefix + text + "\n" }
        let rest = text.dropFirst(line.count).drop { $0 == " " }
        let below = Help.wrapped(String(rest), width: max(width - indent, 8))
        let space = String(repeating: " ", count: indent)
        return ([prefix + line] + below.map { space + $0 }).joined(separator: "\n") + "\n"
    }

    /// Text for a terminal of `width` columns: a line that is too long goes on below itself, broken between words.
    ///
    /// nil for `width` is no terminal, and changes nothing. What `remedy` left on one line stays there.
    static func folded(_ text: String, width: Int?) -> String {
        guard let width else { return text }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indent = line.prefix { $0 == " " }
            let words = line.dropFirst(indent.count)
            guard line.count > width, !words.hasPrefix("→ ") else { return String(line) }
            let space = indent.count > width / 2 ? "  " : String(indent)
            return Help.wrapped(String(words), width: max(width - space.count, 8)).map { space + $0 }
                .joined(separator: "\n")
        }
        return lines.joined(separator: "\n")
    }

    /// What to do, behind an arrow: a command stays on one line whatever the width, for it is there to be copied.
    static func remedy(_ text: String, indent: Int, width: Int) -> String {
        let programs = ["sudo", "signet", "chown", "chmod", "systemctl", "getent"]
        guard let first = text.split(separator: " ").first, programs.contains(String(first)), !text.contains(", ")
        else {
            return hanging(String(repeating: " ", count: indent) + "→ ", text, width: width)
        }
        return String(repeating: " ", count: max(min(indent, width - text.count - 2), 2)) + "→ " + text + "\n"
    }

    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }
}

extension Output {
    /// Day and time of a wall time in seconds since 1970: "today 09:12", "2026-11-30 09:12".
    static func moment(_ wallTime: Int64, now: Int64) -> String {
        let day = day(wallTime)
        return day == Output.day(now) ? "today \(clock(wallTime))" : "\(day) \(clock(wallTime))"
    }

    private static func clock(_ wallTime: Int64) -> String {
        var day = signet_day()
        // SAFETY: `day` lives through the call, which fills it.
        guard unsafe signet_local_day(wallTime, &day) != 0 else { return "?" }
        return (day.hour < 10 ? "0" : "") + "\(day.hour):" + (day.minute < 10 ? "0" : "") + "\(day.minute)"
    }

    /// A waiting time, rounded up: "40 seconds", "5 minutes".
    static func duration(_ seconds: UInt64) -> String {
        if seconds < 60 { return seconds == 1 ? "1 second" : "\(seconds) seconds" }
        let minutes = (seconds + 59) / 60
        return minutes == 1 ? "1 minute" : "\(minutes) minutes"
    }
}
