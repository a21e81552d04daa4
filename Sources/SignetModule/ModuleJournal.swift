internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

/// The journal of one call: one line an event, LOG_AUTHPRIV, without a trace in the calling program.
struct ModuleJournal: Journal, ~Copyable {
    private let context: JournalContext

    init(_ context: JournalContext) { self.context = context }

    mutating func record(_ event: JournalEvent) {
        let line = JournalLine.render(event, context: context)
        SystemLog.send(Array(line.utf8), severity: event.isRoutine ? .info : .notice, identifier: "pam_signet")
    }
}

extension JournalEvent {
    /// Whether an administrator who looks for trouble may pass it over.
    var isRoutine: Bool {
        switch self {
        case .authentication(let verdict, _): verdict.isGranted
        case .fingerPathClosed, .management: true
        default: false
        }
    }
}
