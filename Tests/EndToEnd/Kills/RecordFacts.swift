import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords

/// What the records of a user say, read in this process as an authentication reads them.
struct RecordFacts: Equatable {
    let condition: RecordCondition
    let pinFailures: Int
    let fingerFailures: Int
    let fingers: [Finger]
    /// Why no finger would count, were the reader at hand; nil where one would.
    let closure: FingerClosure?
    /// The sealed key that the PIN opens; nil where there is no PIN.
    let pin: WrappedKey?
    let journal: [JournalEvent]

    /// Reads them from the store at `root`.
    init(of user: User, root: String = Signet.store, configuration: Configuration? = nil) {
        let name = Array(user.name.utf8)
        let journal = Notes()
        var status = UserStatus(uid: user.uid, userName: name, record: .notSetUp, readers: .problem(.noReader))
        var pin: WrappedKey?
        do throws(StoreError) {
            var ledger = try StoreOpening.ledger(
                root: Array(root.utf8), uid: user.uid, userName: name, caller: .person,
                configuration: configuration ?? ConfigurationLoader.load().configuration,
                log: NotingJournal(notes: journal))
            status = ledger.status(
                uid: user.uid, userName: name, fingersAllowed: true, readers: .problem(.noReader))
            if status.record == .notSetUp,
                StoreInspection.hasHalfRecord(root: Array(root.utf8), uid: user.uid)
            {
                status.record = .faulty(.identity, .missing)
            }
            pin = try ledger.store.loadIdentity()?.pin
        } catch {
            if error != .fault(.store, .missing) { status.record = RecordCondition(error) }
        }
        condition = status.record
        pinFailures = status.lockout?.pinFailures ?? 0
        fingerFailures = status.lockout?.fingerFailures ?? 0
        fingers = status.fingers.map(\.finger)
        closure = status.fingerClosure == .readerNotAvailable(.noReader) ? nil : status.fingerClosure
        self.pin = pin
        self.journal = journal.events
    }
}

private final class Notes {
    var events: [JournalEvent] = []
}

private struct NotingJournal: Journal {
    let notes: Notes
    mutating func record(_ event: JournalEvent) { notes.events.append(event) }
}
