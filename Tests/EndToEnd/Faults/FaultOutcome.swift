import Glibc

/// What a program did in which one call failed, or none.
struct FaultOutcome {
    /// The program's exit code, or 128 and a signal's number.
    var code: Int
    /// What stood on lines of their own, the prompts among them.
    var lines: [String]
    /// What the module left in the program that called it, as pamhost names it; "modes" where the terminal was.
    var left: [String]
    var milliseconds: Int
    var journal: [String]
    var report: FaultReport

    var isGranted: Bool { code == 0 }

    private static let helpersEnds = [Int(SIGKILL), Int(SIGALRM)]

    /// What is wrong with it, where a run without fault is known; empty where nothing is.
    ///
    /// `mayGrant`: whether the run without fault succeeds. `deadline`: in milliseconds.
    func complaints(quiet: FaultOutcome, mayGrant: Bool, deadline: Int) -> [String] {
        var found: [String] = []
        if isGranted, !mayGrant { found.append("GRANTED") }
        // A helper that does not behave is killed by the module, and one that waits too long ends by its own alarm.
        for death in report.deaths where death.part == "module" || !FaultOutcome.helpersEnds.contains(death.signal) {
            found.append("\(death.part) died of signal \(death.signal)")
        }
        if lines.contains(where: { line in [Signet.pin, Changed.pin].contains { line.contains($0) } }) {
            found.append("shows the PIN")
        }
        if report.hung || milliseconds > deadline { found.append("took \(milliseconds) ms") }
        for part in report.left { found.append("\(part) outlives the program") }
        // Where the very call that puts something back is refused, nobody can put it back.
        for name in left where !quiet.left.contains(name) { found.append("left \(name)") }
        guard !isGranted, mayGrant else { return found }
        if sentences(beside: quiet).isEmpty { found.append("refused without a sentence") }
        let isJournals = report.hits.contains {
            $0.call == "socket-datagrams" || $0.target.hasSuffix(" datagrams")
        }
        if journal.isEmpty, !isJournals { found.append("refused without a line in the journal") }
        return found
    }

    /// What the person reads that is not there without a fault.
    func sentences(beside quiet: FaultOutcome) -> [String] {
        lines.filter { $0.contains(" ") && !quiet.lines.contains($0) }
    }
}
