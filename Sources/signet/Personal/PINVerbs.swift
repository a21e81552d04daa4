internal import SignetEngine

extension Option {
    fileprivate static let standardInput = Option("--stdin", "read the PIN, one line, from standard input")
    fileprivate static let yes = Option("--yes", "remove it although services ask for it, or it is somebody else's")
}

extension Command {
    /// `signet pin set`.
    static let pinSet = Command(
        "pin set", "set the first PIN", options: [.user, .standardInput, .json],
        details: """
            Asks twice for a PIN and shows the recovery code that goes with it, once. With --user an administrator sets a \
            PIN for somebody, also in the place of a lost one: no recovery code is made, that user is told, and switches \
            fingers on again with "sudo signet activate". With --stdin a program gives the PIN, as one line; no recovery \
            code is made then either.
            """
    ) { (invocation) throws(Failure) in
        var task = try PersonalTask(
            invocation, creating: true, asking: invocation.has(.standardInput) ? .program : .person)
        let set = try task.run { (tasks, screen) throws(ManagementRefusal) in try tasks.setPIN(on: &screen) }
        let target = task.target
        var text = target.byAdministrator ? "The PIN of \(target.text) is set.\n" : "Your PIN is set.\n"
        if let replaced = set.replaced {
            if replaced.recoveryCode {
                text +=
                    "The recovery code of \(target.text) works no more; \"sudo signet recovery-code new\" makes one.\n"
            }
            if replaced.fingers {
                text += "Fingers of \(target.text) count again after \"sudo signet activate\".\n"
            }
        }
        if !set.recoveryCodeShown, !target.byAdministrator {
            text += "Make a recovery code with \"sudo signet recovery-code new\".\n"
        }
        invocation.answer(
            PINAnswer(user: target.text, pin: true, recoveryCode: set.recoveryCodeShown), text: text)
        return .yes
    }

    /// `signet pin change`.
    static let pinChange = Command(
        "pin change", "change the PIN", options: [.user, .json],
        details: "Asks for the PIN that is in force and twice for a new one. Fingers and recovery code stay."
    ) { (invocation) throws(Failure) in
        var task = try PersonalTask(invocation)
        try task.run { (tasks, screen) throws(ManagementRefusal) in try tasks.changePIN(on: &screen) }
        invocation.answer(
            PINAnswer(user: task.target.text, pin: true, recoveryCode: nil), text: "The PIN is changed.\n")
        return .yes
    }

    /// `signet pin remove`.
    static let pinRemove = Command(
        "pin remove", "remove PIN, recovery code and all else that is kept", options: [.user, .yes, .json],
        details: """
            Fingers go first, with "sudo signet delete --all": while one is enrolled, nothing is removed. Where sudo or \
            login ask Signet and nothing else, they let nobody in who has no PIN; so that, and the removal of somebody \
            else's PIN, takes --yes.
            """
    ) { (invocation) throws(Failure) in
        if !invocation.has(.yes) {
            let target = try Machine.target(invocation)
            if let refusal = PINRemoval.refusal(target, closed: PINRemoval.closedServices()) { throw refusal }
        }
        var task = try PersonalTask(invocation, asking: .user)
        try task.run { (tasks, screen) throws(ManagementRefusal) in try tasks.removePIN(on: &screen) }
        let target = task.target
        invocation.answer(
            PINAnswer(user: target.text, pin: false, recoveryCode: false),
            text: "Nothing is kept of \(target.text) any more.\n")
        return .yes
    }

    /// `signet recovery-code new`.
    static let recoveryCodeNew = Command(
        "recovery-code new", "make a new recovery code", options: [.user, .json],
        details: "Asks for the PIN, and shows the new code once. Any older code stops working."
    ) { (invocation) throws(Failure) in
        var task = try PersonalTask(invocation)
        try task.run { (tasks, screen) throws(ManagementRefusal) in try tasks.renewRecoveryCode(on: &screen) }
        invocation.answer(
            PINAnswer(user: task.target.text, pin: true, recoveryCode: true),
            text: "Any older recovery code stopped working.\n")
        return .yes
    }

    /// `signet recovery-code use`.
    static let recoveryCodeUse = Command(
        "recovery-code use", "set a new PIN with the recovery code", options: [.user, .json],
        details: "For a PIN that is forgotten or disabled. The code works once; make a new one afterwards."
    ) { (invocation) throws(Failure) in
        var task = try PersonalTask(invocation, secretPrompt: "Recovery code: ")
        try task.run { (tasks, screen) throws(ManagementRefusal) in try tasks.useRecoveryCode(on: &screen) }
        invocation.answer(
            PINAnswer(user: task.target.text, pin: true, recoveryCode: false),
            text: """
                The new PIN is set, and the recovery code is used up.
                Make a new one with "sudo signet recovery-code new".

                """)
        return .yes
    }
}

/// What follows when a PIN goes.
enum PINRemoval {
    /// Services that let nobody in but by Signet, and so nobody without a PIN.
    static func closedServices() -> [String] {
        ServiceFiles.guarded().filter { name in
            !StackReview.grantsForPassword(Array(name.utf8)) { ServiceFiles.read($0) }
        }
    }

    /// Why it needs a second word; nil where nobody is shut out, and the PIN is the caller's own.
    static func refusal(_ target: TargetUser, closed services: [String]) -> Failure? {
        let whose = target.byAdministrator ? target.text : "you"
        if !services.isEmpty {
            return Failure(
                .no, "without a PIN, these let \(whose) in no more: \(services.joined(separator: ", "))",
                hint: """
                    put "@include common-auth" in the place of Signet's lines in their files in /etc/pam.d first, or run \
                    scripts/uninstall: what stays where the lines are only deleted lets everybody in, or nobody; to remove the \
                    PIN all the same, add --yes
                    """)
        }
        guard target.byAdministrator else { return nil }
        return Failure(
            .no, "this would delete PIN, recovery code and counters of \(target.text)", hint: "to do it, add --yes")
    }
}

/// What the verbs about PIN and recovery code answer; never anything of the secrets themselves.
struct PINAnswer: Encodable, Equatable {
    let user: String
    /// Whether there is a PIN now.
    let pin: Bool
    /// Whether there is a recovery code now; absent where the verb did not touch it.
    let recoveryCode: Bool?
}
