package import SignetPolicy
internal import SignetRecords

/// What is the matter with a user's records, as an administrator is told it.
package enum RecordCondition: Equatable, Sendable {
    case usable
    /// The user has no PIN.
    case notSetUp
    case faulty(RecordKind, RecordFault)
    /// Somebody holds the user's lock.
    case busy
    /// The file system refused, with its errno.
    case refused(errno: Int32)
    /// The boot clock cannot be read, so that no wait can be judged.
    case clockUnreadable
}

/// What was found when the readers were asked for.
package enum ReaderPresence: Equatable, Sendable {
    case present([ReaderDescription])
    case problem(ReaderProblem)
}

/// One enrolled finger.
package struct FingerFact: Equatable, Sendable {
    package let finger: Finger
    package let reader: ReaderIdentity
    package let onReader: Bool
    /// Wall time in seconds since 1970.
    package let enrolledAt: Int64

    package init(finger: Finger, reader: ReaderIdentity, onReader: Bool, enrolledAt: Int64) {
        self.finger = finger
        self.reader = reader
        self.onReader = onReader
        self.enrolledAt = enrolledAt
    }
}

/// When the PIN was right last.
package enum LastUse: Equatable, Sendable {
    case never
    /// Wall time in seconds since 1970, worked out from the boot clock.
    case at(Int64)
    /// In an earlier boot, whose clock says nothing any more.
    case beforeStartUp
}

/// The PIN of a user.
package struct PINFact: Equatable, Sendable {
    /// Wall time in seconds since 1970.
    package let changedAt: Int64
    package let lastUse: LastUse
    package let setByAdministrator: Bool

    package init(changedAt: Int64, lastUse: LastUse, setByAdministrator: Bool) {
        self.changedAt = changedAt
        self.lastUse = lastUse
        self.setByAdministrator = setByAdministrator
    }
}

/// The counters of a user, and what they close.
package struct LockoutFact: Equatable, Sendable {
    package let fingerFailures: Int
    package let fingerLimit: Int
    package let pinFailures: Int
    package let pinLimit: Int
    /// What the user's own PIN waits for; nil where it may be typed.
    package let pin: PINLockout?
    /// Other kinds of caller that have used up their share.
    package let closedTo: [CallerClass]

    package init(
        fingerFailures: Int, fingerLimit: Int, pinFailures: Int, pinLimit: Int, pin: PINLockout?,
        closedTo: [CallerClass]
    ) {
        self.fingerFailures = fingerFailures
        self.fingerLimit = fingerLimit
        self.pinFailures = pinFailures
        self.pinLimit = pinLimit
        self.pin = pin
        self.closedTo = closedTo
    }

    /// Whether fingers are refused until the PIN is given.
    package var isFingerLockedOut: Bool { fingerFailures >= fingerLimit }
}

/// The recovery code of a user.
package enum RecoveryFact: Equatable, Sendable {
    case none
    /// When it was made (wall time in seconds since 1970), and what it waits for; nil where it may be typed.
    case ready(madeAt: Int64, lockout: PINLockout?)
}

/// Something about a user that does not mend itself.
package enum Attention: Equatable, Sendable {
    case recordFaulty(RecordKind, RecordFault)
    /// The uid has another name now than the record says.
    case renamed
    case notSetUp
    case pinDisabled
    case enrollmentChanged(EnrollmentChange)
    /// So many prints are enrolled still and gone from the reader's memory; of one finger, where it can only be that.
    case printsGone(Int, Finger?)
    /// So many foreign prints came into a reader's memory since the user approved.
    case foreignPrints(Int)
    /// Fingers are enrolled, and nobody approved them with the PIN.
    case notApproved
    /// The reader is not believed where it is until the user activates it there.
    case readerNotTrusted(ReaderDistrust)
    /// A reader is there, and none of those that the fingers are enrolled with.
    case readerExchanged(ReaderExchange)
    /// The readers that the fingers are enrolled with may not be used where or as they are.
    case readerRefused(ReaderDistrust)
    /// What fprintd keeps of the user's prints cannot be used.
    case fprintdUnusable(RecordFault)
    case fingerLockedOut(failures: Int)
    case pinSetByAdministrator
    case noRecoveryCode
    /// The TPM's half joins the PIN, or leaves it, when the user next types it.
    case pinToBeRenewed
    /// The TPM had no room for a counter: a copy of older records that is put back would not be noticed.
    case noCounter
}

