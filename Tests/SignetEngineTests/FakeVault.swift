import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets

/// Keys by a mixing function that is fast and always the same: no cryptography, but a wrong secret does not open, and a
/// signature by another key or over another message does not hold.
final class FakeVault: KeyVault {
    let disk: Disk
    let process: FakeProcess
    /// Derivations, of whatever use: what would cost one Argon2id each.
    private(set) var derivations = 0
    private(set) var comparisons = 0
    private(set) var timesSpent = 0
    private var counter: UInt64
    /// Where keys are bound to; nil: a file.
    private let tpm: FakeTPM?

    /// `seed` makes the random bytes; two vaults with one seed make the same.
    init(_ disk: Disk, _ process: FakeProcess, tpm: FakeTPM? = nil, seed: UInt64 = 1) {
        self.disk = disk
        self.tpm = tpm
        self.process = process
        counter = seed
    }

    func digest(of bytes: Span<UInt8>) throws(VaultError) -> Digest {
        if process.begin(.digest) { throw process.vaultError }
        let hash = FakeVault.mix([[1], copy(bytes)], count: Digest.byteCount)
        guard let digest = Digest(hash.span) else { throw .outOfMemory }
        return digest
    }

    func handleDigest(of identity: Span<UInt8>) throws(VaultError) -> Digest {
        if process.begin(.handleDigest) { throw process.vaultError }
        return try FakeVault.handleDigest(copy(identity))
    }

    /// The same for whoever has no process.
    static func handleDigest(_ identity: [UInt8]) throws(VaultError) -> Digest {
        let hash = FakeVault.mix([[2], identity], count: Digest.byteCount)
        guard let digest = Digest(hash.span) else { throw .outOfMemory }
        return digest
    }

    func makeSigningKey() throws(VaultError) -> SigningKeyPair {
        if process.begin(.makeSigningKey) { throw process.vaultError }
        let seed = nextRandom(32)
        let publicKey = publicHalf(seed)
        return SigningKeyPair(secret: try secret(seed + publicKey), publicKey: publicKey)
    }

    func sign(_ message: [UInt8], with key: borrowing SecretBytes) throws(VaultError) -> [UInt8] {
        if process.begin(.sign) { throw process.vaultError }
        return FakeVault.mix([[2], publicHalf(Array(copy(key).prefix(32))), message], count: Approval.signatureCount)
    }

    func isValid(signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        if process.begin(.verifySignature) { return false }
        return signature == FakeVault.mix([[2], publicKey, message], count: Approval.signatureCount)
    }

    /// Another length and no byte of what was typed, so that one that was never concealed opens nothing.
    func conceal(
        _ typed: consuming SecretBytes, for purpose: SecretPurpose
    ) throws(VaultError) -> ConcealedSecret {
        if process.begin(.conceal) { throw process.vaultError }
        return ConcealedSecret(try secret(FakeVault.mix([[7, purpose.rawValue], copy(typed)], count: 32)))
    }

    func wrap(
        _ key: borrowing SecretBytes, under secret: borrowing ConcealedSecret, for purpose: SecretPurpose,
        cost: KeyDerivationCost
    ) throws(VaultError) -> WrappedKey {
        if process.begin(.wrap) { throw process.vaultError }
        derivations += 1
        let salt = nextRandom(WrappedKey.saltCount)
        let plain = copy(key)
        var derived = derive(copy(secret.image), purpose, cost, salt)
        var object: EnclaveObject?
        // A recovery code is long enough to need no half.
        if purpose == .pin, let tpm, tpm.givesHalves {
            guard tpm.isThere else { throw .enclave(.noDevice) }
            let half = nextRandom(32)
            object = tpm.seal(half, under: authorization(derived))
            derived = join(derived, half)
        }
        let tag = FakeVault.mix([[4], derived, plain], count: 16)
        guard
            let wrapped = WrappedKey(
                cost: cost, salt: salt, nonce: nextRandom(WrappedKey.nonceCount),
                sealed: apply(derived, to: plain) + tag, half: object)
        else { throw .outOfMemory }
        return wrapped
    }

    func unwrap(
        _ wrapped: WrappedKey, with secret: borrowing ConcealedSecret, for purpose: SecretPurpose, publicKey: [UInt8]
    ) throws(VaultError) -> SecretBytes? {
        // A failure comes before anything is compared: no memory, no pepper.
        if process.begin(.unwrap) { throw process.vaultError }
        if let half = wrapped.half {
            guard let tpm else { throw .enclave(.noDevice) }
            if let problem = tpm.problem(of: half) { throw .enclave(problem) }
        }
        derivations += 1
        comparisons += 1
        let factor: Factor = purpose == .pin ? .pin : .recoveryCode
        disk.willCompare(factor, process)
        process.compared.append(factor)
        var derived = derive(copy(secret.image), purpose, wrapped.cost, wrapped.salt)
        if let object = wrapped.half, let tpm {
            willAsk(tpm, object)
            let half = tpm.open(object, authorization(derived))
            if tpm.losesAnswers { throw .enclave(.stalled) }
            guard let half else { return nil }
            derived = join(derived, half)
        }
        let plain = apply(derived, to: Array(wrapped.sealed.prefix(64)))
        guard Array(wrapped.sealed.suffix(16)) == FakeVault.mix([[4], derived, plain], count: 16),
            publicHalf(Array(plain.prefix(32))) == publicKey
        else { return nil }
        process.evidence.append(.comparedRight(factor))
        return try self.secret(plain)
    }

