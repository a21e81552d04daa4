internal import CSodium
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

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

    /// The digest of a print in libfprint's serialized form; nil where it is none.
    static func of(handle: Span<UInt8>) -> Digest? {
        guard var identity = SecretBytes(count: handle.count + PrintTemplate.identityOverhead) else { return nil }
        let length = identity.withMutableBytes { target in PrintTemplate.writeIdentity(of: handle, into: &target) }
        guard let length else { return nil }
        identity.truncate(to: length)
        return identity.withBytes { bytes in of(identity: bytes) }
    }
}
