import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets

/// What is on disk for one user, shared by all processes, with the rules that whoever writes must keep.
///
/// It judges each write as it comes, so that a breach is found where it happens: `violations` must be empty in the end.
final class Disk {
    struct Prints: Equatable {
        var generation: UInt64 = 0
        var entries: [PrintEntry] = []
        var templates: [UInt8] = []
    }

    /// Comparisons since the counter's last success or reset, whatever their outcome.
    struct Guesses: Equatable {
        var pin = 0
        var recovery = 0
        var finger = 0
    }

    let uid: UInt32
    /// The index of prints in readers' memories, which is one for all users.
    let chips: FakeChips
    var identity: IdentityRecord?
    /// The identity that the counters were written beside, and whether it is compared, as the real store does by digests;
    /// off for stories in which somebody who has the keys changes an identity.
    var bound: IdentityRecord?
    var comparesIdentities = false
    var prints: Prints?
    var attempts: Attempts?
    /// Records that cannot be read, and why.
    var damage: [(kind: RecordKind, fault: RecordFault)] = []
    /// The next load of the counters finds one slot torn.
    var torn = false
    private(set) var holder: FakeProcess?
    private(set) var violations: [String] = []
    var guesses = Guesses()

    init(uid: UInt32 = 1000, chips: FakeChips = FakeChips()) {
        self.uid = uid
        self.chips = chips
        chips.disks.append(FakeChips.Unowned(disk: self))
    }

    func violated(_ what: String, by process: FakeProcess) {
        violations.append("\(process.name): \(what) (call \(process.calls.count))")
    }

    // MARK: The lock

    func acquire(_ process: FakeProcess) throws(StoreError) {
        if holder === process { violated("locked twice", by: process) }
        guard holder == nil || holder === process else { throw .busy }
        holder = process
    }

    func release(_ process: FakeProcess) { if holder === process { holder = nil } }

    /// For what may only be done under the lock.
    func needsLock(_ what: String, _ process: FakeProcess) {
        if holder !== process { violated("\(what) without the lock", by: process) }
    }

    /// For waiting, which nobody may do under the lock.
    func needsNoLock(_ what: String, _ process: FakeProcess) {
        if holder === process { violated("\(what) under the lock", by: process) }
    }

    // MARK: The counters

    /// A secret is about to be compared: it must be charged, under the lock.
    func willCompare(_ factor: Factor, _ process: FakeProcess) {
        needsLock("compared", process)
        if factor == .pin { guesses.pin += 1 } else { guesses.recovery += 1 }
        checkCounters("compared", process)
    }

    /// A finger lay on the armed reader: it must be charged.
    func wasTouched(_ process: FakeProcess) {
        guard let series = process.fingerSeries else { return violated("touched uncharged", by: process) }
        // A touch whose charge was cleared meanwhile, by a right PIN or a reset, belongs to no series any more.
        guard series == attempts?.finger.epoch else { return }
        guesses.finger += 1
        checkCounters("touched", process)
    }

    private func checkCounters(_ what: String, _ process: FakeProcess) {
        if !isCounted { violated("\(what) uncharged", by: process) }
    }

    /// Whether there are at least as many failures on disk as comparisons were made.
    var isCounted: Bool {
        guard identity != nil else { return true }
        let now = attempts ?? Attempts()
        return now.pin.total >= guesses.pin && now.recovery.total >= guesses.recovery
            && Int(now.finger.count) >= guesses.finger
    }

    func write(_ new: Attempts, _ process: FakeProcess) {
        let old = attempts ?? Attempts()
        judge(.pin, (old.pin.epoch, old.pin.total), (new.pin.epoch, new.pin.total), process)
        judge(
            .recoveryCode, (old.recovery.epoch, old.recovery.total), (new.recovery.epoch, new.recovery.total), process)
        judge(
            .finger, (old.finger.epoch, Int(old.finger.count)), (new.finger.epoch, Int(new.finger.count)), process)
        if old.change != nil, new.change == nil, !process.evidence.contains(.comparedRight(.pin)) {
            violated("forgot a change of the enrollment set", by: process)
        }
        attempts = new
    }

    /// A counter rises by one charge, falls by one refund, or is cleared by a success; nothing else.
    private func judge(
        _ factor: Factor, _ old: (epoch: UInt64, count: Int), _ new: (epoch: UInt64, count: Int), _ process: FakeProcess
    ) {
        if new.epoch != old.epoch {
            if new.count != 0 { violated("a new series of \(factor) begins with failures", by: process) }
            if !mayClear(factor, process) { violated("cleared \(factor) without a success", by: process) }
            process.evidence.append(.settled(factor))
            forget(factor)
            return
        }
        if new.count == old.count + 1 {
            process.compared.removeAll { $0 == factor }
            if factor == .finger { process.fingerSeries = new.epoch }
        }
        if new.count > old.count + 1 { violated("charged \(factor) more than once", by: process) }
        if new.count == old.count - 1, process.compared.contains(factor) {
            violated("refunded \(factor) after a comparison", by: process)
        }
        if new.count < old.count - 1 { violated("lowered \(factor)", by: process) }
    }

    private func mayClear(_ factor: Factor, _ process: FakeProcess) -> Bool {
        if process.isAdministrator || process.evidence.contains(.createdIdentity) { return true }
        switch factor {
        case .pin:
            return process.evidence.contains(.comparedRight(.pin))
                || process.evidence.contains(.comparedRight(.recoveryCode))
        case .finger: return process.evidence.contains { if case .comparedRight = $0 { true } else { false } }
        case .recoveryCode:
            return process.evidence.contains(.comparedRight(.recoveryCode))
                || process.evidence.contains(.comparedRight(.pin))
        }
    }

