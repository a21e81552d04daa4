package import SignetPolicy
package import SignetRecords
internal import SignetSecrets

// What a TPM adds to the ledger: a count that tells the records written last from copies that are put back, and a guard
// of its own failures (`CounterPolicy`, `EnclavePolicy`). Where the enclave is a file, nothing here does anything.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    // MARK: The count

    /// Compares the records' count with the TPM's, and makes good what a crash left; the lock must be held.
    mutating func checkCount(of state: inout UserState) throws(LedgerFailure) {
        guard let counter = state.attempts.counter else { return }
        let standing: CounterStanding
        do throws(VaultError) {
            let counted = try vault.value(of: counter, for: state.identity.owner)
            standing = CounterPolicy.standing(written: counter.value, counted: counted)
        } catch {
            throw failed(error)
        }
        if standing == .notCountedYet {
            try count(&state.attempts, of: state.identity)
            log.record(.countMadeGood)
        }
        if let fault = RecordFault(standing) { throw failed(StoreError.fault(.attempts, fault)) }
    }

    /// Writes the counters with the next count, and has the TPM count it: no older copy is taken for them from here on.
    ///
    /// Where the TPM cannot count now, what was written is in force all the same, and the next load makes it good. Only
    /// a charge may not go on then.
    mutating func saveCounting(_ attempts: inout Attempts, of identity: IdentityRecord) throws(LedgerFailure) {
        guard attempts.raiseCount() else { return try save(attempts) }
        try save(attempts)
        do throws(LedgerFailure) { try count(&attempts, of: identity) } catch {}
    }

    mutating func saveCounting(_ state: inout UserState) throws(LedgerFailure) {
        try saveCounting(&state.attempts, of: state.identity)
    }

    /// Has the TPM count to what was written.
    mutating func count(_ attempts: inout Attempts, of identity: IdentityRecord) throws(LedgerFailure) {
        guard var counter = attempts.counter else { return }
        let counted: UInt64
        do throws(VaultError) { counted = try vault.bump(counter, for: identity.owner) } catch { throw failed(error) }
        if counted == counter.value { return }
        guard counted > counter.value else { throw failed(StoreError.fault(.attempts, .rolledBack)) }
        // It counted twice (a repeated command). The records were found in force within this hold, and stay so.
        counter.value = counted
        attempts.counter = counter
        try save(attempts)
    }

    /// A counter for the user; nil where there is no TPM, no room or no answer, which keeps nobody from their PIN.
    mutating func makeCounter(for owner: CounterOwner) -> EnclaveCounter? {
        do throws(VaultError) {
            return try vault.makeCounter(for: owner)
        } catch {
            if error != .enclave(.noRoom) { log.record(.vaultFailed(error)) }
            return nil
        }
    }

    /// Gives a counter's room back, of records that are gone; one that stays behind costs room and nothing else.
    mutating func giveBack(_ counter: EnclaveCounter?) {
        guard let counter else { return }
        do throws(VaultError) { try vault.remove(counter) } catch { log.record(.vaultFailed(error)) }
    }

    /// An administrator accepts records restored from a backup as those in force; false where they are already.
    ///
    /// What was undone with them (failures, a changed PIN, a deleted finger) is undone for good, and so fingers stay
    /// closed until the PIN approves them anew (rule 5). A single record that does not fit the others is the store's
    /// fault to tell, and not accepted by this.
    package mutating func acceptOlderRecords() throws(LedgerFailure) -> Bool {
        let accepted = try hold { (ledger) throws(LedgerFailure) -> Bool in
            guard var state = try ledger.loadUnchecked() else { throw .recordUnusable }
            guard let counter = state.attempts.counter else { return false }
            do throws(VaultError) {
                let counted = try ledger.vault.value(of: counter, for: state.identity.owner)
                let standing = CounterPolicy.standing(written: counter.value, counted: counted)
                guard RecordFault(standing) != nil else { return false }
                state.attempts.counter = EnclaveCounter(index: counter.index, value: counted)
            } catch {
                // The counter itself was removed from the TPM, where its owner can.
                guard error == .enclave(.noCounter) else { throw ledger.failed(error) }
                state.attempts.counter = ledger.makeCounter(for: state.identity.owner)
            }
            state.attempts.rememberOlderRecords(of: state.identity)
            // One more than the TPM has: copies of what was in force until now are older from here on, too.
            try ledger.saveCounting(&state)
            return true
        }
        if accepted { log.record(.management(.olderRecordsAccepted, byAdministrator: true)) }
        return accepted
    }

    // MARK: The TPM's failures

    /// How the TPM's protection stands where opening this key concerns it; nil where a wrong secret counts for nothing.
    mutating func dictionaryAttack(guarding key: WrappedKey?) throws(LedgerFailure) -> DictionaryAttackState? {
        guard let half = key?.half, half.countsFailures || !vault.hasHalves else { return nil }
        do throws(VaultError) {
            // A half that no TPM of this machine can give: told before anything is charged.
            guard let tpm = try vault.dictionaryAttack() else { throw VaultError.enclave(.noDevice) }
            return half.countsFailures ? tpm : nil
        } catch {
            throw failed(error)
        }
    }

    /// Seconds for which the TPM takes no such secret of this user; nil where it takes one.
    mutating func enclaveWait(
        _ state: UserState, _ purpose: SecretPurpose, at now: BootInstant
    ) throws(LedgerFailure) -> UInt64? {
        guard let tpm = try dictionaryAttack(guarding: state.identity.key(of: purpose)) else { return nil }
        let wait = EnclavePolicy.wait(state.attempts.enclaveFailures, tpm, for: caller, at: now)
        if wait != nil { log.record(.enclaveWaits(failures: tpm.failures, limit: tpm.limit)) }
        return wait
    }

    /// The door of a secret, the TPM's part included.
    package mutating func door(_ state: UserState, _ purpose: SecretPurpose) throws(LedgerFailure) -> SecretDoor {
        let now = try now()
        let door = policy.door(state.attempts.failures(of: purpose), for: caller, at: now)
        guard case .open = door, let seconds = try enclaveWait(state, purpose, at: now) else { return door }
        return .closed(.waiting(seconds: seconds))
    }

    /// What a comparison that the machine could not make means.
    ///
    /// The charge is taken back only where nothing was compared: an answer that never came may have been a wrong one.
    mutating func comparisonFailed(_ error: VaultError, _ purpose: SecretPurpose) -> LedgerFailure {
        let failure = failed(error)
        if error.comparedNothing { refund(purpose) } else { abandonCharge() }
        guard error == .enclave(.lockout) else { return failure }
        // It locked between the charge and now; somebody else's wrong PINs are behind it.
        guard let tpm = try? vault.dictionaryAttack() else { return failure }
        return .locked(.waiting(seconds: EnclavePolicy.machineWait(tpm) ?? 1))
    }

    /// Forgets the user's failures in the TPM, after an administrator had the TPM forget its own.
    ///
    /// A reset of Signet's lockout does not: it lowers nothing in the TPM, and whoever may reset could lead the TPM
    /// into lockout by resetting again and again.
    package mutating func forgetEnclaveFailures() throws(LedgerFailure) {
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld(), state.attempts.enclaveFailures != nil else { return }
            state.attempts.enclaveFailures = nil
            try ledger.saveCounting(&state)
        }
    }
}

