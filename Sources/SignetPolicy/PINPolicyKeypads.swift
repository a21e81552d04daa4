/// Keys as they lie under the fingers.
enum Keypad {
    /// Digits in three rows of three, 1 at the top (telephone) or at the bottom (calculator), and 0 below them.
    case digits(oneAtTop: Bool, zeroColumn: Int)
    /// A keyboard, its rows separated by line feeds.
    case keyboard(LiteralBytes)

    /// A calculator's 0 is two keys wide, so it is there twice.
    private static let digitPads: [Keypad] = [
        .digits(oneAtTop: true, zeroColumn: 1), .digits(oneAtTop: false, zeroColumn: 0),
        .digits(oneAtTop: false, zeroColumn: 1),
    ]

    private static let keyboards: [Keypad] = [
        .keyboard(LiteralBytes("1234567890\nqwertyuiop\nasdfghjkl\nzxcvbnm")),
        .keyboard(LiteralBytes("1234567890\nqwertzuiop\nasdfghjkl\nyxcvbnm")),
        .keyboard(LiteralBytes("1234567890\nazertyuiop\nqsdfghjklm\nwxcvbn")),
    ]

    /// The longest straight line over neighbouring keys, in any of eight directions, that begins at `start`.
    static func longestLine(_ pin: Span<UInt8>, from start: Int) -> Int {
        guard start + 1 < pin.count else { return 1 }
        var longest = 1
        for keypad in pads(for: pin[start], pin[start + 1]) {
            longest = max(longest, keypad.lineLength(pin, from: start))
        }
        return longest
    }

    /// Whether each character is on the key of the one before, or on the one beside, above or below it.
    static func isWalk(_ pin: Span<UInt8>) -> Bool {
        guard pin.count >= 4 else { return false }
        for keypad in digitPads where keypad.isWalk(pin) { return true }
        for keypad in keyboards where keypad.isWalk(pin) { return true }
        return false
    }

    /// Two digits side by side on a keyboard are a run already, so keyboards matter only where there is a letter.
    private static func pads(for first: UInt8, _ second: UInt8) -> [Keypad] {
        first.digitValue != nil && second.digitValue != nil ? digitPads : keyboards
    }

    private func lineLength(_ pin: Span<UInt8>, from start: Int) -> Int {
        guard let first = move(pin[start], pin[start + 1]), first != (0, 0), abs(first.down) <= 1,
            abs(first.right) <= 1
        else { return 1 }
        var end = start + 2
        while end < pin.count, let next = move(pin[end - 1], pin[end]), next == first { end += 1 }
        return end - start
    }

    private func isWalk(_ pin: Span<UInt8>) -> Bool {
        for index in 1..<pin.count {
            guard let next = move(pin[index - 1], pin[index]), abs(next.down) + abs(next.right) <= 1 else {
                return false
            }
        }
        return true
    }

    private func move(_ first: UInt8, _ second: UInt8) -> (down: Int, right: Int)? {
        guard let from = place(of: first), let to = place(of: second) else { return nil }
        return (to.row - from.row, to.column - from.column)
    }

    private func place(of character: UInt8) -> (row: Int, column: Int)? {
        switch self {
        case .digits(let oneAtTop, let zeroColumn):
            guard let digit = character.digitValue else { return nil }
            guard digit > 0 else { return (3, zeroColumn) }
            let row = (digit - 1) / 3
            return (oneAtTop ? row : 2 - row, (digit - 1) % 3)
        case .keyboard(let rows):
            guard character > 0x20 else { return nil }
            var row = 0
            var column = 0
            for index in 0..<rows.count {
                if rows[index] == character.lowered { return (row, column) }
                if rows[index] == 0x0A {
                    row += 1
                    column = 0
                } else {
                    column += 1
                }
            }
            return nil
        }
    }
}
