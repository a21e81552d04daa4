/// How a PIN field looks and behaves.
package struct FieldStyle: Equatable, Sendable {
    /// What stands for a character on the screen, in UTF-8; nil: nothing is shown, and nothing moves.
    package var mask: [UInt8]?
    /// Whether the person may stop the program with Ctrl-Z; under sudo it cancels, for a stopped sudo keeps the lock of
    /// its ticket, and the next sudo waits for it without a word.
    package var mayStop: Bool
    /// Whether Ctrl-C interrupts the whole job beside cancelling, as it does at a program's own prompt; a program that ends
    /// by itself needs no such signal.
    package var interruptsJob: Bool
    /// Whether the terminal understands escape sequences (ECMA-48); false for TERM=dumb and where TERM is not set.
    package var movesCursor: Bool
    /// Whether digits are chosen on a shuffled keypad.
    package var keypad: Bool
    /// How long the field stands open at most, in seconds.
    package var seconds: Int

    package init(
        mask: [UInt8]? = [0x2A], mayStop: Bool = true, interruptsJob: Bool = false, movesCursor: Bool = true,
        keypad: Bool = false, seconds: Int = 300
    ) {
        self.mask = mask
        self.mayStop = mayStop
        self.interruptsJob = interruptsJob
        self.movesCursor = movesCursor
        self.keypad = keypad
        self.seconds = seconds
    }
}
