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

    /// Whether the fault is what a terminal answers that was hung up (tty_ioctl(4), read(2)): it shows nothing any more.
    private var hangsUp: Bool {
        report.hits.contains { $0.call == "ioctl-group" || $0.call == "read" && $0.target == "/dev/tty" }
    }

    /// Whether the fault is that the terminal did not take what was written.
    private var isMute: Bool { report.hits.contains { $0.call == "write" && $0.target.hasPrefix("/dev/") } }

    private static let memory: Set<String> = ["brk", "mmap", "mprotect", "mremap", "munmap", "clone", "clone3"]
    private static let identity: Set<String> = ["setresuid", "setresgid", "setgroups"]

    /// Whether it is how a helper that misbehaves or waits too long is ended.
    private func isOrderly(_ death: (part: String, signal: Int)) -> Bool {
        guard death.part != "module" else { return false }
        let calls = report.hits.filter { $0.part == death.part }.map(\.call)
        // GLib ends a process that is refused memory or a thread (g_malloc, g_thread_new).
        if calls.contains(where: FaultOutcome.memory.contains) { return true }
        // The C library ends one of whose threads only some would be another user, for each has its own (nptl(7), nptl_setxid.c).
        if death.signal == Int(SIGABRT), calls.contains(where: FaultOutcome.identity.contains) { return true }
        return [Int(SIGKILL), Int(SIGALRM)].contains(death.signal)
    }

    /// What is wrong with it, where a run without fault is known; empty where nothing is.
    ///
    /// `mayGrant`: whether the run without fault succeeds. `deadline`: in milliseconds. `journals`: whether what is
    /// refused has to be in the journal.
    func complaints(quiet: FaultOutcome, mayGrant: Bool, deadline: Int, journals: Bool = true) -> [String] {
        var found: [String] = []
        if isGranted, !mayGrant { found.append("GRANTED") }
        for death in report.deaths where !isOrderly(death) {
            found.append("\(death.part) died of signal \(death.signal)")
        }
        if lines.contains(where: { line in [Signet.pin, Changed.pin].contains { line.contains($0) } }) {
            found.append("shows the PIN")
        }
        if report.hung || milliseconds > deadline { found.append("took \(milliseconds) ms") }
        for part in report.left { found.append("\(part) outlives the program") }
        // What has no foreground any more has no modes either.
        let isGone = report.hits.contains { $0.call == "ioctl-group" }
        // A wait that did nothing leaves what it was for; no wait for a child of ours really answers so. And where it could
        // not be received who the helper is, it ends by itself, and is init's, or here the program's, which is a subreaper.
        let isWait = report.hits.contains { ["wait4", "waitid", "recvmsg"].contains($0.call) }
        for name in left where !quiet.left.contains(name) {
            if isGone && name == "modes" || isWait && name == "children" { continue }
            found.append("left \(name)")
        }
        guard !isGranted, mayGrant else { return found }
        if sentences(beside: quiet).isEmpty, !hangsUp, !isMute { found.append("refused without a sentence") }
        let isJournals = report.hits.contains { $0.call == "socket-datagrams" || $0.target.hasSuffix(" datagrams") }
        if journals, journal.isEmpty, !isJournals { found.append("refused without a line in the journal") }
        return found
    }

    /// What the person reads that is not there without a fault.
    func sentences(beside quiet: FaultOutcome) -> [String] {
        lines.filter { $0.contains(" ") && !$0.hasPrefix("round ") && !quiet.lines.contains($0) }
    }
}
