package import SignetPolicy
internal import SignetRecords

// A finger's try: charged and settled in a moment each, for the lock is never held while a person is waited for (rule 1).

/// The reader that was opened, and what was seen of the user's prints on it.
package struct ReaderSession: Equatable, Sendable {
    package let reader: ReaderIdentity
    package let place: ReaderPlace
    /// The indices into the enrollment set's entries that the reader was given.
    package let gallery: [Int]
    package let presence: [PrintPresence]
    /// The handle digests of the prints in the reader's memory that are not in the gallery, in ascending order.
    package let others: [Digest]
    /// The generation of the set that was given.
    package let generation: UInt64

    package init(
        reader: ReaderIdentity, place: ReaderPlace, gallery: [Int], presence: [PrintPresence],
        others: [Digest] = [], generation: UInt64
    ) {
        self.reader = reader
        self.place = place
        self.gallery = gallery
        self.presence = presence
        self.others = others
        self.generation = generation
    }
}

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Charges one finger try, durably; answers why the path is closed where nothing was charged.
    package mutating func chargeFinger() throws(LedgerFailure) -> FingerClosure? {
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { throw .notSetUp }
            if let closed = try ledger.countersClose(state.attempts) { return closed }
            guard let charge = ledger.policy.charge(&state.attempts.finger, for: ledger.caller) else {
                return .biometryLockout(limit: UInt8(ledger.policy.fingerLimit))
            }
            try ledger.save(state.attempts)
            ledger.fingerCharge = charge
            return nil
        }
    }

    /// Settles a match: everything is read and judged anew, so that nothing that changed meanwhile slips through.
    ///
    /// Answers why the path is closed where the match does not count; it stays charged then.
    package mutating func settleMatch(_ session: ReaderSession, index: Int) throws(LedgerFailure) -> FingerClosure? {
        guard let charge = fingerCharge, index >= 0, index < session.gallery.count else { throw .unavailable }
        fingerCharge = nil
        return try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { throw .notSetUp }
            let set = try ledger.loadPrints()
            guard set.generation == session.generation else {
                return try ledger.close(&state, .enrollmentChanged(EnrollmentChange(added: 0, removed: 0)))
            }
            // The approval of the whole reader covers the print that matched, which is one of the gallery's.
            if let closed = try ledger.reviewNow(state, set, on: session.reader, presence: session) {
                return try ledger.close(&state, closed)
            }
            if let distrust = ledger.distrust(
                state.identity, session.reader, generation: set.generation, at: session.place,
                onChip: set.liesOnChip(session.reader))
            {
                return .readerNotTrusted(distrust)
            }
            if session.presence[index] == .missing {
                return try ledger.close(&state, .enrollmentChanged(EnrollmentChange(added: 0, removed: 1)))
            }
            // The door is judged as it was before this very try, or the last one that is allowed could never succeed.
            var before = state.attempts
            ledger.policy.refund(charge, &before.finger)
            if let closed = try ledger.countersClose(before) { return closed }
            ledger.policy.fingerSucceeded(&state.attempts)
            // Where a change was cut off before the counters knew of it: from now on no older set is admitted.
            state.attempts.generation = set.generation
            // The person need not wait for the disk: what a power cut can take back is that the charge was cleared.
            try ledger.saveCleared(state.attempts)
            return nil
        }
    }

    /// Leaves the failure as it was charged and says how the finger's door stands now.
    package mutating func settleFingerFailure() throws(LedgerFailure) -> FingerCounterDoor {
        fingerCharge = nil
        guard let state = try load() else { throw .notSetUp }
        log.record(.failure(factor: .finger, attempts: state.attempts))
        return fingerDoor(state.attempts)
    }

    /// Takes back a try for which a living helper says that no finger lay on the reader.
    package mutating func refundFinger() throws(LedgerFailure) -> FingerCounterDoor {
        guard let charge = fingerCharge else { throw .unavailable }
        fingerCharge = nil
        return try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { throw .notSetUp }
            ledger.policy.refund(charge, &state.attempts.finger)
            try ledger.save(state.attempts)
            return ledger.fingerDoor(state.attempts)
        }
    }

    /// Why the counters alone close the finger path: a locked PIN, locked fingers, a change seen before, a stale PIN.
    package mutating func countersClose(_ attempts: Attempts) throws(LedgerFailure) -> FingerClosure? {
        let now = try now()
        // A person's own wait or a disabled PIN closes fingers too; a share that somebody else used up never does.
        switch policy.door(attempts.pin, for: .person, at: now) {
        case .closed(.waiting), .closed(.disabled): return .biometryLockout(limit: UInt8(policy.fingerLimit))
        case .closed(.shareUsedUp), .open: break
        }
        if case .biometryLockout = policy.door(attempts.finger, for: .person) {
            return .biometryLockout(limit: UInt8(policy.fingerLimit))
        }
        // Somebody else's process: what is left is the user's.
        if case .biometryLockout = policy.door(attempts.finger, for: caller) { return .triesUsedUp }
        if let closed = remembered(attempts) { return closed }
        return policy.freshness(attempts, at: now)
    }

    private func fingerDoor(_ attempts: Attempts) -> FingerCounterDoor {
        switch policy.door(attempts.finger, for: .person) {
        case .open: .open
        case .biometryLockout: .biometryLockout(limit: UInt8(policy.fingerLimit))
        }
    }

    /// Remembers a change for good, so that a set that goes back stays closed (rule 5); the lock must be held.
    mutating func close(_ state: inout UserState, _ closure: FingerClosure) throws(LedgerFailure) -> FingerClosure {
        if case .enrollmentChanged(let change) = closure, state.attempts.change == nil {
            state.attempts.change = change.recorded
            try save(state.attempts)
        }
        if case .foreignPrints(let count) = closure, count > state.attempts.foreignPrints {
            state.attempts.foreignPrints = count
            try save(state.attempts)
        }
        return closure
    }

    /// Tells the journal of foreign prints that came into a reader's memory, once for each that came, and remembers it
    /// for `status`; where the configuration wants it, what is remembered closes the path.
    ///
    /// The counters have a number and no names: one that takes the place of another that came since is not told again.
    package mutating func noteForeignPrints(_ session: ReaderSession, _ state: UserState) throws(LedgerFailure) {
        guard let approval = state.identity.approval(of: session.reader, generation: session.generation) else { return }
        guard let risen = foreignPrints(among: session.others, beyond: approval.others),
            risen > state.attempts.foreignPrints
        else { return }
        log.record(.foreignPrints(count: Int(risen)))
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { return }
            _ = try ledger.close(&state, .foreignPrints(risen))
        }
    }

    /// The same where the lock is not held.
    package mutating func rememberChange(_ closure: FingerClosure) throws(LedgerFailure) {
        switch closure {
        case .enrollmentChanged, .foreignPrints: break
        default: return
        }
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { return }
            _ = try ledger.close(&state, closure)
        }
    }
}
