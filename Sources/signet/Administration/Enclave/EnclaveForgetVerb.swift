internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

extension Option {
    fileprivate static let yes = Option("--yes", "really delete")
    fileprivate static let counters = Option("--counters", "give back the TPM's counters that no record here names")
}

extension Command {
    /// `signet enclave forget`.
    static let enclaveForget = Command(
        "enclave forget", "delete a store that its TPM does not open any more", options: [.yes, .counters, .json],
        details: """
            For a TPM that was cleared, or a mainboard that is another one: what was sealed is lost, whatever is done. It \
            names whose PIN, recovery code and fingers that is and, with --yes, deletes the store, so that it can be set up \
            anew. Nothing else on the machine is touched. It refuses where the TPM opens the store, and where it only does not \
            answer. With --counters it deletes no store: it gives back the TPM's counters of stores that are gone, which a TPM \
            has room for a few of only. Another system on this machine that has a Signet of its own would lose its counters \
            with them, and need "signet enclave accept" there.
            """
    ) { (invocation) throws(Failure) in
        try TargetUser.requireRoot(.ofThisProcess)
        let configuration = Machine.configuration()
        if invocation.has(.counters) {
            guard !invocation.has(.yes) else {
                throw Failure(.usage, "--counters deletes no store", hint: "give --yes or --counters, one of the two")
            }
            return try giveBackCounters(invocation, configuration)
        }
        try requireLost(configuration.enclaveSettings)
        let owners: [RecordOwner]
        do throws(StoreError) { owners = try AdministratorLedger.owners() } catch {
            throw Failure(error, settings: configuration.enclaveSettings)
        }
        let labels = owners.map { TargetUser($0).label }
        guard invocation.has(.yes) else {
            if !invocation.json { Output.page(ForgetText.before(labels)) }
            throw Failure(.no, "this would delete the store", hint: "to do it, add --yes")
        }
        do throws(StoreError) { _ = try EnclaveAdministration.forget() } catch {
            throw Failure(error, settings: configuration.enclaveSettings)
        }
        invocation.answer(ForgetAnswer(forgotten: labels), text: ForgetText.after(labels))
        return .yes
    }

    private static func giveBackCounters(
        _ invocation: Invocation, _ configuration: Configuration
    ) throws(Failure) -> ExitCode {
        let settings = configuration.enclaveSettings
        let isTPM: Bool
        do throws(StoreError) { isTPM = try EnclaveAdministration.removeLeftovers(settings: settings) } catch {
            throw Failure(error, settings: settings)
        }
        guard isTPM else { throw Failure(.no, "the secrets are in a key file; the TPM has nothing of this store") }
        let left = (try? EnclaveAdministration.look(settings))?.countersLeft
        let room = left.map { " The TPM has room for \($0) more." } ?? ""
        invocation.answer(
            CountersAnswer(countersLeft: left),
            text: "Only counters that records of this machine name are left.\(room)\n")
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
            text += "Then for each of them: sudo signet pin set --user \(ShellWord.quoted(Array(first.utf8)))\n"
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

private struct CountersAnswer: Encodable {
    /// How many more the TPM has room for; absent where it did not answer.
    let countersLeft: UInt32?
}
