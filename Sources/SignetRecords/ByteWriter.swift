/// Writes the fields of a record that holds no secret; the counterpart of `ByteReader`.
///
/// All numbers are little-endian.
package struct ByteWriter: Sendable {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []

    /// Has room for `count` bytes from the start, for where somebody waits: else they are copied again and again as they grow.
    package init(roomFor count: Int = 0) { bytes.reserveCapacity(count) }

    /// Writes one byte.
    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Writes two bytes.
    package mutating func uint16(_ value: UInt16) { number(UInt64(value), ofBytes: 2) }

    /// Writes four bytes.
    package mutating func uint32(_ value: UInt32) { number(UInt64(value), ofBytes: 4) }

    /// Writes eight bytes.
    package mutating func uint64(_ value: UInt64) { number(value, ofBytes: 8) }

    /// Writes eight bytes in two's complement.
    package mutating func int64(_ value: Int64) { number(UInt64(bitPattern: value), ofBytes: 8) }

    /// Writes 0 or 1.
    package mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// Writes bytes that must be exactly `count`.
    package mutating func fixed(_ value: [UInt8], count: Int) throws(RecordError) {
        guard value.count == count else { throw .malformed }
        bytes.append(contentsOf: value)
    }

    /// Writes a length in two bytes, which must be at most `limit`, and the bytes.
    package mutating func counted(_ value: [UInt8], limit: Int) throws(RecordError) {
        guard value.count <= limit, let count = UInt16(exactly: value.count) else { throw .malformed }
        uint16(count)
        bytes.append(contentsOf: value)
    }

    private mutating func number(_ value: UInt64, ofBytes count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }
}
