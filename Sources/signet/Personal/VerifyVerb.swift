internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Option {
    fileprivate static let pinOnly = Option("--pin", "only with the PIN")
    fileprivate static let fingerOnly = Option("--finger", "only with a finger")
}

extension Command {
    /// `signet verify`.
    static let verify = Command(
        "verify", "try whether PIN or finger are recognised", options: [.pinOnly, .fingerOnly, .user, .json],
        details: """
            Goes the way of sudo and login, and grants nothing. Wrong tries count as they do there, and where sudo asks \
            for no finger (from afar, under a closed lid), neither does this. Exit status 0: recognised; 1: not \
            recognised; 5 or 7: the reader is not available, or busy; 8: no finger is asked for here, or now.
            """
    ) { (invocation) throws(Failure) in
        if invocation.has(.pinOnly), invocation.has(.fingerOnly) {
            throw Failure(.usage, "either --pin or --finger, not both", hint: "see \"signet verify --help\"")
        }
        let facts = CallerFacts.ofThisCommand
        var surroundings = facts.surroundings
        if invocation.has(.pinOnly) { surroundings.closure = .switchedOff }
        let target = try Machine.target(invocation).asking(from: facts)
        let configuration = Machine.configuration()
        let person = try CommandConversation.onTerminal(with: target, configuration)
        let request = AuthenticationRequest(
            configuration: configuration, userExists: true, userName: target.name,
            pinAllowed: !invocation.has(.fingerOnly), terminal: true,
            field: person.hasField, surroundings: surroundings)
        var authentication = Authentication(
            request, ledger: try Machine.ledger(for: target, configuration), sensor: Machine.sensor(configuration),
            person: person)
        let verdict = authentication.run()
        let answer = VerifyAnswer(verdict, target, holder: authentication.sensor.holder)
        invocation.answer(answer, text: answer.text)
        return verdict.exitCode
    }
}

/// What `verify` answers.
struct VerifyAnswer: Encodable, Equatable {
    let user: String
    let verified: Bool
    /// "finger", "pin" or "recovery_code"; absent where not verified.
    let factor: String?
    /// Why not; absent where verified.
    let reason: String?
    /// Why no finger was compared, by the names of `status`; absent where the reason is another one.
    let fingerClosure: String?
    /// Who has the reader; absent where it is not busy, or nobody knows.
    let inUseBy: String?
    /// What people read; the reason itself was said on the terminal.
    let text: String

    private enum CodingKeys: CodingKey { case user, verified, factor, reason, fingerClosure, inUseBy }

    /// `holder` is who has the reader that was found busy.
    init(_ verdict: Verdict, _ target: TargetUser, holder: [UInt8]? = nil) {
        user = target.text
        switch verdict {
        case .granted(let proof):
            verified = true
            factor = proof.factor.code
            reason = nil
            fingerClosure = nil
            inUseBy = nil
            text = "\(proof.factor.words) recognised.\n"
        case .refused(let refusal):
            verified = false
            factor = nil
            reason = refusal.reasonCode
            text = refusal.outcome + "\n"
            guard case .fingerPathClosed(let closure) = refusal else {
                fingerClosure = nil
                inUseBy = nil
                return
            }
            fingerClosure = closure.code
            inUseBy = closure == .readerNotAvailable(.busy) ? holder.map { Output.text($0) } : nil
        }
    }
}

extension CallerFacts {
    /// Of whoever gave this command.
    static var ofThisCommand: CallerFacts { ofCommand(givenBy: Surroundings.ofThisProcess.invoker) }
}

extension Surroundings {
    /// Whose shell it was, as sudo says.
    fileprivate var invoker: UInt32 { sudoUID.flatMap { UInt32($0) } ?? realUser }
}

extension TargetUser {
    /// The same with the share of the PIN's tries that an authentication from there has.
    fileprivate func asking(from facts: CallerFacts) -> TargetUser {
        guard facts.isRemote, facts.realUID == 0, caller == .person else { return self }
        return TargetUser(uid: uid, name: name, byAdministrator: byAdministrator, caller: .remote)
    }
}

extension Factor {
    fileprivate var code: String {
        switch self {
        case .finger: "finger"
        case .pin: "pin"
        case .recoveryCode: "recovery_code"
        }
    }

    fileprivate var words: String {
        switch self {
        case .finger: "Finger"
        case .pin: "PIN"
        case .recoveryCode: "Recovery code"
        }
    }
}

extension Refusal {
    fileprivate var reasonCode: String {
        switch self {
        case .authenticationFailed: "authentication_failed"
        case .pinNotSet: "pin_not_set"
        case .pinLockout(.waiting): "pin_waiting"
        case .pinLockout(.disabled): "pin_disabled"
        case .pinLockout(.shareUsedUp): "pin_share_used_up"
        case .cancelled: "cancelled"
        case .timedOut: "timed_out"
        case .unknownUser: "unknown_user"
        case .recordUnusable: "record_unusable"
        case .fingerPathClosed: "finger_path_closed"
        case .background: "background_job"
        }
    }

    /// What came of it, after the reason; "not recognised" is said only of what was compared.
    fileprivate var outcome: String {
        switch self {
        case .authenticationFailed, .unknownUser: "Not recognised."
        case .cancelled: "Cancelled."
        case .timedOut: "Nobody answered in time."
        case .pinLockout: "Locked out."
        case .fingerPathClosed(.notTouched): "Nobody touched the reader in time."
        case .fingerPathClosed: "No finger was compared."
        case .pinNotSet, .recordUnusable, .background: "Nothing was compared."
        }
    }
}

extension Verdict {
    /// The exit code of `verify`.
    var exitCode: ExitCode {
        switch self {
        case .granted: .yes
        case .refused(.pinLockout): .lockedOut
        case .refused(.cancelled): .cancelled
        case .refused(.recordUnusable): .stateDamaged
        case .refused(.fingerPathClosed(let closure)): closure.exitCode
        case .refused(.authenticationFailed), .refused(.pinNotSet), .refused(.timedOut), .refused(.unknownUser),
            .refused(.background):
            .no
        }
    }
}

extension FingerClosure {
    /// The exit code where only a finger would have done.
    fileprivate var exitCode: ExitCode {
        switch self {
        case .readerNotAvailable(let problem): problem.exitCode
        case .readerNotTrusted, .readerExchanged: .readerNotAvailable
        case .biometryLockout, .triesUsedUp: .lockedOut
        case .printsUnusable: .stateDamaged
        case .printsUnavailable: .busy
        case .notTouched: .no
        case .switchedOff, .noTerminal, .notEnrolled, .notApproved, .enrollmentChanged, .foreignPrints,
            .pinRequiredAfterBoot, .pinNeverUsed, .pinRequiredStale, .remote, .lidClosed, .background, .anotherSeat:
            .fingerClosed
        }
    }
}
