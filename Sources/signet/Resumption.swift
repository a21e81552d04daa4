internal import CPlatform
internal import Synchronization

/// Whether the program was stopped (ctrl-Z) and went on since it was asked for last.
///
/// A stop ends a touch, for nobody waits at the reader then; whoever comes back has to be told.
enum Resumption {
    private static let seen = Atomic<Bool>(false)

    /// Begins to look out for SIGCONT, and forgets what was seen.
    static func watch() {
        seen.store(false, ordering: .relaxed)
        // The handler only stores into an atomic that has its value already, which a handler may (signal-safety(7)).
        _ = signal(SIGCONT) { _ in Resumption.seen.store(true, ordering: .relaxed) }
    }

    static var happened: Bool { seen.load(ordering: .relaxed) }
}
