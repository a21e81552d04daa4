import SignetEngine
import SignetPolicy
import SignetSecrets

/// What a person does at a prompt.
enum Answer: Equatable, Sendable {
    case types(String)
    case bytes([UInt8])
    /// Enter alone.
    case enter
    case cancels
    case letsTimePass
    case cannotBeAsked
}

/// What a person met, in order.
enum Met: Equatable, Sendable {
    case prompt(Prompt)
    case notice(Notice)
    /// They left the field; on their return it stood there empty.
    case absence
    /// They read who holds the reader.
    case holder(String)
}

/// Something that happens at the open field.
struct FieldMoment: Equatable, Sendable {
    /// Which wait of the sensor it falls into, and how many such waits pass before.
    let wait: PortCall
    var passing = 0
    let event: FieldEvent

    static func during(_ wait: PortCall, passing: Int = 0, _ event: FieldEvent) -> FieldMoment {
        FieldMoment(wait: wait, passing: passing, event: event)
    }
}

/// A person who answers by a script; when it is used up, they cancel.
final class FakePerson: Conversation {
    let disk: Disk
    let process: FakeProcess
    var answers: [Answer]
    /// What happens at the field, in order.
    var moments: [FieldMoment] = []
    /// Whether there is a terminal that takes a field.
    var fieldOpens = true
    private(set) var fieldIsOpen = false
    /// What the field said and what is still to be done about it.
    private var pending: FieldEvent?
    private(set) var met: [Met] = []

    init(_ disk: Disk, _ process: FakeProcess, answers: [Answer] = []) {
        self.disk = disk
        self.process = process
        self.answers = answers
    }

    var prompts: [Prompt] { met.compactMap { if case .prompt(let prompt) = $0 { prompt } else { nil } } }
    var notices: [Notice] { met.compactMap { if case .notice(let notice) = $0 { notice } else { nil } } }

    func ask(_ prompt: Prompt) throws(ConversationError) -> SecretBytes {
        disk.needsNoLock("asked", process)
        if isTypingHidden { disk.violated("asked while typing is hidden", by: process) }
        // An open field takes the prompt, and is closed by the answer.
        defer { fieldIsOpen = false }
        if process.holdsSignals { disk.violated("asked where Ctrl-C does nothing", by: process) }
        if process.hasReaderOpen, prompt != .pinOrTouch { disk.violated("asked with the reader open", by: process) }
        met.append(.prompt(prompt))
        if process.begin(.ask) { throw process.conversationError }
        let bytes = try typed()
        guard let secret = SecretBytes(copying: bytes.span) else { throw .unusable }
        return secret
    }

    private func typed() throws(ConversationError) -> [UInt8] {
        switch answers.isEmpty ? .cancels : answers.removeFirst() {
        case .types(let text): return Array(text.utf8)
        case .bytes(let typed): return typed
        case .enter: return []
        case .cancels: throw .cancelled
        case .letsTimePass: throw .timedOut
        case .cannotBeAsked: throw .unusable
        }
    }

    // MARK: The field

    func openField(_ prompt: Prompt) -> Bool {
        disk.needsNoLock("opened the field", process)
        if fieldIsOpen || process.holdsSignals { disk.violated("opened the field twice, or too late", by: process) }
        guard !process.begin(.openField), fieldOpens else { return false }
        met.append(.prompt(prompt))
        fieldIsOpen = true
        return true
    }

    func attend() -> FieldEvent? {
        guard fieldIsOpen, let moment = moments.first, process.calls.last == moment.wait, !process.isKilled else {
            return nil
        }
        if pending != nil { disk.violated("went on waiting after something happened", by: process) }
        guard moment.passing == 0 else {
            moments[0].passing -= 1
            return nil
        }
        moments.removeFirst()
        if moment.event != .timedOut && moment.event != .cancelled { pending = moment.event }
        return moment.event
    }

    func takeAnswer() throws(ConversationError) -> SecretBytes {
        if pending != .answered || !fieldIsOpen { disk.violated("took an answer that nobody gave", by: process) }
        pending = nil
        fieldIsOpen = false
        if process.begin(.takeAnswer) { throw process.conversationError }
        let bytes = try typed()
        guard let secret = SecretBytes(copying: bytes.span) else { throw .unusable }
        return secret
    }

    func awaitReturn(_ prompt: Prompt) throws(ConversationError) {
        disk.needsNoLock("let somebody leave", process)
        if pending != .left || !fieldIsOpen { disk.violated("waited for somebody who is there", by: process) }
        if process.hasReaderOpen { disk.violated("left with the reader open", by: process) }
        if process.holdsSignals { disk.violated("left where a stop does not act", by: process) }
        pending = nil
        met.append(.absence)
        if process.begin(.awaitReturn) {
            fieldIsOpen = false
            throw process.conversationError
        }
    }

    func closeField() {
        _ = process.begin(.closeField)
        fieldIsOpen = false
    }

    func readerIsHeld(by holder: [UInt8]) { met.append(.holder(String(decoding: holder, as: UTF8.self))) }

    private(set) var isTypingHidden = false

    func hideTyping() {
        // A signal that ends the program in between would leave the terminal without its echo.
        if !process.holdsSignals { disk.violated("hid typing while signals act", by: process) }
        isTypingHidden = true
    }

    func showTyping() {
        if isTypingHidden, !process.holdsSignals { disk.violated("showed typing after signals acted", by: process) }
        isTypingHidden = false
    }

    func tell(_ notice: Notice) {
        // Output waits too, where somebody stopped the terminal.
        disk.needsNoLock("told something", process)
        _ = process.begin(.tell)
        met.append(.notice(notice))
    }
}

/// The machine's time, which only the test moves.
final class ManualTime {
    var boot = BootIdentity(high: 1, low: 1)
    var seconds: UInt64 = 10_000
    var wall: Int64 = 1_796_000_000
    var isUnreadable = false

    var now: BootInstant { BootInstant(boot: boot, seconds: seconds) }

    /// Lets time pass.
    func pass(_ seconds: UInt64) {
        self.seconds += seconds
        wall += Int64(seconds)
    }

    /// Starts the machine anew; its clock then stands at `seconds`.
    func reboot(at seconds: UInt64 = 30) {
        boot = BootIdentity(high: boot.high, low: boot.low + 1)
        self.seconds = seconds
    }
}

/// One process's look at the time.
final class ManualClock: Clock {
    let time: ManualTime
    let process: FakeProcess

    init(_ time: ManualTime, _ process: FakeProcess) {
        self.time = time
        self.process = process
    }

    func now() throws(ClockUnreadable) -> BootInstant {
        if process.begin(.now) || time.isUnreadable { throw ClockUnreadable() }
        return time.now
    }

    func wallTime() -> Int64 {
        _ = process.begin(.wallTime)
        return time.wall
    }
}

/// A journal that can be read.
final class MemoryJournal: Journal {
    let process: FakeProcess
    private(set) var events: [JournalEvent] = []

    init(_ process: FakeProcess) { self.process = process }

    func record(_ event: JournalEvent) {
        _ = process.begin(.record)
        events.append(event)
    }
}
