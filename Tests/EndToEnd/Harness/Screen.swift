/// What stands on a terminal's screen after a program's bytes: as much of a terminal as shells, sudo and Signet use.
///
/// ECMA-48: CUU, CUF, CUB, ED, EL, SGR; DEC: DECSC, DECRC, the private modes, of which 1049, the alternate screen, is acted
/// on. A character in the last column leaves the cursor there, as on the VT100 and its descendants; the next one wraps.
struct Screen {
    private var lines: [[Character]] = [[]]
    private var row = 0
    private var column = 0
    private var saved = (row: 0, column: 0)
    /// The main screen while the alternate one is shown.
    private var main: (lines: [[Character]], row: Int, column: Int)?
    private var columns: Int
    /// Sequences that are not acted on, for a test that expects none.
    private(set) var unknown: [String] = []
    /// How often the bell rang.
    private(set) var bells = 0

    init(columns: Int = Terminal.usualColumns) { self.columns = columns }

    /// What a person reads, without blanks at the ends of lines and without empty lines at the end.
    var text: [String] {
        var shown = lines.map { line in
            String(String(line).reversed().drop { $0 == " " }.reversed())
        }
        while shown.last?.isEmpty == true { shown.removeLast() }
        return shown
    }

    /// The same in one piece: where words wrap is no matter.
    var words: String { text.joined(separator: " ") }

    /// How often a mask stands there.
    func masks(_ sign: Character = "*") -> Int { lines.joined().count { $0 == sign } }

    /// Whether the alternate screen is shown.
    var isAlternate: Bool { main != nil }

    /// Changes the width as xterm does it: lines stay where they are, and are cut where they are too long.
    mutating func resize(columns wanted: Int) {
        columns = wanted
        lines = lines.map { Array($0.prefix(wanted)) }
        column = min(column, wanted)
    }

    mutating func take(_ bytes: some Sequence<UInt8>) {
        // By scalars, for CR and LF are one character to Swift.
        var rest = ArraySlice(String(decoding: Array(bytes), as: UTF8.self).unicodeScalars)
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\u{07}": bells += 1
            case "\u{08}": column = max(0, min(column, columns - 1) - 1)
            case "\t": column = min(columns - 1, (column / 8 + 1) * 8)
            case "\r": column = 0
            case "\n": goDown()
            case "\u{1B}": escape(&rest)
            default: put(Character(scalar))
            }
        }
    }

    private mutating func goDown() {
        row += 1
        while lines.count <= row { lines.append([]) }
    }

    private mutating func put(_ character: Character) {
        if column >= columns {
            column = 0
            goDown()
        }
        while lines[row].count <= column { lines[row].append(" ") }
        lines[row][column] = character
        column += 1
    }

    private mutating func escape(_ rest: inout ArraySlice<Unicode.Scalar>) {
        switch rest.popFirst() {
        case "7": saved = (row, column)
        case "8": (row, column) = saved
        case "=", ">", "c", nil: break
        case "]":
            // A window's title, up to BEL or ST.
            while let scalar = rest.popFirst(), scalar != "\u{07}", scalar != "\u{1B}" {}
            if rest.first == "\\" { rest.removeFirst() }
        case "(", ")": _ = rest.popFirst()
        case "[":
            let parameters = String(String.UnicodeScalarView(rest.prefix { $0.value < 0x40 }))
            rest = rest.dropFirst(parameters.unicodeScalars.count)
            control(rest.popFirst(), parameters)
        case .some(let other): unknown.append("ESC \(other)")
        }
    }

    private mutating func control(_ last: Unicode.Scalar?, _ parameters: String) {
        let number = Int(parameters)
        switch last {
        case "A": row = max(0, row - max(1, number ?? 1))
        case "C": column = min(columns - 1, column + max(1, number ?? 1))
        case "D": column = max(0, min(column, columns - 1) - max(1, number ?? 1))
        case "J" where number ?? 0 == 0:
            eraseLine()
            lines.removeSubrange((row + 1)...)
        case "K" where number ?? 0 == 0: eraseLine()
        case "m", nil: break
        case "h" where parameters == "?1049":
            if main == nil { main = (lines, row, column) }
            (lines, row, column) = ([[]], 0, 0)
        case "l" where parameters == "?1049":
            if let before = main { (lines, row, column) = before }
            main = nil
        case "h" where parameters.hasPrefix("?"), "l" where parameters.hasPrefix("?"): break
        case .some(let other): unknown.append("CSI \(parameters)\(other)")
        }
    }

    private mutating func eraseLine() { lines[row].removeSubrange(min(column, lines[row].count)...) }
}
