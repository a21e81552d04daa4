import SignetPolicy
import Testing

/// The machine is small enough to be explored whole: every reachable state is met with every event.
@Suite struct AuthenticationMachineTests {
    typealias Machine = AuthenticationMachine

    static let outcomes: [Machine.FingerOutcome] =
        [
            .matched, .failed, .notTouched(interrupted: true), .notTouched(interrupted: false), .readerFailed(.removed),
            .interrupted, .slept(fingerSeen: false), .slept(fingerSeen: true), .cancelIgnored,
        ] + fieldEvents.flatMap { [.setAside($0, fingerSeen: false), .setAside($0, fingerSeen: true)] }
    static let fieldEvents: [FieldEvent] = [.answered, .cancelled, .timedOut, .left]
    static let lockouts: [PINLockout] = [.waiting(seconds: 60), .disabled, .shareUsedUp]

    /// Every kind of facts a beginning can meet.
    static var facts: [Machine.Facts] {
        let doors: [SecretDoor] = [.open(triesLeft: 5)] + lockouts.map { .closed($0) }
        let records: [RecordState] = [.usable, .pinNotSet, .unusable, .troubled(.enclaveGone), .unknownUser]
        let recoveries: [SecretDoor?] = [nil, .open(triesLeft: 5), .closed(.waiting(seconds: 60)), .closed(.disabled)]
        let fingers: [FingerClosure?] = [nil, .remote, .biometryLockout(limit: 5)]
        var all: [Machine.Facts] = []
        for record in records {
            for door in doors {
                for recovery in recoveries {
                    for finger in fingers {
                        all.append(Machine.Facts(record: record, pin: door, recovery: recovery, finger: finger))
                    }
                }
            }
        }
        // The TPM's wait, beside every door.
        for door in doors {
            for finger in fingers {
                var facts = Machine.Facts(record: .usable, pin: door, recovery: nil, finger: finger)
                facts.enclaveWait = 7200
                all.append(facts)
            }
        }
        return all
    }

    static var events: [AuthenticationEvent] {
        var all: [AuthenticationEvent] = [
            .fieldOpened, .noField, .left, .returned,
            .answered, .answeredNothing, .notAnswered(timedOut: true), .notAnswered(timedOut: false), .charged,
            .fingerClosed(.remote), .readerOpened, .armed, .touchAgain(.general), .matched, .notMatched, .settled,
            .settledFailure(.secret(.open(triesLeft: 2))), .settledFailure(.finger(.open)),
            .settledFailure(.finger(.biometryLockout(limit: 5))), .newPINRefused(.pinsDiffer),
            .unusable(damaged: true), .unusable(damaged: false), .troubled(.rolledBack),
        ]
        all += lockouts.map { .doorClosed($0) }
        all += lockouts.map { .settledFailure(.secret(.closed($0))) }
        all += outcomes.map { .touched($0) }
        return all
    }

    /// Facts of every kind where they belong, and one of each record elsewhere, where they must be refused.
    static func events(for machine: Machine) -> [AuthenticationEvent] {
        machine.state == .begun ? allEvents : laterEvents
    }

    static let allEvents = facts.map { .facts($0) } + events
    private static let laterEvents =
        stride(from: 0, to: facts.count, by: facts.count / 5).map { .facts(facts[$0]) } + events

    /// What must be true of the way that led here, kept beside the machine and not read from it.
    struct Trace: Equatable {
        var charged: Factor?
        var verified: Factor?
        var settled: Factor?
        var newPINStored = false
        /// A finger's charge stands and is not settled.
        var fingerIsOpen = false

        mutating func note(_ action: AuthenticationAction, answeredWith event: AuthenticationEvent) {
            switch (action, event) {
            case (.chargePIN, .charged): self = Trace(charged: .pin)
            case (.chargeFinger, .charged): self = Trace(charged: .finger, fingerIsOpen: true)
            case (.chargeRecovery, .charged): self = Trace(charged: .recoveryCode)
            case (.comparePIN, .matched) where charged == .pin: verified = .pin
            case (.compareRecovery, .matched) where charged == .recoveryCode: verified = .recoveryCode
            case (.awaitTouch, .touched(.matched)) where charged == .finger: verified = .finger
            case (.settlePIN(right: true), .settled), (.settleRecovery(right: true), .settled),
                (.settleFinger(.matched), .settled):
                settled = verified
                fingerIsOpen = false
            case (.settleFinger, .settledFailure), (.settleFinger, .fingerClosed): fingerIsOpen = false
            case (.storeNewPIN, .settled): newPINStored = true
            default: break
            }
        }
    }

