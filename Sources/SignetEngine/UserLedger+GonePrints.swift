internal import SignetPolicy
internal import SignetRecords

// Prints that are enrolled still and gone from their reader's memory: what a person is told to do about them.

extension UserLedger where Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable {
    /// A change that is remembered, with what the records show of it: where they are as the user approved them, what was
    /// removed is gone from a reader's memory, for nothing else was to be removed.
    ///
    /// A record that was changed and put back looks the same, so that a person is told of both, and to look at the reader
    /// before anything is deleted. What closed the finger path stays until the user activates it.
    mutating func explained(
        _ closure: FingerClosure, _ state: UserState, _ set: borrowing EnrollmentSet
    ) -> FingerClosure {
        guard case .enrollmentChanged(let change) = closure, keepsPrintsItself, change.added == 0, change.gone == 0,
            change.removed > 0, Int(change.removed) <= set.countOnReaders
        else { return closure }
        var judged = state
        judged.attempts.change = nil
        judged.attempts.foreignPrints = 0
        for approval in state.identity.approvals where set.gallery(of: approval.reader).isEmpty { return closure }
        do throws(LedgerFailure) {
            for reader in set.readers() {
                if try review(judged, set, on: reader, presence: nil) != nil { return closure }
            }
        } catch {
            // What cannot be explained now is closed all the same.
            return closure
        }
        return .enrollmentChanged(EnrollmentChange(added: 0, removed: change.removed, gone: change.removed))
    }
}

extension EnrollmentSet {
    /// How many prints lie in readers' memories.
    fileprivate var countOnReaders: Int {
        var count = 0
        for entry in entries where entry.onReader { count += 1 }
        return count
    }
}