    private func forget(_ factor: Factor) {
        switch factor {
        case .pin: guesses.pin = 0
        case .recoveryCode: guesses.recovery = 0
        case .finger: guesses.finger = 0
        }
    }

    func replace(_ identity: IdentityRecord) {
        self.identity = identity
        bound = identity
        attempts = Attempts()
        guesses = Guesses()
    }

    func removeAll() {
        identity = nil
        bound = nil
        prints = nil
        attempts = nil
        guesses = Guesses()
    }
}

/// One process's way to the disk.
final class FakeStore: RecordStore {
    let disk: Disk
    let process: FakeProcess
    private(set) var attemptsWereTorn = false

    init(_ disk: Disk, _ process: FakeProcess) {
        self.disk = disk
        self.process = process
        process.onKill = { [disk, unowned process] in disk.release(process) }
    }

    private func readable(_ kind: RecordKind, _ call: PortCall) throws(StoreError) {
        if process.begin(call) { throw process.storeError }
        for damage in disk.damage where damage.kind == kind { throw .fault(kind, damage.fault) }
    }

    private func writing(_ call: PortCall, _ effect: () -> Void) throws(StoreError) {
        let fails = process.begin(call)
        if !process.isKilled, !fails || process.writesBeforeFailing { effect() }
        if fails { throw process.storeError }
    }

    func lock() throws(StoreError) {
        if process.begin(.lock) { throw process.storeError }
        try disk.acquire(process)
    }

    func unlock() {
        _ = process.begin(.unlock)
        disk.release(process)
    }

    func loadIdentity() throws(StoreError) -> IdentityRecord? {
        try readable(.identity, .loadIdentity)
        guard !disk.comparesIdentities || disk.identity == disk.bound else { throw .fault(.identity, .rolledBack) }
        return disk.identity
    }

    func loadPrints() throws(StoreError) -> EnrollmentSet {
        try readable(.prints, .loadPrints)
        let prints = disk.prints ?? Disk.Prints()
        guard let templates = SecretBytes(copying: prints.templates.span),
            let set = EnrollmentSet(generation: prints.generation, entries: prints.entries, templates: templates)
        else { throw .fault(.prints, .damaged) }
        return set
    }

    func loadAttempts() throws(StoreError) -> Attempts {
        try readable(.attempts, .loadAttempts)
        if !process.isKilled { disk.needsLock("read the counters", process) }
        guard var attempts = disk.attempts else { throw .fault(.attempts, .missing) }
        attemptsWereTorn = disk.torn
        if disk.torn {
            disk.torn = false
            attempts.pin.byPerson += 1
            attempts.recovery.byPerson += 1
            attempts.finger.count += 1
            disk.attempts = attempts
        }
        return attempts
    }

    func create(_ identity: IdentityRecord) throws(StoreError) {
        try writing(.create) {
            process.evidence.append(.createdIdentity)
            disk.replace(identity)
        }
    }

    func save(_ identity: IdentityRecord) throws(StoreError) {
        try writing(.saveIdentity) {
            disk.needsLock("wrote the identity", process)
            disk.identity = identity
            disk.bound = identity
        }
    }

    func save(_ prints: borrowing EnrollmentSet) throws(StoreError) {
        let bytes = prints.templates.withBytes { span in (0..<span.count).map { span[$0] } }
        let stored = Disk.Prints(generation: prints.generation, entries: prints.entries, templates: bytes)
        try writing(.savePrints) {
            disk.needsLock("wrote the prints", process)
            disk.damage.removeAll { $0.kind == .prints }
            disk.prints = stored
        }
    }

    func save(_ attempts: Attempts) throws(StoreError) {
        try writing(.saveAttempts) {
            disk.needsLock("wrote the counters", process)
            disk.write(attempts, process)
        }
    }

    func remove() throws(StoreError) {
        try writing(.remove) { disk.removeAll() }
    }

    // MARK: The index

    var uid: UInt32 { disk.uid }

    func loadChipIndex() throws(StoreError) -> ChipIndex {
        try readable(.chips, .loadChips)
        return try disk.chips.read()
    }

    func changeChipIndex(_ change: (inout ChipIndex) -> Void) throws(StoreError) {
        try disk.chips.requireWritable()
        try writing(.changeChips) { disk.chips.change(change) }
    }

    func loosenChipIndex() throws(StoreError) {
        try disk.chips.requireWritable()
        try writing(.changeChips) { disk.chips.change { $0.loosen(allOf: disk.uid) } }
    }

    func renewChipIndex() throws(StoreError) {
        try disk.chips.requireWritable()
        try writing(.changeChips) { disk.chips.change { _ in } }
    }

    func forgetLeftovers(_ leftovers: [ChipIndex.Entry]) throws(StoreError) {
        try disk.chips.requireWritable()
        try writing(.changeChips) {
            disk.chips.change { index in for entry in leftovers { index.remove(entry.uid, entry.digest) } }
        }
    }

    func surveyChipIndex(mending: Bool) throws(StoreError) -> ChipSurvey {
        try readable(.chips, .surveyChips)
        try disk.chips.requireWritable()
        return disk.chips.survey(mending: mending)
    }
}
