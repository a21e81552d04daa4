internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

/// Looks at one user after the other, in a store that is opened once for many of them.
///
/// To open it keys are read and derived and, with a TPM, a helper is started, which takes longer than the look at a user's
/// records.
struct StatusRound: ~Copyable {
    /// After so many users the store is opened anew, so that a helper that ended meanwhile is told of few.
    private static let usersPerOpening = 64

    private let configuration: Configuration
    private let readers: ReaderPresence
    private var ledger: Ledger?
    private var usersLeft = 0
    /// What closes the store closes it for all: a TPM that hangs is waited for once.
    private var closed: RecordCondition?

    init(_ configuration: Configuration, readers: ReaderPresence) {
        self.configuration = configuration
        self.readers = readers
    }

    /// Everything about one user; a store that cannot be opened becomes part of the answer.
    mutating func status(of target: TargetUser) -> UserStatus {
        if let closed { return without(target, closed) }
        do throws(StoreError) {
            var ledger = try turned(to: target)
            let status = AdministratorLedger.look(at: target, in: &ledger, configuration, readers: readers)
            // A TPM that is gone is told once for the rest, by the next opening.
            if case .faulty(_, .enclaveGone) = status.record { return status }
            self.ledger = consume ledger
            return status
        } catch {
            let condition = RecordCondition.opening(error)
            if case .faulty(.store, _) = condition { closed = condition }
            return without(target, condition)
        }
    }

    private func without(_ target: TargetUser, _ condition: RecordCondition) -> UserStatus {
        UserStatus(uid: target.uid, userName: target.name, record: condition, readers: readers)
    }

    /// The ledger of this user: the one that is open, or a new one.
    private mutating func turned(to target: TargetUser) throws(StoreError) -> Ledger {
        var open: Ledger?
        swap(&open, &ledger)
        if usersLeft > 0, var ledger = open.take() {
            usersLeft -= 1
            ledger.store.turn(to: target.uid, userName: target.name)
            ledger.log = CommandJournal.of(target, configuration)
            return ledger
        }
        let ledger = try AdministratorLedger.open(target, configuration)
        usersLeft = StatusRound.usersPerOpening - 1
        return ledger
    }
}

extension RecordCondition {
    /// What it means for a user's records that the store cannot be opened: where none was ever made, nobody has a PIN.
    static func opening(_ error: StoreError) -> RecordCondition {
        error == .fault(.store, .missing) ? .notSetUp : RecordCondition(error)
    }
}
