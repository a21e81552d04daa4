internal import SignetEngine
internal import SignetPlatform

extension Command {
    /// `signet user adopt`.
    static let userAdopt = Command(
        "user adopt", "give the records of a renamed user the new name", options: [.user, .json],
        details: """
            For one person under two names: the PIN stays whoever's it was, and the fingerprints stay off until \
            that person activates them again. Where the uid went to somebody else, purge the records instead.
            """
    ) { (invocation) throws(Failure) in
        let (target, exists) = try AdministratorLedger.named(invocation)
        guard exists else {
            throw Failure(
                .no, "no account has the uid \(target.uid), so there is no name to give",
                hint: "delete the records with \"sudo signet user purge --user \(target.uid)\"")
        }
        let adoption: Adoption
        var ledger = try openLedger(target)
        do throws(LedgerFailure) { adoption = try ledger.adopt() } catch {
            throw AdministratorLedger.failure(error, target)
        }
        switch adoption {
        case .nothingThere: throw .pinNotSet(target)
        case .nameFits:
            invocation.answer(
                UserAnswer(target, done: false), text: "The records of \(target.text) have this name already.\n")
        case .adopted:
            invocation.answer(
                UserAnswer(target, done: true),
                text: """
                    The records of uid \(target.uid) are \(target.text)'s now.
                    \(target.text) switches fingerprints on again with "sudo signet activate".

                    """)
        }
        return .yes
    }

    /// `signet user purge`.
    static let userPurge = Command(
        "user purge", "delete everything that is kept of a user",
        options: [
            Option("--user", value: "U", "whose records: a user, or the uid of one that is gone"),
            Option("--yes", "really delete"), .json,
        ],
        details: """
            Deletes PIN, recovery code, fingerprints and counters. Prints in a reader's own memory stay there, where they \
            match nobody, until "signet delete --leftovers" takes them off it.
            """
    ) { (invocation) throws(Failure) in
        let (target, _) = try AdministratorLedger.named(invocation)
        guard try hasFolder(target) else {
            guard let left = StoreStray.leftover(of: target) else {
                throw Failure(.no, "nothing is kept of \(target.label)", hint: "see \"sudo signet status --all\"")
            }
            throw Failure(
                .no, "nothing is kept of \(target.label), but \(left.words)",
                hint: "take it away with \"\(left.remedy)\"")
        }
        guard invocation.has(Option("--yes", "")) else {
            throw Failure(
                .no, "this would delete PIN, recovery code and fingerprints of \(target.label)",
                hint: "to do it, add --yes")
        }
        var ledger = try openLedger(target)
        do throws(LedgerFailure) { try ledger.purge() } catch {
            let obstacle = error == .recordUnusable ? Failure.obstacle(to: target) : nil
            throw obstacle ?? AdministratorLedger.failure(error, target)
        }
        let left = StoreStray.leftover(of: target).map { left in
            "\nA folder was among the records: \(left.words). Take it away with \"\(left.remedy)\"."
        }
        invocation.answer(
            UserAnswer(target, done: true),
            text: "Nothing is kept of \(target.label) any more.\(left ?? "")\n"
                + Leftovers.text(ledger.leftoverCount()))
        return .yes
    }

    private static func openLedger(_ target: TargetUser) throws(Failure) -> Ledger {
        try Machine.ledger(for: target, Machine.configuration())
    }

    private static func hasFolder(_ target: TargetUser) throws(Failure) -> Bool {
        do throws(StoreError) { return try AdministratorLedger.owners().contains { $0.uid == target.uid } } catch {
            throw Failure(error, target)
        }
    }
}

private struct UserAnswer: Encodable {
    let user: String
    let userId: UInt32
    /// Whether anything was changed.
    let changed: Bool

    init(_ target: TargetUser, done: Bool) {
        user = target.text
        userId = target.uid
        changed = done
    }
}
