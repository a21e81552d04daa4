/// A field as rows of text that fit a terminal, the cursor standing behind the last of them.
///
/// Rows end one column before the terminal does: whether a terminal goes on to the next line when the last column is
/// written, or only with the character after it, differs between terminals, and so is never asked for.
struct FieldLayout: Equatable, Sendable {
    struct Row: Equatable, Sendable {
        var bytes: [UInt8] = []
        var columns = 0
    }

    private(set) var rows = [Row()]
    /// The columns of the last row that are masks or what stands in their place.
    private(set) var coveredColumns = 0
    private let usable: Int

    /// Lays out for a terminal of `width` columns.
    init(width: Int) { usable = max(1, width - 1) }

    /// Adds text, which breaks at spaces.
    mutating func add(_ text: [UInt8]) {
        var word = Row()
        var characters = PrintableText(text)
        while let character = characters.next() {
            guard character.isSpace else {
                word.bytes += character.bytes
                word.columns += character.columns
                continue
            }
            add(word: word)
            word = Row()
            // A space where the row ends is the break itself.
            if last.columns < usable { place(character) }
        }
        add(word: word)
    }

    private mutating func add(word: Row) {
        if last.columns > 0, last.columns + word.columns > usable, word.columns <= usable { breakRow() }
        var characters = PrintableText(word.bytes)
        while let character = characters.next() { place(character) }
    }

    /// Adds masks, each whole; without `wraps` no more than the row has room for.
    mutating func add(_ count: Int, of mask: [UInt8], wraps: Bool) {
        var sign = Row()
        var characters = PrintableText(mask)
        while let character = characters.next() {
            sign.bytes += character.bytes
            sign.columns += character.columns
        }
        guard sign.columns > 0, sign.columns <= usable else { return }
        // A terminal without cursor movement shows one row of them; a label that fills the row leaves no room.
        if !wraps, usable - last.columns < min(8, usable) { breakRow() }
        coveredColumns = 0
        for _ in 0..<max(0, count) {
            if last.columns + sign.columns > usable {
                guard wraps else { return }
                breakRow()
            }
            append(sign)
            coveredColumns += sign.columns
        }
    }

    /// Adds what stands in the place of masks.
    mutating func add(sign text: [UInt8]) {
        if last.columns + text.count > usable { breakRow() }
        let before = last.columns
        add(text)
        coveredColumns = max(0, last.columns - before)
    }

    mutating func breakRow() {
        rows.append(Row())
        coveredColumns = 0
    }

    private var last: Row { rows.last ?? Row() }

    private mutating func place(_ character: PrintableText.Character) {
        if last.columns > 0, last.columns + character.columns > usable { breakRow() }
        append(Row(bytes: character.bytes, columns: character.columns))
    }

    private mutating func append(_ part: Row) {
        guard var row = rows.popLast() else { return }
        row.bytes += part.bytes
        row.columns += part.columns
        rows.append(row)
    }

    /// The rows that it takes on a terminal of `width` columns.
    ///
    /// Terminals that re-wrap their lines when they become narrower break those that are longer now.
    func height(at width: Int) -> Int {
        rows.reduce(0) { $0 + max(1, ($1.columns + max(1, width) - 1) / max(1, width)) }
    }
}
