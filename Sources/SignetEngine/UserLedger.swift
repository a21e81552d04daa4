package import SignetPolicy
package import SignetRecords
internal import SignetSecrets

/// Why the ledger cannot go on; the particulars are in the journal.
package enum LedgerFailure: Error, Equatable, Sendable {
    /// A record is damaged, foreign or missing, or the keys are lost.
    case recordUnusable
    /// There are no records any more: somebody deleted them since they were read.
    case notSetUp
    /// The records cannot be used for a reason that a person is told.
    case troubled(RecordTrouble)
    /// The secret's door closed while it was compared; nothing was compared, and the charge is taken back.
    case locked(PINLockout)
    /// The store is busy or refuses, memory is short, or the clock cannot be read.
    case unavailable
    /// The store's file system, or root's share of it, is full.
    case full
    /// The store's file system cannot be written.
    case readOnly
    /// The index of prints in readers' memories cannot be used, and what was to be done would forget a print for good.
    case indexUnusable(RecordFault)
    /// Somebody else changed the records since they were read; nothing was written.
    case changedMeanwhile

    /// What the machine is told.
    package var event: AuthenticationEvent {
        switch self {
        case .troubled(let trouble): .troubled(trouble)
        case .locked(let lockout): .doorClosed(lockout)
        case .notSetUp: .recordsGone
        case .recordUnusable, .indexUnusable: .unusable(damaged: true)
        case .unavailable, .full, .readOnly, .changedMeanwhile: .unusable(damaged: false)
        }
    }

    /// Whether it says nothing of the records, and may be otherwise at the next try.
    var isShortage: Bool {
        switch self {
        case .unavailable, .full, .readOnly: true
        case .recordUnusable, .notSetUp, .indexUnusable, .troubled, .locked, .changedMeanwhile: false
        }
    }

    /// Why fingers close where it is the prints that could not be had.
    var withoutPrints: FingerClosure { isShortage ? .printsUnavailable : .printsUnusable }

    /// Whether it is the records that cannot be used, for good: nothing is lost where an administrator replaces them.
    ///
    /// Those that were made under another name can be given to the present one.
    package var isOfRecords: Bool {
        switch self {
        case .recordUnusable, .troubled(.rolledBack), .troubled(.enclaveForeign): true
        default: false
        }
    }
}

/// The records of one user together with the rules for charging and settling them.
///
/// The one place where counters are written: authentication and every management task that asks for a PIN, a recovery
/// code or a finger go through it, so that all charge the same counters.
package struct UserLedger<
    Store: RecordStore & ~Copyable, Vault: KeyVault & ~Copyable, Time: Clock & ~Copyable, Log: Journal & ~Copyable
