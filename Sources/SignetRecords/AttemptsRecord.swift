package import SignetPolicy

/// One copy of a user's counters, with what ties it to its user and its place in the order of writing.
package struct AttemptsRecord: Equatable, Sendable {
    package let uid: UInt32
    /// The instance id of the identity that the counters belong to, 16 bytes.
    package let instance: [UInt8]
    /// Rises by one with each write.
    package let sequence: UInt64
    package let attempts: Attempts
    /// The digests of the identities that may stand beside these counters: the one that does and, while it is being
    /// replaced, the next.
    package let identities: [Digest]

    /// The most of them.
    package static let identityLimit = 2
    /// What the bytes of this record begin with.
    package static let kind: UInt8 = 3
    package static let version: UInt8 = 1
    /// The longest record in bytes, with room to a page for the slot's own fields.
    package static let byteLimit = 512

    package init(
        uid: UInt32, instance: [UInt8], sequence: UInt64, attempts: Attempts, identities: [Digest] = []
    ) {
        self.uid = uid
        self.instance = instance
        self.sequence = sequence
        self.attempts = attempts
        self.identities = identities
    }

    /// The bytes of the record; throws where a field does not fit the format.
    package func encoded() throws(RecordError) -> [UInt8] {
        var writer = ByteWriter(roomFor: AttemptsRecord.byteLimit)
        writer.byte(AttemptsRecord.kind)
        writer.byte(AttemptsRecord.version)
        writer.uint32(uid)
        try writer.fixed(instance, count: IdentityRecord.instanceCount)
        writer.uint64(sequence)
        try writer.failures(attempts.pin)
        try writer.failures(attempts.recovery)
        writer.byte(attempts.finger.count)
        writer.uint64(attempts.finger.epoch)
        writer.flag(attempts.lastPIN != nil)
        if let lastPIN = attempts.lastPIN { writer.instant(lastPIN) }
        writer.uint64(attempts.generation)
        writer.flag(attempts.change != nil)
        if let change = attempts.change {
            writer.byte(change.added)
            writer.byte(change.removed)
        }
        writer.byte(attempts.foreignPrints)
        writer.flag(attempts.counter != nil)
        if let counter = attempts.counter {
            writer.uint32(counter.index)
            writer.uint64(counter.value)
        }
        writer.flag(attempts.enclaveFailures != nil)
        if let failures = attempts.enclaveFailures {
            writer.byte(failures.count)
            writer.instant(failures.since)
        }
        guard identities.count <= AttemptsRecord.identityLimit else { throw .malformed }
        writer.byte(UInt8(truncatingIfNeeded: identities.count))
        for identity in identities { try writer.fixed(identity.bytes, count: Digest.byteCount) }
        return writer.bytes
    }

    /// Decodes exactly one record of this kind and version.
    package init(decoding bytes: Span<UInt8>) throws(RecordError) {
        var reader = ByteReader(bytes)
        try reader.expect(kind: AttemptsRecord.kind, version: AttemptsRecord.version)
        let uid = try reader.uint32()
        let instance = try reader.bytes(IdentityRecord.instanceCount)
        let sequence = try reader.uint64()
        var attempts = Attempts()
        attempts.pin = try reader.failures()
        attempts.recovery = try reader.failures()
        attempts.finger.count = try reader.byte()
        attempts.finger.epoch = try reader.uint64()
        attempts.lastPIN = try reader.flag() ? try reader.instant() : nil
        attempts.generation = try reader.uint64()
        if try reader.flag() {
            let added = try reader.byte()
            attempts.change = EnrollmentChange(added: added, removed: try reader.byte())
        }
        attempts.foreignPrints = try reader.byte()
        if try reader.flag() {
            let index = try reader.uint32()
            attempts.counter = EnclaveCounter(index: index, value: try reader.uint64())
        }
        if try reader.flag() {
            let count = try reader.byte()
            attempts.enclaveFailures = EnclaveFailures(count: count, since: try reader.instant())
        }
        let identityCount = Int(try reader.byte())
        guard identityCount <= AttemptsRecord.identityLimit else { throw .malformed }
        var identities: [Digest] = []
        for _ in 0..<identityCount { identities.append(try reader.digest()) }
        try reader.finish()
        self.init(uid: uid, instance: instance, sequence: sequence, attempts: attempts, identities: identities)
    }
}

extension ByteWriter {
    fileprivate mutating func failures(_ failures: SecretFailures) throws(RecordError) {
        byte(failures.byPerson)
        byte(failures.byAnotherPerson)
        byte(failures.byRemote)
        flag(failures.wait != nil)
        if let wait = failures.wait {
            guard wait.seconds <= Wait.longest else { throw .malformed }
            instant(wait.since)
            uint32(wait.seconds)
        }
        uint64(failures.epoch)
    }
}

extension ByteReader {
    fileprivate mutating func failures() throws(RecordError) -> SecretFailures {
        var failures = SecretFailures()
        failures.byPerson = try byte()
        failures.byAnotherPerson = try byte()
        failures.byRemote = try byte()
        if try flag() {
            let since = try instant()
            let seconds = try uint32()
            guard seconds <= Wait.longest else { throw .malformed }
            failures.wait = Wait(since: since, seconds: seconds)
        }
        failures.epoch = try uint64()
        return failures
    }
}

extension Wait {
    /// The longest wait there is, in seconds; a longer one in a record would shut a person out.
    package static let longest: UInt32 = 3600
}
