import SignetEngine
import SignetPolicy
import SignetRecords

/// A small TPM: sealed halves, counters that only rise, and a protection against guessing that all its users share.
final class FakeTPM {
    struct Half: Equatable {
        let authorization: [UInt8]
        let half: [UInt8]
        let countsFailures: Bool
    }

    struct Counter: Equatable {
        let owner: CounterOwner
        var value: UInt64
    }

    private let time: ManualTime
    /// False: no answer, as from a device that is gone.
    var isThere = true
    /// Comparisons are made, and their answers never come.
    var losesAnswers = false
    /// Whether objects made from now on count failures.
    var counts = false
    /// Whether keys wrapped from now on get a half; off while a machine moves to a file.
    var givesHalves = true
    /// How many counters there may be.
    var room = 3
    var limit: UInt32 = 32
    var healSeconds: UInt32 = 7200
    private(set) var failures: UInt32 = 0
    private var healedAt: UInt64 = 0
    private(set) var halves: [Int: Half] = [:]
    var counters: [UInt32: Counter] = [:]
    private var objects = 0
    private var highest: UInt64 = 40
    /// How often a counter counted: each is a write of flash.
    private(set) var counted = 0

    init(_ time: ManualTime) { self.time = time }

    /// The same TPM once more, on another machine's clock.
    func copy(_ time: ManualTime) -> FakeTPM {
        let other = FakeTPM(time)
        (other.isThere, other.losesAnswers, other.counts, other.givesHalves) = (
            isThere, losesAnswers, counts, givesHalves
        )
        (other.room, other.limit, other.healSeconds) = (room, limit, healSeconds)
        (other.failures, other.healedAt, other.halves, other.counters) = (failures, healedAt, halves, counters)
        (other.objects, other.highest, other.counted) = (objects, highest, counted)
        return other
    }

    /// TPM2_Clear, or another TPM: nothing that was sealed opens any more.
    func clear() {
        halves = [:]
        counters = [:]
        failures = 0
    }

    /// Somebody else's wrong authorisations: a disk encryption's PIN.
    func fail(_ times: UInt32) {
        heal()
        failures = min(failures + times, limit)
        healedAt = time.seconds
    }

    private func heal() {
        // A test's reboot starts the clock anew.
        if time.seconds < healedAt { healedAt = 0 }
        let healed = UInt32((time.seconds - healedAt) / UInt64(healSeconds))
        guard healed > 0 else { return }
        failures -= min(healed, failures)
        healedAt += UInt64(healed) * UInt64(healSeconds)
    }

    var state: DictionaryAttackState {
        heal()
        return DictionaryAttackState(
            failures: failures, limit: limit, healSeconds: healSeconds, recoverySeconds: 86_400,
            inLockout: failures >= limit, hasLockoutAuthorization: true)
    }

    func seal(_ half: [UInt8], under authorization: [UInt8]) -> EnclaveObject? {
        objects += 1
        halves[objects] = Half(authorization: authorization, half: half, countsFailures: counts)
        return EnclaveObject(
            publicArea: [1], privateArea: [UInt8(objects >> 8), UInt8(objects & 255)], countsFailures: counts)
    }

    /// Why the object cannot be asked now; nil where it can.
    func problem(of object: EnclaveObject) -> EnclaveProblem? {
        if !isThere { return .noDevice }
        guard let half = held(object) else { return .foreign }
        return half.countsFailures && state.inLockout ? .lockout : nil
    }

    /// nil: the authorisation is wrong.
    func open(_ object: EnclaveObject, _ authorization: [UInt8]) -> [UInt8]? {
        guard let half = held(object) else { return nil }
        if half.authorization == authorization { return half.half }
        if half.countsFailures { fail(1) }
        return nil
    }

    private func held(_ object: EnclaveObject) -> Half? {
        guard object.privateArea.count == 2 else { return nil }
        return halves[Int(object.privateArea[0]) << 8 | Int(object.privateArea[1])]
    }

    func makeCounter(_ owner: CounterOwner) -> EnclaveCounter? {
        guard counters.count < room else { return nil }
        let index = (UInt32(0x0180_5000)...0x0180_50FF).first { counters[$0] == nil } ?? 0
        highest += 1
        counted += 1
        counters[index] = Counter(owner: owner, value: highest)
        return EnclaveCounter(index: index, value: highest)
    }

    func value(_ counter: EnclaveCounter, _ owner: CounterOwner) throws(VaultError) -> UInt64 {
        guard isThere else { throw .enclave(.noDevice) }
        guard let held = counters[counter.index], held.owner == owner else { throw .enclave(.noCounter) }
        return held.value
    }

    func bump(_ counter: EnclaveCounter, _ owner: CounterOwner) throws(VaultError) -> UInt64 {
        let next = try value(counter, owner) + 1
        counters[counter.index]?.value = next
        highest = max(highest, next)
        counted += 1
        return next
    }

    func remove(_ counter: EnclaveCounter) { counters[counter.index] = nil }
}
