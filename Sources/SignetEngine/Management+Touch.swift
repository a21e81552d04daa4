internal import SignetPolicy
internal import SignetRecords

// Readers and touches, as the tasks need them.

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// All readers there are; refuses where there is none.
    mutating func presentReaders() throws(ManagementRefusal) -> [ReaderDescription] {
        do throws(ReaderProblem) {
            let readers = try sensor.readers()
            if readers.isEmpty { throw ReaderProblem.noReader }
            return readers
        } catch {
            throw .reader(error)
        }
    }

    /// The readers that may be used, for where and what they are; refuses where there is none.
    ///
    /// Where a reader stood when it was approved does not matter: it is about to be approved anew.
    mutating func trustedReaders() throws(ManagementRefusal) -> [ReaderDescription] {
        let present = try presentReaders()
        // Prints that cannot be read end the task anyway, as soon as they are needed.
        guard let set = ledger.readablePrints() else {
            return try trusted(present, onChip: present.map { $0.storesPrints })
        }
        return try trusted(present, set)
    }

    /// Those of them that have prints of the user's; refuses where there is none.
    mutating func trustedReaders(of set: borrowing EnrollmentSet) throws(ManagementRefusal) -> [ReaderDescription] {
        let present = try presentReaders()
        let known = set.readers()
        let own = present.filter { known.contains($0.identity) }
        if own.isEmpty {
            switch ledger.absence(of: set, among: present) {
            case .readerExchanged(let exchange): throw .readerExchanged(exchange)
            default: throw .reader(.noReader)
            }
        }
        return try trusted(own, set)
    }

    private mutating func trusted(
        _ present: [ReaderDescription], _ set: borrowing EnrollmentSet
    ) throws(ManagementRefusal) -> [ReaderDescription] {
        var onChip: [Bool] = []
        for reader in present { onChip.append(set.isOnChip(reader)) }
        return try trusted(present, onChip: onChip)
    }

    private mutating func trusted(
        _ present: [ReaderDescription], onChip: [Bool]
    ) throws(ManagementRefusal) -> [ReaderDescription] {
        var trusted: [ReaderDescription] = []
        var refused: ReaderDistrust?
        for (reader, onChip) in zip(present, onChip) {
            if let distrust = ledger.trust.distrust(reader.place, approved: nil, onChip: onChip) {
                refused = refused ?? distrust
            } else {
                trusted.append(reader)
            }
        }
        if trusted.isEmpty, let refused {
            ledger.log.record(.readerRefused(refused))
            throw .readerNotTrusted(refused)
        }
        // Of two that look the same, the one that stands where it was approved.
        let approvals = try onLedger { (ledger) throws(LedgerFailure) in try ledger.load() }?.identity.approvals ?? []
        func isWhereApproved(_ reader: ReaderDescription) -> Bool {
            approvals.contains { $0.reader == reader.identity && $0.place.isSamePort(as: reader.place) }
        }
        return trusted.filter(isWhereApproved) + trusted.filter { !isWhereApproved($0) }
    }

    /// Opens one reader for some of its prints in `set`; an empty place takes the first of that identity.
    mutating func open(
        _ reader: ReaderIdentity, at place: ReaderPlace, _ set: borrowing EnrollmentSet, _ gallery: [Int]
    ) throws(ManagementRefusal) -> ReaderSession {
        sensor.close()
        do throws(ReaderProblem) {
            let opened = try sensor.open(reader, at: place, for: set, gallery: gallery)
            return ReaderSession(
                reader: reader, place: opened.description.place, gallery: gallery, presence: opened.presence,
                others: opened.others, generation: set.generation)
        } catch {
            sensor.close()
            throw .reader(error)
        }
    }

    /// Awaits a touch that matches, each try charged; answers the position in the gallery and leaves the charge to settle.
    mutating func touch<Screen: ManagementScreen & ~Copyable>(
        _ session: ReaderSession, _ purpose: TouchPurpose, on screen: inout Screen
    ) throws(ManagementRefusal) -> Int {
        screen.askForTouch(purpose)
        for _ in 0..<Management.patience {
            guard try onLedger({ (ledger) throws(LedgerFailure) in try ledger.chargeTouch() }) else {
                throw .biometryLockout
            }
            switch awaitTouch(on: &screen) {
            case .matched(let index):
                // The index is the helper's word: outside the gallery, or of a print that is not there, it is no match.
                if session.gallery.indices.contains(index), session.presence.indices.contains(index),
                    session.presence[index] != .missing
                {
                    return index
                }
                try settleFailedTouch()
                throw .reader(.helperFailed)
            case .notRecognised, .retry, .timedOut(fingerSeen: true):
                try settleFailedTouch()
                screen.notRecognised()
            case .timedOut(fingerSeen: false):
                try refundTouch()
                throw .notConfirmed
            case .interrupted(fingerSeen: false), .setAside(_, fingerSeen: false):
                try refundTouch()
                throw .cancelled
            case .interrupted(fingerSeen: true), .setAside(_, fingerSeen: true):
                try settleFailedTouch()
                throw .cancelled
            case .slept(fingerSeen: false):
                try refundTouch()
                throw .reader(.slept)
            case .cancelIgnored(fingerSeen: false):
                try refundTouch()
                throw .reader(.cancelIgnored)
            case .slept(fingerSeen: true):
                try settleFailedTouch()
                throw .reader(.slept)
            case .cancelIgnored(fingerSeen: true):
                try settleFailedTouch()
                throw .reader(.cancelIgnored)
            case .failed(let problem):
                try settleFailedTouch()
                throw .reader(problem)
            }
        }
        throw .notConfirmed
    }

    /// Leaves the last touch charged.
    mutating func settleFailedTouch() throws(ManagementRefusal) {
        _ = try onLedger { (ledger) throws(LedgerFailure) in try ledger.settleFingerFailure() }
    }

    private mutating func refundTouch() throws(ManagementRefusal) {
        _ = try onLedger { (ledger) throws(LedgerFailure) in try ledger.refundFinger() }
    }

    /// Arms and waits until there is an answer that counts: what the reader asks to repeat belongs to the same try.
    private mutating func awaitTouch<Screen: ManagementScreen & ~Copyable>(on screen: inout Screen) -> Touch {
        // A finger that never comes right must not keep a charge open for ever.
        for _ in 0..<64 {
            do throws(ReaderProblem) { try sensor.arm() } catch { return .failed(error) }
            let touch = sensor.awaitTouch(seconds: Int(request.configuration.fingerTimeout))
            guard case .retry(let reason) = touch else { return touch }
            screen.askAgain(reason)
        }
        return .notRecognised
    }
}
