import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// How an authentication ended, as a test can write it down: a proof can be made by the deciding machine alone.
enum Outcome: Equatable, Sendable {
    case granted(Factor)
    case refused(Refusal)

    init(_ verdict: Verdict) {
        switch verdict {
        case .granted(let proof): self = .granted(proof.factor)
        case .refused(let refusal): self = .refused(refusal)
        }
    }
}

/// One authentication from beginning to end, and all that must be seen of it.
///
/// Stories are values, so that the property tests can tell each again under every fault.
struct Story: Sendable, CustomTestStringConvertible {
    let name: String
    var prepare: @Sendable (Machine) throws -> Void = { try $0.setUp() }
    var answers: [Answer] = []
    var touches: [Touch] = []
    var caller = CallerClass.person
    var exists = true
    var pin = true
    var terminal = true
    /// What happens at the field that stays open; nil where there is no such field.
    var field: [FieldMoment]?
    var closure: FingerClosure?
    /// What else is special about the process: its reader, or what happens meanwhile.
    var meanwhile: @Sendable (Machine, Actor) -> Void = { _, _ in }
    let outcome: Outcome
    let met: [Met]
    /// What must be true afterwards, beside what is true after every story.
    var after: @Sendable (Machine, Actor) throws -> Void = { _, _ in }

    var testDescription: String { name }

    /// The machine as it is before the story; with a TPM, one that counts no failures, which needs no other story.
    func prepared(_ kind: EnclaveKind = .file) throws -> Machine {
        let machine = Machine(kind)
        try prepare(machine)
        return machine
    }

    /// The story's process, before it is run.
    func begin(_ machine: Machine) -> Actor {
        let actor = machine.process()
        meanwhile(machine, actor)
        return actor
    }

    func run(_ actor: Actor) -> Outcome {
        // The recovery code is random; the script says where it is typed.
        let typed = answers.map { $0 == .typesCode ? Answer.bytes(actor.machine.code) : $0 }
        return Outcome(
            actor.authenticate(
                typed, touches: touches, caller: caller, exists: exists, pin: pin, terminal: terminal, field: field,
                closure: closure))
    }

    /// What is wrong after an authentication, whatever came of it; nothing may be.
    static func wrongs(_ machine: Machine, _ actor: Actor, _ outcome: Outcome) -> [String] {
        var wrongs = machine.disk.violations
        if machine.disk.holder === actor.process { wrongs.append("the lock is held") }
        if actor.person.fieldIsOpen { wrongs.append("the field is open") }
        if actor.person.isTypingHidden { wrongs.append("typing is hidden") }
        if actor.sensor.isOpen { wrongs.append("the reader is open") }
        if actor.sensor.isRunning { wrongs.append("the helper runs") }
        if actor.process.holdsSignals { wrongs.append("signals are held") }
        if !machine.disk.isCounted { wrongs.append("fewer failures than comparisons") }
        if case .granted(let factor) = outcome {
            if !actor.process.evidence.contains(.comparedRight(factor)) { wrongs.append("granted uncompared") }
            if !actor.process.evidence.contains(.settled(factor)) { wrongs.append("granted unsettled") }
            if factor == .recoveryCode, !actor.process.evidence.contains(.settled(.pin)) {
                wrongs.append("granted without a new PIN")
            }
        }
        return wrongs
    }
}

extension Answer {
    /// Stands for the machine's recovery code in a script.
    static let typesCode = Answer.types("the recovery code")
    static let right = Answer.types(Machine.pin)
    static let wrong = Answer.types(Machine.wrong)
    static let newPIN = Answer.types("quiet otter 7")
}

extension Machine {
    var attempts: Attempts { disk.attempts ?? Attempts() }
    var change: EnrollmentChange? { disk.attempts?.change }

    /// `count` wrong PINs, each after the wait before it.
    func wrongPINs(_ count: Int, caller: CallerClass = .person) {
        for _ in 0..<count {
            _ = process("earlier").authenticate([.wrong], caller: caller, closure: .background)
            if let wait = attempts.pin.wait { time.pass(UInt64(wait.seconds)) }
        }
    }

    /// `count` fingers that are not recognised.
    func wrongFingers(_ count: Int) {
        for _ in 0..<count { _ = process("earlier").authenticate([.enter], touches: [.notRecognised]) }
    }

    /// Puts other prints on disk, past all of Signet's commands.
    func tamper(generation: UInt64 = 1, _ prints: [Print]) {
        disk.prints = Disk.Prints(generation: generation, prints)
    }
}

extension Print {
    static let first = Print(finger: 7, reader: .inside, data: [1, 2, 3])
    static let second = Print(finger: 8, reader: .inside, data: [4, 5, 6])
    static let elsewhere = Print(finger: 7, reader: .outside, data: [7, 8, 9])
    static let onChip = Print(finger: 7, reader: .chip, onReader: true, data: [9, 9, 9])
}

extension Actor {
    /// Lets something happen once, when this process makes a call of that kind.
    func once(at call: PortCall, _ happens: @escaping () -> Void) {
        var done = false
        process.onCall = { made in
            guard made == call, !done else { return }
            done = true
            happens()
        }
    }

    /// How often the counters were written.
    var charges: Int { process.count(.saveAttempts) }

    func journalHas(_ event: JournalEvent) -> Bool { journal.events.contains(event) }
}