>: ~Copyable {
    package var store: Store
    package var vault: Vault
    package var time: Time
    package var log: Log
    package let policy: LockoutPolicy
    package let cost: KeyDerivationCost
    package let caller: CallerClass
    /// Which readers are believed for where they are.
    package let trust: ReaderTrust
    /// Whether the prints are Signet's own, to be deleted by its commands.
    let keepsPrintsItself: Bool
    /// The charge of a secret that is being compared; it ends with the hold of the lock.
    var openCharge: OpenCharge?
    /// The wrappings that were opened; a new PIN is stored only while the one that was proven is still the record's.
    var openedPIN: WrappedKey?
    var openedRecovery: WrappedKey?
    /// The charge of a finger that is awaited.
    var fingerCharge: Charge?
    /// Whether the journal was told that the index of prints in readers' memories cannot be used.
    var indexFaultIsTold = false
    /// The counters as they were read or written last, for the journal.
    package private(set) var lastAttempts: Attempts?

    struct OpenCharge {
        let charge: Charge
        let waitBefore: Wait?
        let identity: IdentityRecord
        /// The TPM's failures of the user without this one.
        let enclaveBefore: EnclaveFailures?
        /// How the TPM stood at the charge; nil where a failure does not concern it.
        let tpm: DictionaryAttackState?
        /// Whether the charge cost a count.
        let isCounted: Bool
        var attempts: Attempts
    }

    /// Takes ownership of the adapters; `caller` says whose share a failure uses up.
    package init(
        store: consuming Store, vault: consuming Vault, time: consuming Time, log: consuming Log,
        configuration: Configuration, caller: CallerClass
    ) {
        self.store = store
        self.vault = vault
        self.time = time
        self.log = log
        self.policy = LockoutPolicy(configuration)
        self.cost = configuration.keyDerivationCost
        self.caller = caller
        self.trust = ReaderTrust(configuration)
        self.keepsPrintsItself = configuration.enrollmentSource == .signet
    }

    // MARK: Reading

    /// Identity and counters, read under one hold of the lock; nil where the user has no PIN.
    package mutating func load() throws(LedgerFailure) -> UserState? {
        // Without an identity there is nothing to lock, and no folder to make for somebody who only typed a name.
        do throws(StoreError) { if try store.loadIdentity() == nil { return nil } } catch { throw failed(error) }
        return try hold { (ledger) throws(LedgerFailure) in try ledger.loadHeld() }
    }

    /// Identity and counters, which must be those that were written last; the lock must be held.
    mutating func loadHeld() throws(LedgerFailure) -> UserState? {
        guard var state = try loadUnchecked() else { return nil }
        try checkCount(of: &state)
        return state
    }

    /// The same, whatever the TPM has counted.
    mutating func loadUnchecked() throws(LedgerFailure) -> UserState? {
        do throws(StoreError) {
            guard let identity = try store.loadIdentity() else { return nil }
            let attempts = try store.loadAttempts()
            if store.attemptsWereTorn { log.record(.attemptsTorn) }
            lastAttempts = attempts
            return UserState(identity: identity, attempts: attempts)
        } catch {
            throw failed(error)
        }
    }

    /// The enrollment set.
    package mutating func loadPrints() throws(LedgerFailure) -> EnrollmentSet {
        do throws(StoreError) { return try store.loadPrints() } catch { throw failed(error) }
    }

    /// The enrollment set, or nil where it cannot be read, which the journal is told.
    package mutating func readablePrints() -> EnrollmentSet? {
        do throws(LedgerFailure) { return try loadPrints() } catch { return nil }
    }

    /// The same; `closure` becomes why fingers are closed where it cannot be read.
    package mutating func readablePrints(else closure: inout FingerClosure) -> EnrollmentSet? {
        do throws(LedgerFailure) { return try loadPrints() } catch {
            closure = error.withoutPrints
            return nil
        }
    }

    /// Now, on the boot clock.
    package mutating func now() throws(LedgerFailure) -> BootInstant {
        do throws(ClockUnreadable) { return try time.now() } catch {
            log.record(.clockUnreadable)
            throw .unavailable
        }
    }

    // MARK: Failing and holding

    /// Runs `body` under the user's lock and gives it back on every path.
    mutating func hold<Result: ~Copyable>(
        _ body: (inout UserLedger) throws(LedgerFailure) -> Result
    ) throws(LedgerFailure) -> Result {
        try lock()
        do throws(LedgerFailure) {
            let result = try body(&self)
            unlock()
            return result
        } catch {
            unlock()
            throw error
        }
    }

    /// Takes the lock, with the TPM's helper running: see `KeyVault.wake`.
    mutating func lock() throws(LedgerFailure) {
        vault.wake()
        do throws(StoreError) { try store.lock() } catch { throw failed(error) }
    }

    /// Gives the lock back, and then the TPM where it may not be kept.
    mutating func unlock() {
        store.unlock()
        vault.rest()
    }

    /// Writes the counters; durable when it returns.
    mutating func save(_ attempts: Attempts) throws(LedgerFailure) {
        do throws(StoreError) { try store.save(attempts) } catch { throw failed(error) }
        lastAttempts = attempts
    }

    /// Writes the counters that a finger's success has cleared; the disk may take its time (`RecordStore.saveSoon`).
    mutating func saveCleared(_ attempts: Attempts) throws(LedgerFailure) {
        do throws(StoreError) { try store.saveSoon(attempts) } catch { throw failed(error) }
        lastAttempts = attempts
    }

    /// Replaces the identity; durable when it returns.
    mutating func save(_ identity: IdentityRecord) throws(LedgerFailure) {
        do throws(StoreError) { try store.save(identity) } catch { throw failed(error) }
    }

    /// Tells the journal what happened and the caller what it means.
    mutating func failed(_ error: StoreError) -> LedgerFailure {
        switch error {
        case .fault(let kind, let fault):
            log.record(.recordFault(kind, fault))
            if kind == .chips { return .indexUnusable(fault) }
            // The whole store was removed since it was opened, and is gone for whoever opens it next, too.
            if kind == .store, fault == .missing { return .notSetUp }
            return RecordTrouble(fault).map { .troubled($0) } ?? .recordUnusable
        case .busy:
            log.record(.storeBusy)
            return .unavailable
        case .system(let number):
            log.record(.storeRefused(errno: number))
            return LedgerFailure(errno: number)
        }
    }

    /// The same for the vault.
    mutating func failed(_ error: VaultError) -> LedgerFailure {
        log.record(.vaultFailed(error))
        guard let fault = error.fault else { return .unavailable }
        return RecordTrouble(fault).map { .troubled($0) } ?? .recordUnusable
    }
}

extension LedgerFailure {
    /// What a file system's refusal means; Linux's numbers (asm-generic/errno-base.h and errno.h).
    init(errno number: Int32) {
        switch number {
        // ENOSPC, EDQUOT
        case 28, 122: self = .full
        // EROFS
        case 30: self = .readOnly
        default: self = .unavailable
        }
    }
}

/// What the store says of a user who has a PIN.
package struct UserState: Equatable, Sendable {
    package var identity: IdentityRecord
    package var attempts: Attempts
}
