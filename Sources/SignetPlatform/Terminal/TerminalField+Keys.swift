package import SignetPolicy

// What keys and signals do at an open field.

extension TerminalField {
    /// How many bytes one call takes: a flood of them must not keep the caller from what else they wait for.
    private static var batch: Int { 512 }

    /// Takes what came, without waiting; an event stands until the caller has seen to it.
    ///
    /// nil: the person goes on typing.
    package mutating func attend() -> FieldEvent? {
        if phase == .open {
            attendToSignals()
            if phase == .open { attendToTerminal() }
            if phase == .open, takeKeys(), phase == .open { draw() }
        }
        switch phase {
        case .closed, .open: return nil
        case .over(let event): return event
        case .away: return .left
        }
    }

    private mutating func attendToSignals() {
        while phase == .open, let news = screen.held.next() {
            switch news {
            case .end: finish(.cancelled)
            case .stop: leave(.stopSignal)
            case .resumed: takeScreenAgain()
            case .resized: startAnew()
            }
        }
    }

    private mutating func attendToTerminal() {
        switch screen.device.standing() {
        case .foreground: if deadline.hasPassed { finish(.timedOut) }
        // To read in the background would stop the program.
        case .background: leave(.background)
        case .gone: finish(.cancelled)
        }
    }

    /// Takes the keys that came; whether there were any, or some that were waited for are given up.
    private mutating func takeKeys() -> Bool {
        var wereAny = false
        for _ in 0..<TerminalField.batch {
            if sequenceEnd?.hasPassed == true {
                wereAny = true
                sequenceEnd = nil
                if let key = decoder.expire() { handle(key) } else if paste != nil { endPaste(lost: true) }
                guard phase == .open else { return true }
            }
            switch text?.read(from: screen.device) {
            case .byte: wereAny = true
            case .nothing: return wereAny
            case .end, nil:
                finish(.cancelled)
                return true
            }
            let key = text?.decode(with: &decoder) ?? nil
            if let key { handle(key) }
            guard phase == .open else { return true }
            sequenceEnd =
                decoder.isWaiting
                ? Deadline(milliseconds: KeyDecoder.patience)
                : paste != nil ? Deadline(milliseconds: TerminalField.pastePatience) : nil
        }
        return wereAny
    }

    private mutating func handle(_ key: Key) {
        if paste != nil { return handlePasted(key) }
        switch key {
        case .cancel: return finish(.cancelled)
        case .interrupt:
            isInterrupted = true
            return finish(.cancelled)
        case .stop: return leave(.stopKey)
        case .focusOut: if style.movesCursor { return leave(.unfocused) }
        case .pasteBegin: paste = Paste(start: text?.length ?? 0)
        case .tab: changeKeypad()
        default: isTooLong ? handleTooLong(key) : edit(key)
        }
    }

    private mutating func edit(_ key: Key) {
        switch key {
        case .character: screen.keypad.isInUse ? choose() : append()
        case .up: screen.moveMark(.up)
        case .down: screen.moveMark(.down)
        case .left: screen.moveMark(.left)
        case .right: screen.moveMark(.right)
        case .refused: rings = true
        case .backspace: text?.removeLast()
        case .clear: text?.clear()
        case .enter: answer()
        default: break
        }
    }

    mutating func answer() {
        if answersEmpty || text?.length ?? 0 > 0 { finish(.answered) }
    }

    mutating func append() {
        if text?.append() == true { return }
        text?.clear()
        isTooLong = true
        rings = true
    }

    /// What was typed is no longer there; whoever presses Enter now does not see what they answer, so it only clears.
    private mutating func handleTooLong(_ key: Key) {
        switch key {
        case .enter, .backspace, .clear: isTooLong = false
        case .character, .refused: rings = true
        default: break
        }
    }

    // MARK: Paste

    /// A pasted command line is no PIN: control characters refuse the whole of it, and its line's end answers nothing.
    private mutating func handlePasted(_ key: Key) {
        switch key {
        case .pasteEnd: endPaste(lost: false)
        // No PIN holds these, and where the paste's end was lost somebody wants to leave.
        case .cancel, .interrupt:
            isInterrupted = key == .interrupt
            finish(.cancelled)
        case .enter: paste?.hasEnded = true
        // Nobody pastes places on a keypad.
        case .character where screen.keypad.isInUse: paste?.isRefused = true
        case .character where paste?.isRefused == false && paste?.hasEnded == false && !isTooLong: append()
        default: paste?.isRefused = true
        }
    }

    private mutating func endPaste(lost: Bool) {
        guard let done = paste else { return }
        paste = nil
        guard done.isRefused || lost else { return }
        text?.truncate(to: done.start)
        rings = true
    }

    // MARK: What comes of it

    /// Takes the field off the screen with something for the caller to see to; only an answer keeps what was typed.
    mutating func finish(_ event: FieldEvent) {
        if event == .answered { clearScreen() } else { cover() }
        phase = .over(event)
    }

    /// The person leaves; where the program must not be stopped that cancels.
    mutating func leave(_ departure: Departure) {
        if departure == .stopKey || departure == .stopSignal, !style.mayStop {
            screen.held.refuseStop()
            return finish(.cancelled)
        }
        cover()
        phase = .away(departure)
    }

    /// Takes prompt and masks off the screen and wipes what was typed.
    mutating func cover() {
        clearScreen()
        screen.keypad.putAway()
        text?.clear()
        forget()
    }

    /// Takes prompt and masks off the screen.
    private mutating func clearScreen() {
        screen.hide()
        paste = nil
        sequenceEnd = nil
    }

    /// Forgets what goes with the text.
    mutating func forget() {
        paste = nil
        sequenceEnd = nil
        isTooLong = false
    }

    /// Wipes what was typed and draws the field empty.
    mutating func startAnew() {
        cover()
        dealKeypad()
        draw()
    }

    /// The program was stopped behind our back and goes on: another may have used the terminal meanwhile.
    private mutating func takeScreenAgain() {
        guard screen.device.isForeground() else { return leave(.background) }
        guard screen.takeAgain() else { return finish(.cancelled) }
        startAnew()
    }

    /// Draws what is typed by now, and rings for what was refused.
    mutating func draw() {
        // A paste is shown when it is over: it may yet be refused.
        let count = paste?.start ?? text?.length ?? 0
        screen.show(isTooLong ? .tooLong : .masks(count), ringing: rings)
        rings = false
    }
}