extension Attempts {
    /// Raises the count that is to be written; false where there is no counter.
    mutating func raiseCount() -> Bool {
        guard let held = counter else { return false }
        // 2^64 counts are never reached; staying there would only refuse.
        let (next, overflow) = held.value.addingReportingOverflow(1)
        guard !overflow else { return false }
        counter = EnclaveCounter(index: held.index, value: next)
        return true
    }
}

extension IdentityRecord {
    /// Whose counter the records are bound to.
    package var owner: CounterOwner { CounterOwner(uid: uid, instance: instance) }

    /// The key as this secret opens it; nil where there is no such secret.
    package func key(of purpose: SecretPurpose) -> WrappedKey? {
        switch purpose {
        case .pin: pin
        case .recoveryCode: recovery
        }
    }
}

extension VaultError {
    /// Whether it is certain that no secret was compared.
    ///
    /// A TPM in lockout refuses right and wrong alike, one that stays busy has not begun, and what it does not take for
    /// its own it does not open. Where no answer came, or one that says nothing, a comparison may have been made.
    var comparedNothing: Bool {
        switch self {
        case .outOfMemory, .keyLost: true
        case .enclave(.lockout), .enclave(.busy), .enclave(.foreign), .enclave(.noRoom), .enclave(.noCounter),
            .enclave(.ownerRefused), .enclave(.lockoutAuthSet):
            true
        case .enclave(.noDevice), .enclave(.other), .enclave(.helperFailed), .enclave(.stalled): false
        }
    }

    /// What it is of a user's records.
    var fault: RecordFault? {
        switch self {
        case .keyLost: .keyLost
        case .enclave(.foreign): .enclaveForeign
        // The store opens, so that the TPM is the right one: the records name a counter of another time.
        case .enclave(.noCounter): .rolledBack
        case .enclave(.noDevice), .enclave(.helperFailed), .enclave(.stalled), .enclave(.ownerRefused): .enclaveGone
        // What may be otherwise at the next try.
        case .outOfMemory, .enclave(.busy), .enclave(.lockout), .enclave(.noRoom), .enclave(.lockoutAuthSet),
            .enclave(.other):
            nil
        }
    }
}

extension RecordFault {
    /// What a count says against the records; nil where they are in force.
    init?(_ standing: CounterStanding) {
        switch standing {
        case .inForce, .notCountedYet: return nil
        // Fewer counts than were written: it is the TPM's state that was put back. What helps is the same.
        case .rolledBack, .foreign: self = .rolledBack
        }
    }
}

extension RecordTrouble {
    /// The faults that a person is told apart.
    package init?(_ fault: RecordFault) {
        switch fault {
        case .rolledBack: self = .rolledBack
        case .renamed: self = .renamed
        case .enclaveGone: self = .enclaveGone
        case .enclaveForeign: self = .enclaveForeign
        case .enclaveRequired: self = .enclaveRequired
        case .unsafeAbove: self = .folderAbove
        case .damaged, .foreign, .otherUser, .newer, .missing, .unsafe, .stuck, .keyLost: return nil
        }
    }
}

extension Attempts {
    /// Closes fingers that were approved: with older records a deleted one may have come back.
    package mutating func rememberOlderRecords(of identity: IdentityRecord) {
        guard change == nil, !identity.approvals.isEmpty else { return }
        change = EnrollmentChange(added: 0, removed: 0)
    }
}
