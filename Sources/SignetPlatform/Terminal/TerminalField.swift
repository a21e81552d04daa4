internal import CPlatform
package import SignetEngine
internal import SignetPolicy
package import SignetSecrets

/// A field on the terminal in which a PIN is typed, for itself or beside something else that is waited for.
///
/// While it stands open the terminal's modes and the signals that end or stop a program are its own; they are given back
/// whenever the person leaves, when it is closed, and when it goes away.
package struct TerminalField: FieldWatch, ~Copyable {
    let style: FieldStyle
    var screen: FieldScreen
    var phase = Phase.closed
    var deadline: Deadline

    var text: SealedText?
    var decoder = KeyDecoder()
    /// Until when a sequence waits for its next byte.
    var sequenceEnd: Deadline?
    var paste: Paste?
    /// More was typed than a PIN can have; nothing of it was kept.
    var isTooLong = false
    /// Whether Enter alone is an answer.
    var answersEmpty = false
    /// Whether the person wants the keypad; there may be no room for it.
    var usesKeypad = false

    /// The key that interrupts a job was pressed.
    var isInterrupted = false

    /// The field ended since it could not be waited at or its memory was refused, and nobody cancelled.
    private var hasFailed = false

    /// A key was refused since the field was drawn last.
    var rings = false

    /// Where the field stands in its life.
    enum Phase: Equatable {
        case closed
        /// On the screen, taking keys.
        case open
        /// Something happened that the caller has to see to; nothing is on the screen.
        case over(FieldEvent)
        /// The person leaves; nothing is on the screen or in the text.
        case away(Departure)
    }

    /// Why the person leaves.
    enum Departure: Equatable {
        /// The key that stops a job.
        case stopKey
        /// SIGTSTP, which is pending.
        case stopSignal
        /// Another job has the terminal.
        case background
        /// The terminal's window lost its focus.
        case unfocused
    }

    /// What is being pasted, which is kept as a whole or not at all.
    struct Paste: Equatable {
        /// The characters before it.
        let start: Int
        /// Something in it can be no part of a PIN.
        var isRefused = false
        /// A line's end came, which only something that ends there may have.
        var hasEnded = false
    }

    /// How long a paste may pause, in milliseconds, before its end counts as lost.
    static let pastePatience = 1000

    /// Opens the controlling terminal; nil where the process has none.
    package init?(_ style: FieldStyle) {
        guard let device = TerminalDevice() else { return nil }
        self.init(device, style)
    }

    /// Opens the terminal at `path`, which nobody stops us at: for tests.
    package init?(path: [UInt8], _ style: FieldStyle) {
        guard let device = TerminalDevice(path: path) else { return nil }
        self.init(device, style)
    }

    private init(_ device: consuming TerminalDevice, _ style: FieldStyle) {
        screen = FieldScreen(device, style)
        self.style = style
        deadline = Deadline(seconds: style.seconds)
    }

    /// Whether the field has the terminal.
    package var isOpen: Bool { phase != .closed }

    /// Shows the field with `label` before what is typed; false where the terminal refuses, and then nothing is changed.
    package mutating func open(_ label: String) -> Bool {
        guard phase == .closed, let text = SealedText() else { return false }
        guard screen.take() else { return false }
        self.text = consume text
        hasFailed = false
        usesKeypad = style.keypad
        begin(label)
        return true
    }

    /// Puts another label before what was typed, which stays.
    package mutating func relabel(_ label: String) {
        screen.view.label = Array(label.utf8)
        if phase == .open { draw() }
    }

    /// Says a sentence on a line of its own, above an open field, which is drawn again.
    package mutating func say(_ sentence: String) {
        screen.say(sentence)
        if phase == .open { draw() }
    }

    /// Takes what was typed, after `attend` said `answered`; the field is closed, whatever comes of it.
    package mutating func takeAnswer() throws(ConversationError) -> SecretBytes {
        guard case .over(let event) = phase else {
            close()
            throw .unusable
        }
        var answer: SecretBytes?
        if event == .answered { answer = text?.take() }
        let hasFailed = hasFailed
        close()
        switch event {
        case _ where hasFailed: throw .unusable
        case .answered:
            guard let taken = answer.take() else { throw .unusable }
            return taken
        case .timedOut: throw .timedOut
        case .cancelled, .left: throw .cancelled
        }
    }

    /// Waits for an answer alone, the person leaving and coming back included; the field is closed then.
    ///
    /// Enter without anything typed is an answer with `orEmpty`, and nothing else.
    package mutating func awaitAnswer(orEmpty: Bool) throws(ConversationError) -> SecretBytes {
        guard phase != .closed else { throw .unusable }
        answersEmpty = orEmpty
        while true {
            switch attend() {
            case .none: wait()
            case .some(.left): try awaitReturn()
            case .some: return try takeAnswer()
            }
        }
    }

    /// Gives the terminal back, screen first, then modes, then signals; harmless where the field is closed.
    ///
    /// After a cancellation the signals stay held until the field goes away: one of them may end the program, which has
    /// to settle its charge and write its line in the journal first.
    package mutating func close() {
        guard phase != .closed else { return }
        let isCancelled = phase == .over(.cancelled)
        phase = .closed
        forget()
        text = nil
        answersEmpty = false
        screen.giveBackTerminal()
        screen.keypad.putAway()
        guard isCancelled else { return screen.giveBack() }
        // It is pending here, and reaches at once whoever runs this program: a shell's loop, the other end of a pipe.
        if isInterrupted, style.interruptsJob, screen.device.isForeground() { signet_interrupt_job() }
        isInterrupted = false
    }

    // MARK: Waiting

    /// Readable when a key was pressed; -1 where no key is taken now.
    package var keys: Int32 { phase == .open ? screen.device.descriptor.raw : -1 }

    /// Readable when a signal is pending; -1 where none is held or looked at.
    package var signals: Int32 { phase == .open ? screen.held.descriptor : -1 }

    /// Milliseconds after which `attend` has something to do in any case: 0 while something waits for the caller.
    package var patience: Int32 {
        switch phase {
        case .closed: return -1
        case .over, .away: return 0
        case .open: break
        }
        let left = deadline.pollTimeout
        guard let sequenceEnd else { return left }
        return min(left, sequenceEnd.pollTimeout)
    }

    /// Sleeps until `attend` has something to do.
    mutating func wait() {
        // A descriptor of -1 is passed over (poll(2)).
        var sources = [
            pollfd(fd: keys, events: Int16(POLLIN), revents: 0), pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        // SAFETY: the array lives through the call, which is told its length.
        let ready = unsafe poll(&sources, nfds_t(sources.count), patience)
        // A wait that cannot be done at all would turn for ever.
        guard ready < 0, signet_errno() != EINTR else { return }
        hasFailed = true
        finish(.timedOut)
    }
}
