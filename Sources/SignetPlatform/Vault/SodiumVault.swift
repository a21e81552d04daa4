internal import CSodium
package import SignetEngine
package import SignetPolicy
package import SignetRecords
package import SignetSecrets

/// Keys and what is done with them, by libsodium.
///
/// Every intermediate lies in `SecretBytes`, and stack and registers are cleared after each use of a secret; a signing
/// key lies open only between `unwrap` and the end of its owner.
package struct SodiumVault: KeyVault, ~Copyable {
    private let values: StoreValues
    /// The store's folder, for the lock that lets one derivation for an unknown user run at a time.
    private let root: [UInt8]
    private let timing: LockTiming
    private var enclave: MachineEnclave
    /// What was found valid last; see `isValid`.
    private var lastValid: Signed?

    private struct Signed: Equatable {
        let signature: [UInt8]
        let message: [UInt8]
        let publicKey: [UInt8]
    }

    /// Opens the store's values of a store whose master key is a file; `masterKey` is needed only during the call.
    package init(
        root: [UInt8], masterKey: borrowing SecretBytes, timing: LockTiming = LockTiming()
    ) throws(StoreError) {
        self.init(root: root, values: try StoreValues(root: root, masterKey: masterKey), timing: timing)
    }

    /// Takes values that were opened before, in a store whose master key is a file.
    package init(root: [UInt8], values: consuming StoreValues, timing: LockTiming = LockTiming()) {
        self.init(root: root, values: values, enclave: MachineEnclave(FileEnclave(root: root)), timing: timing)
    }

    /// Takes values that were opened before, and the enclave that goes with them.
    package init(
        root: [UInt8], values: consuming StoreValues, enclave: consuming MachineEnclave,
        timing: LockTiming = LockTiming()
    ) {
        self.root = root
        self.values = values
        self.enclave = enclave
        self.timing = timing
    }

    package mutating func digest(of bytes: Span<UInt8>) throws(VaultError) -> Digest {
        guard let hash = KeyedHash.digest(of: bytes, key: values.digestKey, count: Digest.byteCount),
            let digest = Digest(hash.span)
        else { throw .keyLost }
        return digest
    }

    package mutating func handleDigest(of identity: Span<UInt8>) throws(VaultError) -> Digest {
        guard let digest = HandleDigest.of(identity: identity) else { throw .outOfMemory }
        return digest
    }

    package mutating func makeSigningKey() throws(VaultError) -> SigningKeyPair {
        defer { StackResidue.clear() }
        guard var secret = SecretBytes(count: Signing.secretCount) else { throw .outOfMemory }
        guard let publicKey = Signing.makeKey(&secret) else { throw .keyLost }
        return SigningKeyPair(secret: secret, publicKey: publicKey)
    }

    package mutating func sign(_ message: [UInt8], with key: borrowing SecretBytes) throws(VaultError) -> [UInt8] {
        defer { StackResidue.clear() }
        guard let signature = Signing.sign(message, with: key) else { throw .keyLost }
        return signature
    }

    package mutating func isValid(signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        // Verifying is a function of these three, none of which is a secret: of the very same bytes, made anew from what is
        // there now, it says the same again. An approval is looked at four times on the way from the prompt to a touch.
        let signed = Signed(signature: signature, message: message, publicKey: publicKey)
        if signed == lastValid { return true }
        guard Signing.isValid(signature: signature, of: message, by: publicKey) else { return false }
        lastValid = signed
        return true
    }

    package mutating func conceal(
        _ typed: consuming SecretBytes, for purpose: SecretPurpose
    ) throws(VaultError) -> ConcealedSecret {
        defer { StackResidue.clear() }
        return ConcealedSecret(try Derivation.image(of: typed, purpose: purpose, pepper: values.pepper))
    }

    package mutating func wrap(
        _ key: borrowing SecretBytes, under secret: borrowing ConcealedSecret, for purpose: SecretPurpose,
        cost: KeyDerivationCost
    ) throws(VaultError) -> WrappedKey {
        guard key.count == Signing.secretCount else { throw .keyLost }
        defer { StackResidue.clear() }
        let salt = try random(count: WrappedKey.saltCount)
        let result = try Derivation.result(from: secret.image, salt: salt, cost: cost, purpose: purpose)
        let fresh = try makeKey(result, for: purpose)
        let nonce = AuthenticatedEncryption.nonce()
        let associated = SodiumVault.associated(purpose: purpose, cost: cost, salt: salt)
        let sealed = key.withBytes { bytes in
            AuthenticatedEncryption.seal(bytes, associated: associated.span, nonce: nonce.span, key: fresh.key)
        }
        guard let sealed,
            let wrapped = WrappedKey(cost: cost, salt: salt, nonce: nonce, sealed: sealed, half: fresh.object)
        else { throw .keyLost }
        return wrapped
    }

    /// The key for a fresh wrapping, with a half in the TPM for a PIN where there is one.
    ///
    /// A recovery code has 130 random bits and needs none.
    private mutating func makeKey(
        _ result: borrowing Derivation.Result, for purpose: SecretPurpose
    ) throws(VaultError) -> FreshKey {
        if purpose == .pin, enclave.kind == .tpm {
            let authorization = try Derivation.authorization(result, pepper: values.pepper)
            let made: EnclaveHalf?
            do throws(EnclaveError) {
                made = try enclave.makeHalf(authorization: authorization)
            } catch {
                throw VaultError(error)
            }
            // Where the TPM is to give a half, a wrapping without one would be a weaker one that nobody asked for.
            guard let made else { throw .enclave(.other) }
            return FreshKey(
                key: try Derivation.wrappingKey(result, half: made.half, pepper: values.pepper), object: made.object)
        }
        return FreshKey(key: try Derivation.wrappingKey(result, pepper: values.pepper), object: nil)
    }

    private struct FreshKey: ~Copyable {
        let key: SecretBytes
        let object: EnclaveObject?
    }

    package mutating func unwrap(
        _ wrapped: WrappedKey, with secret: borrowing ConcealedSecret, for purpose: SecretPurpose, publicKey: [UInt8]
    ) throws(VaultError) -> SecretBytes? {
        defer { StackResidue.clear() }
        let result = try Derivation.result(
            from: secret.image, salt: wrapped.salt, cost: wrapped.cost, purpose: purpose)
        guard let wrapping = try openKey(wrapped, result) else { return nil }
        let associated = SodiumVault.associated(purpose: purpose, cost: wrapped.cost, salt: wrapped.salt)
        let opened = AuthenticatedEncryption.open(
            wrapped.sealed.span, associated: associated.span, nonce: wrapped.nonce.span, key: wrapping)
        switch consume opened {
        case .refused: return nil
        case .outOfMemory: throw .outOfMemory
        case .content(let key):
            // A key that opens but is not this user's was put here by somebody: as wrong as a wrong secret.
            guard let derived = Signing.publicKey(of: key), derived == publicKey else { return nil }
            return consume key
        }
    }

    /// The key of a wrapping; nil where the TPM refuses to give its half of it.
    private mutating func openKey(
        _ wrapped: WrappedKey, _ result: borrowing Derivation.Result
    ) throws(VaultError) -> SecretBytes? {
        guard let object = wrapped.half else { return try Derivation.wrappingKey(result, pepper: values.pepper) }
        let authorization = try Derivation.authorization(result, pepper: values.pepper)
        let opening: HalfOpening
        do throws(EnclaveError) {
            opening = try enclave.openHalf(object, authorization: authorization)
        } catch {
            throw VaultError(error)
        }
        switch consume opening {
        case .wrong: return nil
        case .half(let half): return try Derivation.wrappingKey(result, half: half, pepper: values.pepper)
        }
    }

    package mutating func spendTime(of cost: KeyDerivationCost, on secret: borrowing ConcealedSecret) {
        defer { StackResidue.clear() }
        // Where the lock cannot be had, the time is spent all the same: that an account exists must not show.
        let lock = try? holdUnknownLock()
        let salt = [UInt8](repeating: 0, count: WrappedKey.saltCount)
        if let result = try? Derivation.result(from: secret.image, salt: salt, cost: cost, purpose: .pin),
            let authorization = try? Derivation.authorization(result, pepper: values.pepper)
        {
            enclave.spendTime(authorization: authorization)
        }
        _ = consume lock
    }

    /// As `prepare`, for a user who does not exist.
    mutating func prepareForNobody() { enclave.prepareForNobody() }

    private borrowing func holdUnknownLock() throws(StoreError) -> FileLock {
        let folder: SecureFolder
        do throws(FileFault) {
            folder = try SecureFolder(path: root)
        } catch {
            throw StoreError(.store, error)
        }
        return try FileLock(.unknownLock, in: folder, timing: timing)
    }

    package var hasHalves: Bool { enclave.kind == .tpm }

    package mutating func wake() { enclave.wake() }

    package mutating func rest() { enclave.rest() }

    package mutating func prepare(_ wrapped: WrappedKey) {
        enclave.prepare(wrapped.half)
    }

    package mutating func dictionaryAttack() throws(VaultError) -> DictionaryAttackState? {
        do throws(EnclaveError) { return try enclave.dictionaryAttack() } catch { throw VaultError(error) }
    }

    package mutating func makeCounter(for owner: CounterOwner) throws(VaultError) -> EnclaveCounter? {
        do throws(EnclaveError) { return try enclave.makeCounter(for: owner) } catch { throw VaultError(error) }
    }

    package mutating func value(of counter: EnclaveCounter, for owner: CounterOwner) throws(VaultError) -> UInt64 {
        do throws(EnclaveError) { return try enclave.value(of: counter, for: owner) } catch { throw VaultError(error) }
    }

    package mutating func bump(_ counter: EnclaveCounter, for owner: CounterOwner) throws(VaultError) -> UInt64 {
        do throws(EnclaveError) { return try enclave.bump(counter, for: owner) } catch { throw VaultError(error) }
    }

    package mutating func remove(_ counter: EnclaveCounter) throws(VaultError) {
        do throws(EnclaveError) { try enclave.remove(counter) } catch { throw VaultError(error) }
    }

    package mutating func random(count: Int) throws(VaultError) -> [UInt8] {
        guard count >= 0, sodium_init() >= 0 else { throw .keyLost }
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        // SAFETY: the address is valid for `count` bytes.
        span.withAddress { unsafe randombytes_buf($0, count) }
        return bytes
    }

    package mutating func randomSecret(count: Int) throws(VaultError) -> SecretBytes {
        guard let secret = SecretBytes(randomCount: count) else { throw .outOfMemory }
        return secret
    }

    /// Ties purpose, cost and salt to the wrapped key, so that none of them can be exchanged for another.
    private static func associated(purpose: SecretPurpose, cost: KeyDerivationCost, salt: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(purpose.rawValue)
        writer.uint32(cost.passes)
        writer.uint32(cost.memoryMiB)
        return KeyedHash.bytes(of: "signet wrapped key 1") + writer.bytes + salt
    }
}

extension VaultError {
    /// The enclave's error in the vault's words.
    init(_ error: EnclaveError) {
        switch error {
        case .problem(let problem): self = .enclave(problem)
        case .keyLost: self = .keyLost
        case .outOfMemory: self = .outOfMemory
        }
    }
}
