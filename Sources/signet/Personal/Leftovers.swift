internal import SignetEngine
internal import SignetPolicy

/// What is left over in readers' memories and in no record any more: how it is told, and deleted.
enum Leftovers {
    static let remedy = "sudo signet delete --leftovers"

    /// What there is, after a name and a colon.
    static func words(_ count: Int) -> String {
        "\(count) \(count == 1 ? "print is" : "prints are") left over in its memory, and \(count == 1 ? "matches" : "match") for nobody"
    }

    /// A sentence behind what a task says; nothing where nothing is left.
    static func text(_ count: Int) -> String {
        if count == 0 { return "" }
        let what = count == 1 ? "1 deleted print is" : "\(count) deleted prints are"
        let them = count == 1 ? "it" : "them"
        return "\(what) still in a reader's memory; take \(them) out of there with \"\(remedy)\".\n"
    }

    /// `signet delete --leftovers`.
    static func delete(_ invocation: Invocation) throws(Failure) -> ExitCode {
        guard invocation.operands.isEmpty,
            !invocation.options.contains(where: { ["--all", "--user", "--reader"].contains($0.name) })
        else {
            throw Failure(
                .usage, "--leftovers stands alone: what is left over is nobody's finger any more",
                hint: "see \"signet delete --help\"")
        }
        try TargetUser.requireRoot(.ofThisProcess)
        // It is about nobody, so that root need not name a user.
        let root = TargetUser(uid: 0, name: Array("root".utf8), byAdministrator: true, caller: .person)
        var task = try PersonalTask(invocation, about: root, asking: .nobody)
        let outcome = try task.run { (tasks, screen) throws(ManagementRefusal) in
            try tasks.deleteLeftovers(on: &screen)
        }
        invocation.answer(LeftoversAnswer(outcome), text: text(of: outcome))
        // As in `delete`.
        _ = consume task
        return exitCode(of: outcome.left)
    }

    /// Busy where nothing but that was in the way.
    static func exitCode(of left: [PrintsLeft]) -> ExitCode {
        if left.isEmpty { return .yes }
        let isBusy = left.allSatisfy { if case .problem(.busy, _) = $0.why { true } else { false } }
        return isBusy ? .busy : .readerNotAvailable
    }

    static func text(of outcome: LeftoversDeleted) -> String {
        var text = ""
        if outcome.deleted > 0 {
            text +=
                "Deleted from the reader's memory: \(outcome.deleted) \(outcome.deleted == 1 ? "print" : "prints").\n"
        }
        if outcome.gone > 0 {
            text += "Not there any more: \(outcome.gone) \(outcome.gone == 1 ? "print" : "prints").\n"
        }
        for left in outcome.left {
            text +=
                "Still in the memory of \(Output.text(left.reader.driver)): \(left.prints) "
                + "\(left.prints == 1 ? "print" : "prints"); \(left.why.words).\n"
        }
        return text.isEmpty ? "Nothing is left over in a reader's memory.\n" : text
    }
}

extension Leftovers {
    /// The stable names of why prints stay, each once.
    static func causes(of left: [PrintsLeft]) -> [String] {
        left.reduce(into: []) { causes, next in
            if !causes.contains(next.why.code) { causes.append(next.why.code) }
        }
    }
}

extension PrintsLeft.Cause {
    fileprivate var code: String {
        switch self {
        case .problem(let problem, _): problem.code
        case .notTrusted(let distrust): distrust.code
        }
    }

    /// Why the prints stay, behind a colon.
    var words: String {
        switch self {
        case .problem(.busy, .some(let holder)): "the reader is in use by \(Output.text(holder))"
        case .problem(let problem, _): problem.words
        case .notTrusted(let distrust): distrust.words
        }
    }
}

/// What `delete --leftovers` answers.
private struct LeftoversAnswer: Encodable {
    let deleted: Int
    /// Those that were not there any more.
    let gone: Int
    let left: Int
    /// Why: stable names, each once.
    let leftBecause: [String]

    init(_ outcome: LeftoversDeleted) {
        deleted = outcome.deleted
        gone = outcome.gone
        left = outcome.left.reduce(0) { $0 + $1.prints }
        leftBecause = Leftovers.causes(of: outcome.left)
    }
}
