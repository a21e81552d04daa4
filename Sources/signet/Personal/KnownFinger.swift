internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

extension PersonalTask {
    /// A reader that knows a finger which is none of the user's: where its print may come from.
    mutating func fingerIsKnown() -> Failure {
        var kept = 0
        if configuration.enrollmentSource == .signet {
            let entries = try? FprintdStore(userName: target.name).chipEntries(for: target.uid)
            kept = (entries ?? []).count { $0.reader == tasks.sensor.lastOpened }
        }
        return .known(leftOver: tasks.ledger.leftoverCount(on: tasks.sensor.lastOpened), byFprintd: kept, target)
    }
}

extension Failure {
    /// The reader says that it has this finger, and of the user's records none has it.
    ///
    /// `leftOver` are prints that no record has any more, `byFprintd` those that fprintd keeps for the user, of this reader.
    static func known(leftOver: Int, byFprintd: Int, _ target: TargetUser) -> Failure {
        let whose = target.byAdministrator ? "\(target.text)'s" : "your"
        var ways: [String] = []
        if leftOver > 0 { ways.append("delete what is left over in the reader with \"\(Leftovers.remedy)\"") }
        if byFprintd > 0 {
            ways.append("take over what fprintd keeps with \"sudo signet import\(target.option)\"")
        }
        return Failure(
            .no, "the reader knows this finger already, and not as \(whose) own",
            hint: ways.isEmpty
                ? "use another finger, or delete it for whom it was enrolled"
                : ways.joined(separator: ", or ") + "; else use another finger")
    }
}
