internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Takes prints that were enrolled elsewhere into the user's enrollment set; one reader's at a time.
    ///
    /// In order: what is new is found and shown, the PIN is proven, one touch that matches an imported print shows that
    /// they work, and the PIN's key approves the set. Nothing is written before. An administrator without the user's
    /// PIN takes them over without a touch; they count when the user has activated them.
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
        var choice = try choose(from: found, beside: present)
        setGoneAside(&choice, found)
        screen.show(choice.found)
        if choice.indices.isEmpty { return try nothingNew(choice, beside: present) }
        if choice.indices.contains(where: { found.entries[$0].onReader }) {
            try onLedger { (ledger) throws(LedgerFailure) in try ledger.requireIndex() }
        }
        let key = try keyForChange()
        let before = try prints()
        var chosen = try choose(from: found, beside: before)
        // Nothing is taken over that was not shown as new.
        for index in chosen.indices where choice.found[index].fate != .new {
            chosen.settle(choice.found[index].fate, [index])
        }
        if chosen.indices.isEmpty { return try nothingNew(chosen, beside: before) }
        guard before.entries.count + chosen.indices.count <= EnrollmentSet.limit else { throw .tooManyPrints }
        switch key {
        case .some:
            let session = try openForImport(&chosen, found, before)
            return try keep(chosen, found, before, session, key: key, on: &screen)
        case .none: return try keepUnapproved(chosen, found, before)
        }
    }

    private mutating func nothingNew(
        _ choice: Imported, beside set: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> Imported {
        var outcome = choice
        outcome.prints = set.entries.count
        outcome.approved = try isApproved()
        return outcome
    }

    // MARK: What is new

    private mutating func choose(
        from found: borrowing EnrollmentSet, beside set: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> Imported {
        var choice = Imported()
        var known: [Digest] = []
        do throws(LedgerFailure) {
            for index in 0..<set.entries.count { known.append(try ledger.printDigest(set, index)) }
            for index in 0..<found.entries.count {
                let entry = found.entries[index]
                let digest = try ledger.printDigest(found, index)
                var fate = FoundPrint.Fate.new
                if known.contains(digest) {
                    fate = .known
                } else if set.entries.contains(where: { $0.reader == entry.reader && $0.finger == entry.finger }) {
                    fate = .nameTaken
                } else {
                    known.append(digest)
                }
                choice.found.append(
                    FoundPrint(
                        finger: entry.finger, reader: entry.reader, onReader: entry.onReader,
                        enrolledAt: entry.enrolledAt, fate: fate))
            }
        } catch { throw .ledger(error) }
        return choice
    }

    /// Finds those that their reader has no more, so that nobody is asked for a PIN for them.
    ///
    /// A reader that cannot list, is not at hand, may not be used or does not open tells nothing; what that means for the
    /// import is said when it is needed.
    private mutating func setGoneAside(_ choice: inout Imported, _ found: borrowing EnrollmentSet) {
        guard choice.indices.contains(where: { choice.found[$0].onReader }) else { return }
        defer { sensor.close() }
        for reader in (try? trustedReaders()) ?? [] where reader.listsPrints {
            let asked = choice.indices.filter {
                choice.found[$0].onReader && choice.found[$0].reader == reader.identity
            }
            guard !asked.isEmpty, let session = try? open(reader.identity, at: reader.place, found, asked) else {
                continue
            }
            choice.settle(.gone, zip(asked, session.presence).filter { $0.1 == .missing }.map { $0.0 })
        }
    }

    // MARK: The reader

    /// Opens the first reader of theirs for the set as it will be; `choice` is left with what is there on that reader.
    private mutating func openForImport(
        _ choice: inout Imported, _ found: borrowing EnrollmentSet, _ before: borrowing EnrollmentSet
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
        _ description: ReaderDescription, _ choice: inout Imported, _ found: borrowing EnrollmentSet,
        _ before: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> ReaderSession {
        let reader = description.identity
        let own = before.gallery(of: reader)
        if !own.isEmpty {
            try requireApproved(before, try open(reader, at: description.place, before, own), on: description)
        }
        var mine = choice
        mine.settle(.otherReader, choice.indices.filter { found.entries[$0].reader != reader })
        mine.reader = reader
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
            let asked = mine.indices
            let lost = gone.map { asked[$0] }
            mine.goneMeanwhile += lost.map { mine.found[$0].finger }
            mine.settle(.gone, lost)
            guard !mine.indices.isEmpty else { throw .reader(.printNotFound) }
        }
        throw .reader(.faulty)
    }

    // MARK: Keeping them

    /// One touch that matches one of the new prints, and then the set is written and approved.
    private mutating func keep<Screen: ManagementScreen & ~Copyable>(
        _ choice: Imported, _ found: borrowing EnrollmentSet, _ before: borrowing EnrollmentSet,
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
        return told(choice, after, approved: approved)
    }

    private mutating func keepUnapproved(
        _ choice: Imported, _ found: borrowing EnrollmentSet, _ before: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> Imported {
        guard let after = before.joining(found, choice.indices) else { throw .ledger(.unavailable) }
        do throws(LedgerFailure) { try ledger.savePrints(after, approving: nil, key: nil) } catch {
            throw .ledger(error)
        }
        return told(choice, after, approved: false)
    }

    private mutating func told(
        _ choice: Imported, _ after: borrowing EnrollmentSet, approved: Bool
    ) -> Imported {
        done(.fingersImported(prints: choice.indices.count))
        var outcome = choice
        outcome.prints = after.entries.count
        outcome.approved = approved
        return outcome
    }
}