    struct Node: Equatable {
        var machine: Machine
        var action: AuthenticationAction?
        var trace: Trace
    }

    /// Explores everything that can be reached and calls `check` on each edge.
    static func explore(
        _ start: Machine, _ check: (Node, AuthenticationEvent, AuthenticationStep, Trace) -> Void
    ) -> Int {
        var queue: [Node] = [Node(machine: start, action: nil, trace: Trace())]
        // By state, for nodes can only be compared.
        var seen: [String: [Node]] = [:]
        var next = 0
        while next < queue.count {
            let node = queue[next]
            next += 1
            for event in events(for: node.machine) {
                var after = node
                if let action = node.action { after.trace.note(action, answeredWith: event) }
                let step = after.machine.handle(event)
                check(node, event, step, after.trace)
                after.action = step.action
                if case .end = step.action { continue }
                let kind = "\(after.machine.state)"
                if seen[kind, default: []].contains(after) { continue }
                seen[kind, default: []].append(after)
                queue.append(after)
            }
        }
        return queue.count
    }

    static let starts: [Machine] =
        [true, false].flatMap { pin in
            [true, false].flatMap { terminal in
                [UInt8(1), 3].map { Machine(pinAllowed: pin, fingerTries: $0, terminal: terminal) }
            }
        } + [1, 3].map { Machine(pinAllowed: true, fingerTries: $0, terminal: true, field: true) }

    /// Catches any way to success without a factor that was charged first, verified and settled.
    @Test(arguments: 0..<10) func onlyACountedVerifiedSettledFactorGrants(index: Int) {
        var grants = 0
        let states = Self.explore(Self.starts[index]) { node, event, step, trace in
            guard case .end(.granted(let proof)) = step.action else { return }
            grants += 1
            #expect(trace.charged == proof.factor, "\(node.machine.state) on \(event)")
            #expect(trace.verified == proof.factor, "\(node.machine.state) on \(event)")
            #expect(trace.settled == proof.factor, "\(node.machine.state) on \(event)")
            #expect(proof.factor != .recoveryCode || trace.newPINStored)
        }
        // Without a PIN and without a terminal there is no way in at all.
        #expect((grants > 0) == (index < 6 || index >= 8))
        #expect(states > 15 || index == 6 || index == 7)
    }

    /// Catches a comparison, or an armed reader, that was not charged before.
    @Test(arguments: 0..<10) func nothingIsComparedUncharged(index: Int) {
        _ = Self.explore(Self.starts[index]) { node, event, step, trace in
            switch step.action {
            case .comparePIN: #expect(trace.charged == .pin && trace.verified == nil, "\(node.machine.state) \(event)")
            case .compareRecovery: #expect(trace.charged == .recoveryCode && trace.verified == nil)
            case .armReader, .awaitTouch: #expect(trace.charged == .finger && trace.verified == nil)
            default: break
            }
        }
    }

    /// Catches a finger's charge that is forgotten while a person types or is away: a reader would be armed for nobody, and
    /// a try neither refunded nor failed.
    @Test(arguments: 0..<10) func nobodyIsAskedWithAFingersChargeOpen(index: Int) {
        var absences = 0
        _ = Self.explore(Self.starts[index]) { node, event, step, trace in
            switch step.action {
            case .awaitReturn:
                absences += 1
                #expect(!trace.fingerIsOpen, "\(node.machine.state) \(event)")
            case .ask, .openField, .chargePIN, .askNewPIN:
                #expect(!trace.fingerIsOpen, "\(node.machine.state) \(event)")
            default: break
            }
        }
        #expect((absences > 0) == (index >= 8))
    }

    /// Catches what happens at a field that is not open being taken for an answer.
    @Test(arguments: 0..<8) func withoutAFieldNothingIsSetAside(index: Int) {
        _ = Self.explore(Self.starts[index]) { node, event, step, _ in
            switch event {
            case .touched(.setAside), .left, .returned, .fieldOpened, .noField:
                if case .end(.refused) = step.action { return }
                Issue.record("\(node.machine.state) took \(event)")
            default: break
            }
        }
    }

