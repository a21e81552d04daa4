internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// The one place where the command line is put together with the machine.

/// The ledger that the verbs use.
typealias Ledger = MachineLedger<SyslogJournal>

enum Machine {
    /// The helper that is installed; the configuration may name another.
    static var sensorPath: [UInt8] { SensorClient.standardHelper }
    /// The same for the TPM.
    static var enclavePath: [UInt8] { Array("/usr/libexec/signet/signet-enclave".utf8) }

    /// Whom the command is about; refuses everybody but root.
    static func target(_ invocation: Invocation) throws(Failure) -> TargetUser {
        try TargetUser.resolve(option: invocation.value(of: .user), .ofThisProcess)
    }

    /// The configuration that rules now; one that cannot be used is told and replaced by the strictest.
    static func configuration() -> Configuration {
        let loaded = ConfigurationLoader.load()
        if let problem = loaded.problem {
            Output.message("the configuration cannot be used: \(problem.sentence)", hint: configurationHint)
        }
        return loaded.configuration
    }

    private static let configurationHint =
        "until it is mended the strictest rules hold; see \"sudo signet config check\""

    /// The user's ledger.
    ///
    /// `creating` makes the store where there is none yet.
    static func ledger(
        for target: TargetUser, _ configuration: Configuration, creating: Bool = false
    ) throws(Failure) -> Ledger {
        do throws(StoreError) {
            if creating {
                tell(
                    try StoreCreation.createStore(
                        root: UserStore.standardRoot, settings: configuration.enclaveSettings), configuration)
            }
            return try AdministratorLedger.open(target, configuration)
        } catch {
            throw Failure(error, target)
        }
    }

    /// A store that was made now without the TPM that the machine seems to have: somebody should know it.
    private static func tell(_ made: MadeStore, _ configuration: Configuration) {
        let place = EnclaveReport.place(of: configuration.enclaveSettings)
        guard let problem = made.withoutTPM, PlainFile.exists(place) else { return }
        Output.message(
            "the secrets are in a key file, for no TPM can be used: \(problem.words)",
            hint: "once that is mended, move them with \"sudo signet enclave migrate --to tpm\"")
    }

    /// The readers, behind their helper.
    static func sensor(_ configuration: Configuration) -> SensorClient {
        SensorClient(
            helper: configuration.sensorHelper ?? sensorPath, openSeconds: Int(configuration.readerTimeout))
    }
}

extension Failure {
    /// Why the store cannot be opened.
    init(_ error: StoreError, _ target: TargetUser) {
        let doctor = "see what is wrong with \"sudo signet doctor\""
        switch error {
        case .fault(.store, .missing): self = .pinNotSet(target)
        case .fault(_, .renamed): self = .renamed(target)
        case .fault(.store, .enclaveGone):
            self.init(.stateDamaged, "the TPM does not answer", hint: "see \"sudo signet enclave status\"")
        case .fault(.store, .enclaveForeign):
            self.init(
                .stateDamaged, "the TPM is another one, or was cleared",
                hint: "see \"sudo signet enclave forget --help\"")
        case .fault(.store, .enclaveRequired):
            self.init(
                .stateDamaged, "the configuration asks for a TPM, and the secrets are in a key file",
                hint: "move them with \"sudo signet enclave migrate --to tpm\"")
        case .fault(.store, .unsafeAbove): self = .folderAbove()
        case .fault(.store, .unsafe):
            self.init(.stateDamaged, "the store is not root's alone", hint: doctor)
        case .fault: self.init(.stateDamaged, "signet's record for \(target.text) is damaged", hint: doctor)
        case .busy: self.init(.busy, "somebody else is using signet's record for \(target.text)", hint: "try again")
        case .system: self.init(.busy, "the store cannot be read or written now", hint: doctor)
        }
    }

    /// There are records of the number, and they are another name's.
    static func renamed(_ target: TargetUser) -> Failure {
        Failure(
            .stateDamaged, "what is kept of uid \(target.uid) was made under another name than \(target.text)",
            hint: "for the same person, give it the new name with \"sudo signet user adopt --user "
                + "\(target.argument)\"; somebody else's is deleted with \"sudo signet user purge --yes --user "
                + "\(target.argument)\"")
    }

    /// A folder above the store is not root's alone: which one, and the command that closes it.
    static func folderAbove(of root: [UInt8] = UserStore.standardRoot) -> Failure {
        guard let problem = SafePath.problem(with: root, .folder), let remedy = problem.remedy else {
            return Failure(
                .stateDamaged, "a folder above the store can be changed by others than root, or is a link",
                hint: "see which with \"sudo signet doctor\"")
        }
        return Failure(
            .stateDamaged, "\(Output.text(problem.path)) \(problem.sentence)",
            hint: problem.matter == .wrongKind ? remedy : "mend that with \"\(remedy)\", and run it again")
    }

    /// There is nothing to work on.
    static func pinNotSet(_ target: TargetUser) -> Failure {
        Failure(
            .no, "\(target.text) has no Signet PIN yet",
            hint: target.byAdministrator
                ? "set one with \"sudo signet pin set --user \(target.argument)\""
                : "set one with \"sudo signet setup\"")
    }
}
