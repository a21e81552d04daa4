internal import CPlatform
import SignetHelper

/// The TPM helper: `signet-enclave --tcti device:/dev/…` or `--tcti swtpm:path=/…`.
///
/// Signet starts it, with a SOCK_SEQPACKET socket as descriptor 3.
@main struct Main {
    static func main() {
        // Before anything else looks: tss2 appends what it logs, secrets too, to any file that TSS2_LOGFILE names, and
        // libcrypto loads what OPENSSL_CONF names. Signet's environment has neither, but others can start a program too.
        // SAFETY: both texts are literals, and this process has one thread.
        guard clearenv() == 0, unsafe setenv("TSS2_LOG", "all+none", 1) == 0 else { _exit(1) }
        // Swift's runtime catches crashes to print a backtrace; a crashed helper is to be gone, and its memory with it.
        signet_reset_signals()
        guard signet_guard_memory() == 0 else { _exit(1) }
        guard HelperStart.isBySignet(), let arguments = HelperStart.arguments(), arguments.count == 2,
            arguments[0] == Array("--tcti".utf8), let interface = Interface(arguments[1])
        else { _exit(2) }
        serve(interface)
        _exit(0)
    }

    /// A function of its own, so that everything in the TPM is flushed when it returns.
    private static func serve(_ interface: Interface) {
        alarm(Channel.requestSeconds)
        guard var channel = Channel() else { _exit(1) }
        var session = Session(Connection.open(interface))
        // No message of the TPM's is looked at before: it may be a socket, or a bus that somebody has his hands on.
        guard confine(with: interface) else { _exit(1) }
        channel.serve { request, packet in session.answer(request, packet) }
        // What is flushed now has its deadline too.
        alarm(Channel.requestSeconds)
    }

    /// Gives up what an open device does not need; a software TPM's socket is root's, and taken anew for each command.
    private static func confine(with interface: Interface) -> Bool {
        if interface.isSoftware { return signet_confine(0, 0) == 0 && signet_filter_calls_but_connections() == 0 }
        let user = HelperUser.find()
        return signet_confine(user.user, user.group) == 0 && signet_filter_calls() == 0
    }
}
