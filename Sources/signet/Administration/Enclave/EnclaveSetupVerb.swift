internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

extension Option {
    fileprivate static let setLockoutAuth = Option(
        "--set-lockout-auth", "have a secret guard the reset of the TPM's count of failures")
    fileprivate static let standardInput = Option("--stdin", "read that secret, one line, from standard input")
}

extension Command {
    /// `signet enclave setup`.
    static let enclaveSetup = Command(
        "enclave setup", "make the store, bound to the TPM where there is one",
        options: [.setLockoutAuth, .standardInput, .json],
        details: """
            What a new store is bound to is the key "enclave" of signet.conf; a store that is there stays as it is. With \
            --set-lockout-auth it asks twice for a secret and sets the TPM's lockoutAuth, for the whole machine: the TPM then \
            locks after \(LockoutProtection.limit) failures, forgets one each \
            \(EnclaveText.duration(LockoutProtection.healSeconds)) of running time, and bars the reset for \
            \(EnclaveText.duration(LockoutProtection.recoverySeconds)) after a wrong secret. Without it whoever reaches the \
            TPM can clear its count, so that it does not count wrong PINs. Keep the secret away from this machine; it is \
            needed for that reset alone.
            """
    ) { (invocation) throws(Failure) in
        try TargetUser.requireRoot(.ofThisProcess)
        if invocation.has(.standardInput), !invocation.has(.setLockoutAuth) {
            throw Failure(.usage, "--stdin gives a secret to --set-lockout-auth", hint: "give both, or neither")
        }
        let configuration = Machine.configuration()
        let made: MadeStore
        do throws(StoreError) {
            made = try EnclaveAdministration.setup(settings: configuration.enclaveSettings)
        } catch {
            throw Failure(error, settings: configuration.enclaveSettings)
        }
        var setsLockout = false
        if invocation.has(.setLockoutAuth) {
            if made.kind == .tpm, !invocation.json { Output.page(EnclaveSetupText.made(made, nil)) }
            try guardReset(configuration, invocation)
            setsLockout = true
        }
        let facts = try? EnclaveAdministration.look(configuration.enclaveSettings)
        let text = EnclaveSetupText.page(made, facts, setsLockout: setsLockout)
        invocation.answer(EnclaveSetupAnswer(made, facts), text: text)
        return .yes
    }

    private static func guardReset(_ configuration: Configuration, _ invocation: Invocation) throws(Failure) {
        let settings = configuration.enclaveSettings
        do throws(EnclaveProblem) {
            // Before anybody thinks of a secret.
            if try EnclaveAdministration.look(settings).dictionaryAttack.hasLockoutAuthorization {
                throw EnclaveProblem.lockoutAuthSet
            }
        } catch {
            throw Failure(error, settings)
        }
        let secret =
            invocation.has(.standardInput)
            ? try LockoutSecret.readStandardInput() : try LockoutSecret.ask(configuration)
        do throws(EnclaveProblem) {
            try EnclaveAdministration.setLockout(
                settings, authorization: secret, limit: LockoutProtection.limit,
                healSeconds: LockoutProtection.healSeconds, recoverySeconds: LockoutProtection.recoverySeconds)
        } catch {
            throw Failure(error, settings)
        }
    }
}

/// What `setup` says.
enum EnclaveSetupText {
    static func page(_ made: MadeStore, _ facts: EnclaveDescription?, setsLockout: Bool) -> String {
        if setsLockout {
            return """
                The TPM's lockoutAuth is set. Wrong PINs count at the TPM too, for each PIN that is set from now on.
                Keep the secret away from this machine. To clear the TPM's count with it later:
                  sudo signet enclave reset
                One wrong secret there bars the reset for \(EnclaveText.duration(LockoutProtection.recoverySeconds)).

                """
        }
        guard made.kind == .tpm, let facts, !facts.dictionaryAttack.hasLockoutAuthorization else {
            return self.made(made, facts)
        }
        return self.made(made, facts) + """

            The TPM's lockoutAuth is not set: whoever reaches the TPM, as root or by starting
            another system on this machine, can clear its count of failures. So the TPM does
            not count wrong PINs; Signet alone does. To have a secret guard that reset:
              sudo signet enclave setup --set-lockout-auth

            """
    }

