internal import SignetEngine
internal import SignetPolicy

extension Option {
    fileprivate static let all = Option("--all", "every finger")
    fileprivate static let reader = Option(
        "--reader", value: "R", "only from this reader: its driver, or DRIVER:DEVICE, as \"list\" shows it")
    fileprivate static let yes = Option("--yes", "from every reader, where the finger is on several")
    fileprivate static let leftovers = Option("--leftovers", "what cut deletions left in readers' memories")
}

extension Command {
    /// `signet delete`.
    static let delete = Command(
        "delete", "delete a finger", operands: "FINGER|--all|--leftovers", operandLimit: 2,
        options: [.all, .reader, .yes, .leftovers, .user, .json],
        details: """
            Deletes it from this machine and from the reader's memory. Where it is enrolled on several readers, name one \
            with --reader, which need not be plugged in, or all of them with --yes. Your PIN keeps the other fingers switched on; where \
            an administrator goes on without it, they are off until the user runs "sudo signet activate". With --leftovers \
            it deletes from readers' memories what earlier deletions and enrolments left there that were cut off, of all \
            users; nothing of it matches for anybody here. Prints that Signet neither put there nor imported stay.
            """
    ) { (invocation) throws(Failure) in
        if invocation.has(.leftovers) { return try Leftovers.delete(invocation) }
        let selection: FingerSelection
        switch (invocation.has(.all), invocation.operands.isEmpty) {
        case (true, true): selection = .all
        case (false, false): selection = .finger(try Finger(argument: invocation.operands))
        case (true, false):
            throw Failure(.usage, "either a finger or --all, not both", hint: "see \"signet delete --help\"")
        case (false, true): throw Failure(.usage, "which finger?", hint: "name it, or see \"sudo signet list\"")
        }
        let fromEveryReader = invocation.has(.yes)
        let reader = invocation.value(of: .reader).map { ReaderName(argument: $0) }
        var task = try PersonalTask(invocation, asking: .user)
        let deleted = try task.run { (tasks, screen) throws(ManagementRefusal) in
            try tasks.delete(selection, onlyOn: reader, fromEveryReader: fromEveryReader, on: &screen)
        }
        let left = task.tasks.ledger.leftoverCount()
        invocation.answer(
            DeleteAnswer(deleted, task.target, leftovers: left),
            text: DeleteAnswer.text(of: deleted, task.target, leftovers: left))
        // A signal that came meanwhile acts here, where all is told.
        _ = consume task
        return .yes
    }
}

extension ReaderName {
    /// "elanmoc", or "elanmoc:0".
    init(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(
            driver: Array((parts.first ?? "").utf8), device: parts.count > 1 ? Array(parts[1].utf8) : nil)
    }
}

/// What `delete` answers.
struct DeleteAnswer: Encodable, Equatable {
    let user: String
    let deleted: [String]
    /// Prints that still lie in a reader's memory; nothing matches them any more.
    let leftOnReader: Int
    /// Why: stable names, each once.
    let leftBecause: [String]
    /// All prints in readers' memories that are in no record, from earlier too.
    let leftovers: Int
    let fingers: Int
    /// Whether the fingers that remain count.
    let active: Bool

    init(_ outcome: FingersDeleted, _ target: TargetUser, leftovers: Int) {
        self.leftovers = leftovers
        user = target.text
        deleted = outcome.fingers.map(\.name)
        leftOnReader = outcome.left.reduce(0) { $0 + $1.prints }
        leftBecause = Leftovers.causes(of: outcome.left)
        fingers = outcome.remaining
        active = outcome.approved
    }

    static func text(of outcome: FingersDeleted, _ target: TargetUser, leftovers: Int) -> String {
        if outcome.unreadable {
            return """
                The damaged record of fingerprints is replaced by an empty one; the PIN stays.
                Prints may lie in a reader's memory still, where nothing matches them.

                """ + Leftovers.text(leftovers)
        }
        let names = outcome.fingers.map(\.name).joined(separator: ", ")
        let remain = outcome.remaining == 1 ? "finger remains" : "fingers remain"
        var text = "Deleted: \(names). \(outcome.remaining) \(remain).\n"
        for left in outcome.left {
            text +=
                "\(left.prints) could not be deleted from the reader's memory, where nothing matches now: "
                + "\(left.why.words).\n"
        }
        if outcome.remaining > 0, !outcome.approved {
            text += "The others are off until \(target.text) runs \"sudo signet activate\".\n"
        }
        return text + Leftovers.text(leftovers)
    }
}