/// All that may be told of one user; it holds no secret.
package struct UserStatus: Equatable, Sendable {
    package let uid: UInt32
    package let userName: [UInt8]
    package var record: RecordCondition
    /// Why no finger counts now; nil where one does.
    package var fingerClosure: FingerClosure?
    /// Why no finger is asked for where whoever asks is, though one counts; nil where one is.
    package var closureHere: FingerClosure?
    /// The readers that a prompt would try to open there, in its order; none where no finger is asked for.
    package var readersToAsk: [ReaderDescription] = []
    /// Who has those readers, where that is why none is asked for and it is known.
    package var readerHolder: [UInt8]?
    /// In the order of enrollment.
    package var fingers: [FingerFact] = []
    /// Who keeps the prints.
    package var source = EnrollmentSource.signet
    /// Why an approved reader is not believed where it is, where activating it there mends that.
    package var readerToActivate: ReaderDistrust?
    /// The reader that is there in the place of those that the fingers are enrolled with.
    package var readerExchange: ReaderExchange?
    /// Why none of the readers at hand that hold an enrolled finger may be used; nil where one may, where none is there, and
    /// where activating mends it.
    package var readerDistrust: ReaderDistrust?
    /// Those of the readers at hand that hold an enrolled finger; all of them where none does.
    package var readers: ReaderPresence
    /// nil where the user has none, or the records cannot be read.
    package var pin: PINFact?
    package var lockout: LockoutFact?
    package var recovery: RecoveryFact = .none
    /// How many foreign prints came into a reader's memory since the user approved, as it was last seen.
    package var foreignPrints = 0
    package var enclave: EnclaveFact?
    /// Whether the PIN waits for the TPM's half, or still has one that the machine does without by now.
    package var pinIsToBeRenewed = false

    package init(uid: UInt32, userName: [UInt8], record: RecordCondition, readers: ReaderPresence) {
        self.uid = uid
        self.userName = userName
        self.record = record
        self.readers = readers
    }

    /// What needs somebody, the most urgent first.
    package var attention: [Attention] {
        switch record {
        case .faulty(_, .renamed): return [.renamed]
        case .faulty(.prints, let fault) where source == .fprintd: return [.fprintdUnusable(fault)]
        case .faulty(let kind, let fault): return [.recordFaulty(kind, fault)]
        case .notSetUp: return [.notSetUp]
        case .busy, .refused, .clockUnreadable: return []
        case .usable: break
        }
        var found: [Attention] = []
        if lockout?.pin == .disabled { found.append(.pinDisabled) }
        switch fingerClosure {
        case .enrollmentChanged(let change) where change.isOfReadersAlone:
            found.append(.printsGone(Int(change.gone), onlyFingerOnReaders))
        case .enrollmentChanged(let change): found.append(.enrollmentChanged(change))
        case .notApproved: found.append(.notApproved)
        case .printsUnusable: found.append(.recordFaulty(.prints, .damaged))
        default: break
        }
        if let readerToActivate { found.append(.readerNotTrusted(readerToActivate)) }
        if let readerExchange { found.append(.readerExchanged(readerExchange)) }
        if let readerDistrust { found.append(.readerRefused(readerDistrust)) }
        if foreignPrints > 0 { found.append(.foreignPrints(foreignPrints)) }
        if let lockout, lockout.isFingerLockedOut {
            found.append(.fingerLockedOut(failures: lockout.fingerFailures))
        }
        if pin?.setByAdministrator == true { found.append(.pinSetByAdministrator) }
        if recovery == .none { found.append(.noRecoveryCode) }
        if pinIsToBeRenewed { found.append(.pinToBeRenewed) }
        // The next right PIN looks for room for a counter, too.
        if !pinIsToBeRenewed, let enclave, !enclave.hasCounter { found.append(.noCounter) }
        return found
    }
}

