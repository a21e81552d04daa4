internal import CFprint
import SignetPolicy
import SignetRecords

extension Print {
    /// SHA-256 over what makes this print this print, as Signet makes it of the prints that it knows.
    ///
    /// A print that Signet's strict reader does not know is told by all of its bytes. nil where memory is short.
    var handleDigest: Digest? {
        var bytes: UnsafeMutablePointer<guchar>?
        var count: gsize = 0
        // SAFETY: libfprint allocates the bytes, and they are freed below.
        guard unsafe fp_print_serialize(pointer, &bytes, &count, nil) != 0, let bytes = unsafe bytes else { return nil }
        defer { unsafe g_free(bytes) }
        // SAFETY: `count` bytes are there until the end of this property.
        let template = unsafe UnsafeBufferPointer(start: UnsafePointer(bytes), count: Int(clamping: count))
        let handle = unsafe template.span
        var identity = [UInt8](repeating: 0, count: handle.count + PrintTemplate.identityOverhead)
        var target = identity.mutableSpan
        guard let length = PrintTemplate.writeIdentity(of: handle, into: &target) else { return sha256(handle) }
        return sha256(identity.span.extracting(0..<length))
    }
}

/// SHA-256 (FIPS 180-4) by GLib.
private func sha256(_ bytes: Span<UInt8>) -> Digest? {
    guard let checksum = unsafe g_checksum_new(G_CHECKSUM_SHA256) else { return nil }
    defer { unsafe g_checksum_free(checksum) }
    var hash = [UInt8](repeating: 0, count: Digest.byteCount)
    var length = gsize(hash.count)
    // SAFETY: both buffers are good for the calls, with the lengths that go with them.
    unsafe bytes.withUnsafeBufferPointer { text in
        unsafe g_checksum_update(checksum, text.baseAddress, gssize(text.count))
    }
    unsafe hash.withUnsafeMutableBufferPointer { out in
        unsafe g_checksum_get_digest(checksum, out.baseAddress, &length)
    }
    return length == gsize(hash.count) ? Digest(hash.span) : nil
}
