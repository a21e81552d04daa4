internal import SignetPolicy
internal import SignetRecords

// What an administrator does with the records of a user who was renamed or is gone. No PIN is asked for: root may do this,
// and nothing that comes of it lets a finger in, since the approvals do not survive it.

/// A store that can give records of the same uid but another name the present name.
package protocol AdoptingRecordStore: RecordStore, ~Copyable {
    /// Rewrites identity and prints for the present name; the lock must be held. Nothing happens where none are there.
    mutating func adopt() throws(StoreError)
}

/// What came of an adoption.
package enum Adoption: Equatable, Sendable {
    case adopted
    /// The records have the present name already.
    case nameFits
    /// There are no records.
    case nothingThere
}

extension UserLedger where Store: AdoptingRecordStore & ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Gives the records the user's present name and withdraws all approvals, which are over the old one.
    ///
    /// Only for one person under two names: whoever had the old name keeps the PIN. A fault other than the name is not
    /// mended by this and is thrown.
    package mutating func adopt() throws(LedgerFailure) -> Adoption {
        do throws(StoreError) {
            return try store.loadIdentity() == nil ? .nothingThere : .nameFits
        } catch {
            guard error == .fault(.identity, .renamed) || error == .fault(.prints, .renamed) else {
                throw failed(error)
            }
        }
        try hold { (ledger) throws(LedgerFailure) in
            do throws(StoreError) { try ledger.store.adopt() } catch { throw ledger.failed(error) }
            guard var state = try ledger.loadHeld() else { throw .recordUnusable }
            state.identity.approvals = []
            try ledger.save(state.identity)
            if state.attempts.counter != nil { try ledger.saveCounting(&state) }
            ledger.settleChips()
        }
        log.record(.management(.adopted, byAdministrator: true))
        return .adopted
    }
}

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Deletes all that is kept of the user, whatever state it is in.
    package mutating func purge() throws(LedgerFailure) {
        try removeRecords()
        log.record(.management(.purged, byAdministrator: true))
    }
}

/// Whose a folder of the store is.
package enum RecordOwner: Equatable, Sendable {
    case user(uid: UInt32, name: [UInt8])
    /// No account has this uid any more.
    case orphan(uid: UInt32)
    /// The account database cannot be asked, which says nothing about the user.
    case unknown(uid: UInt32)

    package var uid: UInt32 {
        switch self {
        case .user(let uid, _), .orphan(let uid), .unknown(let uid): uid
        }
    }
}
