internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

extension Command {
    /// `signet import`.
    static let importPrints = Command(
        "import", "take over the fingers that fprintd keeps (GNOME, KDE)", options: [.user, .json],
        details: """
            Shows what fprintd keeps of the user's fingers, asks for your PIN, has you touch the reader with one of them, \
            and switches them on. Look at the list first: whoever knows the system password may have enrolled a finger \
            there. fprintd's own files stay as they are. Where an administrator goes on without the user's PIN, they are \
            off until the user runs "sudo signet activate".
            """
    ) { (invocation) throws(Failure) in
        let target = try Machine.target(invocation)
        guard Machine.configuration().enrollmentSource == .signet else { throw Failure(.printsKeptElsewhere, target) }
        let found = try FprintdPrints.of(target)
        for problem in found.problems {
            Output.message("left out: \(Output.text(problem.path)) \(problem.sentence)")
        }
        // What nobody can take over is told before anybody is asked.
        if found.set.entries.isEmpty, let problem = found.problems.first {
            throw Failure(
                .stateDamaged, "none of fprintd's prints of \(target.text) can be used",
                hint: "\(Output.text(problem.path)) \(problem.sentence)")
        }
        var task = try PersonalTask(invocation, asking: .user)
        // Whoever is asked for the PIN sees what it approves, whatever becomes of the answer.
        task.screen.shownPrints = (user: target.text, alsoToOutput: !invocation.json)
        let imported = try task.importPrints(found.set)
        let answer = ImportAnswer(imported, leftOut: found.problems.count, target)
        invocation.answer(answer, text: ImportAnswer.text(of: imported, target))
        return .yes
    }
}

extension FprintdPrints {
    /// What fprintd keeps of a user.
    fileprivate static func of(_ target: TargetUser) throws(Failure) -> FprintdPrints {
        do throws(StoreError) { return try FprintdStore(userName: target.name).read() } catch {
            throw Failure(error, target)
        }
    }
}

extension PersonalTask {
    /// As `run`, for a task with an argument that does not go into a closure.
    fileprivate mutating func importPrints(_ found: borrowing EnrollmentSet) throws(Failure) -> Imported {
        Resumption.watch()
        do throws(ManagementRefusal) {
            let imported = try tasks.importPrints(found, on: &screen)
            screen.end()
            return imported
        } catch {
            throw failure(error)
        }
    }
}

/// What `import` answers.
struct ImportAnswer: Encodable, Equatable {
    /// A print that fprintd keeps.
    struct Print: Encodable, Equatable {
        let finger: String
        /// Seconds since 1970.
        let enrolledAt: Int64
        let driver: String
        let device: String
        let onReader: Bool
        /// "imported", "known", "name_taken", "other_reader" or "gone_from_reader".
        let state: String

        init(_ print: FoundPrint) {
            finger = print.finger.name
            enrolledAt = print.enrolledAt
            driver = Output.text(print.reader.driver)
            device = Output.text(print.reader.device)
            onReader = print.onReader
            state =
                switch print.fate {
                case .new: "imported"
                case .known: "known"
                case .nameTaken: "name_taken"
                case .otherReader: "other_reader"
                case .gone: "gone_from_reader"
                }
        }
    }

    let user: String
    /// All that were found, in their order.
    let found: [Print]
    let imported: [String]
    /// Of the reader that the imported ones belong to; absent where there are none.
    let driver: String?
    let device: String?
    /// Prints that were here already.
    let known: Int
    /// Fingers that are enrolled by that name already, with another print.
    let nameTaken: [String]
    /// Prints of readers that are not at hand.
    let otherReaders: Int
    /// Prints that the reader has no more.
    let goneFromReader: Int
    /// Files and folders that are not as fprintd writes them.
    let leftOut: Int
    let fingers: Int
    /// Whether the imported fingers count from now on; where none was imported, those that are here.
    let active: Bool

    init(_ outcome: Imported, leftOut: Int, _ target: TargetUser) {
        user = target.text
        found = outcome.found.map(Print.init)
        imported = outcome.fingers.map(\.name)
        driver = outcome.reader.map { Output.text($0.driver) }
        device = outcome.reader.map { Output.text($0.device) }
        known = outcome.count(.known)
        nameTaken = outcome.fingers(.nameTaken).map(\.name)
        otherReaders = outcome.count(.otherReader)
        goneFromReader = outcome.count(.gone)
        self.leftOut = leftOut
        fingers = outcome.prints
        active = outcome.approved
    }

    /// What was found: finger, day of enrollment, reader.
    static func list(_ found: [FoundPrint], of user: String) -> String {
        let readers = found.map(\.reader)
        let rows = found.map { print in
            var place = print.reader.label(among: readers)
            if print.onReader { place += print.fate == .gone ? ", is no longer on the reader" : ", in the reader" }
            return ["  " + print.finger.name, Output.day(print.enrolledAt), place]
        }
        return "fprintd keeps these fingers of \(user):\n" + Output.table(rows)
    }

    static func text(of outcome: Imported, _ target: TargetUser) -> String {
        var text = ""
        if outcome.fingers.isEmpty {
            text += "Nothing was imported.\n"
        } else {
            let names = outcome.fingers.map(\.name).joined(separator: ", ")
            text += "Imported\(outcome.approved ? " and switched on" : ""): \(names).\n"
        }
        let known = outcome.count(.known)
        if known > 0 { text += "\(counted(known)) here already.\n" }
        for finger in outcome.fingers(.nameTaken) {
            text += "Another \(finger.name) is enrolled; delete it to import this one.\n"
        }
        // Those that were known to be gone the list has told.
        for finger in outcome.goneMeanwhile { text += "The \(finger.name) is no longer on the reader.\n" }
        let elsewhere = outcome.count(.otherReader)
        if elsewhere > 0 {
            text += "\(counted(elsewhere)) of another reader: run it again when that one is plugged in.\n"
        }
        if !outcome.approved, !outcome.fingers.isEmpty || known > 0 {
            text +=
                target.byAdministrator
                ? "They count after \(target.text) runs \"sudo signet activate\" with the PIN.\n"
                : "They are not switched on; do that with \"sudo signet activate\".\n"
        }
        return text
    }

    private static func counted(_ number: Int) -> String { "\(number) \(number == 1 ? "is" : "are")" }
}
