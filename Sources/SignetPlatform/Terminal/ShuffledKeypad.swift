internal import SignetPolicy
package import SignetSecrets

/// An arrow key.
package enum KeypadArrow: Equatable, Sendable {
    case up
    case down
    case left
    case right
}

/// What a character did to the keypad.
package enum KeypadEffect: Equatable, Sendable {
    /// The character was replaced by the digit that it picked.
    case picked
    /// The last digit is to be taken away.
    case erase
    /// The PIN is complete.
    case done
    /// The character means nothing here, a digit above all: typed by habit it tells the keylogger what it waits for.
    case refused
}

/// Ten digits in a new random order, which a person chooses by their place, so that the keys tell nothing of the PIN.
///
/// It helps against a keylogger, and against somebody who watches the fingers: both learn places. It does not help
/// against whoever sees the screen too. Twelve cells in rows of three: nine digits, then erase, the tenth digit, done.
///
/// The order is a secret: with the keys that were pressed it is the PIN. It lies in guarded memory, and nothing but the
/// grid's first drawing is made of it: moving the mark and picking write the same bytes whatever the order.
package struct ShuffledKeypad: ~Copyable {
    /// Cells in a row.
    package static let columns = 3
    /// Rows of cells.
    package static let rows = 4
    /// The cell that takes away the last digit.
    package static let eraseCell = 9
    /// The cell that ends the PIN.
    package static let doneCell = 11
    /// The keypad's middle, where the mark always starts: a random start would be one more thing for a watcher to learn.
    package static let firstMarked = 4

    private var order: RandomOrder
    /// The cell that Space picks.
    package private(set) var marked = ShuffledKeypad.firstMarked

    /// Draws an order from the system's generator; nil where memory is short.
    package init?() {
        guard let order = RandomOrder(count: 10) else { return nil }
        self.order = order
    }

    /// Draws an order from `random` (see `RandomOrder`); nil where those bytes are too few, or memory is short.
    package init?(random: borrowing SecretBytes) {
        guard let order = RandomOrder(count: 10, random: random) else { return nil }
        self.order = order
    }

    /// The letter that picks a cell's digit; nil where there is none.
    ///
    /// They lie under the left hand in the keypad's shape; the tenth is beside the last row, since what lies below it is
    /// Space. On another keyboard layout the shape is lost and the letters, which are drawn beside the digits, still hold.
    package static func letter(of cell: Int) -> UInt8? {
        guard let place = place(of: cell) else { return nil }
        return letters[place]
    }

    /// The digit in a cell, in ASCII; nil where there is none.
    package borrowing func digit(in cell: Int) -> UInt8? {
        guard let place = ShuffledKeypad.place(of: cell), let number = order.number(at: place) else { return nil }
        return 0x30 + number
    }

    /// Takes the character in the first byte of `place`, and leaves there the digit that it picked, or 0.
    ///
    /// Capital letters are letters too, or Caps Lock would look like a broken keypad.
    package borrowing func takeCharacter(in place: inout MutableSpan<UInt8>) -> KeypadEffect {
        guard place.count > 0 else { return .refused }
        let character = place[0]
        place[0] = 0
        guard let cell = character == 0x20 ? marked : ShuffledKeypad.cell(of: character) else { return .refused }
        switch cell {
        case ShuffledKeypad.eraseCell: return .erase
        case ShuffledKeypad.doneCell: return .done
        default:
            guard let digit = digit(in: cell) else { return .refused }
            place[0] = digit
            return .picked
        }
    }

    /// Moves the mark by one cell; at the keypad's edge it stays.
    package mutating func moveMark(_ arrow: KeypadArrow) {
        let row = marked / ShuffledKeypad.columns
        let column = marked % ShuffledKeypad.columns
        switch arrow {
        case .up: if row > 0 { marked -= ShuffledKeypad.columns }
        case .down: if row < ShuffledKeypad.rows - 1 { marked += ShuffledKeypad.columns }
        case .left: if column > 0 { marked -= 1 }
        case .right: if column < ShuffledKeypad.columns - 1 { marked += 1 }
        }
    }

    private static let letters = LiteralBytes("qweasdzxcv")

    /// Where a cell's digit stands in the order.
    private static func place(of cell: Int) -> Int? {
        switch cell {
        case 0..<eraseCell: cell
        case eraseCell + 1: 9
        default: nil
        }
    }

    private static func cell(of character: UInt8) -> Int? {
        // A capital letter differs from its small one in this bit alone (ASCII); nothing else becomes a letter by it.
        let small = character >= 0x41 && character <= 0x5A ? character | 0x20 : character
        for cell in 0...doneCell where letter(of: cell) == small { return cell }
        return nil
    }
}
