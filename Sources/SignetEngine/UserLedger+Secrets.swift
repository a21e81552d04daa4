package import SignetPolicy
package import SignetRecords
package import SignetSecrets

// A PIN or a recovery code in three steps under one hold of the user's lock: charge, compare, settle (rules 1 and 4).
// Whoever charges must settle or refund; each of these gives the lock back.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Takes the lock and charges one attempt, durably; answers the closed door where nothing was charged.
    package mutating func charge(_ purpose: SecretPurpose) throws(LedgerFailure) -> PINLockout? {
        try lock()
        do throws(LedgerFailure) {
            guard var state = try loadHeld() else { throw .notSetUp }
            let now = try now()
            let lockout = try chargeHeld(&state, purpose, at: now)
            if lockout != nil { unlock() }
            return lockout
        } catch {
            unlock()
            throw error
        }
    }

    private mutating func chargeHeld(
        _ state: inout UserState, _ purpose: SecretPurpose, at now: BootInstant
    ) throws(LedgerFailure) -> PINLockout? {
        let before = state.attempts
        var failures = before.failures(of: purpose)
        guard let charge = policy.charge(&failures, for: caller, at: now) else {
            if case .closed(let lockout) = policy.door(failures, for: caller, at: now) { return lockout }
            return .disabled
        }
        // Read anew: others have used the TPM since the prompt.
        let tpm = try dictionaryAttack(guarding: state.identity.key(of: purpose))
        if let tpm {
            if let seconds = EnclavePolicy.wait(before.enclaveFailures, tpm, for: caller, at: now) {
                log.record(.enclaveWaits(failures: tpm.failures, limit: tpm.limit))
                return .waiting(seconds: seconds)
            }
            state.attempts.enclaveFailures = EnclavePolicy.charge(before.enclaveFailures, tpm, at: now)
        }
        state.attempts.set(failures, of: purpose)
        let isCounted = CounterPolicy.countsCharge(onTopOf: before) && state.attempts.raiseCount()
        try save(state.attempts)
        openCharge = OpenCharge(
            charge: charge, waitBefore: before.failures(of: purpose).wait, identity: state.identity,
            enclaveBefore: before.enclaveFailures, tpm: tpm, isCounted: isCounted, attempts: state.attempts)
        guard isCounted else { return nil }
        do throws(LedgerFailure) { try count(&state.attempts, of: state.identity) } catch {
            // Without the count nothing may be compared.
            refund(purpose)
            throw error
        }
        openCharge?.attempts = state.attempts
        return nil
    }

    /// Makes of a typed secret what everything else here takes; the secret itself is wiped.
    package mutating func conceal(
        _ typed: consuming SecretBytes, _ purpose: SecretPurpose
    ) throws(LedgerFailure) -> ConcealedSecret {
        do throws(VaultError) { return try vault.conceal(typed, for: purpose) } catch { throw failed(error) }
    }

    /// Compares by opening the signing key: nil where the secret is wrong.
    ///
    /// A failure of the machine unlocks, and refunds where nothing was compared.
    package mutating func compare(
        _ secret: borrowing ConcealedSecret, _ purpose: SecretPurpose
    ) throws(LedgerFailure) -> SecretBytes? {
        guard let open = openCharge else { throw .unavailable }
        // A record without a recovery code has nothing to open: the answer is "wrong", and stays charged.
        guard let wrapped = open.identity.key(of: purpose) else { return nil }
        do throws(VaultError) {
            let key = try vault.unwrap(wrapped, with: secret, for: purpose, publicKey: open.identity.publicKey)
            if key != nil {
                if purpose == .pin { openedPIN = wrapped } else { openedRecovery = wrapped }
            }
            return key
        } catch {
            throw comparisonFailed(error, purpose)
        }
    }

    /// Settles a success and gives the lock back; raises the record's cost where the policy rose.
    package mutating func settleSuccess(
        _ purpose: SecretPurpose, key: borrowing SecretBytes, secret: borrowing ConcealedSecret
    ) throws(LedgerFailure) {
        guard var open = takeOpenCharge() else { throw .unavailable }
        do throws(LedgerFailure) {
            let now = try now()
            open.attempts.enclaveFailures = open.enclaveBefore
            switch purpose {
            case .pin: policy.pinSucceeded(&open.attempts, at: now)
            // The code itself is used up, and the PIN's counters cleared, only when the new PIN is stored.
            case .recoveryCode: policy.recoveryCodeMatched(&open.attempts)
            }
            try save(open.attempts)
        } catch {
            unlock()
            throw error
        }
        if purpose == .pin { renew(open, key: key, pin: secret) }
        unlock()
    }

    /// Leaves the failure as it was charged, gives the lock back, and says how the door stands now.
    package mutating func settleFailure(_ purpose: SecretPurpose) throws(LedgerFailure) -> SecretDoor {
        guard var open = takeOpenCharge() else { throw .unavailable }
        // The first failure costs its count now, or it could be undone by a copy of the records: guess, put back, guess.
        // The charge is on disk; what fails here only leaves it without its count.
        if !open.isCounted, open.attempts.counter != nil {
            do throws(LedgerFailure) { try saveCounting(&open.attempts, of: open.identity) } catch {}
        }
        unlock()
        log.record(.failure(factor: purpose == .pin ? .pin : .recoveryCode, attempts: open.attempts))
        let now = try now()
        let door = policy.door(open.attempts.failures(of: purpose), for: caller, at: now)
        guard case .open = door, let tpm = open.tpm,
            let seconds = EnclavePolicy.wait(open.attempts.enclaveFailures, tpm, for: caller, at: now)
        else { return door }
        return .closed(.waiting(seconds: seconds))
    }

    /// Takes back a charge for which nothing was compared, and gives the lock back.
    mutating func refund(_ purpose: SecretPurpose) {
        guard var open = takeOpenCharge() else { return }
        var failures = open.attempts.failures(of: purpose)
        policy.refund(open.charge, &failures, of: caller, to: open.waitBefore)
        open.attempts.set(failures, of: purpose)
        open.attempts.enclaveFailures = open.enclaveBefore
        // A refund that cannot be written leaves the attempt charged, which is the safe side.
        _ = try? save(open.attempts)
        unlock()
    }

    private mutating func takeOpenCharge() -> OpenCharge? {
        let open = openCharge
        openCharge = nil
        return open
    }

    // After a right PIN: what an administrator set is now the user's own, a cheap derivation is made dearer, the TPM's half
    // joins or leaves, and a counter is made where there is room for one now. None of it may turn a right PIN into a
    // refusal, so a failure is only told to the journal; the old wrapping is in force until the new one is on disk.
    private mutating func renew(
        _ open: OpenCharge, key: borrowing SecretBytes, pin: borrowing ConcealedSecret
    ) {
        var renewed = open.identity
        // In somebody else's `su` the user was not told: the sentence waits for a process of the user's own.
        if caller == .person { renewed.pinSetByAdministrator = false }
        if renewed.pin.cost.isBelow(cost) || (renewed.pin.half != nil) != vault.hasHalves {
            do throws(VaultError) { renewed.pin = try vault.wrap(key, under: pin, for: .pin, cost: cost) } catch {
                log.record(.vaultFailed(error))
            }
        }
        var isRenewed = false
        if renewed != open.identity, (try? save(renewed)) != nil {
            openedPIN = renewed.pin
            isRenewed = true
        }
        var attempts = open.attempts
        if attempts.counter == nil, vault.hasHalves {
            // Where writing fails the counter is not removed: the records may name it all the same.
            attempts.counter = makeCounter(for: renewed.owner)
            if attempts.counter != nil { _ = try? save(attempts) }
        } else if isRenewed, attempts.counter != nil {
            _ = try? saveCounting(&attempts, of: renewed)
        }
    }
}

extension Attempts {
    /// The failures of one secret.
    package func failures(of purpose: SecretPurpose) -> SecretFailures {
        switch purpose {
        case .pin: pin
        case .recoveryCode: recovery
        }
    }

    mutating func set(_ failures: SecretFailures, of purpose: SecretPurpose) {
        switch purpose {
        case .pin: pin = failures
        case .recoveryCode: recovery = failures
        }
    }
}
