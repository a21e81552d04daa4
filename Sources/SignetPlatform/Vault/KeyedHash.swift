internal import CSodium
package import SignetSecrets

/// BLAKE2b with a key (RFC 7693): message authentication and the derivation of keys from keys.
package enum KeyedHash {
    /// Writes the hash of `message` to `target`; false for a wrong length.
    ///
    /// Target and key have 16–64 bytes each.
    package static func write(
        of message: Span<UInt8>, key: borrowing SecretBytes, to target: inout MutableSpan<UInt8>
    ) -> Bool {
        let targetCount = target.count
        guard targetCount >= 16, targetCount <= 64, key.count >= 16, key.count <= 64 else { return false }
        return key.withBytes { key in
            target.withAddress { out in
                message.withAddress { text in
                    key.withAddress { secret in
                        // SAFETY: each address is valid for the length that goes with it, and none is kept.
                        unsafe crypto_generichash(out, targetCount, text, UInt64(message.count), secret, key.count) == 0
                    }
                }
            }
        }
    }

    /// A 32-byte key for one use, which `context` names; nil where memory is short.
    package static func deriveKey(from master: borrowing SecretBytes, context: StaticString) -> SecretBytes? {
        guard var key = SecretBytes(count: 32) else { return nil }
        let written = key.withMutableBytes { target in write(of: bytes(of: context).span, key: master, to: &target) }
        guard written else { return nil }
        return consume key
    }

    /// A hash that is no secret, of `count` bytes; nil for a wrong length of key or hash.
    package static func digest(of message: Span<UInt8>, key: borrowing SecretBytes, count: Int) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: count)
        var target = result.mutableSpan
        return write(of: message, key: key, to: &target) ? result : nil
    }

    /// The text of a context.
    static func bytes(of context: StaticString) -> [UInt8] {
        // SAFETY: the buffer is the literal's own, for the time of the call.
        context.withUTF8Buffer { text in unsafe Array(text) }
    }
}