    static func made(_ made: MadeStore, _ facts: EnclaveDescription?) -> String {
        switch (made.kind, made.existed) {
        case (.tpm, true): return "The secrets are bound to the TPM already.\n"
        case (.tpm, false):
            let name = facts.map { " (\($0.makerName))" } ?? ""
            return "The secrets are bound to the TPM\(name): nothing opens them without it.\n"
        case (.file, true):
            return "The secrets are in a key file already. To move them: sudo signet enclave migrate --to tpm\n"
        case (.file, false):
            guard let problem = made.withoutTPM else {
                return "The secrets are in a key file that only root can read, as the configuration asks.\n"
            }
            return "The secrets are in a key file that only root can read, for no TPM can be used: \(problem.words).\n"
        }
    }
}

/// What `setup --json` answers.
struct EnclaveSetupAnswer: Encodable, Equatable {
    /// "file" or "tpm".
    let secrets: String
    /// Whether the store was made now.
    let made: Bool
    /// Why a TPM that was preferred is not used.
    let withoutTpm: String?
    /// Absent where the TPM cannot be asked.
    let lockoutAuthSet: Bool?

    init(_ store: MadeStore, _ facts: EnclaveDescription?) {
        secrets = store.kind.word
        made = !store.existed
        withoutTpm = store.withoutTPM?.code
        lockoutAuthSet = facts?.dictionaryAttack.hasLockoutAuthorization
    }
}

extension Failure {
    /// Why the TPM did not do it.
    init(_ problem: EnclaveProblem, _ settings: EnclaveSettings) {
        var hint = problem.remedy
        if problem == .lockoutAuthSet { hint = "whoever set it knows it; \"tpm2_changeauth -c lockout\" changes it" }
        let exit: ExitCode = problem == .lockoutAuthSet ? .no : problem.exit
        self.init(exit, "\(problem.words) (\(EnclaveReport.place(of: settings)))", hint: hint)
    }

    /// Why the enclave's verbs cannot use the store.
    init(_ error: StoreError, settings: EnclaveSettings) {
        switch error {
        case .fault(.store, .missing):
            self.init(.no, "there is no store yet", hint: "make one with \"sudo signet enclave setup\"")
        case .fault(.store, .enclaveGone):
            // What opening a store met is no more than "gone"; the TPM itself says whether its owner refuses.
            let facts = try? EnclaveAdministration.look(settings)
            self.init(facts?.hasOwnerAuthorization == true ? .ownerRefused : .noDevice, settings)
        case .fault(.store, .enclaveForeign): self.init(.foreign, settings)
        case .fault(.store, .enclaveRequired):
            self.init(
                .stateDamaged, "the configuration asks for a TPM, and the secrets are in a key file",
                hint: "move them with \"sudo signet enclave migrate --to tpm\"")
        case .fault(.chips, let fault): self = .indexUnusable(fault)
        case .fault(let kind, let fault):
            self.init(
                .stateDamaged, "the record \"\(kind.words)\" is \(fault.words)", hint: "see \"sudo signet doctor\"")
        case .busy: self.init(.busy, "the store or the TPM is in use", hint: "try again")
        case .system: self.init(.busy, "the store cannot be read or written now", hint: "see \"sudo signet doctor\"")
        }
    }
}

extension EnclaveReport {
    /// "/dev/tpmrm0": the connection without its kind.
    static func place(of settings: EnclaveSettings) -> String {
        let text = Output.text(settings.tcti)
        for prefix in ["device:", "swtpm:path="] where text.hasPrefix(prefix) {
            return String(text.dropFirst(prefix.count))
        }
        return text
    }
}
