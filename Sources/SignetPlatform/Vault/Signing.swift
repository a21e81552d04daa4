internal import CSodium
internal import SignetSecrets

/// Ed25519 (RFC 8032) with libsodium's 64-byte secret keys: the seed, then the public half.
enum Signing {
    static let secretCount = 64
    static let publicCount = 32
    static let signatureCount = 64

    /// Fills a secret of 64 bytes with a fresh key and answers its public half.
    static func makeKey(_ secret: inout SecretBytes) -> [UInt8]? {
        guard secret.count == secretCount else { return nil }
        var publicKey = [UInt8](repeating: 0, count: publicCount)
        var target = publicKey.mutableSpan
        let result = secret.withMutableBytes { secret in
            secret.withAddress { secret in
                // SAFETY: 32 and 64 bytes, as libsodium expects.
                target.withAddress { unsafe crypto_sign_ed25519_keypair($0, secret) }
            }
        }
        return result == 0 ? publicKey : nil
    }

    /// The public half, computed anew from the seed: the copy in the key proves nothing about the seed.
    static func publicKey(of secret: borrowing SecretBytes) -> [UInt8]? {
        guard secret.count == secretCount, var pair = SecretBytes(count: secretCount) else { return nil }
        var publicKey = [UInt8](repeating: 0, count: publicCount)
        var target = publicKey.mutableSpan
        let result = secret.withBytes { secret in
            pair.withMutableBytes { pair in
                secret.withAddress { seed in
                    pair.withAddress { pair in
                        // SAFETY: the seed is the first 32 of 64 bytes; the targets have 32 and 64 bytes.
                        target.withAddress { unsafe crypto_sign_ed25519_seed_keypair($0, pair, seed) }
                    }
                }
            }
        }
        guard result == 0, pair.isEqual(to: secret) else { return nil }
        return publicKey
    }

    /// A detached signature of 64 bytes; nil for a key of a wrong length.
    static func sign(_ message: [UInt8], with secret: borrowing SecretBytes) -> [UInt8]? {
        guard secret.count == secretCount else { return nil }
        var signature = [UInt8](repeating: 0, count: signatureCount)
        var target = signature.mutableSpan
        let result = secret.withBytes { secret in
            secret.withAddress { secret in
                message.span.withAddress { text in
                    // SAFETY: 64 bytes of signature and of key; the message's length goes with its address.
                    target.withAddress {
                        unsafe crypto_sign_ed25519_detached($0, nil, text, UInt64(message.count), secret)
                    }
                }
            }
        }
        return result == 0 ? signature : nil
    }

    /// Whether the signature is the key holder's; false for any wrong length.
    static func isValid(signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        guard signature.count == signatureCount, publicKey.count == publicCount else { return false }
        return signature.span.withAddress { signature in
            message.span.withAddress { text in
                publicKey.span.withAddress { key in
                    // SAFETY: 64 and 32 bytes, checked above; the message's length goes with its address.
                    unsafe crypto_sign_ed25519_verify_detached(signature, text, UInt64(message.count), key) == 0
                }
            }
        }
    }
}
