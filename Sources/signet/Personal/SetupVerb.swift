internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Command {
    /// `signet setup`.
    static let setup = Command(
        "setup", "set up a PIN, a recovery code and a finger, one after the other", options: [.user, .json],
        details: """
            For the first time. A finger is taken only where a reader is there; the PIN alone is enough. What is set up \
            already is left as it is.
            """
    ) { (invocation) throws(Failure) in
        var task = try PersonalTask(invocation, creating: true)
        let target = task.target
        let hasPIN = try task.hasPIN()
        if hasPIN, try task.countPrints() > 0 {
            invocation.answer(
                SetupAnswer(user: target.text, pin: true, finger: true),
                text: "\(target.text) is set up already; see \"sudo signet status\".\n")
            return .yes
        }
        let ownPrints = task.configuration.enrollmentSource == .signet
        if !target.byAdministrator, ownPrints, task.hasReader() {
            try task.enroll(nil, invocation)
            return .yes
        }
        if !hasPIN {
            _ = try task.run { (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen) }
        }
        invocation.answer(
            SetupAnswer(user: target.text, pin: true, finger: false),
            text: target.byAdministrator
                ? "The PIN of \(target.text) is set; a finger is added with \"sudo signet enroll --user \(target.argument)\".\n"
                : ownPrints
                    ? "Your PIN is set. No reader was found; add a finger later with \"sudo signet enroll\".\n"
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

    fileprivate mutating func hasReader() -> Bool {
        do throws(ReaderProblem) {
            let found = try !tasks.sensor.readers().isEmpty
            tasks.sensor.close()
            return found
        } catch {
            tasks.sensor.close()
            return false
        }
    }
}
