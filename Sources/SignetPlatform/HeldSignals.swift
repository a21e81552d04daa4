internal import CPlatform

/// The signals that ask a program to stop, held back so that a charge is settled before they act.
///
/// They are blocked and looked at, never taken: each stays pending, and acts by itself as the caller has decided when
/// the mask is restored. Where several hold them in one thread, that is when the last lets go.
public struct HeldSignals: ~Copyable {
    /// Polls readable while a signal is pending; -1 while nothing is held.
    private(set) var descriptor: Int32 = -1
    /// The caller's mask.
    private var mask = sigset_t()

    package init() {}

    /// Holds INT, QUIT, TERM, HUP, TSTP and ALRM, those that the caller ignores excepted; whether it could be done.
    package mutating func hold() -> Bool {
        if descriptor >= 0 { return true }
        // SAFETY: `mask` is good for the call.
        descriptor = unsafe signet_hold_signals(&mask)
        guard descriptor >= 0 else {
            descriptor = -1
            return false
        }
        // SAFETY: `mask` was just filled.
        unsafe signet_begin_holding(&mask)
        return true
    }

    /// Lets them act, where nobody else holds them; one that is pending acts before this returns.
    package mutating func release() {
        guard descriptor >= 0 else { return }
        _ = CPlatform.close(descriptor)
        descriptor = -1
        // SAFETY: `mask` was filled by `hold`, and is good for both calls.
        if unsafe signet_end_holding(&mask) != 0 { unsafe signet_release_signals(&mask) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        _ = CPlatform.close(descriptor)
        // SAFETY: as in `release`; the copy is needed since a deinit does not change its value.
        var mask = mask
        if unsafe signet_end_holding(&mask) != 0 { unsafe signet_release_signals(&mask) }
    }
}
