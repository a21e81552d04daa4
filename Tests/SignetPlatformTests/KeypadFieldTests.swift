import CTerminal
import Foundation
import SignetPlatform
import SignetPolicy
import SignetSecrets
import Testing

/// The keypad of a field on a real pseudo-terminal.
@Suite struct KeypadFieldTests {
    /// Catches a screen that tells which digit was picked, and a digit that is not the one at the place.
    ///
    /// But for the digits of the grid, the same keys write the same bytes whatever the order, from the first to the last.
    @Test func whatIsWrittenDoesNotDependOnTheDigits() throws {
        var orders: Set<[UInt8]> = []
        var outputs: Set<[UInt8]> = []
        for _ in 0..<6 {
            let person = try Person()
            var order = person.order
            // Right and Space: the cell beside the middle. The digit is refused; the last letter is taken off again.
            person.press(["q", "E", "v", "\u{1B}[C", " ", "7", "z", "\u{7F}", "x", "\r"])
            #expect(person.event == .answered)
            let answer = try person.takeAnswer()
            #expect(answer == [order[0], order[2], order[9], order[5], order[7]])
            orders.insert(order)
            var output = person.output
            let grid = try #require(output.firstRange(of: [0x20, 0x20]))
            for index in grid.lowerBound..<output.endIndex where order.first == output[index] {
                // The grid is drawn row by row, the order's way.
                output[index] = UInt8(ascii: "#")
                order.removeFirst()
                if order.isEmpty { break }
            }
            #expect(order.isEmpty)
            outputs.insert(output)
        }
        #expect(orders.count > 1)
        #expect(outputs.count == 1)
    }

    /// Catches a typed digit that counts, and one that is refused without a sign.
    @Test func digitsAreRefused() throws {
        let person = try Person()
        for digit in "0123456789" {
            let before = person.output.count
            person.press([String(digit)])
            #expect(Array(person.output[before...]) == [0x07])
        }
        person.press(["q"])
        #expect(person.screen.text.last == "PIN: *")
        person.press(["\r"])
        #expect(try person.takeAnswer().count == 1)
    }

    /// Catches rows of the keypad that stay: after an answer, after each way to cover it, after a sentence that is said
    /// above it, and under a label that takes more rows than the one before.
    @Test func nothingStaysOnTheScreen() throws {
        let person = try Person(columns: 40)
        let grid = person.grid
        person.press(["q", "w"])
        person.relabel("Not recognised. Touch again or type your PIN: ")
        #expect(person.screen.text == grid + ["Not recognised. Touch again or type", "your PIN: **"])
        // The mark is as many rows away as the label is high.
        person.press(["\u{1B}[A"])
        #expect(person.screen.text.suffix(2) == ["Not recognised. Touch again or type", "your PIN: **"])
        #expect(person.screen.text[0].contains("["))
        #expect(!person.screen.text[1].contains("["))
        person.press(["\u{1B}[B"])
        person.say("Clean the reader.")
        #expect(person.screen.text.first == "Clean the reader.")
        #expect(Array(person.screen.text.dropFirst().prefix(KeypadView.lines)) == grid)
        #expect(person.screen.text.last == "your PIN: **")
        person.press(["\r"])
        #expect(person.event == .answered)
        #expect(person.screen.text == ["Clean the reader."])
        _ = try person.takeAnswer()
        #expect(person.screen.text == ["Clean the reader."])
        #expect((person.screen.row, person.screen.column) == (1, 0))
    }

    /// Catches an order that is kept after the keypad was covered, masks that come back with it, and a pick by the old order.
    @Test func eachReturnDealsAnew() throws {
        let person = try Person()
        var orders: Set<[UInt8]> = [person.order]
        for _ in 0..<3 {
            person.press(["q", "\u{1B}[O"])
            #expect(person.event == .left)
            #expect(person.screen.text == [])
            person.send("\u{1B}[I")
            try person.awaitReturn("PIN: ")
            #expect(person.screen.text == person.grid + ["PIN:"])
            orders.insert(person.order)
        }
        #expect(orders.count > 2)
        let order = person.order
        person.press(["c", "\r"])
        #expect(try person.takeAnswer() == [order[8]])
    }

    /// Catches a Tab that keeps what was typed or the order, or changes nothing.
    @Test func tabChangesToTheOrdinaryFieldAndBack() throws {
        let person = try Person()
        let before = person.order
        person.press(["q", "\t"])
        #expect(person.screen.text == ["PIN:"])
        person.press(["q", "7"])
        #expect(person.screen.text == ["PIN: **"])
        person.press(["\t"])
        let first = person.order
        person.press(["\t", "\t"])
        #expect(Set([before, first, person.order]).count > 1)
        #expect(person.screen.text == person.grid + ["PIN:"])
        person.press(["\t", "q", "7", "\r"])
        #expect(try person.takeAnswer() == Array("q7".utf8))
    }

    /// Catches a Tab that brings a keypad to a prompt that has none: for a recovery code.
    @Test func withoutKeypadTabMeansNothing() throws {
        let person = try Person(keypad: false)
        person.press(["1"])
        person.send("\t")
        person.press(["2", "\r"])
        #expect(try person.takeAnswer() == Array("12".utf8))
    }

    /// Catches a keypad on a terminal that has no room for it, where its rows would wrap or scroll away, and a field there
    /// that takes no digit.
    @Test(arguments: [(24, 23), (24, 20), (5, 80), (1, 1)]) func aSmallTerminalGetsTheOrdinaryField(
        rows: UInt16, columns: UInt16
    ) throws {
        let person = try Person(rows: rows, columns: columns)
        #expect(!String(decoding: person.output, as: UTF8.self).contains("erase"))
        person.press(["1", "2", "\r"])
        #expect(try person.takeAnswer() == Array("12".utf8))
    }

