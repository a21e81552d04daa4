/// The libraries that a shared library asks the loader for: DT_NEEDED of elf(5), 64 bits, little-endian.
///
/// Every offset is the file's word, so each read is checked, and what does not fit is no library.
enum ELFNeeds {
    private static let programHeaderLimit = 64
    private static let entryLimit = 4096

    /// The names in the file's order; nil where the bytes are no such file.
    static func libraries(of bytes: [UInt8]) -> [String]? {
        // e_ident: magic, ELFCLASS64, ELFDATA2LSB; e_type 3 is ET_DYN.
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]), number(bytes, 16, 2) == 3,
            let table = number(bytes, 32, 8), let size = number(bytes, 54, 2), let count = number(bytes, 56, 2),
            size >= 56, count <= programHeaderLimit
        else { return nil }
        var segments: [(offset: Int, address: Int, count: Int)] = []
        var dynamic: (offset: Int, count: Int)?
        for index in 0..<count {
            let header = table &+ index &* size
            guard let type = number(bytes, header, 4), let offset = number(bytes, header &+ 8, 8),
                let address = number(bytes, header &+ 16, 8), let length = number(bytes, header &+ 32, 8)
            else { return nil }
            if type == 1 { segments.append((offset, address, length)) }
            if type == 2 { dynamic = (offset, length) }
        }
        guard let dynamic else { return nil }
        var names: [Int] = []
        var strings: Int?
        for index in 0..<min(dynamic.count / 16, entryLimit) {
            let entry = dynamic.offset &+ index &* 16
            guard let tag = number(bytes, entry, 8), let value = number(bytes, entry &+ 8, 8) else { return nil }
            if tag == 0 { break }
            if tag == 1 { names.append(value) }
            if tag == 5 { strings = value }
        }
        guard let strings,
            let segment = segments.first(where: { $0.address <= strings && strings - $0.address < $0.count })
        else { return names.isEmpty ? [] : nil }
        var libraries: [String] = []
        for name in names {
            guard let text = text(bytes, at: segment.offset &+ (strings - segment.address) &+ name) else { return nil }
            libraries.append(text)
        }
        return libraries
    }

    /// A little-endian number that is not negative as an Int.
    private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - count else { return nil }
        var value: UInt64 = 0
        for index in (0..<count).reversed() { value = value << 8 | UInt64(bytes[offset + index]) }
        return Int(exactly: value)
    }

    /// Text up to its zero byte.
    private static func text(_ bytes: [UInt8], at offset: Int) -> String? {
        guard offset >= 0, offset < bytes.count, let end = bytes[offset...].firstIndex(of: 0) else { return nil }
        return Output.text(Array(bytes[offset..<end]))
    }
}
