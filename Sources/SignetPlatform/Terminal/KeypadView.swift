internal import SignetPolicy
package import SignetSecrets

/// How the keypad looks: a grid above the prompt's line, each digit with the letter that picks it.
///
///       7 q     1 w     4 e
///       0 a   [ 9 s ]   3 d
///       2 z     8 x     5 c
///      erase    6 v    done
///
/// The mark is a pair of brackets and no reversed cell, so that moving it writes no digit. All is ASCII: it looks the
/// same without colours and in any locale.
package enum KeypadView {
    /// Columns of the grid: three cells of five characters between two places for brackets, and a space between cells.
    package static let width = 23
    /// Lines above the prompt's own: the grid and what it says below it.
    package static let lines = ShuffledKeypad.rows + 1

    /// Whether there is room on a terminal for the keypad with a prompt of so many lines.
    ///
    /// A grid that scrolls off its screen could not be taken away again.
    package static func fits(rows: Int, columns: Int, promptLines: Int) -> Bool {
        columns > width && rows >= lines && rows - lines >= promptLines
    }

    /// Draws grid and explanation, each line with its end, the cursor being at the start of a line; nil where memory is
    /// short.
    ///
    /// The drawing holds the digits' order, so that it is a secret like the order. `marks` is false on a terminal that
    /// cannot move its cursor: there are no arrows then.
    package static func drawing(
        of keypad: borrowing ShuffledKeypad, marks: Bool, columns: Int
    ) -> SecretBytes? {
        let explanation = KeypadView.explanation(columns: columns)
        let capacity = ShuffledKeypad.rows * (width + 2) + explanation.count + 2
        guard var memory = SecretBytes(count: capacity) else { return nil }
        let used = memory.withMutableBytes { bytes in
            var used = 0
            for row in 0..<ShuffledKeypad.rows {
                for column in 0..<ShuffledKeypad.columns {
                    let cell = row * ShuffledKeypad.columns + column
                    let isMarked = marks && cell == keypad.marked
                    if column > 0 { put(0x20, in: &bytes, &used) }
                    put(isMarked ? openingMark : 0x20, in: &bytes, &used)
                    for index in 0..<5 { put(content(of: cell, keypad, index), in: &bytes, &used) }
                    put(isMarked ? closingMark : 0x20, in: &bytes, &used)
                }
                endLine(in: &bytes, &used)
            }
            for index in 0..<explanation.count { put(explanation[index] ?? 0x20, in: &bytes, &used) }
            endLine(in: &bytes, &used)
            return used
        }
        memory.truncate(to: used)
        return memory
    }

    /// What moves the mark, the cursor being `below` lines under the grid's explanation: 1 in a prompt's first line.
    ///
    /// The cursor is where it was, afterwards.
    package static func movingMark(from old: Int, to new: Int, below: Int) -> [UInt8] {
        guard old != new, below > 0 else { return [] }
        var bytes = escape(0x37)
        bytes += brackets(0x20, 0x20, around: old, below: below) + escape(0x38) + escape(0x37)
        bytes += brackets(openingMark, closingMark, around: new, below: below) + escape(0x38)
        return bytes
    }

    /// What takes a keypad that was drawn with `drawnWidth` columns off a terminal that has `width` now, the cursor being at
    /// the start of the line under it.
    ///
    /// Terminals that re-wrap their lines when they become narrower break those that are longer now.
    package static func erasing(drawnWidth: Int, width: Int) -> [UInt8] {
        var lines = KeypadView.lines
        if width < drawnWidth {
            lines = ShuffledKeypad.rows * wrapped(KeypadView.width, width)
            lines += wrapped(explanation(columns: drawnWidth).count, width)
        }
        return up(lines) + [0x0D, 0x1B, 0x5B, 0x4A]
    }

    private static func wrapped(_ columns: Int, _ width: Int) -> Int { (columns - 1) / max(1, width) + 1 }

    private static let openingMark: UInt8 = 0x5B
    private static let closingMark: UInt8 = 0x5D

    private static let erase = LiteralBytes("erase")
    private static let done = LiteralBytes("done ")
    private static let longExplanation = LiteralBytes("Press the letter beside each digit, not the digit. Tab: type.")
    private static let shortExplanation = LiteralBytes("Press the letters. Tab: type.")
    private static let shortestExplanation = LiteralBytes("Tab: type.")

    private static func explanation(columns: Int) -> LiteralBytes {
        if columns > longExplanation.count { return longExplanation }
        return columns > shortExplanation.count ? shortExplanation : shortestExplanation
    }

    /// The character at `index` of a cell's five.
    private static func content(of cell: Int, _ keypad: borrowing ShuffledKeypad, _ index: Int) -> UInt8 {
        switch (cell, index) {
        case (ShuffledKeypad.eraseCell, _): erase[index] ?? 0x20
        case (ShuffledKeypad.doneCell, _): done[index] ?? 0x20
        case (_, 1): keypad.digit(in: cell) ?? 0x20
        case (_, 3): ShuffledKeypad.letter(of: cell) ?? 0x20
        default: 0x20
        }
    }

    /// Puts a byte where there is room for it; the capacity was counted for all of them.
    private static func put(_ byte: UInt8, in bytes: inout MutableSpan<UInt8>, _ used: inout Int) {
        guard used < bytes.count else { return }
        bytes[used] = byte
        used += 1
    }

    private static func endLine(in bytes: inout MutableSpan<UInt8>, _ used: inout Int) {
        put(0x0D, in: &bytes, &used)
        put(0x0A, in: &bytes, &used)
    }

    private static func brackets(_ opening: UInt8, _ closing: UInt8, around cell: Int, below: Int) -> [UInt8] {
        let row = cell / ShuffledKeypad.columns
        let column = cell % ShuffledKeypad.columns * 8
        let toCell = up(lines - row - 1 + below) + [0x0D]
        return toCell + (column > 0 ? control(column, 0x43) : []) + [opening] + control(5, 0x43) + [closing]
    }

    // ECMA-48's cursor up (CUU) and forward (CUF); DEC's save (DECSC) and restore (DECRC). The Linux console, xterm, VTE
    // and tmux know them all (console_codes(4)).

    private static func up(_ lines: Int) -> [UInt8] { control(lines, 0x41) }

    private static func control(_ number: Int, _ final: UInt8) -> [UInt8] {
        [0x1B, 0x5B] + Array("\(number)".utf8) + [final]
    }

    private static func escape(_ final: UInt8) -> [UInt8] { [0x1B, final] }
}
