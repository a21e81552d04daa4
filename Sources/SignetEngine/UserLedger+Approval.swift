package import SignetPolicy
package import SignetRecords
package import SignetSecrets

// The enrollment digest and the user's approval of it (rule 5): computed anew each time from what is really there.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// Whether the user's prints for one reader carry a valid approval; nil when they do.
    ///
    /// `presence` is what opening the reader told. Before that it is nil, and each print is taken to be where it was when
    /// it was approved, so that a change on the host is known before anybody is asked to touch. Throws where a shortage
    /// keeps it from being told.
    package mutating func review(
        _ state: UserState, _ set: borrowing EnrollmentSet, on reader: ReaderIdentity, presence session: ReaderSession?
    ) throws(LedgerFailure) -> FingerClosure? {
        if let closed = remembered(state.attempts) { return closed }
        let gallery = set.gallery(of: reader)
        guard let approval = state.identity.approval(of: reader, generation: set.generation) else {
            return gallery.isEmpty ? .notEnrolled : .notApproved
        }
        // The last print was deleted, and its approval stands because that was cut off.
        if gallery.isEmpty, state.attempts.isBehind(set.generation) { return .notEnrolled }
        if let session, session.gallery != gallery || session.presence.count != gallery.count { return .notApproved }
        var present: [ApprovedPrint] = []
        for (position, index) in gallery.enumerated() {
            let digest: Digest
            do throws(LedgerFailure) { digest = try printDigest(set, index) } catch {
                if error.isShortage { throw error }
                // A print that is spoilt is none that was approved: fingers close, and the PIN still works (rule 11).
                return .printsUnusable
            }
            let approved = approval.prints.first { $0.digest == digest }
            let place = session.map { $0.presence[position] } ?? approved?.presence ?? .host
            present.append(ApprovedPrint(digest: digest, presence: place))
        }
        let generationHolds = state.attempts.admits(set.generation) && approval.generation == set.generation
        if generationHolds, try isApproved(present, by: approval, state.identity) {
            guard let session, trust.foreignPrints == .close else { return nil }
            guard let risen = foreignPrints(among: session.others, beyond: approval.others) else {
                throw .unavailable
            }
            return risen > 0 ? .foreignPrints(risen) : nil
        }
        let change = EnrollmentChange(from: approval.prints, to: present)
        return .enrollmentChanged(keepsPrintsItself ? change : change.recorded)
    }

    /// `review` for an authentication: what cannot be told now closes the finger path this time, and the PIN is left.
    package mutating func reviewNow(
        _ state: UserState, _ set: borrowing EnrollmentSet, on reader: ReaderIdentity, presence session: ReaderSession?
    ) throws(LedgerFailure) -> FingerClosure? {
        do throws(LedgerFailure) { return try review(state, set, on: reader, presence: session) } catch {
            guard error.isShortage else { throw error }
            return error.withoutPrints
        }
    }

    /// What closed the finger path until the user activates it again.
    func remembered(_ attempts: Attempts) -> FingerClosure? {
        if let change = attempts.change { return .enrollmentChanged(change) }
        if trust.foreignPrints == .close, attempts.foreignPrints > 0 { return .foreignPrints(attempts.foreignPrints) }
        return nil
    }

    /// Why the reader is not used for where or what it is, after `review` found its prints approved; nil where it may be.
    ///
    /// Without a place only what holds wherever it is. A reader that was moved is no change of the prints: back at its port
    /// it counts again.
    package func distrust(
        _ identity: IdentityRecord, _ reader: ReaderIdentity, generation: UInt64, at place: ReaderPlace?, onChip: Bool
    ) -> ReaderDistrust? {
        guard let approval = identity.approval(of: reader, generation: generation) else { return nil }
        return trust.distrust(place, approved: approval.place, onChip: onChip)
    }

    /// Why no reader of `present` can take the user's finger, where none of them has a print of the user's.
    ///
    /// A reader on which nobody may enrol is not offered in the place of the absent one, and is none of the user's: it is
    /// as if it were not there. The answer tells what the user enrolled with; whether that is for whoever asks, the caller
    /// of this function decides.
    func absence(of set: borrowing EnrollmentSet, among present: [ReaderDescription]) -> FingerClosure {
        guard let enrolled = set.readers().first else { return .readerNotAvailable(.noReader) }
        for reader in present
        where trust.distrust(reader.place, approved: nil, onChip: set.isOnChip(reader)) == nil {
            return .readerExchanged(
                ReaderExchange(
                    present: reader.name, enrolled: enrolled.driver,
                    isSameKind: reader.identity.driver == enrolled.driver, isKeptElsewhere: !keepsPrintsItself))
        }
        return .readerNotAvailable(.noReader)
    }

    /// Signs the user's prints on one reader as they are now, and where it is; the key is the PIN's to open.
    package mutating func approve(
        _ identity: IdentityRecord, _ set: borrowing EnrollmentSet, _ session: ReaderSession, key: borrowing SecretBytes
    ) throws(LedgerFailure) -> Approval {
        var prints: [ApprovedPrint] = []
        for (position, index) in session.gallery.enumerated() {
            prints.append(ApprovedPrint(digest: try printDigest(set, index), presence: session.presence[position]))
        }
        return try sign(
            prints, on: session.reader, at: session.place, beside: session.others, set.generation, identity,
            key: key)
    }

    /// Signs again, for a new generation, what was approved for a reader that this change did not touch.
    package mutating func renewApproval(
        _ approval: Approval, generation: UInt64, _ identity: IdentityRecord, key: borrowing SecretBytes
    ) throws(LedgerFailure) -> Approval {
        try sign(
            approval.prints, on: approval.reader, at: approval.place, beside: approval.others, generation,
            identity, key: key)
    }

    private mutating func sign(
        _ prints: [ApprovedPrint], on reader: ReaderIdentity, at place: ReaderPlace, beside others: [Digest],
        _ generation: UInt64, _ identity: IdentityRecord, key: borrowing SecretBytes
    ) throws(LedgerFailure) -> Approval {
        let sorted = prints.sorted { $0.digest < $1.digest }
        let message = try approvalMessage(sorted, reader, place, others, generation, identity)
        do throws(VaultError) {
            let signature = try vault.sign(message, with: key)
            return Approval(
                reader: reader, place: place, others: others, generation: generation, prints: sorted,
                signature: signature, madeAt: time.wallTime())
        } catch {
            throw failed(error)
        }
    }

    private mutating func isApproved(
        _ present: [ApprovedPrint], by approval: Approval, _ identity: IdentityRecord
    ) throws(LedgerFailure) -> Bool {
        let message = try approvalMessage(
            present, approval.reader, approval.place, approval.others, approval.generation, identity)
        return vault.isValid(signature: approval.signature, of: message, by: identity.publicKey)
    }

    private mutating func approvalMessage(
        _ prints: [ApprovedPrint], _ reader: ReaderIdentity, _ place: ReaderPlace, _ others: [Digest],
        _ generation: UInt64, _ identity: IdentityRecord
    ) throws(LedgerFailure) -> [UInt8] {
        let canonical = EnrollmentDigest.canonicalBytes(
            reader: reader, prints: prints.map { (digest: $0.digest, presence: $0.presence) })
        do throws(VaultError) {
            let digest = try vault.digest(of: canonical.span)
            return ApprovalMessage.bytes(
                uid: identity.uid, userName: identity.userName, instance: identity.instance, reader: reader,
                place: place, others: others, generation: generation, enrollmentDigest: digest)
        } catch {
            throw failed(error)
        }
    }

    /// The keyed hash over what makes a print this print: type, driver, device id and data, but no metadata.
    package mutating func printDigest(_ set: borrowing EnrollmentSet, _ index: Int) throws(LedgerFailure) -> Digest {
        guard index >= 0, index < set.entries.count else { throw .recordUnusable }
        let entry = set.entries[index]
        // The identity is no longer than the template and a few lengths; it is laid out in guarded memory.
        guard var identity = SecretBytes(count: entry.template.count + PrintTemplate.identityOverhead) else {
            throw failed(VaultError.outOfMemory)
        }
        let length = set.withTemplate(of: entry) { template in
            identity.withMutableBytes { target in PrintTemplate.writeIdentity(of: template, into: &target) }
        }
        guard let length else { throw failed(StoreError.fault(.prints, .damaged)) }
        identity.truncate(to: length)
        do throws(VaultError) {
            return try identity.withBytes { (bytes) throws(VaultError) in try vault.digest(of: bytes) }
        } catch {
            throw failed(error)
        }
    }
}

