package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// What came of an enrollment.
package struct Enrolled: Equatable, Sendable {
    package let finger: Finger
    package let reader: ReaderDescription
    /// How many prints the user has now.
    package let prints: Int
    /// Whether the user's PIN approved it, so that the finger counts at once.
    package let approved: Bool
    /// Whether the PIN was set on the way.
    package let pinWasSet: Bool
    /// When the recovery code was made (wall time in seconds since 1970); nil where there is none.
    package let recoveryCodeMadeAt: Int64?
    /// Foreign prints in the reader's memory that were approved with it.
    package let foreignPrints: Int
    /// Whether there may be more of them: of a reader's prints only so many are told (`Approval.othersLimit`).
    package let foreignPrintsAtLeast: Bool
}

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Enrolls a finger; nil takes the next that people mostly use.
    ///
    /// In order: a reader must be there, the PIN is proven (or set first), the stages are taken, one touch confirms the
    /// print, and the PIN's key approves the set. Nothing is written before the last step, so that whatever ends the task
    /// before leaves all as it was; a print in the reader's memory is deleted again.
    package mutating func enroll<Screen: ManagementScreen & ~Copyable>(
        _ finger: Finger?, on screen: inout Screen
    ) throws(ManagementRefusal) -> Enrolled {
        try task(on: &screen) { (management, screen) throws(ManagementRefusal) in
            try management.requireOwnPrints()
            let readers = try management.trustedReaders()
            try management.requireRoom(finger, readers)
            let key = try management.keyForEnrollment(on: &screen)
            let set = try management.prints()
            let (reader, session) = try management.openForEnrollment(readers, set)
            try management.requireIndex(reader)
            if key != nil { try management.requireApproved(set, session, on: reader) }
            let chosen = try management.choose(finger, set, reader)
            screen.begin(chosen, on: reader)
            let print = try management.takePrint(chosen, set, session, on: &screen)
            return try management.keep(print, as: chosen, set, reader, key: key, on: &screen)
        }
    }

    // MARK: Before the stages

    /// What can be known without the PIN is said before it is asked for.
    private mutating func requireRoom(
        _ finger: Finger?, _ readers: [ReaderDescription]
    ) throws(ManagementRefusal) {
        guard try onLedger({ (ledger) throws(LedgerFailure) in try ledger.load() }) != nil else {
            if request.byAdministrator { throw .pinNotSet }
            return
        }
        let set = try prints()
        guard set.entries.count < EnrollmentSet.limit else { throw .tooManyPrints }
        guard let reader = ordered(readers, set).first else { return }
        _ = try choose(finger, set, reader)
        try requireIndex(reader)
    }

    /// A print in a reader's memory that no list can take is not made.
    private mutating func requireIndex(_ reader: ReaderDescription) throws(ManagementRefusal) {
        guard reader.storesPrints else { return }
        try onLedger { (ledger) throws(LedgerFailure) in try ledger.requireIndex() }
    }

    /// The signing key: the PIN's, or a new identity's; nil for an administrator without the user's PIN.
    private mutating func keyForEnrollment<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) -> SecretBytes? {
        guard try onLedger({ (ledger) throws(LedgerFailure) in try ledger.load() }) == nil else {
            return try keyForChange()
        }
        return try setFirstPIN(on: &screen)
    }

    /// Readers that hold prints of the user come first.
    private func ordered(_ readers: [ReaderDescription], _ set: borrowing EnrollmentSet) -> [ReaderDescription] {
        let known = set.readers()
        return readers.filter { known.contains($0.identity) } + readers.filter { !known.contains($0.identity) }
    }

    /// The first reader that opens; one that does not is passed over.
    private mutating func openForEnrollment(
        _ readers: [ReaderDescription], _ set: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> (ReaderDescription, ReaderSession) {
        var refusal = ManagementRefusal.reader(.noReader)
        for reader in ordered(readers, set) {
            do throws(ManagementRefusal) {
                return (reader, try open(reader.identity, at: reader.place, set, set.gallery(of: reader.identity)))
            } catch { refusal = error }
        }
        throw refusal
    }

    /// What is there must have the user's approval: to approve the new print would approve whatever else was added.
    mutating func requireApproved(
        _ set: borrowing EnrollmentSet, _ session: ReaderSession, on reader: ReaderDescription
    ) throws(ManagementRefusal) {
        let state = try state()
        var closure: FingerClosure?
        do throws(LedgerFailure) {
            closure =
                try ledger.review(state, set, on: session.reader, presence: session)
                ?? ledger.distrust(
                    state.identity, session.reader, generation: set.generation, at: session.place,
                    onChip: set.isOnChip(reader)
                ).map { .readerNotTrusted($0) }
            try ledger.noteForeignPrints(session, state)
            if let found = closure {
                try ledger.rememberChange(found)
                closure = ledger.explained(found, state, set)
            }
        } catch { throw .ledger(error) }
        if let closure, closure != .notEnrolled { throw .activateFirst(closure) }
    }

    /// Index fingers and thumbs first, the right hand before the left, and before those that another reader has already:
    /// a name that is on two readers is harder to delete from one.
    private func choose(
        _ finger: Finger?, _ set: borrowing EnrollmentSet, _ reader: ReaderDescription
    ) throws(ManagementRefusal) -> Finger {
        let taken = set.gallery(of: reader.identity).map { set.entries[$0].finger }
        if let finger {
            if taken.contains(finger) { throw .alreadyEnrolled(finger) }
            return finger
        }
        let free = [7, 2, 6, 1, 8, 3, 9, 4, 10, 5].compactMap { Finger(number: $0) }.filter { !taken.contains($0) }
        let elsewhere = set.entries.map { $0.finger }
        guard let next = free.first(where: { !elsewhere.contains($0) }) ?? free.first else { throw .tooManyPrints }
        return next
    }

    // MARK: The stages

    private mutating func takePrint<Screen: ManagementScreen & ~Copyable>(
        _ finger: Finger, _ set: borrowing EnrollmentSet, _ session: ReaderSession, on screen: inout Screen
    ) throws(ManagementRefusal) -> EnrolledPrint {
        let made: EnrolledPrint?
        do throws(ReaderProblem) {
            made = try sensor.enroll(finger, userName: request.userName) { screen.show($0) }
        } catch {
            guard error == .duplicate else { throw .reader(error) }
            throw .duplicate(of: try nameOfKnownFinger(set, session, on: &screen))
        }
        guard let made else { throw .cancelled }
        // From here on a crash would leave it on the chip with nobody to know it.
        ledger.announceChipPrint(made)
        return made
    }

    /// The reader says that it knows this finger: one touch tells by what name, where it is one of the user's.
    private mutating func nameOfKnownFinger<Screen: ManagementScreen & ~Copyable>(
        _ set: borrowing EnrollmentSet, _ session: ReaderSession, on screen: inout Screen
    ) throws(ManagementRefusal) -> Finger? {
        if session.gallery.isEmpty { return nil }
        do throws(ManagementRefusal) {
            let again = try open(session.reader, at: session.place, set, session.gallery)
            let index = try touch(again, .name, on: &screen)
            // The match grants nothing here, so the touch stays charged.
            try settleFailedTouch()
            return set.entries[again.gallery[index]].finger
        } catch {
            if error == .cancelled { throw error }
            return nil
        }
    }

    // MARK: After the stages

    /// Confirms, approves and writes.
    ///
    /// Where that fails, a print in the reader's memory is deleted again.
    private mutating func keep<Screen: ManagementScreen & ~Copyable>(
        _ print: borrowing EnrolledPrint, as finger: Finger, _ before: borrowing EnrollmentSet,
        _ reader: ReaderDescription, key: borrowing SecretBytes?, on screen: inout Screen
    ) throws(ManagementRefusal) -> Enrolled {
        guard let after = before.adding(print, as: finger, at: ledger.time.wallTime()) else {
            throw .ledger(.unavailable)
        }
        let approved: Bool
        do throws(ManagementRefusal) {
            approved = try confirm(after, reader, key: key, on: &screen)
        } catch {
            discard(after, reader.place)
            throw error
        }
        done(.fingerEnrolled(finger))
        if approved { done(.approved(prints: after.gallery(of: reader.identity).count)) }
        let identity = try state().identity
        let beside = identity.approval(of: reader.identity, generation: after.generation)?.others ?? []
        return Enrolled(
            finger: finger, reader: reader, prints: after.entries.count, approved: approved, pinWasSet: pinWasSet,
            recoveryCodeMadeAt: identity.recovery == nil ? nil : identity.recoveryMadeAt,
            foreignPrints: ledger.strangers(among: beside)?.count ?? 0,
            foreignPrintsAtLeast: beside.count >= Approval.othersLimit)
    }

    /// One touch that matches the new print, and then the set is written; answers whether it is approved.
    private mutating func confirm<Screen: ManagementScreen & ~Copyable>(
        _ after: borrowing EnrollmentSet, _ reader: ReaderDescription, key: borrowing SecretBytes?,
        on screen: inout Screen
    ) throws(ManagementRefusal) -> Bool {
        let new = after.entries.count - 1
        let session = try open(reader.identity, at: reader.place, after, after.gallery(of: reader.identity))
        let index = try touch(session, .confirm, on: &screen)
        let matched = session.gallery[index]
        guard matched == new else {
            try settleFailedTouch()
            throw .duplicate(of: after.entries[matched].finger)
        }
        do throws(LedgerFailure) {
            switch key {
            case .some:
                try ledger.savePrints(after, approving: session, key: key)
                return try ledger.settleMatch(session, index: index) == nil
            case .none:
                try ledger.savePrints(after, approving: nil, key: key)
                try ledger.settleConfirmation()
                return false
            }
        } catch {
            // Prints that were written stay, approved or not: whoever looks next is told.
            if isStored(after) { return false }
            throw .ledger(error)
        }
    }

    /// Whether the record holds this very set, and not another one that somebody else wrote meanwhile.
    mutating func isStored(_ set: borrowing EnrollmentSet) -> Bool {
        guard let stored = ledger.readablePrints() else { return false }
        return stored.entries == set.entries && stored.templates.isEqual(to: set.templates)
    }

    /// Deletes the newest print of `set` from the reader's memory.
    private mutating func discard(_ set: borrowing EnrollmentSet, _ place: ReaderPlace) {
        guard let entry = set.entries.last, entry.onReader else { return }
        do throws(ManagementRefusal) {
            _ = try open(entry.reader, at: place, set, [set.entries.count - 1])
            do throws(ReaderProblem) { try sensor.deleteFromReader(index: 0) } catch {
                if error != .printNotFound { throw .reader(error) }
            }
            ledger.forgetChipPrint(set, set.entries.count - 1)
        } catch {
            // It matches for nobody, since no set has it; the index knows it.
            ledger.log.record(.printLeft)
        }
    }
}
