internal import CPlatform
internal import SignetEngine
internal import SignetPlatform

/// The journal of the command line: the same lines as the module's, under the name "signet".
struct CommandJournal: Journal, ~Copyable {
    private var journal: SyslogJournal

    init(_ target: TargetUser) {
        journal = SyslogJournal(
            JournalContext(
                service: Array("signet".utf8), user: target.name, terminal: CommandJournal.terminal(), remoteHost: [],
                realUID: getuid()),
            identifier: "signet")
    }

    mutating func record(_ event: JournalEvent) { journal.record(event) }

    /// The terminal's name; empty where standard input is none.
    private static func terminal() -> [UInt8] {
        var name = [CChar](repeating: 0, count: 256)
        // SAFETY: the buffer and its own size are passed; the answer is terminated where it is 0.
        guard unsafe ttyname_r(STDIN_FILENO, &name, name.count) == 0 else { return [] }
        return name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    }
}
