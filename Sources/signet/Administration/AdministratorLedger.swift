internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

/// What the administrator's verbs share: whom they are about, and the way to the records.
enum AdministratorLedger {
    /// The user's ledger, with the store's error kept, for status and doctor tell each apart.
    static func open(_ target: TargetUser, _ configuration: Configuration) throws(StoreError) -> Ledger {
        try StoreOpening.ledger(
            uid: target.uid, userName: target.name, caller: target.caller, configuration: configuration,
            log: CommandJournal.of(target, configuration))
    }

    /// The user named by `--user`: an account, or the uid of one that is gone but has records.
    static func named(_ invocation: Invocation) throws(Failure) -> (target: TargetUser, exists: Bool) {
        try TargetUser.requireRoot(.ofThisProcess)
        guard let name = invocation.value(of: .user) else {
            throw Failure(
                .usage, "it is not clear whose records are meant", hint: "name the user, or the uid, with --user")
        }
        guard let uid = UInt32(name), try !isAccount(name) else { return (try Machine.target(invocation), true) }
        let owner = owner(of: uid)
        guard case .unknown = owner else {
            let target = TargetUser(owner)
            if case .user = owner { return (target, true) }
            return (target, false)
        }
        throw Failure(.busy, "the account database cannot be read now", hint: "see \"getent passwd\"")
    }

    private static func isAccount(_ name: String) throws(Failure) -> Bool {
        do throws(AccountsUnreadable) { return try Accounts.named(Array(name.utf8)) != nil } catch {
            throw Failure(.busy, "the account database cannot be read now", hint: "see \"getent passwd\"")
        }
    }

    /// All who have a folder in the store, in the order of their uids; none where there is no store.
    static func owners() throws(StoreError) -> [RecordOwner] {
        let users: [UInt32]
        do throws(StoreError) { users = try UserStore.users(root: UserStore.standardRoot) } catch {
            guard error == .fault(.store, .missing) else { throw error }
            users = []
        }
        return owners(of: users)
    }

    /// The owners of these uids, in the same order.
    static func owners(of uids: [UInt32]) -> [RecordOwner] {
        do throws(AccountsUnreadable) {
            let accounts = try Accounts.numbered(uids)
            return uids.map { uid in
                accounts[uid].map { RecordOwner.user(uid: uid, name: $0.name) } ?? .orphan(uid: uid)
            }
        } catch {
            // Some can be told all the same.
            return uids.map(owner(of:))
        }
    }

    static func owner(of uid: UInt32) -> RecordOwner {
        do throws(AccountsUnreadable) {
            guard let account = try Accounts.numbered(uid) else { return .orphan(uid: uid) }
            return .user(uid: uid, name: account.name)
        } catch {
            return .unknown(uid: uid)
        }
    }

    /// Everything about one user; a store that cannot be opened becomes part of the answer.
    static func status(
        of target: TargetUser, _ configuration: Configuration, readers: ReaderPresence,
        here: FingerSurroundings = FingerSurroundings()
    ) -> UserStatus {
        do throws(StoreError) {
            var ledger = try open(target, configuration)
            return look(at: target, in: &ledger, configuration, readers: readers, here: here)
        } catch {
            return UserStatus(
                uid: target.uid, userName: target.name, record: .opening(error), readers: readers)
        }
    }

    /// Everything about the user whom the ledger is about.
    static func look(
        at target: TargetUser, in ledger: inout Ledger, _ configuration: Configuration, readers: ReaderPresence,
        here: FingerSurroundings = FingerSurroundings()
    ) -> UserStatus {
        var status = ledger.status(
            uid: target.uid, userName: target.name, fingersAllowed: configuration.finger, readers: readers, here: here)
        status.source = configuration.enrollmentSource
        if status.record == .notSetUp,
            StoreInspection.hasHalfRecord(root: UserStore.standardRoot, uid: target.uid)
        {
            status.record = .faulty(.identity, .missing)
        }
        return status
    }

    /// The readers at hand.
    static func readers(_ configuration: Configuration) -> ReaderPresence {
        var sensor = Machine.sensor(configuration)
        defer {
            sensor.close()
            sensor.stopListening()
        }
        do throws(ReaderProblem) {
            let found = try sensor.readers()
            return found.isEmpty ? .problem(.noReader) : .present(found)
        } catch {
            return .problem(error)
        }
    }

    /// What a failed management task says.
    static func failure(_ failure: LedgerFailure, _ target: TargetUser) -> Failure {
        switch failure {
        case .recordUnusable:
            Failure(
                .stateDamaged, "signet's record for \(target.text) cannot be used",
                hint: "see what is wrong with \"sudo signet status --user \(target.argument)\" and "
                    + "\"sudo signet doctor\"")
        case .unavailable:
            Failure(
                .busy, "the store or the clock cannot be used now", hint: "try again, or see \"sudo signet doctor\"")
        case .notSetUp, .full, .readOnly, .changedMeanwhile, .troubled, .locked, .indexUnusable:
            Failure(failure, target)
        }
    }
}

extension TargetUser {
    /// The owner of a folder of the store, on whose behalf an administrator acts.
    ///
    /// Without an account the name is empty.
    init(_ owner: RecordOwner) {
        var name: [UInt8] = []
        if case .user(_, let known) = owner { name = known }
        self.init(uid: owner.uid, name: name, byAdministrator: owner.uid != getuid(), caller: .person)
    }

    /// The name for commands and messages: the uid where there is no account.
    var label: String { name.isEmpty ? "\(uid)" : text }
}
