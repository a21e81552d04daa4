internal import SignetPolicy

/// The record `prints` without its templates, which stay in the bytes it was decoded from.
///
/// First come all entries, then all templates in the order of the entries, so that the part that is decoded to values
/// holds nothing of a finger.
package struct PrintsRecord: Equatable, Sendable {
    package let generation: UInt64
    package let entries: [PrintEntry]

    /// What the bytes of this record begin with.
    package static let kind: UInt8 = 2
    package static let version: UInt8 = 1
    /// The most prints one user may have.
    package static let entryLimit = 40
    /// The longest record in bytes: all entries and all templates at their limits.
    package static let byteLimit = 64 + entryLimit * (256 + PrintEntry.templateLimit)

    /// Takes values as they are; `encode` checks them.
    package init(generation: UInt64, entries: [PrintEntry]) {
        self.generation = generation
        self.entries = entries
    }

    /// Decodes exactly one record; the ranges of the entries point into `bytes`.
    package init(decoding bytes: Span<UInt8>) throws(RecordError) {
        var reader = ByteReader(bytes)
        try reader.expect(kind: PrintsRecord.kind, version: PrintsRecord.version)
        let generation = try reader.uint64()
        let count = Int(try reader.byte())
        guard count <= PrintsRecord.entryLimit else { throw .malformed }
        var heads: [PrintEntry] = []
        for _ in 0..<count { heads.append(try reader.entry()) }
        var entries: [PrintEntry] = []
        for head in heads { entries.append(head.placed(at: try reader.skip(head.template.count))) }
        try reader.finish()
        self.init(generation: generation, entries: entries)
    }

    /// The number of bytes that `encode` writes.
    package func encodedCount() throws(RecordError) -> Int {
        var count = try head().count
        for entry in entries { count += entry.template.count }
        return count
    }

    /// Writes the record to `target`, which must have exactly `encodedCount` bytes; the entries' ranges point into
    /// `templates`.
    package func encode(templates: Span<UInt8>, into target: inout MutableSpan<UInt8>) throws(RecordError) {
        guard target.count == (try encodedCount()) else { throw .malformed }
        var offset = 0
        for byte in try head() {
            target[offset] = byte
            offset += 1
        }
        for entry in entries {
            guard entry.template.lowerBound >= 0, entry.template.upperBound <= templates.count else {
                throw .malformed
            }
            for index in entry.template {
                target[offset] = templates[index]
                offset += 1
            }
        }
    }

    private func head() throws(RecordError) -> [UInt8] {
        guard entries.count <= PrintsRecord.entryLimit else { throw .malformed }
        var writer = ByteWriter()
        writer.byte(PrintsRecord.kind)
        writer.byte(PrintsRecord.version)
        writer.uint64(generation)
        writer.byte(UInt8(truncatingIfNeeded: entries.count))
        for entry in entries { try writer.entry(entry) }
        return writer.bytes
    }
}

extension PrintEntry {
    fileprivate func placed(at range: Range<Int>) -> PrintEntry {
        PrintEntry(finger: finger, reader: reader, onReader: onReader, enrolledAt: enrolledAt, template: range)
    }
}

extension ByteWriter {
    fileprivate mutating func entry(_ entry: PrintEntry) throws(RecordError) {
        byte(entry.finger.number)
        try reader(entry.reader)
        flag(entry.onReader)
        int64(entry.enrolledAt)
        guard !entry.template.isEmpty, entry.template.count <= PrintEntry.templateLimit,
            let count = UInt32(exactly: entry.template.count)
        else { throw .malformed }
        uint32(count)
    }
}

extension ByteReader {
    /// Reads an entry, whose range has the right length but begins at 0.
    fileprivate mutating func entry() throws(RecordError) -> PrintEntry {
        guard let finger = Finger(number: try byte()) else { throw .malformed }
        let identity = try reader()
        let onReader = try flag()
        let enrolledAt = try int64()
        guard let count = Int(exactly: try uint32()), count > 0, count <= PrintEntry.templateLimit else {
            throw .malformed
        }
        return PrintEntry(
            finger: finger, reader: identity, onReader: onReader, enrolledAt: enrolledAt, template: 0..<count)
    }
}
