internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords

extension Command {
    /// `signet list`.
    static let list = Command("list", "list the enrolled fingers", options: [.user, .json]) {
        (invocation) throws(Failure) in
        let target = try Machine.target(invocation)
        var ledger = try Machine.ledger(for: target, Machine.configuration())
        let fingers: [ListAnswer.Item]
        do throws(LedgerFailure) {
            fingers = try ListAnswer.items(&ledger)
        } catch { throw Failure(error, target) }
        invocation.answer(
            ListAnswer(user: target.text, fingers: fingers), text: ListAnswer.text(of: fingers, target))
        return .yes
    }
}

/// What `list` answers.
struct ListAnswer: Encodable, Equatable {
    struct Item: Encodable, Equatable {
        let finger: String
        let driver: String
        let device: String
        let onReader: Bool
        /// Seconds since 1970.
        let enrolledAt: Int64
        /// Whether the set that it belongs to is approved.
        let active: Bool
        /// What tells it from the user's other readers.
        let reader: String
    }

    let user: String
    let fingers: [Item]

    /// The prints in the order of enrollment; no reader is asked for it.
    static func items(_ ledger: inout Ledger) throws(LedgerFailure) -> [Item] {
        guard let state = try ledger.load() else { return [] }
        let set = try ledger.loadPrints()
        var active: [ReaderIdentity] = []
        let readers = set.readers()
        for reader in readers where try ledger.review(state, set, on: reader, presence: nil) == nil {
            active.append(reader)
        }
        return set.entries.map { entry in
            Item(
                finger: entry.finger.name, driver: Output.text(entry.reader.driver),
                device: Output.text(entry.reader.device), onReader: entry.onReader, enrolledAt: entry.enrolledAt,
                active: active.contains(entry.reader), reader: entry.reader.label(among: readers))
        }
    }

    static func text(of fingers: [Item], _ target: TargetUser) -> String {
        if fingers.isEmpty { return "\(target.text) has no enrolled finger.\n" }
        return Output.table(
            fingers.map { finger in
                [
                    finger.finger, Output.day(finger.enrolledAt), finger.active ? "on" : "off",
                    finger.onReader ? "\(finger.reader), in the reader" : finger.reader,
                ]
            })
    }
}
