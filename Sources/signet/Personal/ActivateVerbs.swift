internal import SignetEngine
internal import SignetPolicy

extension Command {
    /// `signet activate`.
    static let activate = Command(
        "activate", "switch fingers on, with PIN and a touch", options: [.user, .json],
        details: """
            Approves the fingers that are enrolled now. Look at them first with "sudo signet list": where one was added that \
            is not yours, delete it before.
            """
    ) { (invocation) throws(Failure) in
        var task = try PersonalTask(invocation)
        let activated = try task.run { (tasks, screen) throws(ManagementRefusal) in
            try tasks.activate(on: &screen)
        }
        let option = task.target.option
        let keptElsewhere = task.configuration.enrollmentSource == .fprintd
        var text = ActivateAnswer.text(of: activated, option, keptElsewhere: keptElsewhere)
        text += GonePrints.text(activated.gone, option, keptElsewhere: keptElsewhere)
        text += ForeignPrints.text(activated.foreignPrints, atLeast: activated.foreignPrintsAtLeast)
        if activated.readersLeft > 0 { text += "Run it again for the fingers of the other reader.\n" }
        invocation.answer(ActivateAnswer(activated, task.target), text: text)
        return .yes
    }

    /// `signet deactivate`.
    static let deactivate = Command(
        "deactivate", "switch fingers off; they stay enrolled", options: [.user, .json],
        details: "The PIN goes on working. \"sudo signet activate\" switches them on again."
    ) { (invocation) throws(Failure) in
        var task = try PersonalTask(invocation, asking: .nobody)
        try task.run { (tasks, screen) throws(ManagementRefusal) in try tasks.deactivate(on: &screen) }
        invocation.answer(
            DeactivateAnswer(user: task.target.text, active: false),
            text: "Fingers are switched off. Switch them on again with \"sudo signet activate\".\n")
        return .yes
    }
}

/// What `activate` answers.
struct ActivateAnswer: Encodable, Equatable {
    let user: String
    let fingers: Int
    let readersLeft: Int
    let foreignPrints: Int
    /// Whether there may be more of them.
    let foreignPrintsAtLeast: Bool
    /// Fingers whose prints the reader's memory has no more.
    let gone: [String]

    /// How many count from now on; without any, how one is enrolled.
    static func text(of outcome: Activated, _ option: String, keptElsewhere: Bool) -> String {
        if outcome.reader != nil {
            return "\(outcome.prints) \(outcome.prints == 1 ? "finger is" : "fingers are") switched on.\n"
        }
        let way =
            keptElsewhere
            ? "in the settings of GNOME or KDE, or with fprintd-enroll, then run \"sudo signet activate\(option)\""
            : "with \"sudo signet enroll\(option)\""
        return "No finger is left; the change is settled. Enrol one \(way).\n"
    }

    init(_ outcome: Activated, _ target: TargetUser) {
        user = target.text
        fingers = outcome.prints
        readersLeft = outcome.readersLeft
        foreignPrints = outcome.foreignPrints
        foreignPrintsAtLeast = outcome.foreignPrintsAtLeast
        gone = outcome.gone.map(\.name)
    }
}

/// What `deactivate` answers.
struct DeactivateAnswer: Encodable, Equatable {
    let user: String
    let active: Bool
}
