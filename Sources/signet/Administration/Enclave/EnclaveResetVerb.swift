internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

extension Option {
    fileprivate static let standardInput = Option("--stdin", "read the lockout secret, one line, from standard input")
}

extension Command {
    /// `signet enclave reset`.
    static let enclaveReset = Command(
        "enclave reset", "clear the TPM's count of failures, with its secret", options: [.standardInput, .json],
        details: """
            Asks once for the secret that "enclave setup --set-lockout-auth" set, for a wrong one bars the reset for as long as \
            "enclave status" says. The count heals by itself all the same. What Signet has noted of users' failures at the TPM \
            is cleared with it; the counters of "lockout status" are not.
            """
    ) { (invocation) throws(Failure) in
        try TargetUser.requireRoot(.ofThisProcess)
        let configuration = Machine.configuration()
        let settings = configuration.enclaveSettings
        let state: DictionaryAttackState
        do throws(EnclaveProblem) { state = try EnclaveAdministration.look(settings).dictionaryAttack } catch {
            throw Failure(error, settings)
        }
        guard state.hasLockoutAuthorization else {
            throw Failure(
                .no, "the TPM's lockoutAuth is not set, so that the reset needs no secret",
                hint: "clear the count with \"tpm2_dictionarylockout --clear-lockout\"")
        }
        let secret =
            invocation.has(.standardInput)
            ? try LockoutSecret.readStandardInput() : try LockoutSecret.askOnce(configuration)
        let isRight: Bool
        do throws(EnclaveProblem) {
            isRight = try EnclaveAdministration.resetLockout(settings, authorization: secret)
        } catch {
            throw error == .lockout ? .resetBarred(state) : Failure(error, settings)
        }
        guard isRight else { throw .wrongLockoutSecret(state) }
        invocation.answer(
            ResetAnswer(failuresBefore: state.failures, users: forgetFailures(configuration)),
            text: "The TPM's count of failures is cleared; it was \(state.failures) of \(state.limit).\n")
        return .yes
    }

    /// What Signet has noted of users' failures at the TPM goes too; answers of how many users.
    private static func forgetFailures(_ configuration: Configuration) -> Int {
        var users = 0
        for owner in (try? AdministratorLedger.owners()) ?? [] {
            guard var ledger = try? AdministratorLedger.open(TargetUser(owner), configuration) else { continue }
            // Records that cannot be used have their own lines in doctor.
            if (try? ledger.forgetEnclaveFailures()) != nil { users += 1 }
        }
        return users
    }
}

extension Failure {
    fileprivate static func wrongLockoutSecret(_ state: DictionaryAttackState) -> Failure {
        Failure(
            .no,
            "the lockout secret is wrong, and the TPM takes none for \(EnclaveText.duration(state.recoverySeconds))",
            hint: "one failure is forgotten after \(EnclaveText.duration(state.healSeconds)) all the same")
    }

    fileprivate static func resetBarred(_ state: DictionaryAttackState) -> Failure {
        Failure(
            .lockedOut, "the TPM takes no lockout secret now, for a wrong one was given",
            hint: "it does again \(EnclaveText.duration(state.recoverySeconds)) after that one")
    }
}

private struct ResetAnswer: Encodable {
    let failuresBefore: UInt32
    /// Users whose noted failures are cleared.
    let users: Int
}
