internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// A record of prints that is damaged closes the finger path for good, since every change starts from what is there.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Whether the record of prints is there and will never be readable again.
    ///
    /// What an administrator can mend (a link, a mode, another name, an older Signet) is thrown.
    mutating func hasUnreadablePrints() throws(LedgerFailure) -> Bool {
        do throws(StoreError) {
            _ = try store.loadPrints()
            return false
        } catch {
            switch error {
            case .fault(.prints, .damaged), .fault(.prints, .foreign), .fault(.prints, .otherUser): return true
            default: throw failed(error)
            }
        }
    }

    /// Replaces it by an empty set of the next generation, and withdraws all approvals: the path opens with a new print.
    mutating func discardUnreadablePrints() throws(LedgerFailure) {
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { throw .notSetUp }
            guard try ledger.hasUnreadablePrints() else { throw .changedMeanwhile }
            // The counters know the last generation that Signet itself wrote.
            let (generation, overflow) = state.attempts.generation.addingReportingOverflow(1)
            guard !overflow, let nothing = SecretBytes(count: 0),
                let empty = EnrollmentSet(generation: generation, entries: [], templates: nothing)
            else { throw .unavailable }
            try ledger.announceChipsWithoutRecord()
            // Approvals first: a crash in between leaves the damage, and the path as closed as it was.
            state.identity.approvals = []
            try ledger.save(state.identity)
            do throws(StoreError) { try ledger.store.save(empty) } catch { throw ledger.failed(error) }
            state.attempts.generation = generation
            try ledger.saveCounting(&state)
        }
    }
}
