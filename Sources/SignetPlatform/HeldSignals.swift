internal import CPlatform

/// The signals that ask a program to stop, held back so that a charge is settled before they act.
///
/// They are blocked and looked at, never taken: each stays pending, and acts by itself as the caller has decided when
/// the mask is restored.
public struct HeldSignals: ~Copyable {
    /// Polls readable while a signal is pending; -1 while nothing is held.
    package private(set) var descriptor: Int32 = -1
    /// The caller's mask.
    private var mask = sigset_t()

    package init() {}

    /// Holds INT, QUIT, TERM, HUP, TSTP and ALRM, those that the caller ignores excepted; whether it could be done.
    package mutating func hold() -> Bool {
        if descriptor >= 0 { return true }
        // SAFETY: `mask` is good for the call.
        descriptor = unsafe signet_hold_signals(&mask)
        if descriptor < 0 { descriptor = -1 }
        return descriptor >= 0
    }

    /// Lets them act; one that is pending acts before this returns.
    package mutating func release() {
        guard descriptor >= 0 else { return }
        _ = CPlatform.close(descriptor)
        descriptor = -1
        // SAFETY: `mask` was filled by `hold`.
        unsafe signet_release_signals(&mask)
    }

    deinit {
        guard descriptor >= 0 else { return }
        _ = CPlatform.close(descriptor)
        // SAFETY: as in `release`; the copy is needed since a deinit does not change its value.
        var mask = mask
        unsafe signet_release_signals(&mask)
    }
}
