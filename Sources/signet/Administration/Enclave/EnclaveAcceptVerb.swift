internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Option {
    fileprivate static let all = Option("--all", "everybody's records")
}

extension Command {
    /// `signet enclave accept`.
    static let enclaveAccept = Command(
        "enclave accept", "let records from a restored backup count",
        options: [Option("--user", value: "U", "whose records"), .all, .json],
        details: """
            The TPM has counted further than records from a backup, so that they are refused: they could be an attacker's copy. \
            Whoever knows that they are a backup accepts them here. What was done since the backup is undone for good: a PIN \
            that was changed, a finger that was deleted, failed tries.
            """
    ) { (invocation) throws(Failure) in
        try TargetUser.requireRoot(.ofThisProcess)
        if invocation.has(.all) == invocation.has(.user) {
            throw Failure(.usage, "it is not clear whose records are meant", hint: "say --user U or --all")
        }
        let configuration = Machine.configuration()
        if invocation.has(.user) {
            let (target, _) = try AdministratorLedger.named(invocation)
            let accepted = try accept(target, configuration)
            invocation.answer(
                AcceptAnswer(accepted: accepted ? [target.label] : [], refused: []),
                text: AcceptText.line(target.label, accepted))
            return .yes
        }
        let owners: [RecordOwner]
        do throws(StoreError) { owners = try AdministratorLedger.owners() } catch {
            throw Failure(error, settings: configuration.enclaveSettings)
        }
        var (text, accepted, refused) = ("", [String](), [String]())
        for owner in owners {
            let target = TargetUser(owner)
            do throws(Failure) {
                let isNew = try accept(target, configuration)
                if isNew { accepted.append(target.label) }
                text += AcceptText.line(target.label, isNew)
            } catch {
                refused.append(target.label)
                text += "\(target.label): \(error.message)\n"
            }
        }
        invocation.answer(
            AcceptAnswer(accepted: accepted, refused: refused), text: text.isEmpty ? "Nobody has records.\n" : text)
        return refused.isEmpty ? .yes : .stateDamaged
    }

    private static func accept(_ target: TargetUser, _ configuration: Configuration) throws(Failure) -> Bool {
        var ledger = try Machine.ledger(for: target, configuration)
        do throws(LedgerFailure) { return try ledger.acceptOlderRecords() } catch {
            // Not only older than the TPM's count: the identity is not one that stands beside these counters.
            guard [.troubled(.rolledBack), .troubled(.renamed), .recordUnusable].contains(error) else {
                throw AdministratorLedger.failure(error, target)
            }
        }
        do throws(StoreError) {
            let acceptance = try EnclaveAdministration.acceptOlderRecords(
                uid: target.uid, settings: configuration.enclaveSettings)
            guard acceptance != .nothingThere else { throw StoreError.fault(.identity, .missing) }
        } catch {
            throw Failure(error, settings: configuration.enclaveSettings)
        }
        ledger.log.record(.management(.olderRecordsAccepted, byAdministrator: true))
        return true
    }
}

/// What `accept` says of one user.
enum AcceptText {
    static func line(_ label: String, _ accepted: Bool) -> String {
        accepted
            ? "The records of \(label) count as they are now.\n" : "The records of \(label) are in force already.\n"
    }
}

private struct AcceptAnswer: Encodable {
    /// Those whose older records count from now on.
    let accepted: [String]
    /// Those whose records cannot be used for another reason.
    let refused: [String]
}