extension UserStatus {
    /// The one finger whose print lies in a reader's memory; nil where several do.
    private var onlyFingerOnReaders: Finger? {
        let onReaders = fingers.filter { $0.onReader }
        return onReaders.count == 1 ? onReaders.first?.finger : nil
    }
}

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Looks at everything that is kept of a user and changes nothing, not even where a change of the prints shows.
    ///
    /// `fingersAllowed` is the configuration's word, `here` what is known of whoever asks. Faults become part of the answer.
    package mutating func status(
        uid: UInt32, userName: [UInt8], fingersAllowed: Bool, readers: ReaderPresence,
        here: FingerSurroundings = FingerSurroundings()
    ) -> UserStatus {
        var status = UserStatus(uid: uid, userName: userName, record: .notSetUp, readers: readers)
        do throws(StoreError) {
            // Without the lock, which would make a folder for a user who has none.
            guard try store.loadIdentity() != nil else { return status }
            vault.wake()
            try store.lock()
            do throws(StoreError) {
                try look(&status, fingersAllowed: fingersAllowed, here: here)
                store.unlock()
            } catch {
                store.unlock()
                throw error
            }
        } catch {
            _ = failed(error)
            status.record = RecordCondition(error)
        }
        return status
    }

    private mutating func look(
        _ status: inout UserStatus, fingersAllowed: Bool, here: FingerSurroundings
    ) throws(StoreError) {
        guard let identity = try store.loadIdentity() else { return }
        let attempts = try store.loadAttempts()
        let now: BootInstant
        do throws(ClockUnreadable) { now = try time.now() } catch {
            status.record = .clockUnreadable
            return
        }
        if let fault = countFault(identity, attempts) { throw .fault(.attempts, fault) }
        status.record = .usable
        status.pinIsToBeRenewed = (identity.pin.half != nil) != vault.hasHalves
        status.enclave = enclaveFact(identity, attempts, at: now)
        status.pin = PINFact(
            changedAt: identity.pinChangedAt, lastUse: lastUse(attempts.lastPIN, now: now),
            setByAdministrator: identity.pinSetByAdministrator)
        status.lockout = lockoutFact(attempts, at: now)
        status.foreignPrints = Int(attempts.foreignPrints)
        if identity.recovery != nil {
            status.recovery = .ready(madeAt: identity.recoveryMadeAt, lockout: lockout(of: attempts.recovery, at: now))
        }
        // Prints that cannot be read close the finger path only: what the PIN needs is told above.
        let set: EnrollmentSet
        do throws(StoreError) { set = try store.loadPrints() } catch {
            status.fingerClosure = if case .fault = error { .printsUnusable } else { .printsUnavailable }
            throw error
        }
        status.fingers = set.entries.map { entry in
            FingerFact(
                finger: entry.finger, reader: entry.reader, onReader: entry.onReader, enrolledAt: entry.enrolledAt)
        }
        status.readers = status.readers.holding(set.readers())
        let doubts = doubts(identity, set, status.readers)
        status.readerToActivate = doubts.toActivate
        status.readerDistrust = doubts.refused
        if case .present(let present) = status.readers, !set.holdsPrints(ofAnyOf: present),
            case .readerExchanged(let exchange) = absence(of: set, among: present)
        {
            status.readerExchange = exchange
        }
        do throws(LedgerFailure) {
            let state = UserState(identity: identity, attempts: attempts)
            let closure = try closure(
                state, set, at: now, fingersAllowed: fingersAllowed, readers: status.readers,
                believed: &status.readersToAsk)
            status.fingerClosure = if let closure { explained(closure, state, set) } else { nil }
            status.apply(here, beside: identity.approvals)
        } catch {
            status.fingerClosure = error.withoutPrints
            if !error.isShortage { status.record = .faulty(.prints, .damaged) }
        }
    }

    /// Why no finger counts, with what needs somebody before what mends itself; `believed` gets the readers that serve.
    private mutating func closure(
        _ state: UserState, _ set: borrowing EnrollmentSet, at now: BootInstant, fingersAllowed: Bool,
        readers: ReaderPresence, believed: inout [ReaderDescription]
    ) throws(LedgerFailure) -> FingerClosure? {
        guard fingersAllowed else { return .switchedOff }
        if state.identity.approvals.isEmpty && set.entries.isEmpty { return .notEnrolled }
        var approved: [ReaderIdentity] = []
        var unapproved: FingerClosure?
        if set.entries.isEmpty, state.attempts.isBehind(set.generation) { return .notEnrolled }
        if set.entries.isEmpty, let approval = state.identity.approvals.first {
            return .enrollmentChanged(
                state.attempts.change ?? EnrollmentChange(from: approval.prints, to: []))
        }
        for reader in set.readers(andOf: state.identity.approvals) {
            guard let why = try review(state, set, on: reader, presence: nil) else {
                approved.append(reader)
                continue
            }
            // A change on any reader closes the finger path on all of them (rule 5).
            if case .enrollmentChanged = why { return why }
            unapproved = unapproved ?? why
        }
        if approved.isEmpty { return unapproved ?? .notApproved }
        if let counters = try countersClose(state.attempts) { return counters }
        switch readers {
        case .problem(let problem): return .readerNotAvailable(problem)
        case .present(let present):
            var closure: FingerClosure?
            for reader in present where approved.contains(reader.identity) {
                let distrust = distrust(
                    state.identity, reader.identity, generation: set.generation, at: reader.place,
                    onChip: set.isOnChip(reader))
                if let distrust {
                    closure = closure ?? .readerNotTrusted(distrust)
                } else {
                    believed.append(reader)
                }
            }
            if !believed.isEmpty { return nil }
            if let closure { return closure }
            return set.holdsPrints(ofAnyOf: present)
                ? unapproved ?? .readerNotAvailable(.noReader) : absence(of: set, among: present)
        }
    }

    private mutating func lastUse(_ last: BootInstant?, now: BootInstant) -> LastUse {
        guard let last else { return .never }
        guard let passed = last.seconds(until: now) else { return .beforeStartUp }
        return .at(time.wallTime() &- Int64(clamping: passed))
    }

    private func lockoutFact(_ attempts: Attempts, at now: BootInstant) -> LockoutFact {
        var closedTo: [CallerClass] = []
        for caller in [CallerClass.anotherPerson, .remote]
        where policy.door(attempts.pin, for: caller, at: now) == .closed(.shareUsedUp) { closedTo.append(caller) }
        return LockoutFact(
            fingerFailures: Int(attempts.finger.count), fingerLimit: policy.fingerLimit,
            pinFailures: policy.counted(attempts.pin), pinLimit: policy.pinLimit,
            pin: lockout(of: attempts.pin, at: now),
            closedTo: closedTo)
    }

    /// What a person at the machine waits for.
    private func lockout(of failures: SecretFailures, at now: BootInstant) -> PINLockout? {
        switch policy.door(failures, for: .person, at: now) {
        case .open: nil
        case .closed(let lockout): lockout
        }
    }
}

extension RecordCondition {
    /// What a store's error means for the records.
    package init(_ error: StoreError) {
        switch error {
        case .fault(let kind, let fault): self = .faulty(kind, fault)
        case .busy: self = .busy
        case .system(let number): self = .refused(errno: number)
        }
    }
}

extension ReaderPresence {
    /// Those that are among `identities`; all of them where none is.
    fileprivate func holding(_ identities: [ReaderIdentity]) -> ReaderPresence {
        guard case .present(let all) = self else { return self }
        let mine = all.filter { reader in identities.contains(reader.identity) }
        return .present(mine.isEmpty ? all : mine)
    }
}
