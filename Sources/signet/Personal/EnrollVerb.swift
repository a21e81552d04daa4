internal import SignetEngine
internal import SignetPolicy

extension Command {
    /// `signet enroll`.
    static let enroll = Command(
        "enroll", "enrol a finger", operands: "[FINGER]", operandLimit: 2, options: [.user, .json],
        details: """
            Asks for your PIN (and sets one first where there is none), takes the finger, and has you touch once more to \
            confirm. FINGER is left or right with thumb, index, middle, ring or little: right-index. Without it the next \
            usual one is taken. An administrator can enrol for somebody with --user; only that user's PIN, now or with \
            "signet activate", switches the finger on. Ctrl-C leaves everything as it was.
            """
    ) { (invocation) throws(Failure) in
        let finger = invocation.operands.isEmpty ? nil : try Finger(argument: invocation.operands)
        var task = try PersonalTask(invocation, creating: true, asking: .userWithReader)
        task.next = "sudo signet enroll" + (finger.map { " " + $0.argument } ?? "") + task.target.option
        try task.enroll(finger, invocation)
        return .yes
    }
}

/// What `enroll` answers.
struct EnrollAnswer: Encodable, Equatable {
    let user: String
    let finger: String
    let driver: String
    let device: String
    /// Whether the finger counts from now on.
    let active: Bool
    let fingers: Int
    let pinWasSet: Bool

    init(_ enrolled: Enrolled, _ target: TargetUser) {
        user = target.text
        finger = enrolled.finger.name
        driver = Output.text(enrolled.reader.identity.driver)
        device = Output.text(enrolled.reader.identity.device)
        active = enrolled.approved
        fingers = enrolled.prints
        pinWasSet = enrolled.pinWasSet
    }
}

extension PersonalTask {
    /// Enrolls a finger and says what came of it.
    mutating func enroll(_ finger: Finger?, _ invocation: Invocation) throws(Failure) {
        let enrolled = try run { (tasks, screen) throws(ManagementRefusal) in
            try tasks.enroll(finger, on: &screen)
        }
        answer(enrolled, invocation)
    }

    /// Says what came of an enrollment.
    mutating func answer(_ enrolled: Enrolled, _ invocation: Invocation) {
        let target = target
        invocation.answer(
            EnrollAnswer(enrolled, target),
            text: PersonalTask.text(of: enrolled, target) + Leftovers.text(tasks.ledger.leftoverCount()))
    }

    private static func text(of enrolled: Enrolled, _ target: TargetUser) -> String {
        let name = enrolled.finger.name
        let finger = name.prefix(1).uppercased() + name.dropFirst()
        let count = "\(enrolled.prints) \(enrolled.prints == 1 ? "finger" : "fingers")"
        if target.byAdministrator {
            let next =
                enrolled.approved
                ? "It is switched on." : "It counts after \(target.text) runs \"sudo signet activate\" with the PIN."
            return "\(finger) is enrolled for \(target.text), who has \(count) now.\n\(next)\n"
        }
        var text = "\(finger) is enrolled" + (enrolled.approved ? " and switched on.\n" : ".\n")
        if !enrolled.approved { text += "Switch it on with \"sudo signet activate\".\n" }
        text += ForeignPrints.text(enrolled.foreignPrints, atLeast: enrolled.foreignPrintsAtLeast)
        text += "You now have \(count). "
        text +=
            enrolled.recoveryCodeMadeAt.map { "Your recovery code was made on \(Output.day($0)).\n" }
            ?? "Make a recovery code with \"sudo signet recovery-code new\".\n"
        return text
    }
}
