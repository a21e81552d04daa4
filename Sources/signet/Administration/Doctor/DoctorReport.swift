/// One thing that doctor looked at.
struct DoctorLine: Encodable, Equatable {
    enum Level: String, Encodable {
        case ok
        case note
        case warn
        case fail
    }

    let level: Level
    /// What it is about, in one or two words.
    let subject: String
    let text: String
    /// A command, or a few words; each line that is not "ok" has one.
    let remedy: String?

    static func ok(_ subject: String, _ text: String) -> DoctorLine {
        DoctorLine(level: .ok, subject: subject, text: text, remedy: nil)
    }

    /// A remedy must be named for everything that is not well.
    init(_ level: Level, _ subject: String, _ text: String, remedy: String) {
        self.init(level: level, subject: subject, text: text, remedy: remedy)
    }

    private init(level: Level, subject: String, text: String, remedy: String?) {
        self.level = level
        self.subject = subject
        self.text = text
        self.remedy = remedy
    }
}

/// All that doctor says.
struct DoctorReport: Encodable, Equatable {
    let lines: [DoctorLine]
    let ok: Int
    let notes: Int
    let warnings: Int
    let failures: Int

    init(_ lines: [DoctorLine]) {
        self.lines = lines
        func count(_ level: DoctorLine.Level) -> Int { lines.count { $0.level == level } }
        ok = count(.ok)
        notes = count(.note)
        warnings = count(.warn)
        failures = count(.fail)
    }

    var exit: ExitCode { failures == 0 ? .yes : .no }

    /// A line each, and the counts as the last one.
    func text(width: Int) -> String {
        let subjectWidth = min(lines.map(\.subject.count).max() ?? 0, width / 3)
        var text = ""
        for line in lines {
            let prefix =
                Sheet.padded(line.level.rawValue, to: 4) + "  " + Sheet.padded(line.subject, to: subjectWidth) + "  "
            guard let remedy = line.remedy else {
                text += Sheet.hanging(prefix, line.text, width: width)
                continue
            }
            let whole = "\(prefix)\(line.text) → \(remedy)"
            if whole.count <= width {
                text += whole + "\n"
            } else {
                text += Sheet.hanging(prefix, line.text, width: width)
                text += Sheet.remedy(remedy, indent: prefix.count > width / 2 ? 4 : prefix.count, width: width)
            }
        }
        return text + counts + "\n"
    }

    /// "3 ok, 1 warning, 1 failure".
    var counts: String {
        var parts = ["\(ok) ok"]
        if notes > 0 { parts.append(notes == 1 ? "1 note" : "\(notes) notes") }
        if warnings > 0 { parts.append(warnings == 1 ? "1 warning" : "\(warnings) warnings") }
        if failures > 0 { parts.append(failures == 1 ? "1 failure" : "\(failures) failures") }
        return parts.joined(separator: ", ")
    }
}
