package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// What came of an import.
package struct Imported: Equatable, Sendable {
    /// The fingers that were taken over, in the order in which they stand in the set.
    package var fingers: [Finger] = []
    /// The reader that made them; nil where none was taken over.
    package var reader: ReaderIdentity?
    /// Prints that were here already.
    package var known = 0
    /// Fingers that are enrolled here under the same name with another print, which stays.
    package var nameTaken: [Finger] = []
    /// Prints of readers that are not at hand or that do not open; they can be imported another time.
    package var otherReaders = 0
    /// Prints whose reader says that it has them no more.
    package var goneFromReader = 0
    /// How many prints the user has now.
    package var prints = 0
    /// Whether the user's PIN approved them, so that they count at once; where none was taken over, all that are here.
    package var approved = false
}

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Takes prints that were enrolled elsewhere into the user's enrollment set; one reader's at a time.
    ///
    /// In order: what is new is found, the PIN is proven, one touch that matches an imported print shows that they work,
    /// and the PIN's key approves the set. Nothing is written before. An administrator without the user's PIN takes them
    /// over without a touch; they count when the user has activated them.
    package mutating func importPrints<Screen: ManagementScreen & ~Copyable>(
        _ found: borrowing EnrollmentSet, on screen: inout Screen
    ) throws(ManagementRefusal) -> Imported {
        do throws(ManagementRefusal) {
            // A noncopyable argument does not go into a closure, so this is `task` written out.
            let imported = try take(found, on: &screen)
            finish()
            return imported
        } catch {
            if error == .cancelled { screen.cancelled(pinWasSet: false) }
            finish()
            throw error
        }
    }

    private mutating func take<Screen: ManagementScreen & ~Copyable>(
        _ found: borrowing EnrollmentSet, on screen: inout Screen
    ) throws(ManagementRefusal) -> Imported {
        try requireOwnPrints()
        _ = try state()
        // What can be known without the PIN is said before it is asked for.
        guard !found.entries.isEmpty else { throw .nothingToImport }
        let present = try prints()
        let choice = try choose(from: found, beside: present)
        if choice.count == 0 { return choice.outcome(beside: present, approved: try isApproved()) }
        if choice.indices.contains(where: { found.entries[$0].onReader }) {
            try onLedger { (ledger) throws(LedgerFailure) in try ledger.requireIndex() }
        }
        let key = try keyForChange()
        let before = try prints()
        var chosen = try choose(from: found, beside: before)
        if chosen.count == 0 { return chosen.outcome(beside: before, approved: try isApproved()) }
        guard before.entries.count + chosen.count <= EnrollmentSet.limit else { throw .tooManyPrints }
        switch key {
        case .some:
            let session = try openForImport(&chosen, found, before)
            return try keep(chosen, found, before, session, key: key, on: &screen)
        case .none: return try keepUnapproved(chosen, found, before)
        }
    }

    // MARK: What is new

    /// Which prints are meant, and what is to be told of the others.
    private struct Choice {
        /// Indices of the set that was found.
        var indices: [Int] = []
        var outcome = Imported()

        var count: Int { indices.count }

        /// Where nothing is new.
        func outcome(beside set: borrowing EnrollmentSet, approved: Bool) -> Imported {
            var told = outcome
            told.prints = set.entries.count
            told.approved = approved
            return told
        }
    }

    private mutating func choose(
        from found: borrowing EnrollmentSet, beside set: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> Choice {
        var choice = Choice()
        var known: [Digest] = []
        do throws(LedgerFailure) {
            for index in 0..<set.entries.count { known.append(try ledger.printDigest(set, index)) }
            for index in 0..<found.entries.count {
                let entry = found.entries[index]
                let digest = try ledger.printDigest(found, index)
                if known.contains(digest) {
                    choice.outcome.known += 1
                } else if set.entries.contains(where: { $0.reader == entry.reader && $0.finger == entry.finger }) {
                    choice.outcome.nameTaken.append(entry.finger)
                } else {
                    known.append(digest)
                    choice.indices.append(index)
                }
            }
        } catch { throw .ledger(error) }
        return choice
    }

    // MARK: The reader

    /// Opens the first reader of theirs for the set as it will be; `choice` is left with what is there on that reader.
    private mutating func openForImport(
        _ choice: inout Choice, _ found: borrowing EnrollmentSet, _ before: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> ReaderSession {
        let present = try trustedReaders()
        let wanted = choice.indices.map { found.entries[$0].reader }
        var refusal = ManagementRefusal.readersOfPrintsMissing
        for reader in present where wanted.contains(reader.identity) {
            do throws(ManagementRefusal) {
                return try open(reader, &choice, found, before)
            } catch {
                if case .activateFirst = error { throw error }
                refusal = error
            }
        }
        throw refusal
    }

    private mutating func open(
        _ description: ReaderDescription, _ choice: inout Choice, _ found: borrowing EnrollmentSet,
        _ before: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> ReaderSession {
        let reader = description.identity
        let own = before.gallery(of: reader)
        if !own.isEmpty {
            try requireApproved(before, try open(reader, at: description.place, before, own), on: description)
        }
        var mine = choice
        mine.indices = choice.indices.filter { found.entries[$0].reader == reader }
        mine.outcome.otherReaders = choice.count - mine.count
        mine.outcome.reader = reader
        // Once more where the reader's memory has lost some of them: those are not taken over.
        for _ in 0...1 {
            guard let after = before.joining(found, mine.indices) else { throw .ledger(.unavailable) }
            let session = try open(reader, at: description.place, after, after.gallery(of: reader))
            let gone = mine.indices.indices.filter { position in
                session.presence[own.count + position] == .missing
            }
            if gone.isEmpty {
                choice = mine
                return session
            }
            mine.outcome.goneFromReader += gone.count
            mine.indices = mine.indices.indices.filter { !gone.contains($0) }.map { mine.indices[$0] }
            guard mine.count > 0 else { throw .reader(.printNotFound) }
        }
        throw .reader(.faulty)
    }

    // MARK: Keeping them

    /// One touch that matches one of the new prints, and then the set is written and approved.
    private mutating func keep<Screen: ManagementScreen & ~Copyable>(
        _ choice: Choice, _ found: borrowing EnrollmentSet, _ before: borrowing EnrollmentSet,
        _ session: ReaderSession, key: borrowing SecretBytes?, on screen: inout Screen
    ) throws(ManagementRefusal) -> Imported {
        guard let after = before.joining(found, choice.indices) else { throw .ledger(.unavailable) }
        let index = try touch(session, .activate, on: &screen)
        let matched = session.gallery[index]
        guard matched >= before.entries.count else {
            // A finger that counts already shows nothing about those that are to count from now on.
            try settleFailedTouch()
            throw .duplicate(of: before.entries[matched].finger)
        }
        var approved = false
        do throws(LedgerFailure) {
            try ledger.savePrints(after, approving: session, key: key)
            approved = try ledger.settleMatch(session, index: index) == nil
        } catch {
            // Prints that were written stay; the generations are apart then, and the path is closed until activation.
            if !isStored(after) { throw .ledger(error) }
        }
        if approved { done(.approved(prints: session.gallery.count)) }
        return told(choice, found, after, approved: approved)
    }

    private mutating func keepUnapproved(
        _ choice: Choice, _ found: borrowing EnrollmentSet, _ before: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> Imported {
        guard let after = before.joining(found, choice.indices) else { throw .ledger(.unavailable) }
        do throws(LedgerFailure) { try ledger.savePrints(after, approving: nil, key: nil) } catch {
            throw .ledger(error)
        }
        return told(choice, found, after, approved: false)
    }

    private mutating func told(
        _ choice: Choice, _ found: borrowing EnrollmentSet, _ after: borrowing EnrollmentSet, approved: Bool
    ) -> Imported {
        done(.fingersImported(prints: choice.count))
        var outcome = choice.outcome
        outcome.fingers = choice.indices.map { found.entries[$0].finger }
        outcome.prints = after.entries.count
        outcome.approved = approved
        return outcome
    }
}
