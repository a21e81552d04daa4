package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// What came of an activation.
package struct Activated: Equatable, Sendable {
    /// The reader whose prints count from now on; nil where no print is left, and only the change was forgotten.
    package let reader: ReaderIdentity?
    /// How many prints were approved.
    package let prints: Int
    /// How many other readers' prints still wait for their own activation.
    package let readersLeft: Int
    /// Fingers whose prints the reader's memory has no more, which stay enrolled until they are deleted.
    package var gone: [Finger] = []
    /// How many foreign prints lie in the reader's memory, which the user approved to be there.
    package var foreignPrints = 0
    /// Whether there may be more of them: of a reader's prints only so many are told (`Approval.othersLimit`).
    package var foreignPrintsAtLeast = false
}

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Approves the prints that are there now, with PIN and finger, and forgets the change that closed the finger path.
    package mutating func activate<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) -> Activated {
        try task(on: &screen) { (management, screen) throws(ManagementRefusal) in
            let state = try management.state()
            let before = try management.prints()
            if before.entries.isEmpty { return try management.forget(state) }
            let readers = try management.trustedReaders(of: before)
            let key = try management.provePIN()
            let set = try management.prints()
            let waiting = try management.unapproved(set)
            let session = try management.openForActivation(readers, set, waiting)
            let gone = set.missing(session)
            // No touch could match.
            if gone.count == session.gallery.count { throw management.nothingToTouch(gone) }
            let index = try management.touch(session, .activate, on: &screen)
            let prints = try management.approve(session, index, key: key)
            management.done(.approved(prints: prints))
            return Activated(
                reader: session.reader, prints: prints,
                readersLeft: waiting.count { $0 != session.reader }, gone: gone,
                foreignPrints: management.ledger.strangers(among: session.others)?.count ?? 0,
                foreignPrintsAtLeast: session.others.count >= Approval.othersLimit)
        }
    }

    private func nothingToTouch(_ gone: [Finger]) -> ManagementRefusal {
        .goneFromReader(gone, keptElsewhere: request.configuration.enrollmentSource == .fprintd)
    }

    /// Without any print there is nothing to touch for; the PIN alone says that it is well so.
    private mutating func forget(_ state: UserState) throws(ManagementRefusal) -> Activated {
        guard
            state.attempts.change != nil || state.attempts.foreignPrints > 0 || !state.identity.approvals.isEmpty
        else { throw .notEnrolled }
        let key = try provePIN()
        do throws(LedgerFailure) { try ledger.forgetChange(key: key) } catch { throw .ledger(error) }
        done(.approved(prints: 0))
        return Activated(reader: nil, prints: 0, readersLeft: 0)
    }

    /// The readers whose prints carry no valid approval, a change that is remembered aside.
    private mutating func unapproved(_ set: borrowing EnrollmentSet) throws(ManagementRefusal) -> [ReaderIdentity] {
        var judged = try state()
        judged.attempts.change = nil
        judged.attempts.foreignPrints = 0
        var found: [ReaderIdentity] = []
        for reader in set.readers() {
            do throws(LedgerFailure) {
                if try ledger.review(judged, set, on: reader, presence: nil) != nil { found.append(reader) }
            } catch { throw .ledger(error) }
        }
        return found
    }

    /// The first reader that opens, those that wait for it before the others.
    private mutating func openForActivation(
        _ present: [ReaderDescription], _ set: borrowing EnrollmentSet, _ waiting: [ReaderIdentity]
    ) throws(ManagementRefusal) -> ReaderSession {
        let known = set.readers()
        let all = present.filter { known.contains($0.identity) }
        var refusal = ManagementRefusal.reader(.noReader)
        for reader in all.filter({ waiting.contains($0.identity) }) + all.filter({ !waiting.contains($0.identity) }) {
            do throws(ManagementRefusal) {
                return try open(reader.identity, at: reader.place, set, set.gallery(of: reader.identity))
            } catch {
                refusal = error
            }
        }
        throw refusal
    }

    private mutating func approve(
        _ session: ReaderSession, _ index: Int, key: borrowing SecretBytes
    ) throws(ManagementRefusal) -> Int {
        let prints: Int
        let closure: FingerClosure?
        do throws(LedgerFailure) {
            prints = try ledger.activate(session, key: key)
            // The approval comes first, for a match counts only with it.
            closure = try ledger.settleMatch(session, index: index)
        } catch { throw .ledger(error) }
        if let closure { throw .activateFirst(closure) }
        return prints
    }

    /// Switches fingers off; the prints stay, and activation switches them on again.
    package mutating func deactivate<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) {
        try task(on: &screen) { (management, _) throws(ManagementRefusal) in
            _ = try management.state()
            try management.onLedger { (ledger) throws(LedgerFailure) in try ledger.deactivate() }
            management.done(.deactivated)
        }
    }
}

extension EnrollmentSet {
    /// The fingers of the session's gallery whose prints its reader does not have.
    fileprivate borrowing func missing(_ session: ReaderSession) -> [Finger] {
        var fingers: [Finger] = []
        for (position, index) in session.gallery.enumerated()
        where session.presence[position] == .missing && entries.indices.contains(index) {
            fingers.append(entries[index].finger)
        }
        return fingers
    }
}
