internal import CPlatform
internal import CSodium
internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords

extension IdentityRecord {
    /// What the counters know an identity by: BLAKE2b-256 (RFC 7693) over a context and the record's bytes.
    ///
    /// Without a key, for the counters that hold it are authenticated; it tells nothing of the record, which holds 40
    /// random bytes at least.
    func digest() throws(StoreError) -> Digest {
        guard let content = try? encoded() else { throw .system(errno: EINVAL) }
        let message = KeyedHash.bytes(of: "signet identity digest 1") + content
        let none: [UInt8] = []
        var hash = [UInt8](repeating: 0, count: Digest.byteCount)
        var target = hash.mutableSpan
        let length = target.count
        let failed = target.withAddress { out in
            message.span.withAddress { text in
                none.span.withAddress { key in
                    // SAFETY: each address is valid for the length that goes with it, and none is kept.
                    unsafe crypto_generichash(out, length, text, UInt64(message.count), key, 0) != 0
                }
            }
        }
        guard !failed, let digest = Digest(hash.span) else { throw .system(errno: EINVAL) }
        return digest
    }
}
