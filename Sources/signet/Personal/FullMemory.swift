internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

extension PersonalTask {
    /// A reader's memory that has no room left: what fills it, and who can make room.
    ///
    /// Opens the reader once more.
    mutating func memoryIsFull() -> Failure {
        let own = fingersInMemory()
        guard case .present(let found) = AdministratorLedger.readers(configuration) else {
            return .full(of: nil, own: own, target)
        }
        let full = FullMemory.reader(among: found, opened: tasks.sensor.lastOpened)
        let report = ReadersSurvey(configuration, for: target).look(at: full.map { [$0] } ?? []).first
        return .full(of: report?.prints, own: own, target)
    }

    /// The user's fingers in the memory of the reader that was open.
    private mutating func fingersInMemory() -> [Finger] {
        guard let set = tasks.ledger.readablePrints() else { return [] }
        return set.entries.filter { $0.onReader && $0.reader == tasks.sensor.lastOpened }.map(\.finger)
    }
}

enum FullMemory {
    /// The one that said so, which is the one that was open; nil where it is not there any more.
    static func reader(among found: [ReaderDescription], opened: ReaderIdentity?) -> ReaderDescription? {
        found.first { $0.storesPrints && $0.identity == opened }
    }
}

/// Fingers of which one is to go, where it is the person who knows which.
enum FingerChoice {
    /// The command where there is one finger; of several, a command that nobody can run as it stands, and their names.
    static func deletion(of fingers: [Finger], _ target: TargetUser) -> String {
        if fingers.count == 1, let only = fingers.first {
            return "\"sudo signet delete \(only.argument)\(target.option)\""
        }
        let names =
            fingers.isEmpty
            ? "see \"sudo signet list\(target.option)\"" : fingers.map(\.argument).joined(separator: ", ")
        return "\"sudo signet delete …\(target.option)\" (\(names))"
    }
}

extension Failure {
    /// A full memory; nil where nobody knows what fills it.
    ///
    /// `own` are the user's fingers in it.
    static func full(of prints: ReaderPrints?, own: [Finger], _ target: TargetUser) -> Failure {
        let full = "the reader's memory is full"
        let whose = target.byAdministrator ? "\(target.text)'s" : "yours"
        let deletion = "delete one of \(whose) with \(FingerChoice.deletion(of: own, target))"
        guard let prints, prints.words != ReaderPrints().words else {
            return Failure(
                .readerNotAvailable, full,
                hint: own.isEmpty ? "see what is in it with \"sudo signet readers\(target.option)\"" : deletion)
        }
        let hint =
            if (prints.leftOver ?? 0) > 0 {
                "delete what is left over with \"\(Leftovers.remedy)\""
            } else if (prints.yours ?? 0) > 0 {
                deletion
            } else if prints.others > 0 {
                "somebody else has to delete one of theirs: see \"sudo signet status --all\""
            } else {
                "Signet deletes no foreign print: delete it with the system or program that enrolled it"
            }
        return Failure(.readerNotAvailable, "\(full): \(prints.words)", hint: hint)
    }
}
