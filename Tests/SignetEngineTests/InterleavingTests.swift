import SignetEngine
import SignetPolicy
import Testing

/// Several processes of one user at once.
///
/// They run whole in each other's gaps: wherever one of them does not hold the
/// lock, others may come and go, as two processes that are stopped and resumed at any point would.
@Suite struct InterleavingTests {
    /// Vigna's splitmix64, so that each round can be repeated by its number.
    struct Chance {
        var state: UInt64
        mutating func next(_ bound: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((word ^ (word >> 31)) % UInt64(bound))
        }
        mutating func pick<Value>(_ values: [Value]) -> Value { values[next(values.count)] }
    }

    final class Round {
        let machine: Machine
        var chance: Chance
        var started = 0
        var wrongs: [String] = []
        var grants = 0
        var nested = 0

        init(_ machine: Machine, seed: UInt64) {
            self.machine = machine
            chance = Chance(state: seed)
        }

        /// Runs one process to its end, with others in its gaps.
        func run(depth: Int) {
            started += 1
            let actor = machine.process("process \(started)")
            actor.process.onCall = { [unowned self] _ in gap(depth: depth) }
            // One in eight is killed somewhere.
            if chance.next(8) == 0 { actor.process.killAt = 1 + chance.next(40) }
            if chance.next(8) == 0 { actor.process.failAt = 1 + chance.next(40) }
            let answers: [Answer] = (0..<3).map { _ in
                chance.pick([.enter, .enter, .wrong, .wrong, .right, .cancels, .bytes(machine.code), .newPIN])
            }
            let touches: [Touch] = (0..<4).map { _ in
                chance.pick([
                    .matched(index: 0), .notRecognised, .notRecognised, .retry(.general), .timedOut(fingerSeen: false),
                    .timedOut(fingerSeen: true), .interrupted(fingerSeen: false), .failed(.helperFailed),
                ])
            }
            let moments: [FieldMoment] = (0..<2).map { _ in
                .during(
                    chance.pick([.readers, .open, .arm, .awaitTouch]), passing: chance.next(3),
                    chance.pick([.answered, .answered, .left, .left, .cancelled, .timedOut]))
            }
            actor.sensor.fingerLies = chance.next(2) == 0
            let verdict = actor.authenticate(
                answers, touches: touches, caller: chance.pick([.person, .person, .person, .anotherPerson, .remote]),
                field: chance.pick([nil, moments]), closure: chance.pick([nil, nil, nil, .remote]))
            let outcome = Outcome(verdict)
            if actor.process.isKilled {
                if machine.disk.holder === actor.process { wrongs.append("a killed process holds the lock") }
            } else {
                wrongs += Story.wrongs(machine, actor, outcome)
                if case .granted = outcome { grants += 1 }
            }
            if !machine.disk.isCounted { wrongs.append("fewer failures than comparisons") }
        }

        private func gap(depth: Int) {
            guard machine.disk.holder == nil, wrongs.isEmpty else { return }
            if depth < 2, chance.next(10) == 0 {
                nested += 1
                run(depth: depth + 1)
            }
            switch chance.next(150) {
            case 0: machine.time.pass(UInt64(chance.next(2000)))
            case 1: machine.time.reboot()
            case 2:
                var ledger = machine.process("reset", isAdministrator: true).ledger()
                try? ledger.reset(finger: chance.next(2) == 0, pin: chance.next(2) == 0)
            case 3: machine.tamper(generation: machine.disk.prints?.generation ?? 0, [.first, .second])
            default: break
            }
        }
    }

    /// Catches two processes that together get more guesses than one, a refund that takes back another's failure, and a
    /// success that is granted by somebody else's evidence.
    ///
    /// Every other part with a TPM, whose count the processes share.
    @Test(arguments: 0..<4) func randomInterleavings(part: Int) throws {
        let machine = Machine(part % 2 == 0 ? .file : .tpm)
        try machine.setUp()
        var grants = 0
        var nested = 0
        for number in 0..<400 {
            let round = Round(machine.copy(), seed: UInt64(part * 100_000 + number))
            for _ in 0..<4 {
                round.run(depth: 0)
                round.machine.time.pass(120)
            }
            if !round.wrongs.isEmpty { Issue.record("part \(part), round \(number): \(round.wrongs)") }
            grants += round.grants
            nested += round.nested
        }
        #expect(grants > 100 && nested > 400, "something happened: \(grants) grants, \(nested) in gaps")
    }

    /// 32 processes that all have their wrong PIN typed before the first of them is charged.
    ///
    /// Catches more comparisons than the limit allows: a door that is judged before the lock is taken.
    @Test(arguments: [(CallerClass.person, 5), (.anotherPerson, 3), (.remote, 3)])
    func thirtyTwoPINsAtOnce(caller: CallerClass, allowed: Int) throws {
        let machine = Machine()
        try machine.setUp()
        var comparisons = 0
        func begin(_ left: Int) {
            guard left > 0 else { return }
            let actor = machine.process("process \(left)")
            actor.once(at: .ask) { begin(left - 1) }
            let outcome = Outcome(actor.authenticate([.wrong], caller: caller))
            comparisons += actor.vault.comparisons
            if case .granted = outcome { Issue.record("granted") }
        }
        begin(32)
        #expect(comparisons == allowed)
        #expect(machine.attempts.pin.total == allowed && machine.disk.violations.isEmpty)
    }

    /// 32 processes that all wait for a finger at once.
    ///
    /// Catches more armed readers than tries are left, and refunds that make room for others' failures.
    @Test func thirtyTwoFingersAtOnce() throws {
        let machine = Machine()
        try machine.setUp()
        var arms = 0
        func begin(_ left: Int) {
            guard left > 0 else { return }
            let actor = machine.process("process \(left)")
            actor.once(at: left % 2 == 0 ? .awaitTouch : .ask) { begin(left - 1) }
            _ = actor.authenticate([.enter, .cancels], touches: [.notRecognised, .timedOut(fingerSeen: false)])
            arms += actor.sensor.arms
        }
        begin(32)
        #expect(arms >= 5)
        #expect(machine.attempts.finger.count <= 5 && machine.disk.isCounted && machine.disk.violations.isEmpty)
    }
}
