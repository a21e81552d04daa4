internal import SignetSecrets

/// The keypad of a field: whether digits are chosen on it now, and whether it is on the screen.
struct KeypadPanel: ~Copyable {
    private let movesCursor: Bool
    /// nil: the field is an ordinary one.
    private var keypad: ShuffledKeypad?
    /// The terminal's columns when it was drawn; nil where it is not on the screen.
    private var drawnWidth: Int?

    init(movesCursor: Bool) { self.movesCursor = movesCursor }

    /// Whether characters choose digits.
    var isInUse: Bool { keypad != nil }

    /// Whether it is on the screen.
    var isDrawn: Bool { drawnWidth != nil }

    /// Deals the digits anew; where memory is short the field becomes an ordinary one.
    mutating func deal() {
        keypad = ShuffledKeypad()
        drawnWidth = nil
    }

    /// Wipes the order, for an ordinary field.
    ///
    /// It is to be hidden before.
    mutating func putAway() {
        keypad = nil
        drawnWidth = nil
    }

    /// Exchanges the character just read for the digit that it picks.
    mutating func choose(in text: inout SealedText?) -> KeypadEffect {
        guard let dealt = keypad.take() else { return .refused }
        var effect = KeypadEffect.refused
        text?.replaceByte { effect = dealt.takeCharacter(in: &$0) }
        keypad = consume dealt
        return effect
    }

    /// Moves the mark; what to write for it, the cursor being in the last of `height` rows under the keypad.
    ///
    /// A terminal that cannot move its cursor shows no mark, so that there is nothing to move.
    mutating func move(_ arrow: KeypadArrow, height: Int) -> [UInt8] {
        guard movesCursor, var dealt = keypad.take() else { return [] }
        let old = dealt.marked
        dealt.moveMark(arrow)
        let new = dealt.marked
        keypad = consume dealt
        return isDrawn ? KeypadView.movingMark(from: old, to: new, below: height) : []
    }

    /// What draws it where it is not on the screen, the cursor being at the start of a line.
    mutating func show(width: Int) -> SecretBytes? {
        guard !isDrawn, let dealt = keypad.take() else { return nil }
        let drawing = KeypadView.drawing(of: dealt, marks: movesCursor, columns: width)
        keypad = consume dealt
        if drawing != nil { drawnWidth = width }
        return drawing
    }

    /// Takes it off the screen, the cursor being at the start of the line under it.
    ///
    /// On a terminal that cannot move its cursor it stays, and is not drawn again until the digits are dealt anew.
    mutating func hide(width: Int) -> [UInt8] {
        let bytes = hiding(width: width)
        if movesCursor { drawnWidth = nil }
        return bytes
    }

    /// What takes it off the screen.
    borrowing func hiding(width: Int) -> [UInt8] {
        guard movesCursor, let drawnWidth else { return [] }
        return KeypadView.erasing(drawnWidth: drawnWidth, width: width)
    }

    /// To the first column, over what a program has begun to write there (ECMA-48: EL).
    var beginning: [UInt8] { movesCursor ? [0x0D, 0x1B, 0x5B, 0x4B] : [] }

    /// Forgets that it is drawn: somebody else has written since.
    mutating func forget() { drawnWidth = nil }
}

extension FieldScreen {
    /// Draws the keypad, where one is in use, with room for a field of so many rows under it; where there is no room the
    /// field becomes an ordinary one.
    mutating func showKeypad(above height: Int, width: Int) {
        guard keypad.isInUse else { return }
        let fits = KeypadView.fits(rows: device.rows(), columns: width, promptLines: height)
        if keypad.isDrawn, fits { return }
        hide()
        guard fits, let drawing = keypad.show(width: width) else { return keypad.putAway() }
        device.write(keypad.beginning)
        device.write(drawing)
    }

    /// Moves the keypad's mark.
    mutating func moveMark(_ arrow: KeypadArrow) { device.write(keypad.move(arrow, height: view.height)) }
}

extension TerminalField {
    /// Deals the keypad's digits anew, where the person wants one: for each prompt, and after each cover.
    mutating func dealKeypad() {
        if usesKeypad { screen.keypad.deal() }
    }

    /// Changes between keypad and ordinary field: what was typed on one is no part of what is typed on the other.
    mutating func changeKeypad() {
        guard style.keypad else { return }
        usesKeypad.toggle()
        startAnew()
    }

    /// Adds the digit that the character just read picks.
    mutating func choose() {
        switch screen.keypad.choose(in: &text) {
        case .picked: append()
        case .erase: text?.removeLast()
        case .done: answer()
        case .refused: rings = true
        }
    }
}
