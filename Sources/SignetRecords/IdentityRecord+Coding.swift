internal import SignetPolicy

extension IdentityRecord {
    /// What the bytes of this record begin with.
    package static let kind: UInt8 = 1
    package static let version: UInt8 = 1
    /// The most readers that can have an approval.
    package static let approvalLimit = 16
    /// The most prints that one approval can cover.
    package static let approvedPrintLimit = 40
    /// The longest record in bytes, a little more than all fields at their limits need.
    package static let byteLimit = 196_608

    /// The bytes of the record; throws where a field does not fit the format.
    package func encoded() throws(RecordError) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(IdentityRecord.kind)
        writer.byte(IdentityRecord.version)
        writer.uint32(uid)
        guard !userName.isEmpty else { throw .malformed }
        try writer.counted(userName, limit: SealedHeader.userNameLimit)
        try writer.fixed(instance, count: IdentityRecord.instanceCount)
        try writer.fixed(publicKey, count: IdentityRecord.publicKeyCount)
        try writer.wrapped(pin)
        writer.flag(recovery != nil)
        if let recovery { try writer.wrapped(recovery) }
        writer.int64(pinChangedAt)
        writer.int64(recoveryMadeAt)
        writer.flag(pinSetByAdministrator)
        guard approvals.count <= IdentityRecord.approvalLimit else { throw .malformed }
        writer.byte(UInt8(truncatingIfNeeded: approvals.count))
        for (index, approval) in approvals.enumerated() {
            for other in approvals[..<index] where other.isRival(of: approval) { throw .malformed }
            try writer.approval(approval)
        }
        return writer.bytes
    }

    /// Decodes exactly one record of this kind and version.
    package init(decoding bytes: Span<UInt8>) throws(RecordError) {
        var reader = ByteReader(bytes)
        try reader.expect(kind: IdentityRecord.kind, version: IdentityRecord.version)
        let uid = try reader.uint32()
        let userName = try reader.counted(limit: SealedHeader.userNameLimit)
        guard !userName.isEmpty else { throw .malformed }
        let instance = try reader.bytes(IdentityRecord.instanceCount)
        let publicKey = try reader.bytes(IdentityRecord.publicKeyCount)
        let pin = try reader.wrapped()
        let recovery = try reader.flag() ? try reader.wrapped() : nil
        let pinChangedAt = try reader.int64()
        let recoveryMadeAt = try reader.int64()
        let pinSetByAdministrator = try reader.flag()
        let count = Int(try reader.byte())
        guard count <= IdentityRecord.approvalLimit else { throw .malformed }
        var approvals: [Approval] = []
        for _ in 0..<count {
            let approval = try reader.approval()
            for other in approvals where other.isRival(of: approval) { throw .malformed }
            approvals.append(approval)
        }
        try reader.finish()
        self.init(
            uid: uid, userName: userName, instance: instance, publicKey: publicKey, pin: pin, recovery: recovery,
            pinChangedAt: pinChangedAt, recoveryMadeAt: recoveryMadeAt, pinSetByAdministrator: pinSetByAdministrator,
            approvals: approvals)
    }
}

extension ByteWriter {
    fileprivate mutating func wrapped(_ key: WrappedKey) throws(RecordError) {
        uint32(key.cost.passes)
        uint32(key.cost.memoryMiB)
        try fixed(key.salt, count: WrappedKey.saltCount)
        try fixed(key.nonce, count: WrappedKey.nonceCount)
        try fixed(key.sealed, count: WrappedKey.sealedCount)
        flag(key.half != nil)
        if let half = key.half { try object(half) }
    }

    fileprivate mutating func approval(_ approval: Approval) throws(RecordError) {
        try reader(approval.reader)
        try place(approval.place)
        guard approval.others.count <= Approval.othersLimit else { throw .malformed }
        byte(UInt8(truncatingIfNeeded: approval.others.count))
        try ascending(approval.others)
        uint64(approval.generation)
        guard approval.prints.count <= IdentityRecord.approvedPrintLimit else { throw .malformed }
        byte(UInt8(truncatingIfNeeded: approval.prints.count))
        var last: Digest?
        for print in approval.prints {
            if let last, print.digest < last { throw .malformed }
            last = print.digest
            try fixed(print.digest.bytes, count: Digest.byteCount)
            byte(print.presence.rawValue)
        }
        try fixed(approval.signature, count: Approval.signatureCount)
        int64(approval.madeAt)
    }
}

extension ByteReader {
    fileprivate mutating func wrapped() throws(RecordError) -> WrappedKey {
        let passes = try uint32()
        let memoryMiB = try uint32()
        // A record must not be able to make Argon2id cheap, or to make it eat the machine.
        guard let cost = KeyDerivationCost(passes: passes, memoryMiB: memoryMiB) else { throw .malformed }
        let salt = try bytes(WrappedKey.saltCount)
        let nonce = try bytes(WrappedKey.nonceCount)
        let sealed = try bytes(WrappedKey.sealedCount)
        let half = try flag() ? try object() : nil
        guard let key = WrappedKey(cost: cost, salt: salt, nonce: nonce, sealed: sealed, half: half) else {
            throw .malformed
        }
        return key
    }

    fileprivate mutating func approval() throws(RecordError) -> Approval {
        let identity = try reader()
        let place = try place()
        let others = try ascendingDigests(Int(try byte()))
        let generation = try uint64()
        let count = Int(try byte())
        guard count <= IdentityRecord.approvedPrintLimit else { throw .malformed }
        var prints: [ApprovedPrint] = []
        for _ in 0..<count {
            let digest = try digest()
            if let last = prints.last, digest < last.digest { throw .malformed }
            guard let presence = PrintPresence(rawValue: try byte()) else { throw .malformed }
            prints.append(ApprovedPrint(digest: digest, presence: presence))
        }
        let signature = try bytes(Approval.signatureCount)
        return Approval(
            reader: identity, place: place, others: others, generation: generation, prints: prints,
            signature: signature, madeAt: try int64())
    }
}
