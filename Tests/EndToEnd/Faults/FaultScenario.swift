import Glibc
import Proof
import Testing

/// A program, what a person does at it, and what must hold afterwards.
///
/// It is run once without a fault, and then once for each call that can fail.
struct FaultScenario {
    let name: String
    /// Whether it succeeds where nothing fails.
    let mayGrant: Bool
    let command: [String]
    /// Whether the program says itself which calls count (pamhost does).
    var hasMarks = true
    var environment = Child.environment
    /// The boot in which it runs; nil: this one.
    var boot: BootShift?
    /// Milliseconds after which it must have ended, whatever failed.
    var deadline = 20_000
    /// Whether what is refused has to be in the journal: who runs a command reads at the terminal why it was not done.
    var journals = true
    /// How many points the short form tries.
    var few = 3
    /// What all points begin with that are tried, as the tracer takes them; empty: all are.
    var only = ""
    /// What was wrong once: the first and the last of these are in the short form, too.
    var known: [(call: String, fault: Fault)] = []
    /// Puts everything into the state from which it begins.
    var prepare: () throws -> Void = {}
    /// What the person does, until nothing more is asked.
    var person: (Terminal) throws -> Void = { _ in }
    /// What is wrong afterwards, when nothing fails any more.
    var after: (FaultOutcome) throws -> [String] = { _ in [] }

    /// Runs it with this fault, or with none.
    func run(_ point: FaultPoint?, journal: JournalListener) throws -> FaultOutcome {
        try prepare()
        let before = journal.lines.count
        let report = "/run/signet-faults"
        unlink(report)
        var words = ["\(World.tools)/faults", "--within", "\(Double(deadline) / 1000 + 1)"]
        if hasMarks { words.append("--mark") }
        if let point { words += ["--at", point.argument] }
        let start = monotonicMilliseconds()
        words += [report] + command
        let terminal = try Terminal(boot?.command(words) ?? words, environment: environment)
        try person(terminal)
        let code = try terminal.finish(within: Double(deadline) / 1000 + 10)
        let taken = monotonicMilliseconds() - start
        var left: [String] = []
        if hasMarks { left = (try? PAMHost(report: terminal.transcript).rounds.last?.left) ?? [] }
        if try terminal.modes != terminal.modesAtStart, !left.contains("modes") { left.append("modes") }
        // What was sent before the program ended is there already; the listener's thread may still have to read it.
        let end = monotonicMilliseconds() + 200
        while code != 0, journal.lines.count == before, monotonicMilliseconds() < end { usleep(2000) }
        return FaultOutcome(
            code: code, lines: Terminal.lines(of: terminal.transcript), left: left, milliseconds: taken,
            journal: Array(journal.lines.dropFirst(before)), report: try FaultReport(File.read(report)))
    }

    /// What came of all points, or of a sample of them.
    struct Summary {
        /// What is wrong where nothing fails.
        var wrong: [String] = []
        var points = 0
        var granted = 0
        var refused = 0
        /// Points that the run did not come to: another thread was first, or an answer came in two parts.
        var missed = 0
        /// What is wrong with each that something is wrong with.
        var failed: [String] = []
    }

    func summary() throws -> Summary {
        let journal = try JournalListener()
        let quiet = try run(nil, journal: journal)
        var summary = Summary()
        summary.wrong = quiet.complaints(quiet: quiet, mayGrant: quiet.isGranted, deadline: deadline)
        summary.wrong.removeAll { $0.hasPrefix("refused") }
        if quiet.isGranted != mayGrant { summary.wrong.append("answered \(quiet.code): \(quiet.lines)") }
        summary.wrong += try after(quiet)
        guard summary.wrong.isEmpty else { return summary }
        for point in try chosen(quiet.report.points(turn: name.utf8.count)) {
            let outcome = try run(point, journal: journal)
            var complaints = outcome.complaints(
                quiet: quiet, mayGrant: mayGrant, deadline: deadline, journals: journals)
            complaints += try after(outcome)
            summary.points += 1
            if outcome.report.hits.isEmpty {
                summary.missed += 1
            } else if outcome.isGranted {
                summary.granted += 1
            } else {
                summary.refused += 1
            }
            let target = outcome.report.hits.first?.target ?? "not reached"
            let said = outcome.sentences(beside: quiet)
            let text = "\(point) (\(target)): code \(outcome.code), \(said), \(outcome.journal)"
            if Proof.isWhole { print("\(name): \(text)\(complaints.isEmpty ? "" : " – \(complaints)")") }
            if !complaints.isEmpty { summary.failed.append("\(complaints): \(text)") }
        }
        return summary
    }

    /// Tries all points, or a sample of them, and asserts that nothing is wrong with any.
    func sweep(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let began = Proof.now()
        let summary = try summary()
        #expect(summary.wrong == [], "without a fault", sourceLocation: sourceLocation)
        #expect(summary.failed.isEmpty, "\(summary.failed.joined(separator: "\n"))", sourceLocation: sourceLocation)
        // A sweep that reaches next to nothing has proved nothing.
        // How often a field is waited at and read depends on when keys come, which ten points tell less of than thousands.
        let tolerated = Proof.isWhole ? summary.points / 5 : summary.points / 2
        #expect(summary.missed <= tolerated, "\(summary)", sourceLocation: sourceLocation)
        print(
            "\(name): \(summary.points) faults, \(summary.granted) succeeded, \(summary.refused) refused,",
            "\(summary.missed) not reached, \(summary.failed.count) wrong")
        Proof.report(
            "faults: \(name)", cases: summary.points, failed: summary.failed.count, seconds: Proof.now() - began)
    }

    /// The one that SIGNET_FAULT names, as `module:pwrite64:2:28`; else all, or a sample.
    private func chosen(_ all: [FaultPoint]) -> [FaultPoint] {
        let points = all.filter { $0.argument.hasPrefix(only) }
        if let one = getenv("SIGNET_FAULT").map({ String(cString: $0) }) {
            return points.filter { $0.argument.hasPrefix(one) }
        }
        var places = Set(Proof.sample(of: points.count, few: few))
        for (call, fault) in known {
            let all = points.indices.filter { points[$0].call == call && points[$0].fault == fault }
            places.formUnion([all.first, all.last].compactMap { $0 })
        }
        return places.sorted().map { points[$0] }
    }
}
