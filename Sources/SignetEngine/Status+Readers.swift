internal import SignetPolicy
internal import SignetRecords

// What is told of readers that are at hand and do not count.

/// Why readers at hand that hold prints of the user's are not believed.
struct ReaderDoubts {
    /// Of one that counts again once the user activates it there.
    var toActivate: ReaderDistrust?
    /// Of all of them, where activating mends none.
    var refused: ReaderDistrust?
}

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Judges each reader at hand that holds prints of the set, whatever else closes it.
    ///
    /// Of those that look the same one is enough: a prompt opens that one and passes the others over.
    func doubts(
        _ identity: IdentityRecord, _ set: borrowing EnrollmentSet, _ readers: ReaderPresence
    ) -> ReaderDoubts {
        var doubts = ReaderDoubts()
        guard case .present(let present) = readers else { return doubts }
        var isServed = false
        for reader in present where !set.gallery(of: reader.identity).isEmpty {
            let approved = identity.approval(of: reader.identity, generation: set.generation)?.place
            var found: [ReaderDistrust?] = []
            for same in present where same.identity == reader.identity {
                found.append(trust.distrust(same.place, approved: approved, onChip: set.isOnChip(same)))
            }
            if found.contains(nil) { isServed = true }
            for case .some(let why) in found where !found.contains(nil) {
                if why.isMendedByActivation { doubts.toActivate = doubts.toActivate ?? why }
                doubts.refused = doubts.refused ?? why
            }
        }
        if isServed || doubts.toActivate != nil { doubts.refused = nil }
        return doubts
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
