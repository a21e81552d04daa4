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
            usesStandInReader: StandInReader.isConfigured(loaded.configuration),
            usesStandInTPM: StandInTPM.isConfigured(loaded.configuration))
        var journal = SyslogJournal(context, verbose: arguments.debug)
        if let problem = loaded.problem { journal.record(.configurationUnusable(problem)) }
        for word in arguments.unknown { journal.record(.argumentUnknown(word)) }
        if let unreadable {
            journal.record(.storeRefused(errno: unreadable.errno))
            return refuseUnread(Asked(user: userName, service: service), &journal)
        }

        // The account's own name, not the typed one: some name services take "ALICE" for alice.
        let name = account?.name ?? userName
        let asked = Asked(
            user: name, service: service, readerName: context.usesStandInReader ? StandInReader.label : nil)
        let use = terminalUse(context)
        if use == .nobody { return refuseInBackground(asked, &journal) }

        let facts = CallerFacts.current(remoteHost: remoteHost, service: service)
        // SAFETY: the conversation is called within this call only, while the handle is valid.
        let person = unsafe PAMConversation(
            pam.conversation(), asked, field: use == .field ? fieldStyle(loaded.configuration, service) : nil,
            silent: silent, tellsThroughConversation: arguments.conversationOnly)
        let request = AuthenticationRequest(
            configuration: loaded.configuration, userExists: account != nil, userName: name,
            pinAllowed: arguments.pinAllowed, terminal: person.hasTerminal, field: person.hasField,
            surroundings: FingerSurroundings(closure: closure(facts), lidClosed: facts.lidClosed))
        let rest = request.field ? nil : account.map { ReaderRest(user: $0.uid, caller: facts.realUID) }
        let caller = CallerClass(
            realUID: facts.realUID, user: account?.uid, name: name, isRemote: facts.isRemote,
            asksFor: pam.text(.requester))
        return authenticate(request, person, context, account, caller: caller, rest)
    }

    /// Who asks: Signet at the terminal, the program, or nobody.
    private func terminalUse(_ context: JournalContext) -> TerminalFacts.Use {
        if arguments.conversationOnly { return .conversation }
        let use = TerminalFacts.current(terminal: context.terminal).use
        return use != .conversation && context.service.isSudo && SudoArguments.avoidTerminal() ? .conversation : use
    }

    private func fieldStyle(_ configuration: Configuration, _ service: [UInt8]) -> FieldStyle {
        FieldStyle(
            mask: configuration.pinMask.map { [$0] }, mayStop: !service.isSudo, interruptsJob: true,
            movesCursor: TerminalFacts.movesCursor(), keypad: arguments.shuffledKeypad)
    }

    /// A job in the background of its terminal gets no prompt, which would stop it, and no armed reader, which would
    /// take the touch that was meant for something else.
    private func refuseInBackground(_ asked: Asked, _ journal: inout SyslogJournal) -> Verdict {
        let verdict = Verdict.refused(.background)
        journal.record(.authentication(verdict: verdict, attempts: nil))
        ControllingTerminal()?.sayFromBackground(Notice.backgroundJob.text(asked))
        return verdict
    }

    /// Who the user is could not be read: nobody is asked, and nothing is known of a record.
    private func refuseUnread(_ asked: Asked, _ journal: inout SyslogJournal) -> Verdict {
        let verdict = Verdict.refused(.recordUnusable)
        journal.record(.authentication(verdict: verdict, attempts: nil))
        // SAFETY: the conversation is called within this call only, while the handle is valid.
        var person = unsafe PAMConversation(
            pam.conversation(), asked, field: nil, silent: silent, tellsThroughConversation: arguments.conversationOnly)
        person.tell(.systemFault)
        return verdict
    }

    private func authenticate(
        _ request: AuthenticationRequest, _ person: consuming PAMConversation, _ context: JournalContext,
        _ account: Account?, caller: CallerClass, _ rest: ReaderRest?
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
                openSeconds: Int(request.configuration.readerTimeout), rest: rest)
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
        return facts.placeClosure ?? (facts.isBackground ? .background : nil)
    }
}
