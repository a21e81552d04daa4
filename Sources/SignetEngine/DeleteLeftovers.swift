package import SignetPolicy
package import SignetRecords
internal import SignetSecrets

/// What came of deleting what cut deletions and enrolments left.
package struct LeftoversDeleted: Equatable, Sendable {
    /// Prints that were deleted from a reader's memory now.
    package var deleted = 0
    /// Prints that were not there any more.
    package var gone = 0
    /// Prints that stay: for each reader each reason.
    package var left: [PrintsLeft] = []
}

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Deletes from readers' memories what Signet put there and no record has, whoever's it was; nothing else.
    ///
    /// No PIN is asked for: such a print matches for nobody. The index is made to fit the records first. Where fprintd keeps
    /// the prints, these are what Signet kept itself before; what fprintd has is not among them.
    package mutating func deleteLeftovers<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) -> LeftoversDeleted {
        try task(on: &screen) { (management, screen) throws(ManagementRefusal) in
            screen.beginDeleting()
            var outcome = LeftoversDeleted()
            var rest = try management.surveyed(mending: true).leftovers[...]
            while let first = rest.first {
                let group = Array(rest.filter { $0.reader == first.reader }.prefix(EnrollmentSet.limit))
                management.delete(group, from: first.reader, &outcome)
                rest.removeAll { entry in group.contains(entry) }
            }
            if outcome.deleted > 0 { management.done(.leftoversDeleted(prints: outcome.deleted)) }
            return outcome
        }
    }

    private mutating func surveyed(mending: Bool) throws(ManagementRefusal) -> ChipSurvey {
        try onLedger { (ledger) throws(LedgerFailure) in
            do throws(StoreError) { return try ledger.store.surveyChipIndex(mending: mending) } catch {
                throw ledger.failed(error)
            }
        }
    }

    private mutating func delete(
        _ entries: [ChipIndex.Entry], from reader: ReaderIdentity, _ outcome: inout LeftoversDeleted
    ) {
        guard let set = EnrollmentSet(handles: entries) else {
            outcome.left.append(
                PrintsLeft(reader: reader, prints: entries.count, why: .problem(.faulty, holder: nil)))
            return
        }
        // While the reader is open nobody else has it, so that what is in no record now stays in none. (A finger that is
        // enrolled at this very moment and waits for its last touch may be taken; its enrolment then fails.)
        let forgotten = deleteFromMemory(of: reader, approved: nil, set, Array(entries.indices)) {
            (management) throws(ManagementRefusal) in
            let leftovers = try management.surveyed(mending: false).leftovers
            return entries.indices.filter { leftovers.contains(entries[$0]) }
        }
        outcome.deleted += forgotten.deleted.count
        outcome.gone += forgotten.gone.count
        outcome.left += forgotten.left
        ledger.forget((forgotten.deleted + forgotten.gone).map { entries[$0] })
    }
}

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// How many prints in readers' memories are in no record, as far as the index alone can tell; nil: of any reader.
    package mutating func leftoverCount(on reader: ReaderIdentity? = nil) -> Int {
        do throws(StoreError) {
            return try store.loadChipIndex().loose.count { reader == nil || $0.reader == reader }
        } catch { return 0 }
    }
}

extension EnrollmentSet {
    /// A set of these handles in their order, to ask a reader about them; nil where memory is short.
    package init?(handles: [ChipIndex.Entry]) {
        var joined: [UInt8] = []
        var entries: [PrintEntry] = []
        for entry in handles {
            // No name of a finger is needed to delete.
            guard let finger = Finger(number: 1) else { return nil }
            let place = joined.count..<(joined.count + entry.handle.count)
            entries.append(
                PrintEntry(finger: finger, reader: entry.reader, onReader: true, enrolledAt: 0, template: place))
            joined += entry.handle
        }
        guard let templates = SecretBytes(copying: joined.span) else { return nil }
        self.init(generation: 0, entries: entries, templates: templates)
    }
}
