internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension PersonalTask {
    /// A reader's memory that has no room left: what fills it, and who can make room.
    ///
    /// Opens the reader once more.
    func memoryIsFull() -> Failure {
        guard case .present(let found) = AdministratorLedger.readers(configuration) else { return .full(of: nil) }
        let full = FullMemory.reader(among: found, opened: tasks.sensor.lastOpened)
        return .full(of: ReadersSurvey(configuration, for: target).look(at: full.map { [$0] } ?? []).first?.prints)
    }
}

enum FullMemory {
    /// The one that said so, which is the one that was open; nil where it is not there any more.
    static func reader(among found: [ReaderDescription], opened: ReaderIdentity?) -> ReaderDescription? {
        found.first { $0.storesPrints && $0.identity == opened }
    }
}

extension Failure {
    /// A full memory; nil where nobody knows what fills it.
    static func full(of prints: ReaderPrints?) -> Failure {
        let full = "the reader's memory is full"
        guard let prints, prints.words != ReaderPrints().words else {
            return Failure(.readerNotAvailable, full, hint: "delete a finger with \"sudo signet delete FINGER\"")
        }
        let hint =
            if (prints.leftOver ?? 0) > 0 {
                "delete what is left over with \"\(Leftovers.remedy)\""
            } else if (prints.yours ?? 0) > 0 {
                "delete a finger of yours with \"sudo signet delete FINGER\""
            } else if prints.others > 0 {
                "somebody else has to delete one of theirs: see \"sudo signet status --all\""
            } else {
                "Signet deletes no foreign print: delete it with the system or program that enrolled it"
            }
        return Failure(.readerNotAvailable, "\(full): \(prints.words)", hint: hint)
    }
}