    /// Catches a reader that never decides keeping a prompt open: the try it was charged for fails at the tenth touch.
    @Test func aTryHasAnEnd() {
        let machine = Machine(pinAllowed: true, fingerTries: 3, terminal: true)
        let retry: [AuthenticationEvent] = [.armed, .touchAgain(.general)]
        let begin: [AuthenticationEvent] = [.facts(open), .answeredNothing, .readerOpened, .charged]
        let nine = begin + (0..<9).flatMap { _ in retry }
        #expect(run(machine, nine) == AuthenticationStep(notices: [.retry(.general)], action: .armReader))
        #expect(run(machine, nine + retry)?.action == .settleFinger(.failed))
        // The next try has touches of its own.
        let second = nine + retry + [.settledFailure(.finger(.open)), .charged]
        #expect(run(machine, second + (0..<9).flatMap { _ in retry })?.action == .armReader)
        #expect(run(machine, second + (0..<10).flatMap { _ in retry })?.action == .settleFinger(.failed))
    }

    /// Catches a way round in a circle: a person, a reader or a program that always answers the same would keep the
    /// machine busy for ever.
    @Test(arguments: 0..<10) func everyWayEnds(index: Int) {
        var machines: [Machine] = []
        var next: [[Int]] = []
        var known: [String: [Int]] = [:]
        func number(_ machine: Machine) -> Int {
            let kind = "\(machine.state)"
            if let index = known[kind, default: []].first(where: { machines[$0] == machine }) { return index }
            known[kind, default: []].append(machines.count)
            machines.append(machine)
            next.append([])
            return machines.count - 1
        }
        _ = Self.explore(Self.starts[index]) { node, event, step, _ in
            if case .end = step.action { return }
            var after = node.machine
            _ = after.handle(event)
            let (from, to) = (number(node.machine), number(after))
            if !next[from].contains(to) { next[from].append(to) }
        }
        // Whatever nothing leads to is taken away, again and again; what stays then lies on a circle.
        var entrances = machines.indices.map { index in next.count { $0.contains(index) } }
        var free = machines.indices.filter { entrances[$0] == 0 }
        var taken = 0
        while let index = free.popLast() {
            taken += 1
            for after in next[index] {
                entrances[after] -= 1
                if entrances[after] == 0 { free.append(after) }
            }
        }
        #expect(taken == machines.count)
    }

