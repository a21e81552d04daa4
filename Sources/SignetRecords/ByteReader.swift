/// Why bytes are not the record they should be.
package enum RecordError: Error, Equatable, Sendable {
    /// The bytes end before the record does.
    case truncated
    /// Bytes follow the record's end.
    case trailing
    /// The bytes are a record of another kind.
    case wrongKind
    /// A later Signet wrote the record.
    case newer
    /// A field has a value that no record can hold; for an encoder: the value does not fit the format.
    case malformed
}

/// Reads fields of a record one after the other; each read checks what is left, so that no input can trap.
///
/// All numbers are little-endian.
package struct ByteReader: ~Escapable {
    private let bytes: Span<UInt8>
    /// Where the next field begins, in bytes from the start.
    package private(set) var offset = 0

    /// Reads from the first of `bytes` on.
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    /// The number of bytes that were not read yet.
    package var remaining: Int { bytes.count - offset }

    /// Reads one byte.
    package mutating func byte() throws(RecordError) -> UInt8 {
        guard remaining >= 1 else { throw .truncated }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads a number of two bytes.
    package mutating func uint16() throws(RecordError) -> UInt16 {
        UInt16(truncatingIfNeeded: try number(ofBytes: 2))
    }

    /// Reads a number of four bytes.
    package mutating func uint32() throws(RecordError) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(ofBytes: 4))
    }

    /// Reads a number of eight bytes.
    package mutating func uint64() throws(RecordError) -> UInt64 { try number(ofBytes: 8) }

    /// Reads a signed number of eight bytes, in two's complement.
    package mutating func int64() throws(RecordError) -> Int64 { Int64(bitPattern: try number(ofBytes: 8)) }

    /// Reads a byte that must be 0 or 1, so that one value has one form.
    package mutating func flag() throws(RecordError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw .malformed
        }
    }

    /// Reads `count` bytes that are no secret.
    package mutating func bytes(_ count: Int) throws(RecordError) -> [UInt8] {
        let range = try skip(count)
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for index in range { result.append(bytes[index]) }
        return result
    }

    /// Reads a length in two bytes, at most `limit`, and that many bytes.
    package mutating func counted(limit: Int) throws(RecordError) -> [UInt8] {
        let count = Int(try uint16())
        guard count <= limit else { throw .malformed }
        return try bytes(count)
    }

    /// Passes over `count` bytes and answers where they lie.
    package mutating func skip(_ count: Int) throws(RecordError) -> Range<Int> {
        guard count >= 0, count <= remaining else { throw .truncated }
        let range = offset..<(offset + count)
        offset += count
        return range
    }

    /// Reads the kind and the version that every record begins with; only exactly these two are accepted.
    package mutating func expect(kind: UInt8, version: UInt8) throws(RecordError) {
        guard try byte() == kind else { throw .wrongKind }
        let found = try byte()
        guard found <= version else { throw .newer }
        guard found == version else { throw .malformed }
    }

    /// Throws unless everything was read.
    package func finish() throws(RecordError) {
        guard remaining == 0 else { throw .trailing }
    }

    private mutating func number(ofBytes count: Int) throws(RecordError) -> UInt64 {
        let range = try skip(count)
        var result: UInt64 = 0
        for index in range.reversed() { result = result << 8 | UInt64(bytes[index]) }
        return result
    }
}
