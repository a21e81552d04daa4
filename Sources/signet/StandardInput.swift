internal import CPlatform
internal import SignetSecrets

/// Standard input as the source of one secret, without a buffer of the C library's in between.
enum StandardInput {
    /// Reads one line into guarded memory, byte by byte; nil at the end of input, or where it is longer than `limit`.
    static func readSecretLine(limit: Int) -> SecretBytes? {
        guard var line = SecretBytes(count: limit + 1) else { return nil }
        var length = 0
        while length <= limit {
            let count = line.withMutableBytes { bytes in
                // SAFETY: `length` is below the count, and one byte is read into the place it names.
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe read(STDIN_FILENO, buffer.baseAddress?.advanced(by: length), 1)
                }
            }
            if count < 0, signet_errno() == EINTR { continue }
            if count < 0 || (count == 0 && length == 0) { return nil }
            if count == 0 || line.withBytes({ $0[length] }) == 0x0A {
                line.truncate(to: length)
                return line
            }
            length += 1
        }
        return nil
    }
}
