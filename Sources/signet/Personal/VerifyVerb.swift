internal import SignetEngine
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
            Goes the way of sudo and login, and grants nothing. Wrong tries count as they do there. Exit status 0: \
            recognised; 1: not recognised.
            """
    ) { (invocation) throws(Failure) in
        if invocation.has(.pinOnly), invocation.has(.fingerOnly) {
            throw Failure(.usage, "either --pin or --finger, not both", hint: "see \"signet verify --help\"")
        }
        let target = try Machine.target(invocation)
        let configuration = Machine.configuration()
        let person = try CommandConversation.onTerminal(with: target, configuration)
        let request = AuthenticationRequest(
            configuration: configuration, userExists: true, userName: target.name,
            pinAllowed: !invocation.has(.fingerOnly), terminal: true,
            field: person.hasField, fingerClosure: invocation.has(.pinOnly) ? .switchedOff : nil)
        var authentication = Authentication(
            request, ledger: try Machine.ledger(for: target, configuration), sensor: Machine.sensor(configuration),
            person: person)
        let verdict = authentication.run()
        let answer = VerifyAnswer(verdict, target)
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

    init(_ verdict: Verdict, _ target: TargetUser) {
        user = target.text
        switch verdict {
        case .granted(let proof):
            verified = true
            factor = proof.factor.code
            reason = nil
        case .refused(let refusal):
            verified = false
            factor = nil
            reason = refusal.reasonCode
        }
    }

    /// The reason itself was said on the terminal.
    var text: String {
        switch factor {
        case "finger": "Finger recognised.\n"
        case "pin": "PIN recognised.\n"
        case .some: "Recovery code recognised.\n"
        case nil: reason == "cancelled" ? "Cancelled.\n" : "Not recognised.\n"
        }
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
}

extension Verdict {
    /// The exit code of `verify`.
    var exitCode: ExitCode {
        switch self {
        case .granted: .yes
        case .refused(.pinLockout), .refused(.fingerPathClosed(.biometryLockout)): .lockedOut
        case .refused(.cancelled): .cancelled
        case .refused(.recordUnusable): .stateDamaged
        case .refused(.fingerPathClosed(.readerNotAvailable(let problem))): problem.exitCode
        case .refused(.fingerPathClosed(.readerNotTrusted)), .refused(.fingerPathClosed(.readerExchanged)):
            .readerNotAvailable
        case .refused: .no
        }
    }
}
