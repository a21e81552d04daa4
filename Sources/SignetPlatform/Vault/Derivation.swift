internal import CSodium
internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// From a PIN or a recovery code to the key that opens the signing key.
enum Derivation {
    /// BLAKE2b keyed with the pepper over the purpose and a typed secret; 32 bytes.
    ///
    /// Argon2id goes over this, so that the characters of a PIN need not be in memory while it runs, and so that what
    /// libsodium leaves on its stack is not theirs. It adds nothing against whoever has the pepper.
    static func image(
        of typed: consuming SecretBytes, purpose: SecretPurpose, pepper: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        let context = KeyedHash.bytes(of: "signet typed secret 1") + [purpose.rawValue]
        guard var message = SecretBytes(count: context.count + typed.count), var image = SecretBytes(count: imageCount)
        else { throw .outOfMemory }
        message.withMutableBytes { message in
            typed.withBytes { typed in
                for index in 0..<context.count { message[index] = context[index] }
                for index in 0..<typed.count { message[context.count + index] = typed[index] }
            }
        }
        _ = consume typed
        let made = message.withBytes { message in
            image.withMutableBytes { target in KeyedHash.write(of: message, key: pepper, to: &target) }
        }
        guard made else { throw .keyLost }
        return image
    }

    private static let imageCount = 32

    /// What Argon2id (RFC 9106) gave; 32 bytes.
    struct Result: ~Copyable {
        fileprivate let bytes: SecretBytes
        fileprivate let purpose: SecretPurpose
    }

    /// Argon2id over the image of a secret.
    ///
    /// What holds of libsodium 1.0.18, read in its source: the work area is mapped for the call and unmapped after
    /// it, not wiped first; the kernel clears pages before anybody else gets them. The area is not locked, so a part
    /// of it can go to swap while the call lasts (encrypted swap is the remedy; its blocks do not lead back to the
    /// PIN faster than guessing does). The copy of the result that libsodium keeps on the heap, and the first and
    /// last blocks on its stack, are wiped.
    static func result(
        from secret: borrowing SecretBytes, salt: [UInt8], cost: KeyDerivationCost, purpose: SecretPurpose
    ) throws(VaultError) -> Result {
        guard salt.count == WrappedKey.saltCount else { throw .keyLost }
        guard var bytes = SecretBytes(count: resultCount) else { throw .outOfMemory }
        let derived = bytes.withMutableBytes { target in
            argon2id(secret, salt: salt.span, cost: cost, to: &target, from: 0)
        }
        guard derived else { throw .outOfMemory }
        return Result(bytes: bytes, purpose: purpose)
    }

    /// The key that a secret alone derives, where no TPM holds a half of it; 32 bytes.
    static func wrappingKey(
        _ result: borrowing Result, pepper: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        guard let nothing = SecretBytes(count: 0) else { throw .outOfMemory }
        return try mixed("signet wrapping key 1", result, nothing, pepper: pepper)
    }

    /// The key that a secret and the TPM's half derive together; 32 bytes.
    static func wrappingKey(
        _ result: borrowing Result, half: borrowing SecretBytes, pepper: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        try mixed("signet wrapping key 2", result, half, pepper: pepper)
    }

    /// What the TPM is asked for the half with; 32 bytes.
    ///
    /// It is another value than the key's part, so that a TPM, or what stands between, learns nothing that opens a record.
    static func authorization(
        _ result: borrowing Result, pepper: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        guard let nothing = SecretBytes(count: 0) else { throw .outOfMemory }
        return try mixed("signet enclave authorization 1", result, nothing, pepper: pepper)
    }

    /// BLAKE2b keyed with the pepper over context, purpose, what Argon2id gave, and what comes to it.
    private static func mixed(
        _ context: StaticString, _ result: borrowing Result, _ addition: borrowing SecretBytes,
        pepper: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        let context = KeyedHash.bytes(of: context) + [result.purpose.rawValue]
        guard var message = SecretBytes(count: context.count + resultCount + addition.count),
            var key = SecretBytes(count: AuthenticatedEncryption.keyCount)
        else { throw .outOfMemory }
        message.withMutableBytes { message in
            for index in 0..<context.count { message[index] = context[index] }
            result.bytes.withBytes { bytes in
                for index in 0..<bytes.count { message[context.count + index] = bytes[index] }
            }
            addition.withBytes { bytes in
                let start = context.count + resultCount
                for index in 0..<bytes.count { message[start + index] = bytes[index] }
            }
        }
        let mixed = message.withBytes { message in
            key.withMutableBytes { target in KeyedHash.write(of: message, key: pepper, to: &target) }
        }
        guard mixed else { throw .keyLost }
        return key
    }

    private static let resultCount = 32

    /// Fills `target` from `offset` to its end, which are at least 16 bytes; the salt has 16.
    ///
    /// False where memory for the derivation could not be had: all lengths and costs are within what libsodium takes.
    static func argon2id(
        _ secret: borrowing SecretBytes, salt: Span<UInt8>, cost: KeyDerivationCost,
        to target: inout MutableSpan<UInt8>, from offset: Int
    ) -> Bool {
        guard salt.count == WrappedKey.saltCount, offset >= 0, target.count - offset >= 16 else { return false }
        let count = UInt64(target.count - offset)
        return secret.withBytes { secret in
            target.withAddress { out in
                salt.withAddress { salt in
                    // SAFETY: each address is valid for the length that goes with it, `out` from `offset` on.
                    unsafe secret.withUnsafeBytes { text in
                        let none: CChar = 0
                        return unsafe withUnsafePointer(to: none) { empty in
                            let start = unsafe text.baseAddress?.assumingMemoryBound(to: CChar.self) ?? empty
                            return unsafe crypto_pwhash(
                                out + offset, count, start, UInt64(text.count), salt, UInt64(cost.passes),
                                Int(cost.memoryMiB) << 20, crypto_pwhash_ALG_ARGON2ID13) == 0
                        }
                    }
                }
            }
        }
    }
}
