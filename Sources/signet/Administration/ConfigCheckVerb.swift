internal import SignetEngine
internal import SignetPlatform
internal import SignetRecords

extension Command {
    /// `signet config check`.
    static let configCheck = Command(
        "config check", "say what is wrong in the configuration, and where", operands: "[FILE]",
        operandLimit: 1, options: [.json],
        details: """
            Without FILE it is /etc/security/signet.conf, which must also be root's alone. Exit status 0: it can be used; \
            1: it has a problem, and while it is in force fingers are off and the strictest limits rule.
            """
    ) { (invocation) throws(Failure) in
        let report = try ConfigReport(file: invocation.operands.first)
        invocation.answer(report, text: report.text)
        return report.problems.isEmpty ? .yes : .no
    }
}

/// All that is wrong with a configuration file.
struct ConfigReport: Encodable {
    struct Problem: Encodable, Equatable {
        /// From 1; 0 where it is about the file as a whole.
        let line: Int
        let column: Int
        let text: String
    }

    let file: String
    /// Whether the file is there; the defaults rule where it is not.
    let exists: Bool
    let problems: [Problem]

    /// nil: the file in force.
    init(file named: String?) throws(Failure) {
        let path = named ?? String(decoding: ConfigurationLoader.standardPath, as: UTF8.self)
        file = Output.text(Array(path.utf8))
        var found: [Problem] = []
        if named == nil, let unsafe = SafePath.problem(with: Array(path.utf8), .file) {
            if unsafe.matter == .missing {
                exists = false
                problems = []
                return
            }
            let place = unsafe.path == Array(path.utf8) ? "the file" : Output.text(unsafe.path)
            found.append(Problem(line: 0, column: 0, text: "\(place) \(unsafe.sentence)"))
        }
        guard let bytes = PlainFile.read(path, limit: ConfigurationFile.sizeLimit) else {
            if named == nil, !found.isEmpty {
                exists = true
                problems = found
                return
            }
            throw Failure(.no, "\(file) cannot be read, or is no plain file", hint: "name the file to be checked")
        }
        for problem in ConfigurationFile(bytes).problems {
            found.append(
                Problem(line: problem.line, column: problem.column, text: Output.text(Array(problem.sentence.utf8))))
        }
        exists = true
        problems = found
    }

    var text: String {
        if !exists { return "\(file) is not there: the defaults rule.\n" }
        if problems.isEmpty { return "\(file): no problems.\n" }
        return problems.map { "\(file): \($0.text)\n" }.joined()
    }
}
