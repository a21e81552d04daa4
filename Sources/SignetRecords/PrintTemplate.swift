package import SignetPolicy

/// Why bytes are not a print as libfprint serializes it.
package enum PrintTemplateError: Error, Equatable, Sendable {
    /// More than `PrintEntry.templateLimit` bytes.
    case tooLarge
    /// The bytes do not begin with "FP3".
    case otherFormat
    /// The bytes are not a GVariant in normal form: libfprint could read in them something else than Signet does.
    case malformed
    /// Well-formed, with something in it that Signet does not know.
    case unsupported
}

/// Where the parts of a print lie in libfprint's serialized form.
///
/// That form is "FP3" and a little-endian GVariant of type `(issbymsmsia{sv}v)`: kind, driver, device id, whether the
/// reader stores it, finger, user name, description, day of enrollment, extensions, data (libfprint 1.94,
/// `fp_print_serialize`). The template stays where it is: the value holds ranges of its bytes and no copy. libfprint
/// itself ends its process on many malformed templates, so this reader is strict, and it is the only one that runs
/// outside the helper.
package struct PrintTemplate: Equatable, Sendable {
    /// How libfprint compares the print.
    package enum Kind: UInt8, Equatable, Sendable {
        /// The driver's own form, most often a handle to a template on the reader's chip.
        case raw = 1
        /// Minutiae for NIST's matcher.
        case minutiae = 2
    }

    package let kind: Kind
    /// The driver's name, 1–64 bytes of UTF-8 without NUL.
    package let driver: Range<Int>
    /// The device id, at most 128 bytes of UTF-8 without NUL.
    package let device: Range<Int>
    /// Whether the reader keeps the template and this is its handle.
    package let isStoredOnReader: Bool
    /// Which finger the enrolling program named; nil for libfprint's "unknown".
    package let finger: Finger?
    /// Whose finger it is, as the enrolling program said; nil where it did not.
    package let userName: Range<Int>?
    /// The day of enrollment, as days since 1970-01-01; nil where the enrolling program named none, or none of our era.
    package let day: UInt32?
    /// The data with its GVariant type string: what is compared with a finger.
    package let data: Range<Int>

    /// Finds the parts; never traps, whatever the bytes are.
    package init(_ bytes: Span<UInt8>) throws(PrintTemplateError) {
        guard bytes.count <= PrintEntry.templateLimit else { throw .tooLarge }
        guard bytes.count >= PrintTemplate.magicCount, bytes[0] == 0x46, bytes[1] == 0x50, bytes[2] == 0x33 else {
            throw .otherFormat
        }
        var tuple = try TupleReader(count: bytes.count - PrintTemplate.magicCount)
        let kindNumber = try tuple.word(bytes)
        driver = try tuple.string(bytes)
        device = try tuple.string(bytes)
        let stored = try tuple.byte(bytes)
        let fingerNumber = try tuple.byte(bytes)
        userName = try tuple.optionalString(bytes)
        _ = try tuple.optionalString(bytes)  // description
        day = PrintTemplate.day(try tuple.word(bytes))
        let extensions = try tuple.framed(bytes, alignment: 8)
        data = try tuple.last(bytes, alignment: 8)

        // Extensions are empty in every libfprint up to 1.94.10; what a later one puts there could matter to a
        // comparison.
        guard extensions.isEmpty, let kind = UInt8(exactly: kindNumber).flatMap(Kind.init) else { throw .unsupported }
        guard stored <= 1, fingerNumber <= 10, !driver.isEmpty else { throw .malformed }
        guard driver.count <= 64, device.count <= 128 else { throw .unsupported }
        try PrintTemplate.checkVariant(bytes, data)
        self.kind = kind
        isStoredOnReader = stored == 1
        finger = Finger(number: fingerNumber)
    }

    /// GLib counts days from 0001-01-01, which is day 1 (`g_date_get_julian`), and so 1970-01-01 is day 719,163.
    ///
    /// libfprint writes G_MININT32 for "none".
    private static func day(_ number: UInt32) -> UInt32? {
        (719_163...3_652_059).contains(number) ? number - 719_163 : nil
    }

    /// The length of "FP3".
    static let magicCount = 3

    /// The reader that the print belongs to; the names are no secret.
    package func reader(in bytes: Span<UInt8>) -> ReaderIdentity {
        ReaderIdentity(driver: copy(driver, of: bytes), device: copy(device, of: bytes))
    }

    /// Whose finger it is; the name is no secret.
    package func userName(in bytes: Span<UInt8>) -> [UInt8]? { userName.map { copy($0, of: bytes) } }

    private func copy(_ range: Range<Int>, of bytes: Span<UInt8>) -> [UInt8] {
        guard range.upperBound <= bytes.count else { return [] }
        return range.map { bytes[$0] }
    }

    /// A variant is its child, a NUL and the child's type string; a child of no bytes makes libfprint abort.
    private static func checkVariant(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(PrintTemplateError) {
        var typeStart = range.upperBound
        while typeStart > range.lowerBound, bytes[typeStart - 1] != 0 { typeStart -= 1 }
        guard typeStart < range.upperBound, typeStart - range.lowerBound >= 2 else { throw .malformed }
        for index in typeStart..<range.upperBound {
            switch bytes[index] {
            case 0x61...0x7A, 0x28, 0x29, 0x7B, 0x7D: continue  // letters, brackets and braces
            default: throw .malformed
            }
        }
    }
}

/// Reads the members of a GVariant tuple in turn (GLib, "GVariant Specification" 1.0, sections 2.3.6 and 2.4.1–2.5).
///
/// Members without a fixed size end where framing offsets at the tuple's end say, the first one's offset coming last;
/// the last member needs none. An offset has one byte, or two in a tuple of more than 255 bytes; more than 65,535 bytes
/// are beyond the limit for templates.
private struct TupleReader {
    /// Where the next offset ends; it moves down to `bodyEnd`.
    private var offsetEnd: Int
    private let offsetSize: Int
    /// Where the members end and the offsets begin.
    private let bodyEnd: Int
    /// Where the next member may begin, in bytes from the tuple's start.
    private var position = 0

    /// Members of the print's tuple that have an offset: driver, device, user name, description, extensions.
    private static let offsetCount = 5

    init(count: Int) throws(PrintTemplateError) {
        offsetSize = count <= 0xFF ? 1 : 2
        bodyEnd = count - TupleReader.offsetCount * offsetSize
        offsetEnd = count
        guard bodyEnd >= 0 else { throw .malformed }
    }

    /// A byte of the tuple; those outside it do not exist.
    private func at(_ index: Int, _ bytes: Span<UInt8>) throws(PrintTemplateError) -> UInt8 {
        let place = index + PrintTemplate.magicCount
        guard index >= 0, place < bytes.count else { throw .malformed }
        return bytes[place]
    }

    private mutating func align(_ bytes: Span<UInt8>, to alignment: Int) throws(PrintTemplateError) {
        while position % alignment != 0 {
            guard position < bodyEnd, try at(position, bytes) == 0 else { throw .malformed }
            position += 1
        }
    }

    private mutating func take(_ count: Int) throws(PrintTemplateError) -> Range<Int> {
        guard count >= 0, count <= bodyEnd - position else { throw .malformed }
        let range = position..<(position + count)
        position += count
        return range
    }

    mutating func byte(_ bytes: Span<UInt8>) throws(PrintTemplateError) -> UInt8 {
        try at(try take(1).lowerBound, bytes)
    }

    mutating func word(_ bytes: Span<UInt8>) throws(PrintTemplateError) -> UInt32 {
        try align(bytes, to: 4)
        var value: UInt32 = 0
        for index in try take(4).reversed() { value = value << 8 | UInt32(try at(index, bytes)) }
        return value
    }

    /// The next member of variable size, as a range of the whole template.
    mutating func framed(_ bytes: Span<UInt8>, alignment: Int) throws(PrintTemplateError) -> Range<Int> {
        try align(bytes, to: alignment)
        var end = 0
        for index in ((offsetEnd - offsetSize)..<offsetEnd).reversed() { end = end << 8 | Int(try at(index, bytes)) }
        offsetEnd -= offsetSize
        return absolute(try take(end - position))
    }

    /// The member that takes all that is left before the offsets.
    mutating func last(_ bytes: Span<UInt8>, alignment: Int) throws(PrintTemplateError) -> Range<Int> {
        try align(bytes, to: alignment)
        return absolute(try take(bodyEnd - position))
    }

    /// A string without its NUL.
    mutating func string(_ bytes: Span<UInt8>) throws(PrintTemplateError) -> Range<Int> {
        try text(bytes, try framed(bytes, alignment: 1))
    }

    /// Nothing, or a string that one more NUL follows.
    mutating func optionalString(_ bytes: Span<UInt8>) throws(PrintTemplateError) -> Range<Int>? {
        let range = try framed(bytes, alignment: 1)
        guard !range.isEmpty else { return nil }
        guard bytes[range.upperBound - 1] == 0 else { throw .malformed }
        return try text(bytes, range.lowerBound..<(range.upperBound - 1))
    }

    private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(PrintTemplateError) -> Range<Int> {
        guard !range.isEmpty, bytes[range.upperBound - 1] == 0 else { throw .malformed }
        let text = range.lowerBound..<(range.upperBound - 1)
        let copy = text.map { bytes[$0] }  // names and dates, no secret
        var index = 0
        while index < copy.count {
            guard let (value, length) = UTF8Text.scalar(in: copy, at: index), value != 0 else { throw .malformed }
            index += length
        }
        return text
    }

    private func absolute(_ range: Range<Int>) -> Range<Int> {
        (range.lowerBound + PrintTemplate.magicCount)..<(range.upperBound + PrintTemplate.magicCount)
    }
}
