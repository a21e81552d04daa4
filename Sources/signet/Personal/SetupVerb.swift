internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Command {
    /// `signet setup`.
    static let setup = Command(
        "setup", "set up a PIN, a recovery code and a finger, one after the other", options: [.user, .json],
        details: """
            For the first time. Where no reader serves, it says why and sets the PIN alone, which is enough. What is set \
            up already is left as it is.
            """
    ) { (invocation) throws(Failure) in
        var task = try PersonalTask(invocation, creating: true)
        let target = task.target
        let ownPrints = task.configuration.enrollmentSource == .signet
        task.next = "sudo signet \(ownPrints ? "enroll" : "activate")\(target.option)"
        let hasPIN = try task.hasPIN()
        if hasPIN, try task.countPrints() > 0 {
            invocation.answer(
                SetupAnswer(user: target.text, pin: true, finger: true, reason: nil),
                text: "\(target.text) is set up already; see \"sudo signet status\".\n")
            return .yes
        }
        if !target.byAdministrator, ownPrints {
            try task.setUp(invocation)
            return .yes
        }
        if !hasPIN {
            _ = try task.run { (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen) }
        }
        invocation.answer(
            SetupAnswer(user: target.text, pin: true, finger: false, reason: nil),
            text: target.byAdministrator
                ? "The PIN of \(target.text) is set; a finger is added with \"sudo signet enroll --user \(target.argument)\".\n"
                : "Your PIN is set. Switch the fingers on that you enrol in your desktop's settings, with "
                    + "\"sudo signet activate\".\n")
        return .yes
    }
}

/// What `setup` answers where no finger was enrolled now.
struct SetupAnswer: Encodable, Equatable {
    let user: String
    let pin: Bool
    let finger: Bool
    /// What is the matter with the reader, or with the list of what it keeps, where that is why there is no finger.
    let reason: String?

    /// The PIN stands, and that is what kept the finger away.
    static func text(pinAlone why: Failure) -> String {
        let remedy = why.hint.map { "\($0.prefix(1).uppercased())\($0.dropFirst()).\n" } ?? ""
        return "Your PIN is set. No finger is enrolled: \(why.message).\n" + remedy
            + "Then add one with \"sudo signet enroll\".\n"
    }
}

extension PersonalTask {
    /// Whether the user has a PIN.
    mutating func hasPIN() throws(Failure) -> Bool {
        do throws(LedgerFailure) { return try tasks.ledger.load() != nil } catch { throw Failure(error, target) }
    }

    /// How many prints are kept of the user.
    mutating func countPrints() throws(Failure) -> Int {
        do throws(LedgerFailure) { return try tasks.ledger.loadPrints().entries.count } catch {
            throw Failure(error, target)
        }
    }

    /// A finger and the PIN, or the PIN alone and why.
    fileprivate mutating func setUp(_ invocation: Invocation) throws(Failure) {
        let outcome = try run { (tasks, screen) throws(ManagementRefusal) in try tasks.setUp(on: &screen) }
        switch outcome {
        case .enrolled(let enrolled): answer(enrolled, invocation)
        case .pinAlone(let refusal):
            invocation.answer(
                SetupAnswer(user: target.text, pin: true, finger: false, reason: refusal.readerCode),
                text: SetupAnswer.text(pinAlone: words(of: refusal)))
        }
    }
}

extension ManagementRefusal {
    /// The stable name of what is the matter with a reader, or with the list of what it keeps.
    fileprivate var readerCode: String? {
        switch self {
        case .reader(let problem): problem.code
        case .readerNotTrusted(let distrust): distrust.code
        case .ledger(.indexUnusable(let fault)): "chip_prints_\(fault.code)"
        default: nil
        }
    }
}
