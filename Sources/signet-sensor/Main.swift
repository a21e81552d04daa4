internal import CConfinement
internal import CPlatform

/// The reader helper: `signet-sensor [--allow-virtual]`.
///
/// Signet starts it, with a SOCK_SEQPACKET socket as descriptor 3.
@main struct Main {
    static func main() {
        guard isStartedBySignet(), let arguments = arguments() else { _exit(2) }
        for word in arguments where word != Array("--allow-virtual".utf8) { _exit(2) }
        // Swift's runtime catches crashes to print a backtrace, which takes seconds; a crashed helper is to be gone.
        signet_reset_signals()
        // Root opens readers by its capabilities and not by its group, so that can go before libfprint starts threads.
        guard signet_leave_root_groups(Session.unprivileged.group) == 0 else { _exit(1) }
        signet_hide_files()
        Session(allowsVirtual: !arguments.isEmpty).run()
    }

    /// The words after the program's name, as proc(5) has them, for Embedded Swift has no `CommandLine`; nil where there
    /// are more than fit or they cannot be read.
    private static func arguments() -> [[UInt8]]? {
        // SAFETY: the path is a literal that ends with a zero.
        let file = unsafe signet_openat(AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0)
        guard file >= 0 else { return nil }
        defer { _ = close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        // SAFETY: the buffer has the length that is passed.
        let length = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe read(file, buffer.baseAddress, buffer.count)
        }
        guard length > 0, length < bytes.count, bytes[length - 1] == 0 else { return nil }
        let words = bytes[..<(length - 1)].split(separator: 0, omittingEmptySubsequences: false)
        return words.dropFirst().map { Array($0) }
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