    func spendTime(of cost: KeyDerivationCost, on secret: borrowing ConcealedSecret) {
        _ = process.begin(.spendTime)
        derivations += 1
        timesSpent += 1
    }

    // MARK: The TPM, where there is one

    var hasHalves: Bool { tpm?.givesHalves ?? false }

    func wake() { if tpm != nil { _ = process.begin(.wake) } }

    func rest() { if tpm != nil { _ = process.begin(.rest) } }

    func prepare(_ wrapped: WrappedKey) {
        if wrapped.half != nil { _ = process.begin(.prepareHalf) }
    }

    func dictionaryAttack() throws(VaultError) -> DictionaryAttackState? {
        guard let tpm else { return nil }
        if process.begin(.dictionaryAttack) { throw process.vaultError }
        guard tpm.isThere else { throw .enclave(.noDevice) }
        return tpm.state
    }

    func makeCounter(for owner: CounterOwner) throws(VaultError) -> EnclaveCounter? {
        guard let tpm, tpm.givesHalves else { return nil }
        return try counting(.makeCounter, tpm) { tpm.makeCounter(owner) }
    }

    func value(of counter: EnclaveCounter, for owner: CounterOwner) throws(VaultError) -> UInt64 {
        guard let tpm else { throw .enclave(.noDevice) }
        if process.begin(.counterValue) { throw process.vaultError }
        return try tpm.value(counter, owner)
    }

    func bump(_ counter: EnclaveCounter, for owner: CounterOwner) throws(VaultError) -> UInt64 {
        guard let tpm else { throw .enclave(.noDevice) }
        return try counting(.bump, tpm) { () throws(VaultError) in try tpm.bump(counter, owner) }
    }

    func remove(_ counter: EnclaveCounter) throws(VaultError) {
        guard let tpm else { return }
        try counting(.removeCounter, tpm) { tpm.remove(counter) }
    }

    /// As for the disk: a killed process does nothing, and a failure may come after it was done.
    private func counting<Result>(
        _ call: PortCall, _ tpm: FakeTPM, _ effect: () throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let fails = process.begin(call)
        guard fails else {
            guard tpm.isThere else { throw .enclave(.noDevice) }
            return try effect()
        }
        if !process.isKilled, process.writesBeforeFailing, tpm.isThere { _ = try effect() }
        throw process.vaultError
    }

    func random(count: Int) throws(VaultError) -> [UInt8] {
        if process.begin(.random) { throw process.vaultError }
        return nextRandom(count)
    }

    func randomSecret(count: Int) throws(VaultError) -> SecretBytes {
        if process.begin(.randomSecret) { throw process.vaultError }
        return try secret(nextRandom(count))
    }

    // MARK: Mixing

    private func authorization(_ derived: [UInt8]) -> [UInt8] { FakeVault.mix([[8], derived], count: 32) }

    private func join(_ derived: [UInt8], _ half: [UInt8]) -> [UInt8] {
        FakeVault.mix([[9], derived, half], count: 64)
    }

    /// What must be so before a TPM compares: it counted what was written, and its failure is charged.
    private func willAsk(_ tpm: FakeTPM, _ object: EnclaveObject) {
        guard let identity = disk.identity, let attempts = disk.attempts else { return }
        if let counter = attempts.counter, (try? tpm.value(counter, identity.owner)) != counter.value {
            disk.violated("compared before the TPM counted", by: process)
        }
        if object.countsFailures, attempts.enclaveFailures == nil {
            disk.violated("compared without charging the TPM's failure", by: process)
        }
    }

    private func publicHalf(_ seed: [UInt8]) -> [UInt8] { FakeVault.mix([[3], seed], count: 32) }

    private func derive(
        _ secret: [UInt8], _ purpose: SecretPurpose, _ cost: KeyDerivationCost, _ salt: [UInt8]
    ) -> [UInt8] {
        let costs = [UInt8(cost.passes), UInt8(cost.memoryMiB & 255), UInt8(cost.memoryMiB >> 8)]
        return FakeVault.mix([[5, purpose.rawValue], costs, salt, secret], count: 64)
    }

    private func apply(_ pad: [UInt8], to bytes: [UInt8]) -> [UInt8] { zip(bytes, pad).map { $0 ^ $1 } }

    private func nextRandom(_ count: Int) -> [UInt8] {
        counter &+= 1
        return FakeVault.mix([[6], Array("\(process.name) \(counter)".utf8)], count: count)
    }

    private func secret(_ bytes: [UInt8]) throws(VaultError) -> SecretBytes {
        guard let secret = SecretBytes(copying: bytes.span) else { throw .outOfMemory }
        return secret
    }

    private func copy(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withBytes { copy($0) } }

    private func copy(_ span: Span<UInt8>) -> [UInt8] { (0..<span.count).map { span[$0] } }

    /// Sebastiano Vigna's splitmix64 step after each byte, over fields with their lengths.
    private static func mix(_ fields: [[UInt8]], count: Int) -> [UInt8] {
        var state: UInt64 = 0x5349_474E_4554
        func step() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
        for field in fields {
            state = step() ^ UInt64(field.count)
            for byte in field { state = step() ^ UInt64(byte) }
        }
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: step()) }
    }
}
