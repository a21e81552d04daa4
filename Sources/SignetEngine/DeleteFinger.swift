package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// Which prints are meant.
package enum FingerSelection: Equatable, Sendable {
    case finger(Finger)
    case all
}

/// How a person names a reader: by its driver, or by driver and device.
package struct ReaderName: Equatable, Sendable {
    package let driver: [UInt8]
    /// nil: any of that driver.
    package let device: [UInt8]?

    package init(driver: [UInt8], device: [UInt8]? = nil) {
        self.driver = driver
        self.device = device
    }

    /// Whether it is the reader's.
    package func fits(_ reader: ReaderIdentity) -> Bool {
        reader.driver == driver && (device == nil || device == reader.device)
    }
}

/// What came of a deletion.
package struct FingersDeleted: Equatable, Sendable {
    /// Each print's finger, in the order of enrollment.
    package let fingers: [Finger]
    /// Prints that still lie in a reader's memory, where nothing matches them any more: for each reader each reason.
    package let left: [PrintsLeft]
    /// How many prints the user has now.
    package let remaining: Int
    /// Whether what remains is approved still.
    package let approved: Bool
    /// Whether the record could not be read, so that nobody can say whose prints went.
    package var unreadable = false
}

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Deletes prints from the host's record and from the reader's memory.
    ///
    /// The user's PIN approves what remains. An administrator can go on without it; that closes the finger path until the
    /// user activates it again. A finger of several readers is refused before the PIN but for `fromEveryReader`: whoever
    /// means the print of the reader that is there would lose the other one with it. `named` means those of that reader
    /// alone, which need not be there.
    package mutating func delete<Screen: ManagementScreen & ~Copyable>(
        _ selection: FingerSelection, onlyOn named: ReaderName? = nil, fromEveryReader: Bool = false,
        on screen: inout Screen
    ) throws(ManagementRefusal) -> FingersDeleted {
        try task(on: &screen) { (management, screen) throws(ManagementRefusal) in
            _ = try management.state()
            try management.requireOwnPrints()
            if selection == .all, named == nil, try management.discardUnreadablePrints() {
                return FingersDeleted(fingers: [], left: [], remaining: 0, approved: false, unreadable: true)
            }
            let readers = try management.readers(of: selection, named)
            if case .finger(let finger) = selection, readers.count > 1, !fromEveryReader {
                throw .onSeveralReaders(finger, readers)
            }
            let key = try management.keyForChange()
            screen.beginDeleting()
            var fingers: [Finger] = []
            var left: [PrintsLeft] = []
            // One reader at a time: each has an approval of its own.
            for reader in readers {
                let done = try management.delete(selection, on: reader, key: key)
                fingers += done.fingers
                left += done.left
            }
            let remaining = try management.prints().entries.count
            let approved = try management.isApproved()
            return FingersDeleted(
                fingers: fingers, left: left, remaining: remaining, approved: approved && remaining > 0)
        }
    }

    /// Puts an empty record in the place of one that cannot be read, so that the PIN need not go with it.
    ///
    /// False where it can be read. Asks for the PIN as any deletion does.
    private mutating func discardUnreadablePrints() throws(ManagementRefusal) -> Bool {
        guard try onLedger({ (ledger) throws(LedgerFailure) in try ledger.hasUnreadablePrints() }) else { return false }
        _ = try keyForChange()
        try onLedger { (ledger) throws(LedgerFailure) in try ledger.discardUnreadablePrints() }
        done(.printsDiscarded)
        return true
    }

    /// The readers that hold what is meant.
    private mutating func readers(
        of selection: FingerSelection, _ named: ReaderName?
    ) throws(ManagementRefusal) -> [ReaderIdentity] {
        let set = try prints()
        let readers = set.readers().filter { !set.indices(of: selection, on: $0).isEmpty }
        if readers.isEmpty {
            guard !set.entries.isEmpty, case .finger(let finger) = selection else { throw .notEnrolled }
            throw .noSuchFinger(finger)
        }
        guard let named else { return readers }
        let meant = readers.filter(named.fits)
        if !meant.isEmpty { return meant }
        guard case .finger(let finger) = selection else { throw .notOnThatReader(nil, readers) }
        throw .notOnThatReader(finger, readers)
    }

    /// The host's record goes first, and the index knows of the print from before that until it has left the chip.
    ///
    /// A print in a reader's memory that no record names matches for nobody, whereas a record whose print is gone would be
    /// a change that nobody made.
    private mutating func delete(
        _ selection: FingerSelection, on reader: ReaderIdentity, key: borrowing SecretBytes?
    ) throws(ManagementRefusal) -> (fingers: [Finger], left: [PrintsLeft]) {
        let before = try prints()
        let doomed = before.indices(of: selection, on: reader)
        guard let after = before.removing(doomed) else { throw .ledger(.unavailable) }
        // The approval may go with the last print.
        let approved = try state().identity.approvals.first { $0.reader == reader }?.place
        let session: ReaderSession?
        // Borrowed noncopyable optionals are looked into by switch.
        switch key {
        case .some: session = try sessionAsApproved(before, after, reader)
        case .none: session = nil
        }
        do throws(LedgerFailure) { try ledger.savePrints(after, approving: session, key: key) } catch {
            throw .ledger(error)
        }
        let fingers = doomed.map { before.entries[$0].finger }
        for finger in fingers { done(.fingerDeleted(finger)) }
        let onChip = doomed.filter { before.entries[$0].onReader }
        if onChip.isEmpty { return (fingers, []) }
        let forgotten = deleteFromMemory(of: reader, approved: approved, before, onChip) {
            (_) throws(ManagementRefusal) in onChip
        }
        for index in forgotten.deleted + forgotten.gone { ledger.forgetChipPrint(before, index) }
        return (fingers, forgotten.left)
    }

    /// What remains on the reader, each print where it was when it was approved: the reader need not be plugged in.
    ///
    /// nil where nothing may be approved: the set as it was had no approval that holds.
    private mutating func sessionAsApproved(
        _ before: borrowing EnrollmentSet, _ after: borrowing EnrollmentSet, _ reader: ReaderIdentity
    ) throws(ManagementRefusal) -> ReaderSession? {
        let state = try state()
        do throws(LedgerFailure) {
            guard try ledger.review(state, before, on: reader, presence: nil) == nil,
                let approval = state.identity.approval(of: reader, generation: before.generation)
            else { return nil }
            let gallery = after.gallery(of: reader)
            var presence: [PrintPresence] = []
            for index in gallery {
                let digest = try ledger.printDigest(after, index)
                presence.append(approval.prints.first { $0.digest == digest }?.presence ?? .host)
            }
            return ReaderSession(
                reader: reader, place: approval.place, gallery: gallery, presence: presence,
                others: approval.others, generation: after.generation)
        } catch { throw .ledger(error) }
    }

    /// Whether each reader's prints carry a valid approval.
    mutating func isApproved() throws(ManagementRefusal) -> Bool {
        let state = try state()
        let set = try prints()
        for reader in set.readers() {
            do throws(LedgerFailure) {
                if try ledger.review(state, set, on: reader, presence: nil) != nil { return false }
            } catch { throw .ledger(error) }
        }
        return true
    }
}

extension EnrollmentSet {
    /// The indices of the prints of a reader that are meant.
    borrowing func indices(of selection: FingerSelection, on reader: ReaderIdentity) -> [Int] {
        switch selection {
        case .all: return gallery(of: reader)
        case .finger(let finger): return gallery(of: reader).filter { entries[$0].finger == finger }
        }
    }
}
