import Testing

@testable import SignetPlatform

@Suite struct FieldViewTests {
    private static let long =
        "[sudo] alice: Fingerprint is off after 5 failed tries. Type your PIN to switch it on again: "

    private func view(_ label: String, mask: String? = "*", movesCursor: Bool = true) -> FieldView {
        var view = FieldView(FieldStyle(mask: mask.map { Array($0.utf8) }, movesCursor: movesCursor))
        view.label = Array(label.utf8)
        return view
    }

    /// Catches masks that are too many, too few or in the wrong place, and redrawing where a byte would do.
    @Test func aMaskForEachCharacter() {
        var view = view("PIN: ")
        var screen = ScreenModel(width: 80)
        screen.feed(view.show(.masks(0), width: 80))
        #expect(screen.rows == ["PIN:"] && screen.column == 5)
        #expect(view.show(.masks(1), width: 80) == Array("*".utf8))
        #expect(view.show(.masks(3), width: 80) == Array("**".utf8))
        #expect(view.show(.masks(2), width: 80) == [0x08, 0x1B, 0x5B, 0x4B])
        #expect(view.show(.masks(2), width: 80) == [])
        screen.feed(Array("**".utf8))
        #expect(screen.rows == ["PIN: **"])
        screen.feed(view.show(.tooLong, width: 80))
        #expect(screen.rows == ["PIN: (too long)"])
        view.label = Array("Not recognised. Touch again or type your PIN: ".utf8)
        screen.feed(view.show(.masks(4), width: 80))
        #expect(screen.rows == ["Not recognised. Touch again or type your PIN: ****"])
        screen.feed(view.hide(width: 80))
        #expect(screen.rows == [] && screen.column == 0 && screen.row == 0)
        #expect(view.hide(width: 80) == [])
    }

    /// Catches a screen that tells how much was typed though no mask is shown.
    @Test func withoutMaskNothingMoves() {
        for movesCursor in [true, false] {
            var view = view("PIN: ", mask: nil, movesCursor: movesCursor)
            _ = view.show(.masks(0), width: 80)
            for count in [1, 7, 128, 3, 0] { #expect(view.show(.masks(count), width: 80) == []) }
        }
    }

    /// Catches labels and masks that wrap in another place than is counted with.
    @Test func rowsOfANarrowTerminal() {
        var view = view(FieldViewTests.long)
        var screen = ScreenModel(width: 20)
        screen.feed(view.show(.masks(30), width: 20))
        #expect(
            screen.rows == [
                "[sudo] alice:", "Fingerprint is off", "after 5 failed", "tries. Type your", "PIN to switch it on",
                "again: ************", "******************",
            ])
        // A row and one mask of the next are taken back, and come again.
        screen.feed(view.show(.masks(12), width: 20))
        #expect(screen.rows.last == "again: ************")
        screen.feed(view.show(.masks(13), width: 20))
        #expect(screen.rows.last == "*")
        screen.feed(view.hide(width: 20))
        #expect(screen.rows == [] && screen.row == 0 && screen.column == 0)
    }

    /// Catches escape sequences and cursor movement on a terminal that has none, and masks that stay there.
    @Test func aDumbTerminal() {
        var view = view("PIN: ", movesCursor: false)
        var screen = ScreenModel(width: 20)
        var all: [UInt8] = []
        func feed(_ bytes: [UInt8]) {
            all += bytes
            screen.feed(bytes)
        }
        feed(view.show(.masks(0), width: 20))
        feed(view.show(.masks(5), width: 20))
        #expect(screen.rows == ["PIN: *****"])
        feed(view.show(.masks(4), width: 20))
        #expect(screen.rows == ["PIN: ****"])
        // One row of masks is all that can be taken back.
        feed(view.show(.masks(100), width: 20))
        #expect(screen.rows == ["PIN: **************"])
        feed(view.show(.tooLong, width: 20))
        #expect(screen.rows.allSatisfy { !$0.contains("*") })
        feed(view.show(.masks(2), width: 20))
        view.label = Array("Type your PIN: ".utf8)
        feed(view.show(.masks(3), width: 20))
        #expect(screen.rows.last == "***")
        feed(view.hide(width: 20))
        #expect(screen.text.contains("Type your PIN:") && !screen.text.contains("*") && screen.column == 0)
        #expect(all.allSatisfy { $0 >= 0x20 && $0 <= 0x7E || [0x0D, 0x0A, 0x08].contains($0) })
    }

    /// Catches a name that steers the terminal, and one whose characters are counted as bytes.
    @Test func namesCannotSteer() {
        var view = view("\u{1B}[2J\u{9B}A\u{202E}é漢\r: ")
        var screen = ScreenModel(width: 80)
        screen.feed(view.show(.masks(1), width: 80))
        #expect(screen.rows == ["?[2J?A?é漢?: *"])
        #expect(screen.unknown == [])
        #expect(PrintableText.cleaned([0xE2, 0x82, 0x31, 0xFF, 0x7F, 0xC3]) == Array("??1???".utf8))
    }

    /// Catches anything that stays on the screen after a field of any form, however it was changed and resized, and a
    /// cursor that is elsewhere than before.
    @Test(arguments: [true, false]) func theScreenIsAsBefore(wrapsLate: Bool) {
        var generator = SystemRandomNumberGenerator()
        let labels = [
            "PIN: ", FieldViewTests.long, "Héllo 漢: ".replacing("漢", with: "x"), "", String(repeating: "x", count: 50),
        ]
        for _ in 0..<1000 {
            var width = [20, 40, 80, 7, 2].randomElement(using: &generator) ?? 20
            let mask = ["*", "•", "()", nil].randomElement(using: &generator) ?? nil
            var view = view(labels.randomElement(using: &generator) ?? "", mask: mask)
            var screen = ScreenModel(width: width, wrapsLate: wrapsLate)
            screen.feed(Array("$\r\n".utf8))
            var content = FieldView.Content.masks(0)
            for _ in 0..<Int.random(in: 1..<12, using: &generator) {
                switch UInt8.random(in: 0..<6, using: &generator) {
                case 0: view.label = Array((labels.randomElement(using: &generator) ?? "").utf8)
                case 1: content = .tooLong
                case 2 where wrapsLate:
                    width = [20, 40, 80, 9].randomElement(using: &generator) ?? 20
                    screen.resize(to: width)
                case 3: screen.feed(view.hide(width: width))
                default: content = .masks(Int.random(in: 0...128, using: &generator))
                }
                screen.feed(view.show(content, width: width))
                var fresh = FieldView(FieldStyle(mask: mask.map { Array($0.utf8) }))
                fresh.label = view.label
                var expected = ScreenModel(width: width, wrapsLate: wrapsLate)
                expected.feed(Array("$\r\n".utf8) + fresh.show(content, width: width))
                guard screen.rows == expected.rows, screen.row == expected.row, screen.column == expected.column else {
                    Issue.record("\(screen.rows) and not \(expected.rows)")
                    return
                }
            }
            screen.feed(view.hide(width: width))
            guard screen.rows == ["$"], screen.row == 1, screen.column == 0, screen.unknown == [] else {
                Issue.record("\(screen.rows) stays, \(screen.unknown)")
                return
            }
        }
    }
}
