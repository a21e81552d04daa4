/// The bytes that the enrollment digest hashes: all prints of one reader that could match, in a form of its own.
///
/// Independent of the order of the prints, changed by every bit of a print's digest or presence, and free of metadata.
package enum EnrollmentDigest {
    /// Version 1; a digest of another version can never be equal.
    private static let domain: StaticString = "signet enrollment digest v1"

    /// The canonical bytes for the prints of `reader`.
    package static func canonicalBytes(
        reader: ReaderIdentity, prints: [(digest: Digest, presence: PrintPresence)]
    ) -> [UInt8] {
        var bytes = CanonicalBytes(domain: domain)
        bytes.append(reader.driver)
        bytes.append(reader.device)
        let sorted = prints.sorted {
            $0.digest == $1.digest ? $0.presence.rawValue < $1.presence.rawValue : $0.digest < $1.digest
        }
        bytes.append(UInt64(sorted.count))
        for print in sorted {
            bytes.append(print.digest)
            bytes.append([print.presence.rawValue])
        }
        return bytes.content
    }
}

/// The bytes that the user's signing key signs to approve an enrollment digest.
package enum ApprovalMessage {
    private static let domain: StaticString = "signet approval v1"

    /// The message over everything that must not change without the PIN; `others` are in ascending order.
    package static func bytes(
        uid: UInt32, userName: [UInt8], instance: [UInt8], reader: ReaderIdentity, place: ReaderPlace,
        others: [Digest], generation: UInt64, enrollmentDigest: Digest
    ) -> [UInt8] {
        var bytes = CanonicalBytes(domain: domain)
        bytes.append(UInt64(uid))
        bytes.append(userName)
        bytes.append(instance)
        bytes.append(reader.driver)
        bytes.append(reader.device)
        bytes.append([place.bus.rawValue, place.attachment.rawValue])
        bytes.append(place.path)
        bytes.append(UInt64(others.count))
        for print in others { bytes.append(print) }
        bytes.append(generation)
        bytes.append(enrollmentDigest)
        return bytes.content
    }
}

/// Fields one after another, each with its length before it, so that no two lists of fields give the same bytes.
package struct CanonicalBytes: Equatable, Sendable {
    package private(set) var content: [UInt8] = []

    /// What the approval of some ten prints has room in, so that no bytes are copied as they grow: somebody waits for it.
    private static let usualCount = 512

    /// Starts with the name of what the bytes are for.
    package init(domain: StaticString) {
        content.reserveCapacity(CanonicalBytes.usualCount)
        domain.withUTF8Buffer { buffer in
            // SAFETY: a static string's bytes live as long as the program.
            append(unsafe Array(buffer))
        }
    }

    /// Appends a field of bytes.
    package mutating func append(_ field: [UInt8]) {
        content.append(bigEndian: UInt64(field.count))
        content += field
    }

    /// Appends a digest as a field of its bytes.
    mutating func append(_ digest: Digest) {
        content.append(bigEndian: UInt64(Digest.byteCount))
        digest.append(to: &content)
    }

    /// Appends a number as a field of eight bytes.
    package mutating func append(_ number: UInt64) {
        content.append(bigEndian: 8)
        content.append(bigEndian: number)
    }
}
