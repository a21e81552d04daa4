internal import SignetPolicy
internal import SignetRecords
package import SignetSecrets

// What management needs of the counters and of the set beside what an authentication does.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Charges the touch of a management task, durably; false where fingers are locked out and nothing was charged.
    ///
    /// It counts as any other touch does. But what closes the way in does not close the way to mend it: activation is what
    /// a change asks for, and an administrator's enrollment grants nothing.
    package mutating func chargeTouch() throws(LedgerFailure) -> Bool {
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { throw .notSetUp }
            guard let charge = ledger.policy.charge(&state.attempts.finger, for: ledger.caller) else { return false }
            try ledger.save(state.attempts)
            ledger.fingerCharge = charge
            return true
        }
    }

    /// Settles the touch that confirmed a print which an administrator had made and nobody approved yet.
    package mutating func settleConfirmation() throws(LedgerFailure) {
        guard fingerCharge != nil else { throw .unavailable }
        fingerCharge = nil
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { throw .notSetUp }
            ledger.policy.fingerSucceeded(&state.attempts)
            try ledger.save(state.attempts)
        }
    }

    /// Forgets a change that left no print behind: there is nothing to approve any more.
    package mutating func forgetChange(key: borrowing SecretBytes) throws(LedgerFailure) {
        try change(key) { (ledger, state) throws(LedgerFailure) in
            let set = try ledger.loadPrints()
            guard set.entries.isEmpty else { throw .unavailable }
            state.identity.approvals = []
            try ledger.save(state.identity)
            state.attempts.change = nil
            state.attempts.foreignPrints = 0
            state.attempts.generation = set.generation
            try ledger.saveCounting(&state)
        }
    }

    /// Deletes all that is kept of the user.
    package mutating func removeRecords() throws(LedgerFailure) {
        try hold { (ledger) throws(LedgerFailure) in
            try ledger.announceChipsWithoutRecord()
            let counter = ledger.store.namedCounter()
            do throws(StoreError) { try ledger.store.remove() } catch { throw ledger.failed(error) }
            ledger.giveBack(counter)
        }
    }
}
