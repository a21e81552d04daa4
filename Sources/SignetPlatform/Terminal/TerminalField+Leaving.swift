internal import CPlatform
package import SignetEngine
internal import SignetPolicy
internal import SignetSecrets

// Taking the terminal, giving it back, and the time in between in which the person is elsewhere.

extension TerminalField {
    /// Lets the person leave, after `attend` said `left`, and waits until they are back; then the field stands open and
    /// empty with this label.
    ///
    /// Where it throws the field is closed.
    package mutating func awaitReturn(_ label: String) throws(ConversationError) {
        screen.view.label = Array(label.utf8)
        try awaitReturn()
    }

    /// As above, with the label that the field has.
    mutating func awaitReturn() throws(ConversationError) {
        guard phase != .closed else { throw .unusable }
        do throws(ConversationError) {
            if phase == .away(.unfocused) { try awaitFocus() }
            if case .away(let departure) = phase, departure != .unfocused { try stop(departure) }
        } catch {
            close()
            throw error
        }
        cover()
        begin()
    }

    /// The field opens, empty.
    mutating func begin(_ label: String) {
        screen.view.label = Array(label.utf8)
        begin()
    }

    private mutating func begin() {
        decoder = KeyDecoder(controls: screen.modes.controls)
        deadline = Deadline(seconds: style.seconds)
        phase = .open
        rings = false
        dealKeypad()
        draw()
    }

    /// Lets the program be stopped as the terminal would have done it; returns once it goes on in the foreground.
    private mutating func stop(_ departure: Departure) throws(ConversationError) {
        // Whoever is to end does not stop first, and writes its line in the journal before.
        if screen.held.next() == .end { return try end() }
        // A TSTP that is pending acts in here.
        screen.giveBack()
        // Stops nothing where it is ignored or nobody could let the job go on; then it goes on at once.
        if departure == .stopKey { signet_stop_job() }
        // One that is still pending is blocked by the caller: it would take the person away again without end.
        screen.held.refuseStop()
        try awaitForeground()
        guard screen.take() else { throw .unusable }
    }

    /// A signal that ends the program came meanwhile: it acts when the caller has settled and journalled what is open.
    private mutating func end() throws(ConversationError) {
        finish(.cancelled)
        throw .cancelled
    }

    /// Waits for the foreground in the kernel's own way: who reads in the background is stopped by SIGTTIN, and finds an
    /// error where that cannot be.
    private borrowing func awaitForeground() throws(ConversationError) {
        guard var nothing = SecretBytes(count: 1) else { throw .unusable }
        // With a handler the read would be restarted, and the signal sent to the whole job, without end (tty_ioctl(4),
        // signal(7)): nobody stops there.
        guard screen.device.isForeground() || signet_acts_by_default(SIGTTIN) == 1 else { throw .cancelled }
        // The bound is for a kernel that does neither; each turn is a time that somebody let the job go on.
        for _ in 0..<1000 {
            if screen.device.isForeground() { return }
            if case .end = screen.device.readByte(into: &nothing) { break }
        }
        throw .cancelled
    }

    /// Waits until the terminal's window has the focus again, or somebody presses a key.
    private mutating func awaitFocus() throws(ConversationError) {
        phase = .open
        defer { if phase == .open { phase = .away(.unfocused) } }
        while phase == .open {
            wait()
            guard phase == .open else { break }
            if let news = screen.held.next() {
                switch news {
                case .end: return try end()
                case .stop: return leave(.stopSignal)
                case .resumed: _ = screen.takeAgain()
                case .resized: break
                }
                continue
            }
            if screen.device.standing() == .gone { throw .cancelled }
            if deadline.hasPassed { throw .timedOut }
            if !screen.device.isForeground() { return leave(.background) }
            switch text?.read(from: screen.device) {
            case .nothing: continue
            case .end, nil: throw .cancelled
            case .byte: break
            }
            switch text?.decode(with: &decoder) ?? nil {
            case nil, .focusOut, .ignored: continue
            case .cancel: throw .cancelled
            case .interrupt:
                isInterrupted = true
                return try end()
            case .stop: return leave(.stopKey)
            case .focusIn: return
            default:
                // The key only wakes; what comes with it, the rest of a paste, was meant for a field that is not there.
                _ = screen.takeAgain()
                return
            }
        }
    }
}
