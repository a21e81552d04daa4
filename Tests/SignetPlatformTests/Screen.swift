import Testing

/// As much of a terminal as a field uses (ECMA-48: CUU, CUF, ED, EL; DEC: DECSC, DECRC, private modes).
struct Screen {
    private(set) var lines: [[UInt8]] = [[]]
    private(set) var row = 0
    private(set) var column = 0
    private var saved = (0, 0)

    /// What a person reads, without blanks at the ends of lines and without empty lines at the end.
    var text: [String] {
        var shown = lines.map { line in
            String(decoding: line.reversed().drop { $0 == 0x20 }.reversed(), as: UTF8.self)
        }
        while shown.last?.isEmpty == true { shown.removeLast() }
        return shown
    }

    mutating func take(_ bytes: some Collection<UInt8>) {
        var rest = ArraySlice(bytes)
        while let byte = rest.popFirst() {
            switch byte {
            case 0x07: break
            case 0x08: column = max(0, column - 1)
            case 0x0D: column = 0
            case 0x0A:
                row += 1
                while lines.count <= row { lines.append([]) }
            case 0x1B: escape(&rest)
            default:
                while lines[row].count <= column { lines[row].append(0x20) }
                lines[row][column] = byte
                column += 1
            }
        }
    }

    private mutating func escape(_ rest: inout ArraySlice<UInt8>) {
        switch rest.popFirst() {
        case 0x37: saved = (row, column)
        case 0x38: (row, column) = saved
        case 0x5B:
            let parameters = Array(rest.prefix { $0 < 0x40 })
            rest = rest.dropFirst(parameters.count)
            let number = Int(String(decoding: parameters, as: UTF8.self)) ?? 0
            switch rest.popFirst() {
            case 0x41: row = max(0, row - number)
            case 0x43: column += number
            case 0x4A:
                eraseLine()
                lines.removeSubrange((row + 1)...)
            case 0x4B: eraseLine()
            case 0x68 where parameters.first == 0x3F, 0x6C where parameters.first == 0x3F: break
            default: Issue.record("unknown control function")
            }
        default: Issue.record("unknown escape sequence")
        }
    }

    private mutating func eraseLine() { lines[row].removeSubrange(min(column, lines[row].count)...) }
}
