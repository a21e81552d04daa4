internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

/// The journal of the command line: the same lines as the module's, under the name "signet".
enum CommandJournal {
    /// The journal for what is done to `target`.
    static func of(_ target: TargetUser, _ configuration: Configuration) -> SyslogJournal {
        SyslogJournal(
            JournalContext(
                service: Array("signet".utf8), user: target.name, terminal: terminal(), remoteHost: [],
                realUID: getuid(), usesStandInReader: StandInReader.isConfigured(configuration),
                usesStandInTPM: StandInTPM.isConfigured(configuration)),
            identifier: "signet")
    }

    /// The terminal's name; empty where standard input is none.
    private static func terminal() -> [UInt8] {
        var name = [CChar](repeating: 0, count: 256)
        // SAFETY: the buffer and its own size are passed; the answer is terminated where it is 0.
        guard unsafe ttyname_r(STDIN_FILENO, &name, name.count) == 0 else { return [] }
        return name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    }
}
