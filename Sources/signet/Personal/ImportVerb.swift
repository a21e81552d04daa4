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
        if !invocation.json, !found.set.entries.isEmpty { Output.data(ImportAnswer.list(found.set, target)) }
        var task = try PersonalTask(invocation, asking: .user)
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
    let user: String
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
        imported = outcome.fingers.map(\.name)
        driver = outcome.reader.map { Output.text($0.driver) }
        device = outcome.reader.map { Output.text($0.device) }
        known = outcome.known
        nameTaken = outcome.nameTaken.map(\.name)
        otherReaders = outcome.otherReaders
        goneFromReader = outcome.goneFromReader
        self.leftOut = leftOut
        fingers = outcome.prints
        active = outcome.approved
    }

    /// What was found: finger, day, reader.
    static func list(_ found: borrowing EnrollmentSet, _ target: TargetUser) -> String {
        var rows: [[String]] = []
        for entry in found.entries {
            let driver = Output.text(entry.reader.driver)
            rows.append([
                entry.finger.name, Output.day(entry.enrolledAt), entry.onReader ? "\(driver), in the reader" : driver,
            ])
        }
        return "fprintd keeps these fingers of \(target.text):\n" + Output.table(rows.map { ["  " + $0[0]] + $0[1...] })
    }

    static func text(of outcome: Imported, _ target: TargetUser) -> String {
        var text = ""
        if outcome.fingers.isEmpty {
            text += "Nothing was imported.\n"
        } else {
            let names = outcome.fingers.map(\.name).joined(separator: ", ")
            text += "Imported\(outcome.approved ? " and switched on" : ""): \(names).\n"
        }
        if outcome.known > 0 { text += "\(counted(outcome.known)) here already.\n" }
        for finger in outcome.nameTaken {
            text += "Another \(finger.name) is enrolled; delete it to import this one.\n"
        }
        if outcome.goneFromReader > 0 { text += "\(counted(outcome.goneFromReader)) not in the reader any more.\n" }
        if outcome.otherReaders > 0 {
            text += "\(counted(outcome.otherReaders)) of another reader: run it again when that one is plugged in.\n"
        }
        if !outcome.approved, !outcome.fingers.isEmpty || outcome.known > 0 {
            text +=
                target.byAdministrator
                ? "They count after \(target.text) runs \"sudo signet activate\" with the PIN.\n"
                : "They are not switched on; do that with \"sudo signet activate\".\n"
        }
        return text
    }

    private static func counted(_ number: Int) -> String { "\(number) \(number == 1 ? "is" : "are")" }
}
