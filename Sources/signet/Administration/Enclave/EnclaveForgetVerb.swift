internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Option {
    fileprivate static let yes = Option("--yes", "really delete")
}

extension Command {
    /// `signet enclave forget`.
    static let enclaveForget = Command(
        "enclave forget", "delete a store that its TPM does not open any more", options: [.yes, .json],
        details: """
            For a TPM that was cleared, or a mainboard that is another one: what was sealed is lost, whatever is done. It \
            names whose PIN, recovery code and fingers that is and, with --yes, deletes the store, so that it can be set up \
            anew. Nothing else on the machine is touched. It refuses where the TPM opens the store, and where it only does not \
            answer.
            """
    ) { (invocation) throws(Failure) in
        try TargetUser.requireRoot(.ofThisProcess)
        let configuration = Machine.configuration()
        try requireLost(configuration.enclaveSettings)
        let owners: [RecordOwner]
        do throws(StoreError) { owners = try AdministratorLedger.owners() } catch {
            throw Failure(error, settings: configuration.enclaveSettings)
        }
        let labels = owners.map { TargetUser($0).label }
        guard invocation.has(.yes) else {
            if !invocation.json { Output.data(ForgetText.before(labels)) }
            throw Failure(.no, "this would delete the store", hint: "to do it, add --yes")
        }
        do throws(StoreError) { _ = try EnclaveAdministration.forget() } catch {
            throw Failure(error, settings: configuration.enclaveSettings)
        }
        invocation.answer(ForgetAnswer(forgotten: labels), text: ForgetText.after(labels))
        return .yes
    }

    /// Goes on only where the TPM answers that the store is not its own.
    private static func requireLost(_ settings: EnclaveSettings) throws(Failure) {
        var accepting = settings
        accepting.preference = .prefer
        do throws(StoreError) {
            _ = try StoreOpening.open(root: UserStore.standardRoot, accepting)
        } catch {
            if error == .fault(.store, .enclaveForeign) { return }
            throw Failure(error, settings: settings)
        }
        throw Failure(
            .no, "the store opens, and nothing of it is lost",
            hint: "to delete one user's records: \"sudo signet user purge --user NAME\"")
    }
}

/// What `forget` says, before and after.
enum ForgetText {
    static func before(_ labels: [String]) -> String {
        "The TPM is another one, or was cleared. What it had sealed is lost:\n" + list(labels)
            + "Nothing else on this machine is touched. If the old TPM still is somewhere, keep the store until it is back.\n"
    }

    static func after(_ labels: [String]) -> String {
        var text = "The store is deleted. These have no PIN, recovery code and fingers any more:\n" + list(labels)
        text += "Set it up anew: sudo signet enclave setup\n"
        if let first = labels.first {
            text += "Then for each of them: sudo signet pin set --user \(first)\n"
            text += "They enrol their fingers themselves: sudo signet enroll\n"
        }
        return text
    }

    private static func list(_ labels: [String]) -> String {
        labels.isEmpty
            ? "  nobody had a PIN\n" : labels.map { "  \($0): PIN, recovery code, fingerprints, counters\n" }.joined()
    }
}

private struct ForgetAnswer: Encodable {
    /// Names, or uids where there is no account.
    let forgotten: [String]
}
