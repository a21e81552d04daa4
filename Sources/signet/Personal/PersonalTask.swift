internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

/// The management tasks on this machine.
typealias Tasks = Management<
    UserStore, SodiumVault, SystemClock, SyslogJournal, SensorClient, CommandConversation
>

/// One task for one user: whom it is for, and all that it needs.
struct PersonalTask: ~Copyable {
    let target: TargetUser
    let configuration: Configuration
    var tasks: Tasks
    var screen: TerminalScreen
    /// The command that goes on where the task ends after it has set the PIN; nil where nothing is left to do then.
    var next: String? {
        get { screen.next }
        set { screen.next = newValue }
    }

    /// Who is asked for secrets.
    enum Asking {
        /// The person at the terminal, which must be there.
        case person
        /// The same; but an administrator can go on without the user's PIN, and without a terminal.
        case user
        /// The same; but whoever lays a finger on the reader has to be told when, so that a terminal must be there.
        case userWithReader
        /// A program that gives one PIN.
        case program
        case nobody
    }

    /// Opens what the task needs.
    ///
    /// `creating` makes the store where there is none yet; `known` is whom it is about where the invocation need not say it.
    init(
        _ invocation: Invocation, about known: TargetUser? = nil, creating: Bool = false, asking: Asking = .person,
        secretPrompt: String? = nil
    ) throws(Failure) {
        let target = if let known { known } else { try Machine.target(invocation) }
        let configuration = Machine.configuration()
        let person: CommandConversation
        switch asking {
        case .user where target.byAdministrator && Terminal() == nil, .nobody: person = .withNobody(about: target)
        case .program: person = .onStandardInput(with: target)
        case .user where target.byAdministrator, .userWithReader where target.byAdministrator:
            let prompt = "PIN of \(target.text), or Enter to go on without it: "
            person = try .onTerminal(with: target, configuration, secretPrompt: prompt)
        case .person, .user, .userWithReader:
            person = try .onTerminal(with: target, configuration, secretPrompt: secretPrompt)
        }
        let ledger = try Machine.ledger(for: target, configuration, creating: creating)
        self.target = target
        self.configuration = configuration
        tasks = Management(
            ManagementRequest(
                configuration: configuration, uid: target.uid, userName: target.name,
                byAdministrator: target.byAdministrator, asksTwice: asking != .program),
            ledger: ledger, sensor: Machine.sensor(configuration), person: person)
        screen = TerminalScreen(showsCodes: asking != .program)
    }

    /// Runs a task and words its refusal.
    mutating func run<Outcome>(
        _ body: (inout Tasks, inout TerminalScreen) throws(ManagementRefusal) -> Outcome
    ) throws(Failure) -> Outcome {
        Resumption.watch()
        do throws(ManagementRefusal) {
            let outcome = try body(&tasks, &screen)
            screen.end()
            return outcome
        } catch {
            throw failure(error)
        }
    }

    /// The words of a refusal; the screen ends first, for they must not go away with it.
    mutating func failure(_ refusal: ManagementRefusal) -> Failure {
        let failure = words(of: refusal)
        // Of what was cancelled the screen has told it, before a signal could end the program.
        return tasks.pinWasSet && refusal != .cancelled ? failure.afterPIN(next: next) : failure
    }

    /// The same, whatever the task has set before.
    mutating func words(of refusal: ManagementRefusal) -> Failure {
        screen.end()
        // A stop acts here.
        if refusal == .cancelled, Resumption.happened { return .stopped }
        if refusal == .nobodyToAsk, let problem = tasks.person.problem { return Failure(problem) }
        if refusal == .reader(.busy), let holder = tasks.sensor.holder { return .readerInUse(by: Output.text(holder)) }
        if refusal == .reader(.storageFull) { return memoryIsFull() }
        if refusal == .duplicate(of: nil) { return fingerIsKnown() }
        return Failure(refusal, target)
    }
}

extension Failure {
    /// The program was stopped while a finger was awaited.
    static var stopped: Failure { Failure(.cancelled, "stopping it cancelled it", hint: again) }

    static let again = "run it again"

    /// The same where the task had set the PIN before: that stays, and `next` is the command that goes on.
    func afterPIN(next: String?) -> Failure {
        let way = next.map { "; go on with \"\($0)\"" } ?? ""
        let known = hint == nil || hint == Failure.again ? "" : hint.map { "\($0); " } ?? ""
        return Failure(exit, message, hint: "\(known)the PIN is set\(way)")
    }
}