    /// Catches a PIN asked for where `pin=no` forbids it, and a finger awaited without a terminal.
    @Test(arguments: 0..<10) func argumentsAreKept(index: Int) {
        let start = Self.starts[index]
        let pinAllowed = index < 4 || index >= 8
        let terminal = index % 4 < 2
        _ = Self.explore(start) { _, event, step, _ in
            if case .ask(let prompt) = step.action {
                #expect(pinAllowed, "\(event)")
                #expect(terminal || prompt == .password, "\(event)")
            }
            if case .armReader = step.action { #expect(terminal, "\(event)") }
        }
    }

    /// Catches an end that is not an end: an ended machine answers every event with a refusal.
    @Test func anEndedMachineNeverGrants() {
        var ended: [Machine] = []
        for start in Self.starts {
            // One for each verdict of each start: the counts of tries do not matter any more.
            var verdicts: [Machine.State] = []
            _ = Self.explore(start) { node, event, step, _ in
                guard case .end = step.action else { return }
                var machine = node.machine
                _ = machine.handle(event)
                guard !verdicts.contains(machine.state) else { return }
                verdicts.append(machine.state)
                ended.append(machine)
            }
        }
        #expect(ended.count > 20)
        for machine in ended {
            for event in Self.allEvents {
                var again = machine
                let step = again.handle(event)
                guard case .end(.refused) = step.action else {
                    Issue.record("\(machine.state) went on with \(event)")
                    continue
                }
            }
        }
    }

    private func run(_ machine: Machine, _ events: [AuthenticationEvent]) -> AuthenticationStep? {
        var machine = machine
        var last: AuthenticationStep?
        for event in events { last = machine.handle(event) }
        return last
    }

    private let open = Machine.Facts(
        record: .usable, pin: .open(triesLeft: 5), recovery: .open(triesLeft: 5), finger: nil)

    /// Catches a wrong turn on the ways that people really take; each row is the specification in one line.
    @Test func theStoriesOfTheDesign() {
        let machine = Machine(pinAllowed: true, fingerTries: 3, terminal: true)
        let begin = AuthenticationEvent.facts(open)
        let touch: [AuthenticationEvent] = [.charged, .armed, .touched(.failed), .settledFailure(.finger(.open))]
        #expect(run(machine, [begin])?.action == .ask(.pinOrTouch))
        #expect(run(machine, [begin, .answeredNothing])?.action == .openReader)
        let failed = run(machine, [begin, .answeredNothing, .readerOpened] + touch)
        #expect(failed == AuthenticationStep(notices: [.notRecognised], action: .chargeFinger))
        let thrice = run(machine, [begin, .answeredNothing, .readerOpened] + touch + touch + touch)
        #expect(thrice?.action == .ask(.pin(because: .triesUsedUp)))
        let cancelled = run(
            machine,
            [
                begin, .answeredNothing, .readerOpened, .charged, .armed, .touched(.notTouched(interrupted: true)),
                .settledFailure(.finger(.open)),
            ])
        #expect(cancelled?.action == .end(.refused(.cancelled)))
        let wrong = run(
            machine, [begin, .answered, .charged, .notMatched, .settledFailure(.secret(.open(triesLeft: 2)))])
        #expect(
            wrong
                == AuthenticationStep(
                    notices: [.wrongPIN(triesLeft: 2)], action: .end(.refused(.authenticationFailed))))
        var disabled = open
        disabled.pin = .closed(.disabled)
        #expect(run(machine, [.facts(disabled)])?.action == .ask(.recoveryCode))
        disabled.recovery = nil
        #expect(run(machine, [.facts(disabled)])?.action == .end(.refused(.pinLockout(.disabled))))
        var shared = open
        shared.pin = .closed(.shareUsedUp)
        #expect(run(machine, [.facts(shared)])?.action == .openReader)
        shared.finger = .remote
        #expect(run(machine, [.facts(shared)])?.action == .end(.refused(.pinLockout(.shareUsedUp))))
        // The TPM's wait shuts the PIN alone: somebody else's wrong PINs must not close the finger.
        var waiting = open
        waiting.enclaveWait = 90
        #expect(run(machine, [.facts(waiting)])?.action == .openReader)
        let closed = run(machine, [.facts(waiting), .fingerClosed(.readerNotAvailable(.busy))])
        #expect(
            closed
                == AuthenticationStep(
                    notices: [.waiting(seconds: 90)], action: .end(.refused(.pinLockout(.waiting(seconds: 90))))))
        let locked = run(machine, [begin, .answered, .charged, .doorClosed(.waiting(seconds: 9))])
        #expect(locked?.action == .end(.refused(.pinLockout(.waiting(seconds: 9)))))
        let gone = run(machine, [begin, .answered, .charged, .troubled(.enclaveGone)])
        #expect(
            gone == AuthenticationStep(notices: [.troubled(.enclaveGone)], action: .end(.refused(.recordUnusable))))
        let purged = run(machine, [begin, .answered, .charged, .recordsGone])
        #expect(purged == AuthenticationStep(notices: [.recordsGone], action: .end(.refused(.pinNotSet))))
        let field = Machine(pinAllowed: true, fingerTries: 3, terminal: true, field: true)
        #expect(run(field, [begin])?.action == .openField)
        #expect(run(field, [begin, .fieldOpened])?.action == .openReader)
        #expect(run(field, [begin, .noField])?.action == .ask(.pinOrTouch))
        let typed: [AuthenticationEvent] = [
            .fieldOpened, .readerOpened, .charged, .armed, .touched(.setAside(.answered, fingerSeen: false)),
        ]
        #expect(run(field, [begin] + typed)?.action == .settleFinger(.setAside(.answered, fingerSeen: false)))
        #expect(run(field, [begin] + typed + [.settledFailure(.finger(.open))])?.action == .chargePIN)
        let fingerOnly = Machine(pinAllowed: false, fingerTries: 3, terminal: true)
        #expect(
            run(fingerOnly, [begin, .fingerClosed(.remote)])?.action == .end(.refused(.fingerPathClosed(.remote))))
    }
}
