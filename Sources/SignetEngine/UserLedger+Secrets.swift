package import SignetPolicy
package import SignetRecords
package import SignetSecrets

// A PIN or a recovery code in three steps under one hold of the user's lock: charge, compare, settle (rules 1 and 4).
// Whoever charges must settle or refund; each of these gives the lock back.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Takes the lock and charges one attempt, durably; answers the closed door where nothing was charged.
    package mutating func charge(_ purpose: SecretPurpose) throws(LedgerFailure) -> PINLockout? {
        do throws(StoreError) { try store.lock() } catch { throw failed(error) }
        do throws(LedgerFailure) {
            guard var state = try loadHeld() else { throw .recordUnusable }
            let now = try now()
            var failures = state.attempts.failures(of: purpose)
            let waitBefore = failures.wait
            guard let charge = policy.charge(&failures, for: caller, at: now) else {
                store.unlock()
                if case .closed(let lockout) = policy.door(failures, for: caller, at: now) { return lockout }
                return .disabled
            }
            state.attempts.set(failures, of: purpose)
            try save(state.attempts)
            openCharge = OpenCharge(
                charge: charge, waitBefore: waitBefore, identity: state.identity, attempts: state.attempts)
            return nil
        } catch {
            store.unlock()
            throw error
        }
    }

    /// Makes of a typed secret what everything else here takes; the secret itself is wiped.
    package mutating func conceal(
        _ typed: consuming SecretBytes, _ purpose: SecretPurpose
    ) throws(LedgerFailure) -> ConcealedSecret {
        do throws(VaultError) { return try vault.conceal(typed, for: purpose) } catch { throw failed(error) }
    }

    /// Compares by opening the signing key: nil where the secret is wrong.
    ///
    /// A failure of the machine refunds and unlocks.
    package mutating func compare(
        _ secret: borrowing ConcealedSecret, _ purpose: SecretPurpose
    ) throws(LedgerFailure) -> SecretBytes? {
        guard let open = openCharge else { throw .unavailable }
        // A record without a recovery code has nothing to open: the answer is "wrong", and stays charged.
        guard let wrapped = purpose == .pin ? open.identity.pin : open.identity.recovery else { return nil }
        do throws(VaultError) {
            let key = try vault.unwrap(wrapped, with: secret, for: purpose, publicKey: open.identity.publicKey)
            if key != nil {
                if purpose == .pin { openedPIN = wrapped } else { openedRecovery = wrapped }
            }
            return key
        } catch {
            let failure = failed(error)
            refund(purpose)
            throw failure
        }
    }

    /// Settles a success and gives the lock back; raises the record's cost where the policy rose.
    package mutating func settleSuccess(
        _ purpose: SecretPurpose, key: borrowing SecretBytes, secret: borrowing ConcealedSecret
    ) throws(LedgerFailure) {
        guard var open = takeOpenCharge() else { throw .unavailable }
        do throws(LedgerFailure) {
            let now = try now()
            switch purpose {
            case .pin: policy.pinSucceeded(&open.attempts, at: now)
            // The code itself is used up, and the PIN's counters cleared, only when the new PIN is stored.
            case .recoveryCode: policy.recoveryCodeMatched(&open.attempts)
            }
            try save(open.attempts)
        } catch {
            store.unlock()
            throw error
        }
        if purpose == .pin { renew(open.identity, key: key, pin: secret) }
        store.unlock()
    }

    /// Leaves the failure as it was charged, gives the lock back, and says how the door stands now.
    package mutating func settleFailure(_ purpose: SecretPurpose) throws(LedgerFailure) -> SecretDoor {
        guard let open = takeOpenCharge() else { throw .unavailable }
        store.unlock()
        log.record(.failure(factor: purpose == .pin ? .pin : .recoveryCode, attempts: open.attempts))
        return policy.door(open.attempts.failures(of: purpose), for: caller, at: try now())
    }

    /// Takes back a charge for which nothing was compared, and gives the lock back.
    mutating func refund(_ purpose: SecretPurpose) {
        guard var open = takeOpenCharge() else { return }
        var failures = open.attempts.failures(of: purpose)
        policy.refund(open.charge, &failures, of: caller, to: open.waitBefore)
        open.attempts.set(failures, of: purpose)
        // A refund that cannot be written leaves the attempt charged, which is the safe side.
        _ = try? save(open.attempts)
        store.unlock()
    }

    private mutating func takeOpenCharge() -> OpenCharge? {
        let open = openCharge
        openCharge = nil
        return open
    }

    // After a right PIN: what an administrator set is now the user's own, and a cheap derivation is made dearer. Neither
    // may turn a right PIN into a refusal, so a failure is only told to the journal.
    private mutating func renew(
        _ identity: IdentityRecord, key: borrowing SecretBytes, pin: borrowing ConcealedSecret
    ) {
        var renewed = identity
        // In somebody else's `su` the user was not told: the sentence waits for a process of the user's own.
        if caller == .person { renewed.pinSetByAdministrator = false }
        if identity.pin.cost.isBelow(cost) {
            do throws(VaultError) { renewed.pin = try vault.wrap(key, under: pin, for: .pin, cost: cost) } catch {
                log.record(.vaultFailed(error))
            }
        }
        if renewed != identity, (try? save(renewed)) != nil { openedPIN = renewed.pin }
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
