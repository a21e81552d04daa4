import Foundation
import SignetPlatform
import SignetSecrets
import Testing

@Suite struct KeypadViewTests {
    /// Catches a digit that is drawn beside another cell's letter: then the person types another PIN than they mean.
    @Test func eachDigitStandsBesideItsLetter() throws {
        let keypad = try made()
        let lines = try drawn(keypad, marks: true, columns: 80)
        var expected: [String] = []
        for row in 0..<3 {
            expected.append((0..<3).map { cell(row * 3 + $0, of: keypad) }.joined(separator: " "))
        }
        expected.append(" erase  \(cell(10, of: keypad))  done  ")
        expected.append("Press the letter beside each digit, not the digit. Tab: type.")
        #expect(lines == expected)
    }

    /// Catches a line that wraps on a narrow terminal, for what takes the keypad away counts its lines.
    @Test func linesAreNarrowerThanTheTerminal() throws {
        let keypad = try made()
        for columns in (KeypadView.width + 1)...100 {
            let lines = try drawn(keypad, marks: true, columns: columns)
            #expect(lines.count == KeypadView.lines)
            #expect(lines.allSatisfy { $0.utf8.count < columns })
        }
    }

    /// Catches an escape sequence on a terminal that prints them, and a mark there, which no arrow could move.
    @Test func aDumbTerminalGetsPlainLines() throws {
        let keypad = try made()
        let lines = try drawn(keypad, marks: false, columns: 80)
        #expect(lines.joined().utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        #expect(!lines.joined().contains("["))
    }

    /// Catches a terminal that the keypad does not fit on, and numbers that trap.
    @Test(arguments: [
        (24, 80, 1, true), (6, 24, 1, true), (6, 23, 1, false), (5, 80, 1, false), (7, 24, 3, false), (0, 0, 1, false),
        (24, 80, Int.max, false), (Int.max, Int.max, 1, true), (Int.min, Int.min, 1, false),
    ])
    func needsRoom(rows: Int, columns: Int, promptLines: Int, expected: Bool) {
        #expect(KeypadView.fits(rows: rows, columns: columns, promptLines: promptLines) == expected)
    }

    /// Catches a mark that is drawn beside its cell, an old one that stays, a digit that is overwritten, a cursor that is
    /// left elsewhere, and rows of the keypad or of the prompt that stay on the screen.
    @Test(arguments: [1, 2, 3]) func aScreenShowsTheMarkAndThenNothing(below: Int) throws {
        var keypad = try made()
        let before = try drawn(keypad, marks: false, columns: 80)
        let drawing = try bytes(KeypadView.drawing(of: keypad, marks: true, columns: 80))
        var screen = Screen()
        screen.take(Array("$ sudo true\r\n".utf8))
        screen.take(drawing)
        for line in 1...below { screen.take(Array((line == below ? "PIN: **" : "wrapped\r\n").utf8)) }
        let cursor = (screen.row, screen.column)
        for arrow in [KeypadArrow.up, .left, .down, .down, .down, .right, .up, .right, .right] {
            let from = keypad.marked
            keypad.moveMark(arrow)
            let to = keypad.marked
            screen.take(KeypadView.movingMark(from: from, to: to, below: below))
            #expect((screen.row, screen.column) == cursor)
            for (row, line) in before.enumerated() {
                var expected = Array(line.utf8)
                if row == to / 3 {
                    expected[to % 3 * 8] = UInt8(ascii: "[")
                    expected[to % 3 * 8 + 6] = UInt8(ascii: "]")
                }
                #expect(screen.lines[1 + row] == expected)
            }
        }
        #expect(keypad.marked == 8)
        // The prompt's own lines are taken away by the field before.
        screen.take(below > 1 ? Array("\u{1B}[\(below - 1)A\r".utf8) : [0x0D])
        screen.take(KeypadView.erasing(drawnWidth: 80, width: 80))
        #expect(screen.lines == [Array("$ sudo true".utf8), []])
        #expect((screen.row, screen.column) == (1, 0))
    }

    /// Catches a keypad of which lines stay when the terminal became narrower and wrapped them: 61 columns of explanation
    /// and four rows of 23, and a width that would divide by zero.
    @Test(arguments: [
        (80, 80, 5), (80, 100, 5), (80, 61, 5), (80, 60, 6), (80, 23, 7), (80, 20, 12), (62, 1, 153), (80, 0, 153),
    ])
    func erasesWrappedLines(drawnWidth: Int, width: Int, lines: Int) {
        let bytes = KeypadView.erasing(drawnWidth: drawnWidth, width: width)
        #expect(bytes == Array("\u{1B}[\(lines)A\r\u{1B}[J".utf8))
    }

    /// Catches a move that writes a digit: what moves the mark is the same for each order.
    @Test func movingTheMarkTellsNoDigit() {
        for old in 0..<12 {
            for new in 0..<12 {
                let bytes = KeypadView.movingMark(from: old, to: new, below: 1)
                #expect(bytes.isEmpty == (old == new))
                // Numbers stand in escape sequences only.
                var screen = Screen()
                screen.take([UInt8](repeating: 0x0A, count: KeypadView.lines))
                screen.take(bytes)
                let shown = Set(screen.lines.joined())
                #expect(shown.isSubset(of: [0x20, 0x5B, 0x5D]))
            }
        }
    }

    private func cell(_ cell: Int, of keypad: borrowing ShuffledKeypad) -> String {
        let bytes = [keypad.digit(in: cell) ?? 0, 0x20, ShuffledKeypad.letter(of: cell) ?? 0]
        let content = "  \(String(decoding: bytes, as: UTF8.self))  "
        return cell == ShuffledKeypad.firstMarked ? "[\(content.dropFirst().dropLast())]" : content
    }

    private func drawn(_ keypad: borrowing ShuffledKeypad, marks: Bool, columns: Int) throws -> [String] {
        let drawing = try bytes(KeypadView.drawing(of: keypad, marks: marks, columns: columns))
        let text = String(decoding: drawing, as: UTF8.self)
        #expect(text.hasSuffix("\r\n"))
        return text.components(separatedBy: "\r\n").dropLast()
    }

    private func bytes(_ secret: consuming SecretBytes?) throws -> [UInt8] {
        guard let secret else { throw NotMade() }
        return secret.withBytes { span in (0..<span.count).map { span[$0] } }
    }

    private func made() throws -> ShuffledKeypad {
        guard let keypad = ShuffledKeypad() else { throw NotMade() }
        return keypad
    }

    private struct NotMade: Error {}
}
