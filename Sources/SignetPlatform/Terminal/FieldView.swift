/// Draws a field: what to write so that the screen shows this and no longer that.
///
/// It writes nothing itself.
///
/// Where the cursor can be moved everything vanishes again, wrapped rows too, and the cursor is back where the field began.
/// A dumb terminal gets no escape sequence: masks are taken off with backspaces, and the label stays.
struct FieldView: Sendable {
    /// What stands before the masks, in UTF-8.
    var label: [UInt8] = []
    private let mask: [UInt8]?
    private let movesCursor: Bool

    /// What is on the screen; nil where nothing is.
    private var drawn: FieldLayout?
    private var drawnWidth = 0
    /// What `drawn` was laid out from.
    private var drawnContent = Content.masks(0)
    private var drawnLabel: [UInt8] = []

    /// What stands behind the label.
    enum Content: Equatable, Sendable {
        case masks(Int)
        case tooLong
    }

    /// What a person reads where more was typed than a PIN can have.
    static var tooLongSign: [UInt8] { Array("(too long)".utf8) }

    init(_ style: FieldStyle) {
        mask = style.mask
        movesCursor = style.movesCursor
    }

    /// Whether the field is on the screen.
    var isDrawn: Bool { drawn != nil }

    /// The rows on the screen.
    var height: Int { drawn?.rows.count ?? 0 }

    /// The rows that it would have.
    func height(with content: Content, width: Int) -> Int { layout(content, width).rows.count }

    /// Whether that is what the screen shows: most of what a field attends to changes nothing on it.
    func shows(_ content: Content, width: Int) -> Bool {
        drawn != nil && drawnWidth == width && drawnContent == content && drawnLabel == label
    }

    /// Draws, or changes what is drawn, on a terminal of `width` columns.
    mutating func show(_ content: Content, width: Int) -> [UInt8] {
        let wanted = layout(content, width)
        var bytes: [UInt8]
        if let drawn, drawnWidth == width, let change = change(from: drawn, to: wanted) {
            bytes = change
        } else {
            bytes = hide(width: width)
            // From the first column, and over what a program has begun to write there: rows can be counted only so.
            if movesCursor { bytes += FieldView.blankRow }
            for (index, row) in wanted.rows.enumerated() { bytes += (index == 0 ? [] : FieldView.newLine) + row.bytes }
        }
        drawn = wanted
        drawnWidth = width
        drawnContent = content
        drawnLabel = label
        return bytes
    }

    /// Takes it off the screen, whose width may have changed meanwhile.
    mutating func hide(width: Int) -> [UInt8] {
        let bytes = hiding(width: width)
        drawn = nil
        return bytes
    }

    /// What takes it off the screen.
    func hiding(width: Int) -> [UInt8] {
        guard let drawn else { return [] }
        guard movesCursor else { return FieldView.takenBack(drawn.coveredColumns) + FieldView.newLine }
        let up = (width < drawnWidth ? drawn.height(at: width) : drawn.rows.count) - 1
        return (up > 0 ? [0x1B, 0x5B] + Array("\(up)".utf8) + [0x41] : []) + FieldView.blankScreen
    }

    /// Forgets what is drawn: somebody else has written since, and the cursor is no longer where it was.
    mutating func forget() { drawn = nil }

    private func layout(_ content: Content, _ width: Int) -> FieldLayout {
        var layout = FieldLayout(width: width)
        layout.add(label)
        switch content {
        case .tooLong: layout.add(sign: FieldView.tooLongSign)
        case .masks(let count): if let mask { layout.add(count, of: mask, wraps: movesCursor) }
        }
        return layout
    }

    /// The few bytes for another end of the text; nil where all is to be drawn anew.
    private func change(from old: FieldLayout, to new: FieldLayout) -> [UInt8]? {
        let shared = min(old.rows.count, new.rows.count)
        guard shared > 0, old.rows.count <= new.rows.count else { return nil }
        for index in 0..<(shared - 1) where old.rows[index] != new.rows[index] { return nil }
        let before = old.rows[shared - 1], after = new.rows[shared - 1]
        if FieldView.begins(after.bytes, with: before.bytes) {
            var bytes = Array(after.bytes[before.bytes.count...])
            for row in new.rows[shared...] { bytes += FieldView.newLine + row.bytes }
            return bytes
        }
        guard old.rows.count == new.rows.count, FieldView.begins(before.bytes, with: after.bytes) else { return nil }
        let columns = before.columns - after.columns
        // On a dumb terminal only masks are taken back: a label may have been written behind something of the program's.
        guard movesCursor || columns <= old.coveredColumns else { return nil }
        if !movesCursor { return FieldView.takenBack(columns) }
        return [UInt8](repeating: 0x08, count: columns) + [0x1B, 0x5B, 0x4B]
    }

    private static func begins(_ text: [UInt8], with start: [UInt8]) -> Bool {
        guard start.count <= text.count else { return false }
        for index in start.indices where text[index] != start[index] { return false }
        return true
    }

    /// Backspace, space, backspace for each column.
    private static func takenBack(_ columns: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<max(0, columns) { bytes += [0x08, 0x20, 0x08] }
        return bytes
    }

    private static var newLine: [UInt8] { [0x0D, 0x0A] }
    /// To the first column, and all from there on is blank (ECMA-48: ED).
    private static var blankScreen: [UInt8] { [0x0D, 0x1B, 0x5B, 0x4A] }
    /// To the first column, and the row is blank (ECMA-48: EL).
    private static var blankRow: [UInt8] { [0x0D, 0x1B, 0x5B, 0x4B] }
}
