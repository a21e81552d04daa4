internal import CPlatform

/// The signals that a field holds back while it stands on the terminal.
///
/// Those that ask the program to stop stay pending, and act as the caller has decided when the field lets go of them.
/// CONT and WINCH are the field's own and are taken.
public struct FieldSignals: ~Copyable {
    /// Polls readable while a signal is pending; -1 while nothing is held.
    private(set) var descriptor: Int32 = -1
    private var held = sigset_t()

    /// What a signal means for a field.
    enum News {
        /// INT, QUIT, TERM, HUP, ALRM or another signal that would end the program is pending.
        case end
        /// TSTP is pending.
        case stop
        /// The program was stopped, and goes on.
        case resumed
        /// The terminal has another size.
        case resized
    }

    init() {}

    /// Holds them; whether it could be done.
    mutating func hold() -> Bool {
        if descriptor >= 0 { return true }
        // SAFETY: `held` is good for the call.
        descriptor = max(-1, unsafe signet_hold_field_signals(&held))
        return descriptor >= 0
    }

    /// The next thing that the held signals tell; nil where none is pending.
    borrowing func next() -> News? {
        guard descriptor >= 0 else { return nil }
        while true {
            let number = signet_pending_signal()
            switch number {
            case 0: return nil
            case SIGTSTP: return .stop
            case SIGCONT, SIGWINCH:
                // Another thread may be quicker.
                if signet_take_pending(number) == 1 { return number == SIGCONT ? .resumed : .resized }
            default: return .end
            }
        }
    }

    /// Takes a pending TSTP off: a program that must not stop.
    borrowing func refuseStop() { _ = signet_take_pending(SIGTSTP) }

    /// Lets them act; one that is pending acts before this returns.
    mutating func release() {
        guard descriptor >= 0 else { return }
        _ = CPlatform.close(descriptor)
        descriptor = -1
        // They were the field's; a program's handler would find an unchanged size and no stop.
        signet_drop_notices()
        // SAFETY: `held` was filled by `hold`.
        unsafe signet_release_signals(&held)
    }

    deinit {
        guard descriptor >= 0 else { return }
        _ = CPlatform.close(descriptor)
        signet_drop_notices()
        // SAFETY: as in `release`; the copy is needed since a deinit does not change its value.
        var held = held
        unsafe signet_release_signals(&held)
    }
}
