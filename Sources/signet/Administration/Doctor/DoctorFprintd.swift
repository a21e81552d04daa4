internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

// Prints that fprintd keeps, where they are the enrollment set: what closes the finger path is told by its path.

extension Doctor {
    /// A line for each thing in fprintd's store that is not as fprintd writes it; nothing where Signet keeps the prints.
    func fprintdLines() -> [DoctorLine] {
        guard loaded.configuration.enrollmentSource == .fprintd else { return [] }
        let owners = (try? AdministratorLedger.owners()) ?? []
        var lines: [DoctorLine] = []
        for case .user(_, let name) in owners {
            let store = FprintdStore(userName: name)
            guard let found = try? store.read() else { continue }
            lines += found.problems.map { Doctor.line($0) }
        }
        if lines.isEmpty { return [.ok("fprintd", "its prints are the enrollment set, and root's alone")] }
        return lines
    }

    /// The line for one problem.
    static func line(_ problem: FprintdProblem) -> DoctorLine {
        let path = Output.text(problem.path)
        let text = "\(path) \(problem.sentence)"
        if case .path(let matter) = problem.matter,
            let remedy = PathProblem(path: problem.path, matter: matter).remedy
        {
            return DoctorLine(.fail, "fprintd", text, remedy: remedy)
        }
        return DoctorLine(
            problem.isGrave ? .fail : .note, "fprintd", text,
            remedy: "delete that finger with fprintd-delete, or the file, and enrol it anew")
    }
}
