internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Command {
    /// `signet status`.
    static let status = Command(
        "status", "say what is set up for a user, and what needs somebody",
        options: [.user, Option("--all", "one row for each user who has records"), .json],
        details: """
            What needs somebody is the first line, with the command that mends it. Exit status 0: nothing is in the way of \
            the PIN; 1: no PIN is set; 4: the records cannot be used; 6: the PIN waits or is disabled.
            """
    ) { (invocation) throws(Failure) in
        if invocation.has(.user), invocation.has(Option("--all", "")) {
            throw Failure(.usage, "either --user or --all, not both", hint: "see \"signet status --help\"")
        }
        let verb = StatusVerb(invocation)
        return invocation.has(Option("--all", "")) ? try verb.all() : try verb.one()
    }
}

struct StatusVerb {
    let invocation: Invocation

    init(_ invocation: Invocation) { self.invocation = invocation }

    func one() throws(Failure) -> ExitCode {
        let target = try Machine.target(invocation)
        let configuration = Machine.configuration()
        let readers = AdministratorLedger.readers(configuration)
        // An administrator's session says nothing of somebody else's.
        let here = target.byAdministrator ? FingerSurroundings() : CallerFacts.ofThisCommand.surroundings
        var status = AdministratorLedger.status(of: target, configuration, readers: readers, here: here)
        if !target.byAdministrator { status.lookForHolders() }
        let isStandIn = StandInReader.isConfigured(configuration)
        let enclave = EnclaveReport.read(configuration)
        invocation.answer(
            StatusAnswer(status, isStandIn: isStandIn, enclave: EnclaveAnswer(enclave)),
            text: page(status, isStandIn: isStandIn, secrets: EnclaveText.summary(enclave)))
        return StatusVerb.exit(status)
    }

    private func page(_ status: UserStatus, isStandIn: Bool, secrets: String) -> String {
        var clock = SystemClock()
        let machine = StatusText.Machine(
            secrets: secrets, services: ServiceFiles.guarded(), isStandIn: isStandIn)
        return StatusText.page(status, machine, now: clock.wallTime(), width: Sheet.width)
    }

    func all() throws(Failure) -> ExitCode {
        try TargetUser.requireRoot(.ofThisProcess)
        let configuration = Machine.configuration()
        let owners: [RecordOwner]
        do throws(StoreError) { owners = try AdministratorLedger.owners() } catch {
            throw Failure(
                .stateDamaged, "the store cannot be read", hint: "see what is wrong with \"sudo signet doctor\"")
        }
        let enclave = EnclaveReport.read(configuration)
        let readers = owners.isEmpty ? .problem(.noReader) : AdministratorLedger.readers(configuration)
        let isStandIn = StandInReader.isConfigured(configuration)
        var statuses: [(status: UserStatus, isOrphan: Bool)] = []
        var round = StatusRound(configuration, readers: readers)
        for owner in owners {
            var isOrphan = false
            if case .orphan = owner { isOrphan = true }
            let status = round.status(of: TargetUser(owner))
            // An emptied folder, which stays where somebody's lock was taken beside a purge: nothing is kept there.
            if status.record == .notSetUp { continue }
            statuses.append((status, isOrphan))
        }
        invocation.answer(
            AllStatusAnswer(
                users: statuses.map { StatusAnswer($0.status, isOrphan: $0.isOrphan, isStandIn: isStandIn) },
                enclave: EnclaveAnswer(enclave)),
            text: StatusVerb.table(statuses, width: Sheet.width)
                + (statuses.isEmpty ? "" : "\nSecrets: \(EnclaveText.summary(enclave))\n"))
        let codes = statuses.map { $0.isOrphan ? .yes : StatusVerb.exit($0.status) }
        return codes.contains(.stateDamaged) ? .stateDamaged : codes.contains(.lockedOut) ? .lockedOut : .yes
    }

    static func table(_ statuses: [(status: UserStatus, isOrphan: Bool)], width: Int) -> String {
        guard !statuses.isEmpty else { return "Nobody has a Signet PIN yet.\n" }
        let needs = statuses.map { StatusText.needs($0.status, isOrphan: $0.isOrphan, width: width) }.joined()
        let rows = statuses.map { StatusText.row($0.status, isOrphan: $0.isOrphan) }
        return needs + (needs.isEmpty ? "" : "\n") + Sheet.table(StatusText.heading, rows, width: width)
    }

    static func exit(_ status: UserStatus) -> ExitCode {
        switch status.record {
        case .notSetUp: return .no
        case .faulty: return .stateDamaged
        case .busy, .refused, .clockUnreadable: return .busy
        case .usable: break
        }
        switch status.lockout?.pin {
        case .waiting, .disabled: return .lockedOut
        case .shareUsedUp, nil: return .yes
        }
    }
}
