internal import CPlatform

/// The reader helper: `signet-sensor [--allow-virtual]`.
///
/// Signet starts it, with a SOCK_SEQPACKET socket as descriptor 3.
@main struct Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.allSatisfy({ $0 == "--allow-virtual" }), isStartedBySignet() else { _exit(2) }
        // Swift's runtime catches crashes to print a backtrace, which takes seconds; a crashed helper is to be gone.
        signet_reset_signals()
        Session(allowsVirtual: !arguments.isEmpty).run()
    }

    /// Whether descriptor 3 is a socket of the kind that Signet passes.
    private static func isStartedBySignet() -> Bool {
        var kind: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        // SAFETY: both pointers are good for the call, and the length is that of `kind`.
        let answer = unsafe getsockopt(
            Int32(SIGNET_HELPER_SOCKET), SOL_SOCKET, SO_TYPE, &kind, &length)
        return answer == 0 && kind == Int32(SOCK_SEQPACKET.rawValue)
    }
}
