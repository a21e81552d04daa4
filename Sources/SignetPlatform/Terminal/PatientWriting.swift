internal import CPlatform

extension FileDescriptor {
    /// Writes to a terminal that was opened without blocking, and waits at most some milliseconds while it takes nothing;
    /// whether it took all.
    ///
    /// Somebody may have stopped it with Ctrl-S, for as long as they like.
    package borrowing func write(_ bytes: Span<UInt8>, within milliseconds: Int) -> Bool {
        let deadline = Deadline(milliseconds: milliseconds)
        var (sent, failures) = (0, 0)
        while sent < bytes.count {
            // SAFETY: the pointer and the length describe the rest of the span, which lives through the call.
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe CPlatform.write(raw, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
            }
            if written > 0 {
                sent += written
                continue
            }
            let reason = written < 0 ? signet_errno() : EIO
            // A driver that fails once is asked again, or a person waits for a question that never came.
            if reason != EINTR, reason != EAGAIN { failures += 1 }
            guard failures < 3, !deadline.hasPassed else { return false }
            var room = pollfd(fd: raw, events: Int16(POLLOUT), revents: 0)
            // SAFETY: one entry, good for the call. An interruption only means another look.
            if reason == EAGAIN { _ = unsafe poll(&room, 1, deadline.pollTimeout) }
        }
        return true
    }
}
