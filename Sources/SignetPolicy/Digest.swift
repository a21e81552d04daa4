/// A 256-bit hash as a value that can be compared and ordered, in Embedded Swift as well.
package struct Digest: Equatable, Comparable, Sendable {
    /// The hash as four words, the first byte being the highest of the first word.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The length of the hash in bytes.
    package static let byteCount = 32

    /// Takes exactly 32 bytes; nil for any other length.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Digest.byteCount else { return nil }
        var parts: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        for index in 0..<8 {
            parts.0 = parts.0 << 8 | UInt64(bytes[index])
            parts.1 = parts.1 << 8 | UInt64(bytes[index + 8])
            parts.2 = parts.2 << 8 | UInt64(bytes[index + 16])
            parts.3 = parts.3 << 8 | UInt64(bytes[index + 24])
        }
        words = parts
    }

    /// The 32 bytes, in the order in which they were taken.
    package var bytes: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(Digest.byteCount)
        append(to: &result)
        return result
    }

    /// Appends the 32 bytes.
    func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: words.0)
        bytes.append(bigEndian: words.1)
        bytes.append(bigEndian: words.2)
        bytes.append(bigEndian: words.3)
    }

    package static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }
    package static func < (left: Digest, right: Digest) -> Bool { left.words < right.words }
}
