internal import CPlatform
internal import PAMShim
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

/// One call of the module: gathers what surrounds it, wires the adapters, and runs the authentication.
struct ModuleCall {
    private let pam: PAMHandle
    private let silent: Bool
    private let arguments: ModuleArguments

    init(_ pam: PAMHandle, flags: CInt, arguments: ModuleArguments) {
        self.pam = pam
        self.silent = UInt32(bitPattern: flags) & PAM_SILENT != 0
        self.arguments = arguments
    }

    func run() -> Verdict {
        guard let userName = pam.user() else { return .refused(.cancelled) }
        let service = pam.text(.service) ?? []
        let remoteHost = pam.text(.remoteHost)
        let loaded = ConfigurationLoader.load(arguments.configuration ?? ConfigurationLoader.standardPath)
        var account: Account?
        var unreadable: AccountsUnreadable?
        do throws(AccountsUnreadable) { account = try Accounts.named(userName) } catch { unreadable = error }
        let context = JournalContext(
            service: service, user: userName, terminal: pam.text(.terminal) ?? [], remoteHost: remoteHost ?? [],
            realUID: getuid(), userIsKnown: account != nil,
            usesStandInReader: StandInReader.isConfigured(loaded.configuration))
        var journal = SyslogJournal(context, verbose: arguments.debug)
        if let problem = loaded.problem { journal.record(.configurationUnusable(problem)) }
        for word in arguments.unknown { journal.record(.argumentUnknown(word)) }
        if let unreadable {
            journal.record(.storeRefused(errno: unreadable.errno))
            return .refused(.recordUnusable)
        }

        let facts = CallerFacts.current(remoteHost: remoteHost)
        let terminal = ControllingTerminal()
        // The account's own name, not the typed one: some name services take "ALICE" for alice.
        let name = account?.name ?? userName
        let request = AuthenticationRequest(
            configuration: loaded.configuration, userExists: account != nil, userName: name,
            pinAllowed: arguments.pinAllowed, terminal: terminal != nil,
            fingerClosure: closure(facts))
        // SAFETY: the conversation is called within this call only, while the handle is valid.
        let person = unsafe PAMConversation(
            pam.conversation(), user: name, service: service, terminal: terminal, silent: silent,
            standInReader: context.usesStandInReader, tellsThroughConversation: arguments.conversationOnly)
        return authenticate(request, person, context, account, caller: callerClass(facts, account))
    }

    private func authenticate(
        _ request: AuthenticationRequest, _ person: consuming PAMConversation, _ context: JournalContext,
        _ account: Account?, caller: CallerClass
    ) -> Verdict {
        var opening: Result<MachineLedger<SyslogJournal>, StoreError>
        do throws(StoreError) {
            opening = .success(
                try StoreOpening.ledger(
                    uid: account?.uid ?? .max, userName: request.userName, caller: caller,
                    configuration: request.configuration, log: SyslogJournal(context, verbose: arguments.debug)))
        } catch {
            opening = .failure(error)
        }
        switch consume opening {
        case .success(let ledger):
            let sensor = SensorClient(
                helper: request.configuration.sensorHelper ?? SensorClient.standardHelper,
                openSeconds: Int(request.configuration.readerTimeout))
            var authentication = Authentication(request, ledger: ledger, sensor: sensor, person: person)
            return authentication.run()
        case .failure(let error):
            var storeless = StorelessAuthentication(
                request, error, log: SyslogJournal(context, verbose: arguments.debug), person: person)
            return storeless.run()
        }
    }

    /// Why the surroundings close the finger path.
    private func closure(_ facts: CallerFacts) -> FingerClosure? {
        if !arguments.fingerAllowed || !arguments.unknown.isEmpty { return .switchedOff }
        if facts.isRemote { return .remote }
        if facts.lidClosed { return .lidClosed }
        return facts.isBackground ? .background : nil
    }

    /// Whose share of the PIN's failures this call uses up (rule 3).
    private func callerClass(_ facts: CallerFacts, _ account: Account?) -> CallerClass {
        if facts.realUID != 0, facts.realUID != account?.uid { return .anotherPerson }
        return facts.isRemote ? .remote : .person
    }
}
