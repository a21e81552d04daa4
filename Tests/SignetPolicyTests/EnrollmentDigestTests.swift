import Testing

@testable import SignetPolicy

private typealias Print = (digest: Digest, presence: PrintPresence)

private func digest(_ first: UInt8, _ last: UInt8 = 0) throws -> Digest {
    let bytes = [first] + [UInt8](repeating: 0, count: 30) + [last]
    let digest = Digest(bytes.span)
    return try #require(digest)
}

/// Fields as they stand in the bytes: each with its length, eight bytes big-endian, before it.
private func form(_ fields: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for field in fields {
        bytes += [0, 0, 0, 0, 0, 0, 0]
        bytes.append(UInt8(field.count))
        bytes += field
    }
    return bytes
}

/// A number as a field.
private func number(_ high: UInt8, _ low: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, high, low] }

private let reader = ReaderIdentity(driver: Array("elanmoc".utf8), device: Array("0".utf8))

@Suite struct EnrollmentDigestTests {
    /// Catches a form that follows the order in which a reader or a file happens to list prints.
    @Test func orderDoesNotMatter() throws {
        let prints: [Print] = [
            (try digest(9), .host), (try digest(1, 2), .onReader), (try digest(1, 1), .unlistable),
            (try digest(1, 1), .host),
        ]
        let expected = EnrollmentDigest.canonicalBytes(reader: reader, prints: prints)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let shuffled = prints.shuffled(using: &generator)
            #expect(EnrollmentDigest.canonicalBytes(reader: reader, prints: shuffled) == expected)
        }
    }

    /// Catches a field that is left out, and parts that run into each other.
    @Test func everyFieldMatters() throws {
        let one: Print = (try digest(1), .host)
        let two: Print = (try digest(2), .host)
        let other = { (driver: String, device: String) in
            ReaderIdentity(driver: Array(driver.utf8), device: Array(device.utf8))
        }
        var forms = [
            EnrollmentDigest.canonicalBytes(reader: reader, prints: []),
            EnrollmentDigest.canonicalBytes(reader: reader, prints: [one]),
            EnrollmentDigest.canonicalBytes(reader: reader, prints: [two]),
            EnrollmentDigest.canonicalBytes(reader: reader, prints: [one, two]),
            EnrollmentDigest.canonicalBytes(reader: reader, prints: [one, one]),
            EnrollmentDigest.canonicalBytes(reader: other("elanmo", "c0"), prints: [one]),
            EnrollmentDigest.canonicalBytes(reader: other("elanmoc", "1"), prints: [one]),
            EnrollmentDigest.canonicalBytes(reader: other("elanmoc0", ""), prints: [one]),
        ]
        for presence in [PrintPresence.onReader, .missing, .unlistable] {
            forms.append(EnrollmentDigest.canonicalBytes(reader: reader, prints: [(one.digest, presence)]))
        }
        for byte in 0..<Digest.byteCount {
            var bytes = one.digest.bytes
            bytes[byte] ^= 0x80
            let changed = Digest(bytes.span)
            forms.append(EnrollmentDigest.canonicalBytes(reader: reader, prints: [(try #require(changed), .host)]))
        }
        #expect(Set(forms).count == forms.count)
    }

    /// Catches a change of the form, after which no approval would be valid any more.
    @Test func goldenVector() throws {
        let prints: [Print] = [(try digest(7, 8), .onReader), (try digest(2, 3), .host)]
        let expected = form([
            Array("signet enrollment digest v1".utf8), Array("elanmoc".utf8), [0x30], number(0, 2),
            try digest(2, 3).bytes, [1], try digest(7, 8).bytes, [2],
        ])
        #expect(EnrollmentDigest.canonicalBytes(reader: reader, prints: prints) == expected)
    }
}

@Suite struct ApprovalMessageTests {
    private func message(
        uid: UInt32 = 1000, userName: String = "alice", instance: [UInt8] = [1, 2, 3, 4],
        driver: String = "elanmoc", device: String = "0", bus: ReaderBus = .usb,
        attachment: PortAttachment = .fixed, path: String = "pci0/usb2/9", others: [Digest] = [],
        generation: UInt64 = 5,
        last: UInt8 = 9
    ) throws -> [UInt8] {
        ApprovalMessage.bytes(
            uid: uid, userName: Array(userName.utf8), instance: instance,
            reader: ReaderIdentity(driver: Array(driver.utf8), device: Array(device.utf8)),
            place: ReaderPlace(bus: bus, attachment: attachment, path: Array(path.utf8)),
            others: others, generation: generation, enrollmentDigest: try digest(8, last))
    }

    /// Catches a field that is not signed, so that an approval could be carried over to another user, reader or set.
    @Test func everyFieldMatters() throws {
        let forms = [
            try message(), try message(uid: 1001), try message(uid: 0x0100_03E8),
            try message(userName: "alicf"), try message(userName: "alice\u{1}"), try message(instance: [1, 2, 3, 5]),
            try message(instance: []), try message(driver: "elanmob"), try message(device: "1"),
            try message(driver: "elanmoc0", device: ""), try message(generation: 6),
            try message(bus: .spi), try message(attachment: .unknown), try message(path: "pci0/usb2/1"),
            try message(path: ""), try message(others: [try digest(1)]),
            try message(others: [try digest(1), try digest(2)]),
            try message(others: [try digest(2)]),
            try message(generation: 5 + 1 << 32), try message(last: 8),
        ]
        #expect(Set(forms).count == forms.count)
    }

    /// Catches bytes that serve both as a set and as an approval.
    @Test func domainsDiffer() throws {
        let set = EnrollmentDigest.canonicalBytes(reader: reader, prints: [])
        #expect(!(try message()).starts(with: set.prefix(8)))
    }

    /// Catches a change of the form, after which no approval would be valid any more.
    @Test func goldenVector() throws {
        let expected = form([
            Array("signet approval v1".utf8), number(3, 0xE8), Array("alice".utf8), [1, 2, 3, 4],
            Array("elanmoc".utf8), [0x30], [2, 1], Array("pci0/usb2/9".utf8), number(0, 0), number(0, 5),
            try digest(8, 9).bytes,
        ])
        #expect(try message() == expected)
    }
}
