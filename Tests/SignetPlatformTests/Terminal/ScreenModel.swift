/// What a terminal shows for the bytes it gets: the few controls that a field may use, and no others.
struct ScreenModel {
    private(set) var width: Int
    /// Whether the cursor goes to the next row only with the character after the last column, as xterm's does; the Linux
    /// console of old and some emulators go on at once.
    let wrapsLate: Bool
    /// Characters, one a column; a row that goes on in the next is `isWrapped`.
    private var grid: [(text: [Character], isWrapped: Bool)] = [([], false)]
    private(set) var row = 0
    private(set) var column = 0
    private(set) var bells = 0
    /// Whatever is no text and no control that is known here.
    private(set) var unknown: [String] = []
    private(set) var modes: Set<String> = []
    private var pending: [UInt8] = []

    init(width: Int, wrapsLate: Bool = true) {
        self.width = width
        self.wrapsLate = wrapsLate
    }

    /// The rows, blanks at their ends and empty rows at the end left out.
    var rows: [String] {
        var rows = grid.map { row in
            var text = row.text
            while text.last == " " { text.removeLast() }
            return String(text)
        }
        while rows.last == "" { rows.removeLast() }
        return rows
    }

    var text: String { rows.joined(separator: "\n") }

    mutating func feed(_ bytes: [UInt8]) {
        pending += bytes
        while let taken = takeOne() { pending.removeFirst(taken) }
    }

    /// Narrower: rows that are too long go on in the next, as they do in terminals that re-wrap.
    ///
    /// Wider: they join again.
    mutating func resize(to width: Int) {
        var lines: [[Character]] = [[]]
        var cursor = (line: 0, offset: 0)
        for (index, part) in grid.enumerated() {
            if index == row { cursor = (lines.count - 1, lines[lines.count - 1].count + column) }
            lines[lines.count - 1] += part.text
            if !part.isWrapped, index < grid.count - 1 { lines.append([]) }
        }
        self.width = width
        grid = []
        for (index, line) in lines.enumerated() {
            if index == cursor.line {
                row = grid.count + max(0, cursor.offset - (cursor.offset % width == 0 ? 1 : 0)) / width
                column = cursor.offset - (row - grid.count) * width
            }
            var rest = line[...]
            repeat {
                let part = Array(rest.prefix(width))
                rest = rest.dropFirst(width)
                grid.append((part, !rest.isEmpty))
            } while !rest.isEmpty
        }
        while grid.count <= row { grid.append(([], false)) }
    }

    /// Takes one character or control; answers its length, nil where more has to come.
    private mutating func takeOne() -> Int? {
        guard let first = pending.first else { return nil }
        switch first {
        case 0x0D: column = 0
        case 0x0A: lineFeed()
        case 0x08: column = max(0, min(column, width - 1) - 1)
        case 0x07: bells += 1
        case 0x1B: return takeSequence()
        case 0x20...0x7E: put(Character(UnicodeScalar(first)))
        case 0xC2...0xF4:
            let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
            guard pending.count >= length else { return nil }
            put(String(decoding: pending[..<length], as: UTF8.self).first ?? "?")
            return length
        default: unknown.append("byte \(first)")
        }
        return 1
    }

    private mutating func takeSequence() -> Int? {
        guard pending.count >= 2 else { return nil }
        guard pending[1] == 0x5B else {
            unknown.append("escape \(pending[1])")
            return 2
        }
        guard let end = pending[2...].firstIndex(where: { $0 >= 0x40 && $0 <= 0x7E }) else { return nil }
        let parameters = String(decoding: pending[2..<end], as: UTF8.self)
        switch pending[end] {
        case UInt8(ascii: "A"): row = max(0, row - (Int(parameters) ?? 1))
        case UInt8(ascii: "J") where parameters.isEmpty:
            blankRow()
            grid.removeSubrange((row + 1)...)
        case UInt8(ascii: "K") where parameters.isEmpty: blankRow()
        case UInt8(ascii: "h") where parameters.hasPrefix("?"): modes.insert(parameters)
        case UInt8(ascii: "l") where parameters.hasPrefix("?"): modes.remove(parameters)
        default: unknown.append("sequence \(parameters)\(pending[end])")
        }
        return end + 1
    }

    private mutating func blankRow() {
        grid[row].text = Array(grid[row].text.prefix(column))
        grid[row].isWrapped = false
    }

    private mutating func lineFeed() {
        row += 1
        if row == grid.count { grid.append(([], false)) }
    }

    private mutating func put(_ character: Character) {
        if column == width { wrap() }
        while grid[row].text.count <= column { grid[row].text.append(" ") }
        grid[row].text[column] = character
        column += 1
        if !wrapsLate, column == width { wrap() }
    }

    private mutating func wrap() {
        grid[row].isWrapped = true
        column = 0
        lineFeed()
    }
}
