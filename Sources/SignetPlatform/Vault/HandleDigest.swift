internal import CSodium
internal import SignetPolicy
internal import SignetRecords

/// SHA-256 (FIPS 180-4) over a print's identity: how a print in a reader's memory is told from another.
///
/// Without a key, since the helper makes it too, which has none; a handle is no secret.
enum HandleDigest {
    /// The digest of an identity that `PrintTemplate.writeIdentity` wrote.
    static func of(identity: Span<UInt8>) -> Digest? {
        var hash = [UInt8](repeating: 0, count: Digest.byteCount)
        var target = hash.mutableSpan
        target.withAddress { out in
            identity.withAddress { text in
                // SAFETY: the hash has 32 bytes (crypto_hash_sha256_BYTES), the text as many as are named; none is kept.
                _ = unsafe crypto_hash_sha256(out, text, UInt64(identity.count))
            }
        }
        return Digest(hash.span)
    }

    /// The digest of a print in libfprint's serialized form; nil where it is none, and for no other reason.
    ///
    /// The handle of a print on a chip is a name and nothing of a finger, so that no guarded memory is asked for, which may
    /// be short: a print that is only not known now must not be taken for nobody's.
    static func of(handle: Span<UInt8>) -> Digest? {
        var identity = [UInt8](repeating: 0, count: handle.count + PrintTemplate.identityOverhead)
        var target = identity.mutableSpan
        guard let length = PrintTemplate.writeIdentity(of: handle, into: &target) else { return nil }
        return of(identity: identity.span.extracting(0..<length))
    }
}