    /// Catches a keypad that stays, or loses its way, when its terminal becomes too small, and one that does not come back.
    @Test func aResizeDealsAnew() throws {
        let person = try Person()
        let before = person.order
        person.press(["q"])
        person.resize(rows: 24, columns: 70)
        #expect(person.order != before)
        #expect(person.screen.text == person.grid + ["PIN:"])
        person.resize(rows: 4, columns: 70)
        #expect(person.screen.text == ["PIN:"])
        person.press(["1"])
        #expect(person.screen.text == ["PIN: *"])
        person.resize(rows: 24, columns: 70)
        #expect(person.screen.text == person.grid + ["PIN:"])
        person.close()
        #expect(person.screen.text == [])
    }

    /// Catches an escape sequence, arrows, or a second grid on a terminal that cannot move its cursor.
    @Test func aDumbTerminalGetsTheGridOnce() throws {
        let person = try Person(movesCursor: false)
        let order = person.order
        person.press(["w"])
        person.send("\u{1B}[A")
        person.press(["q", "\u{7F}", "s"])
        person.say("Clean the reader.")
        person.press(["a", " ", "\r"])
        #expect(try person.takeAnswer() == [order[1], order[4], order[3], order[4]])
        #expect(!person.output.contains(0x1B))
        let text = String(decoding: person.output, as: UTF8.self)
        #expect(text.components(separatedBy: "erase").count == 2)
    }

    /// Catches letters that are pasted and pick digits.
    @Test func aPasteIsRefused() throws {
        let person = try Person()
        person.press(["q"])
        person.press(["\u{1B}[200~qwe\u{1B}[201~"])
        #expect(person.output.last == 0x07)
        person.press(["w"])
        #expect(person.screen.text.last == "PIN: **")
    }
}

/// Somebody at a pseudo-terminal with a keypad, who sees its screen.
private final class Person {
    private let terminal: Int32
    /// The terminal's other end, where the field writes.
    private let otherEnd: Int32
    private var field: TerminalField
    private(set) var output: [UInt8] = []
    private(set) var event: FieldEvent?

    struct NoTerminal: Error {}

    init(rows: UInt16 = 24, columns: UInt16 = 80, movesCursor: Bool = true, keypad: Bool = true) throws {
        var name = [CChar](repeating: 0, count: 64)
        terminal = signet_terminal_open(&name, name.count)
        otherEnd = Foundation.open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0, otherEnd >= 0, signet_terminal_resize(terminal, rows, columns) == 0 else {
            throw NoTerminal()
        }
        let path = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard let field = TerminalField(path: path, FieldStyle(movesCursor: movesCursor, keypad: keypad)) else {
            throw NoTerminal()
        }
        self.field = field
        guard self.field.open("PIN: ") else { throw NoTerminal() }
        see()
    }

    deinit {
        field.close()
        Foundation.close(otherEnd)
        Foundation.close(terminal)
    }

    /// What the terminal shows by now.
    var screen: Screen {
        var screen = Screen()
        screen.take(output)
        return screen
    }

    /// The lines of the keypad.
    var grid: [String] {
        let text = screen.text
        guard let end = text.firstIndex(where: { $0.hasSuffix("Tab: type.") }), end >= 4 else { return [] }
        return Array(text[(end - 4)...end])
    }

    /// The digits on the screen, in the keypad's order of cells.
    var order: [UInt8] { grid.joined().utf8.filter { (0x30...0x39).contains($0) } }

    /// Types keys one by one, and waits for what each of them does.
    func press(_ keys: [String]) {
        for key in keys {
            let before = output.count
            send(key)
            let end = Date() + 10
            while output.count == before, event == nil, Date() < end {
                var keys = pollfd(fd: field.keys, events: Int16(POLLIN), revents: 0)
                _ = poll(&keys, 1, 10)
                event = field.attend()
                see()
            }
        }
    }

    /// Types without waiting for anything.
    func send(_ keys: String) {
        let bytes = Array(keys.utf8)
        #expect(write(terminal, bytes, bytes.count) == bytes.count)
    }

    func relabel(_ label: String) {
        field.relabel(label)
        see()
    }

    func say(_ sentence: String) {
        field.say(sentence)
        see()
    }

    func resize(rows: UInt16, columns: UInt16) {
        #expect(signet_terminal_resize(terminal, rows, columns) == 0)
        // As a terminal does to the processes whose terminal it is.
        pthread_kill(pthread_self(), SIGWINCH)
        event = field.attend()
        see()
    }

    func awaitReturn(_ label: String) throws {
        try field.awaitReturn(label)
        event = nil
        see()
    }

    func takeAnswer() throws -> [UInt8] {
        let answer = try field.takeAnswer()
        see()
        return answer.withBytes { span in (0..<span.count).map { span[$0] } }
    }

    func close() {
        field.close()
        see()
    }

    /// Reads what was written: a byte of our own comes after it.
    private func see() {
        var mark: UInt8 = 0
        #expect(write(otherEnd, &mark, 1) == 1)
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = signet_read_within(terminal, &bytes, bytes.count, 10_000)
            guard count > 0 else {
                Issue.record("what was written does not come")
                return
            }
            output += bytes[..<count]
            guard output.last == mark else { continue }
            output.removeLast()
            return
        }
    }
}
