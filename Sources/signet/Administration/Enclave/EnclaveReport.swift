internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

/// All that the enclave's verbs, `status` and `doctor` tell of a machine's secrets.
struct EnclaveReport: Equatable {
    /// What the store's master key is bound to.
    enum Store: Equatable {
        /// No store was made yet.
        case none
        case file
        case tpm
        /// Neither a key nor an object of a TPM can be used; the store's lines of doctor say more.
        case unusable(RecordCondition)
    }

    /// The TPM, as far as it can be asked.
    enum TPM: Equatable {
        case present(EnclaveDescription)
        case problem(EnclaveProblem)
    }

    /// What the TPM has of one user; nobody is listed where the store has none.
    struct Person: Equatable {
        let label: String
        let uid: UInt32
        /// Whether the PIN opens the signing key with this TPM alone; false until the next right PIN after a migration.
        let isPINBound: Bool
        /// Whether a counter of the TPM stands against old copies of the records.
        let hasCounter: Bool
    }

    var store: Store
    var preference = EnclavePreference.prefer
    /// "/dev/tpmrm0".
    var place = "/dev/tpmrm0"
    var isStandIn = false
    var tpm: TPM
    var people: [Person] = []
    /// Where a migration goes to that was begun and not ended.
    var migration: EnclaveKind?
    /// Files of the store that belong to the other enclave, and to no migration: planted, or left.
    var leftovers: [String] = []

    /// Who the TPM still has to be told of.
    var unbound: [Person] { usesTPM ? people.filter { !$0.isPINBound } : [] }
    var withoutCounter: [Person] { usesTPM ? people.filter { !$0.hasCounter } : [] }

    /// Whether what is written from now on is bound to the TPM: not on the way to a file.
    private var usesTPM: Bool { store == .tpm && migration != .file }

    /// Exit status of `signet enclave status`.
    var exit: ExitCode {
        switch (store, tpm) {
        case (.none, _): .no
        case (.unusable(.faulty), _): .stateDamaged
        case (.unusable, _): .busy
        case (.file, _): preference == .require ? .stateDamaged : .yes
        case (.tpm, .problem(let problem)): problem.exit
        case (.tpm, .present(let facts)): facts.dictionaryAttack.inLockout ? .lockedOut : .yes
        }
    }
}

extension EnclaveReport {
    /// Looks at the store and the TPM; changes nothing.
    ///
    /// It takes as long as a TPM that does not answer is waited for.
    static func read(_ configuration: Configuration) -> EnclaveReport {
        let settings = configuration.enclaveSettings
        let status = EnclaveAdministration.status(settings: settings)
        var labels: [UInt32: String] = [:]
        for owner in AdministratorLedger.owners(of: status.users.filter(\.hasRecords).map(\.uid)) {
            labels[owner.uid] = TargetUser(owner).label
        }
        var report = EnclaveReport(status) { labels[$0] ?? "\($0)" }
        report.preference = settings.preference
        report.place = place(of: settings)
        report.isStandIn = StandInTPM.isConfigured(configuration)
        return report
    }

    /// `name` gives the label of a uid.
    init(_ status: EnclaveStatus, name: (UInt32) -> String) {
        var problem = status.problem
        switch (status.kind, status.fault) {
        case (nil, nil): store = .none
        case (.file?, nil), (.file?, .fault(.store, .enclaveRequired)?): store = .file
        case (.tpm?, nil): store = .tpm
        case (.tpm?, .fault(.store, .enclaveForeign)?): (store, problem) = (.tpm, .foreign)
        case (.tpm?, .fault(.store, .enclaveGone)?): (store, problem) = (.tpm, status.problem ?? .other)
        case (.tpm?, .busy?): (store, problem) = (.tpm, status.problem ?? .busy)
        case (_, .some(let error)): store = .unusable(RecordCondition(error))
        }
        if let description = status.description, problem == nil {
            tpm = .present(description)
        } else {
            tpm = .problem(problem ?? .noDevice)
        }
        people = status.users.filter(\.hasRecords).map { user in
            Person(label: name(user.uid), uid: user.uid, isPINBound: user.hasHalf, hasCounter: user.counter != nil)
        }
        switch status.direction {
        case .toFile?: migration = .file
        case .toTPM?: migration = .tpm
        case nil: migration = nil
        }
        if status.hasStrayKey { leftovers = [Output.text(UserStore.standardRoot) + "/key"] }
    }

