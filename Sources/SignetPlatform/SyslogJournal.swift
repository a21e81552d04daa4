package import SignetEngine
internal import SignetPolicy

/// The journal in the system's log, facility LOG_AUTHPRIV: one line an event, with who asked whom for what.
///
/// A log that takes no line does not stop an authentication: nobody may be shut out, or let in, by filling it.
package struct SyslogJournal: Journal, ~Copyable {
    private let context: JournalContext
    private let identifier: StaticString
    private let path: [UInt8]
    private let verbose: Bool

    /// `identifier` is what the log calls the program; `path` is the log's socket; `verbose` adds what explains without deciding.
    package init(
        _ context: JournalContext, identifier: StaticString = "pam_signet", verbose: Bool = false,
        path: [UInt8] = SystemLog.standardPath
    ) {
        self.context = context
        self.identifier = identifier
        self.verbose = verbose
        self.path = path
    }

    package mutating func record(_ event: JournalEvent) {
        guard verbose || !event.onlyExplains else { return }
        let line = JournalLine.render(event, context: context)
        SystemLog.send(line, severity: event.severity, identifier: identifier, to: path)
    }
}

extension JournalEvent {
    /// How loud it is: a warning where an administrator should look, a notice for each decision and refusal.
    var severity: SystemLog.Severity {
        switch self {
        case .recordFault, .storeRefused, .attemptsTorn, .vaultFailed, .clockUnreadable, .memoryNotLocked,
            .configurationUnusable, .noCounter, .enclaveWaits, .argumentUnknown, .readerRefused:
            .warning
        case .authentication(.refused(.recordUnusable), _), .authentication(.refused(.pinLockout), _): .warning
        case .fingerPathClosed(.enrollmentChanged), .fingerPathClosed(.biometryLockout): .warning
        case .authentication, .failure, .storeBusy, .management, .countMadeGood: .notice
        case .fingerPathClosed, .foreignPrints, .readerTrouble, .printLeft: .info
        }
    }

    /// Whether it says why something usual happened; forty lines a day that nobody reads hide the one that matters.
    var onlyExplains: Bool {
        switch self {
        case .fingerPathClosed(.switchedOff), .fingerPathClosed(.noTerminal), .fingerPathClosed(.notEnrolled): true
        // A laptop away from its dock.
        case .fingerPathClosed(.readerNotAvailable(.noReader)), .fingerPathClosed(.readerExchanged): true
        default: false
        }
    }
}
