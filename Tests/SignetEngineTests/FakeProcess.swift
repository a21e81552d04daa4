import SignetEngine
import SignetPolicy

/// One call of a port.
enum PortCall: UInt8, CaseIterable, Sendable {
    case lock, unlock, loadIdentity, loadPrints, loadAttempts, create, saveIdentity, savePrints, saveAttempts, remove
    case loadChips, changeChips, surveyChips
    case digest, handleDigest, makeSigningKey, sign, verifySignature, conceal, wrap, unwrap, spendTime, random,
        randomSecret
    case prepare, readers, open, arm, awaitTouch, enroll, deleteFromReader, startClosing, close, stopListening
    case wake, rest, prepareHalf, dictionaryAttack, makeCounter, counterValue, bump, removeCounter
    case ask, tell, openField, takeAnswer, awaitReturn, closeField, now, wallTime, record

    /// Whether the port lets this call fail.
    var canFail: Bool {
        switch self {
        case .unlock, .spendTime, .prepare, .wake, .rest, .prepareHalf, .startClosing, .close, .stopListening,
            .tell, .closeField, .wallTime, .record:
            false
        default: true
        }
    }

    /// Whether the call changes what is on disk.
    var writes: Bool {
        switch self {
        case .create, .saveIdentity, .savePrints, .saveAttempts, .remove, .changeChips, .makeCounter, .bump,
            .removeCounter:
            true
        default: false
        }
    }
}

/// What a process has shown so far that may clear a counter or let somebody in.
enum Evidence: Equatable, Sendable {
    case comparedRight(Factor)
    case settled(Factor)
    case createdIdentity
}

/// One process that runs a story: it counts the calls of all its ports, fails those it is told to, and can be killed.
///
/// A killed process's calls have no effect any more and all fail, and its lock is free, as the kernel leaves it: what the
/// story still does is nobody's, so that abandoning it at any step needs no way out of the story.
final class FakeProcess {
    let name: String
    /// An administrator's process may clear counters without a secret.
    let isAdministrator: Bool
    private(set) var calls: [PortCall] = []
    /// Fails the call with this number among all calls, from 1.
    var failAt: Int?
    /// Fails the nth call of a kind, from 1; nil: each of them.
    var faults: [(call: PortCall, nth: Int?)] = []
    /// Ends the process before the call with this number takes effect.
    var killAt: Int?
    /// A failing write takes effect all the same: the error came after it, from fsync.
    var writesBeforeFailing = false
    /// Called before each call takes effect, for whatever else happens on the machine meanwhile.
    var onCall: ((PortCall) -> Void)?
    var storeError = StoreError.system(errno: 28)
    var vaultError = VaultError.outOfMemory
    var readerProblem = ReaderProblem.faulty
    var conversationError = ConversationError.unusable
    private(set) var isKilled = false
    /// What the disk does when the process ends.
    var onKill: () -> Void = {}

    var evidence: [Evidence] = []
    /// Factors whose last charge was followed by a comparison, so that it must not be refunded.
    var compared: [Factor] = []

    /// Signals wait since a reader was armed.
    var holdsSignals = false
    var hasReaderOpen = false

    /// The series of finger failures that this process's last charge belongs to.
    var fingerSeries: UInt64?

    init(_ name: String, isAdministrator: Bool = false) {
        self.name = name
        self.isAdministrator = isAdministrator
    }

    /// Notes a call; true where it has to fail.
    func begin(_ call: PortCall) -> Bool {
        guard !isKilled else { return true }
        calls.append(call)
        let number = calls.count
        onCall?(call)
        if number == killAt {
            isKilled = true
            onKill()
            return true
        }
        guard call.canFail else { return false }
        if number == failAt { return true }
        let nth = calls.count { $0 == call }
        return faults.contains { $0.call == call && ($0.nth == nil || $0.nth == nth) }
    }

    /// Whether anything was written, or was tried to be.
    var wrote: Bool { calls.contains { $0.writes } }

    func count(_ call: PortCall) -> Int { calls.count { $0 == call } }
}
