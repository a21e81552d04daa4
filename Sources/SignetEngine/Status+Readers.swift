internal import SignetPolicy
internal import SignetRecords

// What is told of readers that are at hand and do not count.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Why one of the approved readers does not count, where none of those that look like it does and activating helps.
    func readerToActivate(
        _ identity: IdentityRecord, _ set: borrowing EnrollmentSet, _ readers: ReaderPresence
    ) -> ReaderDistrust? {
        guard case .present(let present) = readers else { return nil }
        for approval in identity.approvals {
            let same = present.filter { $0.identity == approval.reader }
            var found: [ReaderDistrust?] = []
            for reader in same {
                found.append(trust.distrust(reader.place, approved: approval.place, onChip: set.isOnChip(reader)))
            }
            if found.contains(nil) { continue }
            for case .some(let distrust) in found where distrust.isMendedByActivation { return distrust }
        }
        return nil
    }

    /// Why none of the readers at hand that hold prints of the set is believed, whatever else closes them.
    func distrust(
        _ identity: IdentityRecord, _ set: borrowing EnrollmentSet, _ readers: ReaderPresence
    ) -> ReaderDistrust? {
        guard case .present(let present) = readers else { return nil }
        var first: ReaderDistrust?
        for reader in present where !set.gallery(of: reader.identity).isEmpty {
            let approved = identity.approval(of: reader.identity, generation: set.generation)?.place
            guard let why = trust.distrust(reader.place, approved: approved, onChip: set.isOnChip(reader)) else {
                return nil
            }
            first = first ?? why
        }
        return first
    }
}

extension UserStatus {
    /// Judges where whoever asks is, as a prompt there does.
    mutating func apply(_ here: FingerSurroundings, beside approvals: [Approval]) {
        if fingerClosure == nil {
            closureHere = here.closure(besideApproved: approvals.map { $0.place })
            if closureHere == nil {
                let closures = readersToAsk.map { here.closure(at: $0.place) }
                if !closures.contains(nil) { closureHere = closures.first ?? nil }
            }
        }
        readersToAsk = closureHere == nil ? readersToAsk.filter { here.closure(at: $0.place) == nil } : []
    }
}