    /// For tests, and what is put together by hand.
    init(
        store: Store, preference: EnclavePreference = .prefer, isStandIn: Bool = false, tpm: TPM, people: [Person] = []
    ) {
        self.store = store
        self.preference = preference
        self.isStandIn = isStandIn
        self.tpm = tpm
        self.people = people
    }

    /// Whether nobody gets in, whatever the records are like: then there is no use in looking at them one by one.
    var isClosed: Bool {
        if case .problem = tpm { return store == .tpm }
        return store == .file && preference == .require
    }
}

extension EnclaveProblem {
    /// The stable name for JSON.
    var code: String { "\(word)" }

    /// What is the matter, for an administrator.
    var words: String {
        switch self {
        case .noDevice: "there is no TPM, or it does not answer"
        case .foreign: "the TPM is another one, or was cleared"
        case .lockout: "the TPM is locked after too many wrong authorisations"
        case .busy: "the TPM stayed busy"
        case .noRoom: "the TPM has no room left"
        case .noCounter: "the TPM has lost a counter"
        case .ownerRefused: "the TPM's owner hierarchy asks for an authorisation, or is disabled"
        case .lockoutAuthSet: "the TPM's lockoutAuth is set already"
        case .other: "the TPM answered an error"
        case .helperFailed: "the TPM helper cannot be started or failed"
        case .stalled: "the TPM did not answer in time"
        }
    }

    /// What to do about it.
    var remedy: String {
        switch self {
        case .noDevice: "switch the TPM on in the firmware's settings; \"ls /dev/tpm*\" shows it"
        case .foreign: "sudo signet enclave forget"
        case .lockout: "wait; or, with the lockout secret: sudo signet enclave reset"
        case .busy, .stalled: "end what else uses the TPM, or restart the machine"
        case .noRoom: "see what fills it: tpm2_getcap handles-nv-index"
        case .noCounter: "sudo signet enclave accept --all"
        case .ownerRefused: "clear the owner's authorisation: tpm2_changeauth -c owner -p OLD"
        case .lockoutAuthSet: "see \"sudo signet enclave status\""
        case .other: "look into the system's log"
        case .helperFailed: "sudo signet doctor"
        }
    }

    /// How a command ends that found it.
    var exit: ExitCode {
        switch self {
        case .busy, .stalled: .busy
        case .lockout: .lockedOut
        default: .stateDamaged
        }
    }
}

extension EnclaveDescription {
    /// "Infineon"; the registered letters where nobody here knows the name.
    var makerName: String {
        let letters = String(decoding: maker.prefix { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
        return EnclaveDescription.makers[letters] ?? (letters.isEmpty ? "unknown maker" : letters)
    }

    /// The two words of the version, each as two numbers, as makers print them: "7.85.4555.0".
    var firmwareText: String {
        [48, 32, 16, 0].map { "\(firmware >> UInt64($0) & 0xFFFF)" }.joined(separator: ".")
    }

    /// TCG Vendor ID Registry, section "TPM Capabilities Vendor ID": those that are met in PCs and virtual machines.
    private static let makers = [
        "AMD": "AMD", "ATML": "Atmel", "GOOG": "Google", "HPI": "HPI", "IBM": "IBM", "IFX": "Infineon", "INTC": "Intel",
        "MSFT": "Microsoft", "NSM": "National Semiconductor", "NTC": "Nuvoton", "QCOM": "Qualcomm",
        "STM": "STMicroelectronics", "VMW": "VMware",
    ]
}

extension EnclaveKind {
    /// The word of `--to` and of JSON.
    var word: String {
        switch self {
        case .file: "file"
        case .tpm: "tpm"
        }
    }

    /// For sentences.
    var name: String {
        switch self {
        case .file: "a key file"
        case .tpm: "the TPM"
        }
    }
}
