import SignetRecords

extension FuzzTarget {
    /// What the store's files hold.
    static let records = [
        FuzzTarget("identity", longest: 1024) { bytes in
            strict(bytes) { try (try? IdentityRecord(decoding: bytes.span))?.encoded() }
        },
        FuzzTarget("prints", longest: 1024) { bytes in
            strict(bytes) {
                guard let record = try? PrintsRecord(decoding: bytes.span) else { return nil }
                var again = [UInt8](repeating: 0, count: try record.encodedCount())
                var span = again.mutableSpan
                try record.encode(templates: bytes.span, into: &span)
                return again
            }
        },
        FuzzTarget("chips", longest: 512) { bytes in
            strict(bytes) { try (try? ChipIndex(decoding: bytes.span))?.encoded() }
        },
        FuzzTarget("attempts", longest: 512) { bytes in
            strict(bytes) { try (try? AttemptsRecord(decoding: bytes.span))?.encoded() }
        },
        FuzzTarget("header", longest: 384, header),
        FuzzTarget("enclave-key", longest: 1280) { bytes in
            strict(bytes) { try (try? EnclaveKeyRecord(decoding: bytes.span))?.encoded() }
        },
        FuzzTarget("enclave-state", longest: 64) { bytes in
            strict(bytes) { try (try? EnclaveMigration(decoding: bytes.span))?.encoded() }
        },
        FuzzTarget("template", longest: 1024, template),
    ]

    /// The header is read by what tells its claims and by what compares it: both must see the same bytes.
    private static func header(_ bytes: [UInt8]) -> Outcome {
        let keyID = SealedHeader.claimedKeyID(in: bytes.span)
        guard let name = SealedHeader.claimedName(in: bytes.span), let keyID, bytes.count >= 10 else {
            let any = SealedHeader(kind: 1, uid: 1000, keyID: [UInt8](repeating: 0, count: 16), userName: [])
            return (try? any.match(bytes.span)) == nil ? .refused : .broken("matches without a claim")
        }
        let uid = bytes[6..<10].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let header = SealedHeader(kind: bytes[4], uid: uid, keyID: keyID, userName: name)
        guard let encoded = try? header.encoded() else { return .broken("claims what no header can say") }
        guard let length = try? header.match(bytes.span) else {
            return bytes[5] == SealedHeader.version ? .broken("does not match its own claims") : .refused
        }
        guard length == encoded.count, bytes.starts(with: encoded) else { return .broken("matches other bytes") }
        let other = SealedHeader(kind: bytes[4], uid: uid ^ 1, keyID: keyID, userName: name)
        return (try? other.match(bytes.span)) == nil ? .accepted : .broken("matches another user's header")
    }

    /// A print's parts lie within it in turn, and its identity fits where its count says, and not one byte short of it.
    private static func template(_ bytes: [UInt8]) -> Outcome {
        guard let print = try? PrintTemplate(bytes.span) else {
            var target = [UInt8](repeating: 0, count: bytes.count + PrintTemplate.identityOverhead)
            var span = target.mutableSpan
            let written = PrintTemplate.writeIdentity(of: bytes.span, into: &span)
            return written == nil ? .refused : .broken("has an identity and is refused")
        }
        guard print.driver.upperBound <= print.device.lowerBound, print.device.upperBound <= print.data.lowerBound,
            print.data.upperBound <= bytes.count, print.driver.count <= 64, print.device.count <= 128
        else { return .broken("has parts out of order") }
        let user = print.userName ?? print.device
        guard user.lowerBound >= print.device.lowerBound, user.upperBound <= print.data.lowerBound else {
            return .broken("has a user name out of order")
        }
        guard print.identityCount <= bytes.count + PrintTemplate.identityOverhead else {
            return .broken("has an identity longer than callers make room for")
        }
        var target = [UInt8](repeating: 0, count: print.identityCount)
        var span = target.mutableSpan
        guard PrintTemplate.writeIdentity(of: bytes.span, into: &span) == print.identityCount else {
            return .broken("writes another number of bytes than it says")
        }
        var short = [UInt8](repeating: 0, count: print.identityCount - 1)
        var shortSpan = short.mutableSpan
        guard PrintTemplate.writeIdentity(of: bytes.span, into: &shortSpan) == nil else {
            return .broken("writes past the end")
        }
        return .accepted
    }
}
