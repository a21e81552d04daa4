internal import CSodium
internal import SignetSecrets

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03); nonces are random, for with 192 bits they never meet.
enum AuthenticatedEncryption {
    static let keyCount = 32
    static let nonceCount = 24
    static let tagCount = 16

    /// A fresh nonce.
    static func nonce() -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: nonceCount)
        var span = nonce.mutableSpan
        // SAFETY: the address is valid for `nonceCount` bytes.
        span.withAddress { unsafe randombytes_buf($0, nonceCount) }
        return nonce
    }

    /// The ciphertext with its tag at the end; nil for a key or nonce of a wrong length.
    static func seal(
        _ content: Span<UInt8>, associated: Span<UInt8>, nonce: Span<UInt8>, key: borrowing SecretBytes
    ) -> [UInt8]? {
        guard key.count == keyCount, nonce.count == nonceCount else { return nil }
        var sealed = [UInt8](repeating: 0, count: content.count + tagCount)
        var target = sealed.mutableSpan
        let result = key.withBytes { key in
            target.withAddress { out in
                content.withAddress { text in
                    associated.withAddress { header in
                        nonce.withAddress { nonce in
                            key.withAddress { key in
                                // SAFETY: `out` has room for content and tag; all other lengths go with their
                                // addresses.
                                unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                                    out, nil, text, UInt64(content.count), header, UInt64(associated.count), nil,
                                    nonce, key)
                            }
                        }
                    }
                }
            }
        }
        return result == 0 ? sealed : nil
    }

    /// What opening came to.
    enum Opened: ~Copyable {
        case content(SecretBytes)
        /// The tag does not fit key, nonce, associated data and ciphertext.
        case refused
        case outOfMemory
    }

    /// Opens what `seal` made.
    static func open(
        _ sealed: Span<UInt8>, associated: Span<UInt8>, nonce: Span<UInt8>, key: borrowing SecretBytes
    ) -> Opened {
        guard key.count == keyCount, nonce.count == nonceCount, sealed.count >= tagCount else { return .refused }
        guard var content = SecretBytes(count: sealed.count - tagCount) else { return .outOfMemory }
        let result = key.withBytes { key in
            content.withMutableBytes { content in
                content.withAddress { out in
                    sealed.withAddress { text in
                        associated.withAddress { header in
                            nonce.withAddress { nonce in
                                key.withAddress { key in
                                    // SAFETY: `out` has room for `sealed` without its tag; the other lengths go with
                                    // their addresses.
                                    unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                                        out, nil, nil, text, UInt64(sealed.count), header, UInt64(associated.count),
                                        nonce, key)
                                }
                            }
                        }
                    }
                }
            }
        }
        return result == 0 ? .content(content) : .refused
    }
}
