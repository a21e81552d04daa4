internal import SignetPolicy
internal import SignetRecords

/// What a TPM does for a user; nil where the machine's secrets are bound to a file and the user's too.
package struct EnclaveFact: Equatable, Sendable {
    /// Whether older copies of the records would be told from the newest.
    package let hasCounter: Bool
    /// Whether the PIN cannot be guessed without the TPM.
    package let pinHasHalf: Bool
    /// Whether the TPM counts this user's wrong PINs.
    package let countsFailures: Bool
    /// The user's failures that the TPM counted and that are not healed, and how many there may be.
    package let failures: Int
    package let share: Int
    /// Seconds until the TPM takes a PIN of this user; nil where it takes one.
    package let wait: UInt64?

    package init(
        hasCounter: Bool, pinHasHalf: Bool, countsFailures: Bool, failures: Int, share: Int, wait: UInt64?
    ) {
        self.hasCounter = hasCounter
        self.pinHasHalf = pinHasHalf
        self.countsFailures = countsFailures
        self.failures = failures
        self.share = share
        self.wait = wait
    }
}

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// What the TPM's count says against the records.
    mutating func countFault(_ identity: IdentityRecord, _ attempts: Attempts) -> RecordFault? {
        guard let counter = attempts.counter else { return nil }
        do throws(VaultError) {
            let counted = try vault.value(of: counter, for: identity.owner)
            return RecordFault(CounterPolicy.standing(written: counter.value, counted: counted))
        } catch {
            return error.fault ?? .enclaveGone
        }
    }

    mutating func enclaveFact(
        _ identity: IdentityRecord, _ attempts: Attempts, at now: BootInstant
    ) -> EnclaveFact? {
        guard vault.hasHalves || identity.pin.half != nil || attempts.counter != nil else { return nil }
        let counts = identity.pin.half?.countsFailures ?? false
        let tpm = counts ? (try? vault.dictionaryAttack()) : nil
        return EnclaveFact(
            hasCounter: attempts.counter != nil, pinHasHalf: identity.pin.half != nil, countsFailures: counts,
            failures: tpm.flatMap { EnclavePolicy.standing(attempts.enclaveFailures, $0, at: now) }
                .map { Int($0.count) } ?? 0,
            share: tpm.map { Int(EnclavePolicy.share(of: $0)) } ?? 0,
            wait: tpm.flatMap { EnclavePolicy.wait(attempts.enclaveFailures, $0, for: .person, at: now) })
    }
}
