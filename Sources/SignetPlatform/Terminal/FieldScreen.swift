internal import SignetSecrets

/// The terminal while a field stands on it: its screen, its modes and the signals that it would send.
///
/// All three are given back in this order, whenever they are given back, and also when the field just goes away.
public struct FieldScreen: ~Copyable {
    let device: TerminalDevice
    private let movesCursor: Bool
    private(set) var modes = TerminalModes()
    private(set) var held = FieldSignals()
    var view: FieldView
    /// Stands above the field, where there is one and room for it.
    var keypad: KeypadPanel
    /// The terminal takes nothing: it is waited for once, and not again at each key.
    private var isStuck = false

    init(_ device: consuming TerminalDevice, _ style: FieldStyle) {
        self.device = device
        movesCursor = style.movesCursor
        view = FieldView(style)
        keypad = KeypadPanel(movesCursor: style.movesCursor)
    }

    deinit {
        guard modes.areTaken else { return }
        let width = device.width()
        device.write(view.hiding(width: width) + keypad.hiding(width: width) + reports(false))
        modes.restore(device)
        // The signals are let go by their owner, after the modes.
    }

    /// Holds the signals and takes the modes; false where one cannot be had, and then neither is.
    mutating func take() -> Bool {
        guard held.hold() else { return false }
        guard modes.take(device) else {
            held.release()
            return false
        }
        write(reports(true))
        return true
    }

    /// Takes it again after the program was stopped behind our back and goes on; false where the terminal refuses.
    mutating func takeAgain() -> Bool {
        // Where another has used the terminal, what the screen shows now must not be taken for rows of ours.
        if !modes.areInForce(device) {
            view.forget()
            keypad.forget()
        }
        guard modes.takeAgain(device) else { return false }
        write(reports(true))
        return true
    }

    /// Gives all of it back; a signal that is pending acts before this returns.
    mutating func giveBack() {
        giveBackTerminal()
        held.release()
    }

    /// Gives screen and modes back; signals are held until the field goes away or is opened and closed again.
    mutating func giveBackTerminal() {
        guard modes.areTaken else { return }
        let width = device.width()
        write(view.hide(width: width) + keypad.hide(width: width) + reports(false))
        modes.giveBack(device)
    }

    /// Draws the field so, with a bell where a key was refused.
    mutating func show(_ content: FieldView.Content, ringing: Bool) {
        let width = device.width()
        if keypad.isInUse {
            showKeypad(above: view.height(with: content, width: width), width: width)
        } else if !ringing, view.shows(content, width: width) {
            return
        }
        write(view.show(content, width: width) + (ringing ? [0x07] : []))
    }

    /// Takes the field off the screen.
    mutating func hide() {
        let width = device.width()
        write(view.hide(width: width) + keypad.hide(width: width))
    }

    /// Takes the field off the screen and writes a sentence in its place, on lines of its own that break between words.
    mutating func say(_ sentence: String) {
        let width = device.width()
        var layout = FieldLayout(width: width)
        layout.add(Array(sentence.utf8))
        var bytes = view.hide(width: width) + keypad.hide(width: width)
        for row in layout.rows { bytes += row.bytes + [0x0D, 0x0A] }
        write(bytes)
    }

    mutating func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        isStuck = !device.write(bytes, patience: isStuck ? 0 : TerminalDevice.writePatience)
    }

    /// Writes a secret that the screen is to show.
    mutating func write(_ secret: borrowing SecretBytes) {
        isStuck = !device.write(secret, patience: isStuck ? 0 : TerminalDevice.writePatience)
    }

    /// Asks the terminal to mark what is pasted, and to tell when its window loses the focus, or to stop both (xterm's
    /// "ctlseqs": modes 2004 and 1004).
    ///
    /// A terminal that knows neither does nothing.
    private borrowing func reports(_ on: Bool) -> [UInt8] {
        guard movesCursor else { return [] }
        return Array((on ? "\u{1B}[?2004h\u{1B}[?1004h" : "\u{1B}[?1004l\u{1B}[?2004l").utf8)
    }
}