extension Attempts {
    /// Whether a set of this generation is the one that was written last; an older one is a copy that was put back.
    fileprivate func admits(_ generation: UInt64) -> Bool {
        generation == self.generation || isBehind(generation)
    }

    /// Whether a set of this generation was written, and these counters, which come after it, were not: that was cut off.
    func isBehind(_ generation: UInt64) -> Bool { generation > 0 && generation - 1 == self.generation }
}

extension EnrollmentSet {
    /// The indices of the prints that belong to one reader.
    package borrowing func gallery(of reader: ReaderIdentity) -> [Int] {
        var indices: [Int] = []
        for index in 0..<entries.count where entries[index].reader == reader { indices.append(index) }
        return indices
    }

    /// Whether a reader keeps any of the user's prints in its own memory.
    package borrowing func liesOnChip(_ reader: ReaderIdentity) -> Bool {
        for entry in entries where entry.reader == reader && entry.onReader { return true }
        return false
    }

    /// Whether prints are compared in the reader: it would keep new ones there, or it has some of the user's, whatever its
    /// driver says of it today.
    package borrowing func isOnChip(_ reader: ReaderDescription) -> Bool {
        reader.storesPrints || liesOnChip(reader.identity)
    }

    /// The readers that hold prints, and those that only an approval names: prints that are gone altogether leave such a one.
    borrowing func readers(andOf approvals: [Approval]) -> [ReaderIdentity] {
        var all = readers()
        for approval in approvals where !all.contains(approval.reader) { all.append(approval.reader) }
        return all
    }

    /// Whether one of these readers has any of the user's prints.
    package borrowing func holdsPrints(ofAnyOf present: [ReaderDescription]) -> Bool {
        for entry in entries where present.contains(where: { $0.identity == entry.reader }) { return true }
        return false
    }

    /// The readers that hold prints, each once, in the order of enrollment.
    package borrowing func readers() -> [ReaderIdentity] {
        var readers: [ReaderIdentity] = []
        for entry in entries where !readers.contains(entry.reader) { readers.append(entry.reader) }
        return readers
    }
}

extension EnrollmentChange {
    /// What a person is told: prints that are there and were not approved, and those that are gone or lie elsewhere.
    package init(from approved: [ApprovedPrint], to present: [ApprovedPrint]) {
        var added = 0
        var removed = 0
        var gone = 0
        for print in present where !approved.contains(where: { $0.digest == print.digest }) { added += 1 }
        for print in approved
        where print.presence != .missing
            && present.contains(where: { $0.digest == print.digest && $0.presence == .missing })
        { gone += 1 }
        for print in approved
        where !present.contains(where: { $0.digest == print.digest && $0.presence != .missing }) { removed += 1 }
        self.init(added: UInt8(min(added, 255)), removed: UInt8(min(removed, 255)), gone: UInt8(min(gone, 255)))
    }
}
