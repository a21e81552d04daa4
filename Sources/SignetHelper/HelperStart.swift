internal import CPlatform

/// How a helper program begins; it is Embedded Swift, which has no `CommandLine`.
package enum HelperStart {
    /// The words after the program's name, as proc(5) has them; nil where there are more than fit or they cannot be read.
    package static func arguments() -> [[UInt8]]? {
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
    package static func isBySignet() -> Bool {
        var kind: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        // SAFETY: both pointers are good for the call, and the length is that of `kind`.
        let answer = unsafe getsockopt(Int32(SIGNET_HELPER_SOCKET), SOL_SOCKET, SO_TYPE, &kind, &length)
        return answer == 0 && kind == Int32(SOCK_SEQPACKET.rawValue)
    }
}
