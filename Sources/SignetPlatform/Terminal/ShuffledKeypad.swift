internal import SignetPolicy
package import SignetSecrets

/// A key as the keypad understands it.
package enum KeypadKey: Equatable, Sendable {
    case character(UInt8)
    case up
    case down
    case left
    case right
}

/// What a key did to the keypad.
package enum KeypadEffect: Equatable, Sendable {
    /// The digit in this cell is to be added to the PIN.
    case picked(cell: Int)
    /// The last digit is to be taken away.
    case erase
    /// The PIN is complete.
    case done
    /// The mark went to another cell; the same one at the keypad's edge.
    case moved(from: Int, to: Int)
    /// The key means nothing here, a typed digit above all.
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

    /// Takes a key. Capital letters are letters too, or Caps Lock would look like a broken keypad.
    package mutating func press(_ key: KeypadKey) -> KeypadEffect {
        switch key {
        case .character(0x20): return pick(marked)
        case .character(let character): return ShuffledKeypad.cell(of: character).map { .picked(cell: $0) } ?? .refused
        case .up: return move(down: -1, right: 0)
        case .down: return move(down: 1, right: 0)
        case .left: return move(down: 0, right: -1)
        case .right: return move(down: 0, right: 1)
        }
    }

    private func pick(_ cell: Int) -> KeypadEffect {
        switch cell {
        case ShuffledKeypad.eraseCell: .erase
        case ShuffledKeypad.doneCell: .done
        default: .picked(cell: cell)
        }
    }

    private mutating func move(down: Int, right: Int) -> KeypadEffect {
        let from = marked
        let row = from / ShuffledKeypad.columns + down
        let column = from % ShuffledKeypad.columns + right
        if row >= 0, row < ShuffledKeypad.rows, column >= 0, column < ShuffledKeypad.columns {
            marked = row * ShuffledKeypad.columns + column
        }
        return .moved(from: from, to: marked)
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
