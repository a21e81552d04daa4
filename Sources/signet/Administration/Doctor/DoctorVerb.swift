internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Command {
    /// `signet doctor`.
    static let doctor = Command(
        "doctor", "look for whatever keeps people out, or lets them in", options: [.json],
        details: """
            Looks at the store and its records, the configuration, the installed files, the readers, and each service that \
            asks Signet, and changes nothing. Each line that is not "ok" says what to do. Exit status 0: no failure; \
            1: at least one.
            """
    ) { (invocation) throws(Failure) in
        try TargetUser.requireRoot(.ofThisProcess)
        let report = DoctorReport(Doctor().lines())
        invocation.answer(report, text: report.text(width: Sheet.width))
        return report.exit
    }
}

/// The machine's doctor: each check gives its lines, and none changes anything.
struct Doctor {
    let root = UserStore.standardRoot
    let loaded: LoadedConfiguration
    let readers: ReaderPresence
    /// Services that ask Signet.
    let guarded = ServiceFiles.guarded()

    init() {
        let loaded = ConfigurationLoader.load()
        self.loaded = loaded
        let helper = loaded.configuration.sensorHelper ?? Machine.sensorPath
        readers =
            SafePath.problem(with: helper, .program) == nil
            ? AdministratorLedger.readers(loaded.configuration) : .problem(.helperFailed)
    }

    /// Everything, in the order in which it should be mended.
    func lines() -> [DoctorLine] {
        let enclave = EnclaveReport.read(loaded.configuration)
        let needsTPM = enclave.store == .tpm || enclave.preference == .require
        let store = storeLines(enclave)
        var lines = store + DoctorEnclave.lines(enclave)
        let records = enclave.isClosed ? [] : recordLines()
        if !enclave.isClosed { lines += records + chipIndexLines() }
        lines += fprintdLines() + configurationLines() + moduleLines() + helperLines()
        lines += helperUserLines()
        lines += enclaveHelperLines(isNeeded: needsTPM) + readerLines() + serviceLines()
        // Who has a PIN is not known where nothing can be opened.
        let isWhole = !(store + records).contains { $0.level == .fail && !$0.subject.hasPrefix("user ") }
        if !enclave.isClosed { lines += peopleLines(storeIsWhole: isWhole) }
        return lines + surroundingLines()
    }

    /// What is wrong with a component of a path.
    static func line(_ subject: String, _ problem: PathProblem, _ level: DoctorLine.Level = .fail) -> DoctorLine {
        let path = Output.text(problem.path)
        return DoctorLine(
            level, subject, "\(path) \(problem.sentence)", remedy: problem.remedy ?? "install Signet anew")
    }
}
