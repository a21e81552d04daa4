internal import CConfinement
internal import CPlatform
import SignetHelper

/// The reader helper: `signet-sensor [--allow-virtual]`.
///
/// Signet starts it, with a SOCK_SEQPACKET socket as descriptor 3.
@main struct Main {
    static func main() {
        guard HelperStart.isBySignet(), let arguments = HelperStart.arguments() else { _exit(2) }
        for word in arguments where word != Array("--allow-virtual".utf8) { _exit(2) }
        // Swift's runtime catches crashes to print a backtrace, which takes seconds; a crashed helper is to be gone.
        signet_reset_signals()
        // Root opens readers by its capabilities and not by its group, so that can go before libfprint starts threads.
        let user = HelperUser.find()
        guard signet_leave_root_groups(user.group) == 0 else { _exit(1) }
        signet_hide_files()
        Session(allowsVirtual: !arguments.isEmpty, user: user).run()
    }
}
