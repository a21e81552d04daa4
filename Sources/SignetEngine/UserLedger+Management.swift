package import SignetPolicy
package import SignetRecords
package import SignetSecrets

// Changes to a user's identity. Each is one hold of the lock; the signing key they need is the PIN's to open.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Gives the lock back where an authentication ended between charge and settling; the charge stays.
    mutating func abandonCharge() {
        openCharge = nil
        unlock()
    }

    /// Makes the user's first identity, or replaces a lost one: a new signing key, so that no old approval holds.
    ///
    /// `byAdministrator` tells the user so at the next prompt; a PIN that its owner set is fresh at once.
    package mutating func makeIdentity(
        uid: UInt32, userName: [UInt8], pin: borrowing ConcealedSecret, byAdministrator: Bool
    ) throws(LedgerFailure) -> SecretBytes {
        let pair = try makeSigningKey()
        let instance: [UInt8]
        let wrapped: WrappedKey
        do throws(VaultError) {
            instance = try vault.random(count: IdentityRecord.instanceCount)
            wrapped = try vault.wrap(pair.secret, under: pin, for: .pin, cost: cost)
        } catch {
            throw failed(error)
        }
        let identity = IdentityRecord(
            uid: uid, userName: userName, instance: instance, publicKey: pair.publicKey, pin: wrapped, recovery: nil,
            pinChangedAt: time.wallTime(), recoveryMadeAt: 0, pinSetByAdministrator: byAdministrator, approvals: [])
        let now = try now()
        try hold { (ledger) throws(LedgerFailure) in
            let counter = ledger.store.namedCounter()
            let failures = (try? ledger.store.loadAttempts())?.enclaveFailures
            do throws(StoreError) { try ledger.store.create(identity) } catch { throw ledger.failed(error) }
            ledger.giveBack(counter)
            var attempts = Attempts()
            attempts.counter = ledger.makeCounter(for: identity.owner)
            if attempts.counter == nil, ledger.vault.hasHalves { ledger.log.record(.noCounter) }
            // A new PIN lowers nothing in the TPM.
            attempts.enclaveFailures = failures
            if !byAdministrator { ledger.policy.pinSucceeded(&attempts, at: now) }
            if attempts != Attempts() { try ledger.save(attempts) }
        }
        return pair.takeSecret()
    }

    private mutating func makeSigningKey() throws(LedgerFailure) -> SigningKeyPair {
        do throws(VaultError) { return try vault.makeSigningKey() } catch { throw failed(error) }
    }

    /// Puts a new PIN in place of the old one; the signing key stays, and with it every approval.
    ///
    /// After a recovery code the code is used up. Fails where the identity is no longer the key's, or the secret that was
    /// proven is not the record's any more: of two who prove one at once, one alone sets a PIN.
    package mutating func replacePIN(
        _ pin: borrowing ConcealedSecret, key: borrowing SecretBytes, after purpose: SecretPurpose
    ) throws(LedgerFailure) {
        let wrapped: WrappedKey
        do throws(VaultError) { wrapped = try vault.wrap(key, under: pin, for: .pin, cost: cost) } catch {
            throw failed(error)
        }
        let now = try now()
        let changedAt = time.wallTime()
        try change(key) { (ledger, state) throws(LedgerFailure) in
            let (opened, inForce) =
                switch purpose {
                case .pin: (ledger.openedPIN, Optional(state.identity.pin))
                case .recoveryCode: (ledger.openedRecovery, state.identity.recovery)
                }
            guard opened != nil, opened == inForce else { throw .changedMeanwhile }
            state.identity.pin = wrapped
            state.identity.pinChangedAt = changedAt
            state.identity.pinSetByAdministrator = false
            try ledger.save(state.identity)
            ledger.policy.pinSucceeded(&state.attempts, at: now)
            // The code goes last: a crash before it leaves a PIN that is disabled together with the code that mends it.
            if purpose == .recoveryCode {
                try ledger.save(state.attempts)
                state.identity.recovery = nil
                try ledger.save(state.identity)
            }
            if purpose == .pin || state.attempts.counter != nil { try ledger.saveCounting(&state) }
        }
    }

    /// Makes a new recovery code in place of any older one; its 26 characters are the caller's to show once.
    package mutating func makeRecoveryCode(key: borrowing SecretBytes) throws(LedgerFailure) -> SecretBytes {
        guard var code = SecretBytes(count: RecoveryCode.symbolCount) else { throw failed(VaultError.outOfMemory) }
        let wrapped: WrappedKey
        do throws(VaultError) {
            let random = try vault.randomSecret(count: RecoveryCode.byteCount)
            let written = random.withBytes { bytes in
                code.withMutableBytes { symbols in RecoveryCode.write(bytes, into: &symbols) }
            }
            // The code itself goes on to the person's screen.
            guard written, let copy = code.copy() else { throw VaultError.outOfMemory }
            let concealed = try vault.conceal(copy, for: .recoveryCode)
            wrapped = try vault.wrap(key, under: concealed, for: .recoveryCode, cost: cost)
        } catch {
            throw failed(error)
        }
        let madeAt = time.wallTime()
        let policy = policy
        try change(key) { (ledger, state) throws(LedgerFailure) in
            state.identity.recovery = wrapped
            state.identity.recoveryMadeAt = madeAt
            try ledger.save(state.identity)
            policy.recoveryCodeMatched(&state.attempts)
            try ledger.saveCounting(&state)
        }
        return code
    }

    /// Writes a changed enrollment set and what it needs: the generation, and for the user's own change the approvals.
    ///
    /// With a key, approvals of other readers that still hold are signed again for the new generation, and `session`, where
    /// given, is approved; without one nothing is approved, and the finger path closes until the user re-activates.
    package mutating func savePrints(
        _ set: borrowing EnrollmentSet, approving session: ReaderSession?, key: borrowing SecretBytes?
    ) throws(LedgerFailure) {
        try lock()
        do throws(LedgerFailure) {
            try savePrintsHeld(set, approving: session, key: key)
            unlock()
        } catch {
            unlock()
            throw error
        }
    }

    private mutating func savePrintsHeld(
        _ set: borrowing EnrollmentSet, approving session: ReaderSession?, key: borrowing SecretBytes?
    ) throws(LedgerFailure) {
        guard var state = try loadHeld() else { throw .notSetUp }
        let before = try loadPrints()
        // A set that was made from an older one would undo what somebody else did meanwhile.
        guard before.generation.addingReportingOverflow(1) == (set.generation, false) else { throw .changedMeanwhile }
        var approvals: [Approval] = []
        var unapproved = foreignPrintsLeft(by: session, state)
        // Nothing is left that they could be beside of, or that could be activated.
        if set.entries.isEmpty { unapproved = 0 }
        // Borrowed noncopyable optionals are looked into by switch.
        switch key {
        case .some(let key):
            for approval in state.identity.approvals
            where approval.reader != session?.reader && approval.generation == before.generation {
                if try review(state, before, on: approval.reader, presence: nil) != nil { continue }
                if set.gallery(of: approval.reader).isEmpty { continue }
                approvals.append(
                    try renewApproval(approval, generation: set.generation, state.identity, key: key))
            }
            if let session, !session.gallery.isEmpty {
                approvals.append(try approve(state.identity, set, session, key: key))
            }
        // One of a later generation is what a cut change left, and of no set that ever was in force.
        case .none: approvals = state.identity.approvals.filter { $0.generation <= before.generation }
        }
        let movesChips = try announceChips(from: before, to: set)
        // Both sets are approved while the one takes the other's place: a crash leaves the old one or the new one, and
        // each counts. What nobody approved closes the finger path as soon as it is there.
        let standing = state.identity.approvals.filter { $0.generation == before.generation }
        let both = standing + approvals.filter { $0.generation != before.generation }
        if both != state.identity.approvals, both.count <= IdentityRecord.approvalLimit {
            state.identity.approvals = both
            try save(state.identity)
        }
        do throws(StoreError) { try store.save(set) } catch { throw failed(error) }
        state.identity.approvals = approvals
        try save(state.identity)
        state.attempts.generation = set.generation
        state.attempts.foreignPrints = unapproved
        // The PIN that took the last print away has settled what had changed about it, as it does without any deletion
        // (`forgetChange`).
        if set.entries.isEmpty, key != nil { state.attempts.change = nil }
        try saveCounting(&state)
        if movesChips { settleChips() }
    }

    /// How many foreign prints are still new to the user once `session` is approved.
    private mutating func foreignPrintsLeft(by session: ReaderSession?, _ state: UserState) -> UInt8 {
        let seen = state.attempts.foreignPrints
        guard let session, seen > 0 else { return seen }
        let approved = state.identity.approvals.first { $0.reader == session.reader }?.others ?? []
        guard let approvedNow = foreignPrints(among: session.others, beyond: approved) else { return seen }
        return seen > approvedNow ? seen - approvedNow : 0
    }

    /// Activation: approves what is there now on one reader and forgets the change that closed the path.
    package mutating func activate(_ session: ReaderSession, key: borrowing SecretBytes) throws(LedgerFailure) -> Int {
        var count = 0
        try change(key) { (ledger, state) throws(LedgerFailure) in
            let set = try ledger.loadPrints()
            guard set.generation == session.generation else { throw .changedMeanwhile }
            var approvals: [Approval] = []
            for approval in state.identity.approvals
            where approval.reader != session.reader && approval.generation == set.generation {
                var judged = state
                judged.attempts.change = nil
                judged.attempts.foreignPrints = 0
                if try ledger.review(judged, set, on: approval.reader, presence: nil) == nil {
                    approvals.append(approval)
                }
            }
            approvals.append(try ledger.approve(state.identity, set, session, key: key))
            state.identity.approvals = approvals
            try ledger.save(state.identity)
            state.attempts.change = nil
            state.attempts.foreignPrints = 0
            state.attempts.generation = set.generation
            try ledger.saveCounting(&state)
            count = session.gallery.count
            // An index that was lost is made anew.
            if set.liesOnChip(session.reader) { ledger.settleChips() }
        }
        return count
    }

    /// Switches fingers off for the user: all approvals are withdrawn, the prints stay.
    package mutating func deactivate() throws(LedgerFailure) {
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { throw .notSetUp }
            state.identity.approvals = []
            try ledger.save(state.identity)
            if state.attempts.counter != nil { try ledger.saveCounting(&state) }
        }
    }

    /// An administrator's reset of the chosen counters; not of the TPM's, which this does not lower.
    package mutating func reset(finger: Bool, pin: Bool) throws(LedgerFailure) {
        try hold { (ledger) throws(LedgerFailure) in
            guard var state = try ledger.loadHeld() else { throw .notSetUp }
            ledger.policy.reset(&state.attempts, finger: finger, pin: pin)
            try ledger.saveCounting(&state)
        }
    }

    /// Changes identity and counters under one hold, where the key is still the identity's own.
    mutating func change(
        _ key: borrowing SecretBytes, _ body: (inout UserLedger, inout UserState) throws(LedgerFailure) -> Void
    ) throws(LedgerFailure) {
        try lock()
        do throws(LedgerFailure) {
            guard var state = try loadHeld() else { throw .notSetUp }
            try checkOwnership(of: state.identity, by: key)
            try body(&self, &state)
            unlock()
        } catch {
            unlock()
            throw error
        }
    }

    // Between opening the key and this hold an administrator may have made a new identity: its key would not be this one.
    private mutating func checkOwnership(of identity: IdentityRecord, by key: borrowing SecretBytes)
        throws(LedgerFailure)
    {
        let message = Array("signet key ownership".utf8) + identity.instance
        do throws(VaultError) {
            let signature = try vault.sign(message, with: key)
            guard vault.isValid(signature: signature, of: message, by: identity.publicKey) else {
                throw VaultError.keyLost
            }
        } catch {
            throw failed(error)
        }
    }
}

extension PINPolicy {
    /// What a person is told of a PIN that is refused; nil where it may be set.
    package func refusal(of pin: borrowing SecretBytes, userName: [UInt8]) -> Notice? {
        pin.withBytes { bytes in weakness(of: bytes, userName: userName) }.map { .pinRefused($0) }
    }
}
