internal import CPlatform
package import SignetEngine
package import SignetPolicy
package import SignetRecords

/// The file of one user's counters: two slots of a page each, written in turn and in place.
///
/// Nothing is allocated after the file was made, so counting works on a full disk; and since a write touches only the
/// older slot, a power cut in its midst leaves the newer one whole.
///
///     0    4   magic "SGNA"
///     4    1   kind
///     5    1   version
///     6    4   uid
///     10   16  key id
///     26   2   length of the record
///     28   n   record (`AttemptsRecord`)
///     …        zeros
///     4064 32  keyed BLAKE2b over all that comes before
package enum AttemptsFile {
    /// A slot is a page, so that the kernel never has to read a page to write a part of it.
    package static let slotCount = 4096
    package static let byteCount = 2 * slotCount

    private static let magic: [UInt8] = [0x53, 0x47, 0x4E, 0x41]
    private static let keyIDOffset = 10
    private static let tagOffset = slotCount - RecordSealer.slotTagCount

    /// What one slot turned out to be.
    package enum Slot: Equatable, Sendable {
        case usable(AttemptsRecord)
        case unusable(RecordFault)
    }

    /// What both slots together say.
    package struct Reading: Equatable, Sendable {
        /// The newest counters, one failure more in each where a slot was torn.
        package let attempts: Attempts
        /// The sequence number of the newest slot.
        package let sequence: UInt64
        /// Whose counters they are: the instance id of an identity.
        package let instance: [UInt8]
        /// The digests of the identities that may stand beside these counters.
        package let identities: [Digest]
        /// Whether one slot could not be read: the write it lost may have been a charge.
        package let torn: Bool
        /// Where the next write goes: 0 or 1.
        package let nextSlot: Int
    }

    /// The bytes of a slot; nil where the counters do not fit the format.
    package static func encode(_ record: AttemptsRecord, sealer: borrowing RecordSealer) -> [UInt8]? {
        guard let content = try? record.encoded(), content.count <= AttemptsRecord.byteLimit else { return nil }
        var writer = ByteWriter()
        for byte in magic { writer.byte(byte) }
        writer.byte(AttemptsRecord.kind)
        writer.byte(AttemptsRecord.version)
        writer.uint32(record.uid)
        for byte in sealer.keyID { writer.byte(byte) }
        writer.uint16(UInt16(clamping: content.count))
        var slot = writer.bytes + content
        slot += [UInt8](repeating: 0, count: tagOffset - slot.count)
        guard let tag = sealer.slotTag(over: slot.span) else { return nil }
        return slot + tag
    }

    /// Reads a slot that must be of this user's instance; nil: of any, which only a migration asks for.
    ///
    /// The tag is looked at first: only an authentic slot can say "newer", which forbids the use of its twin, or
    /// "otherUser". Another machine's cannot be told from one in which the key's name and something else were hit.
    package static func decode(
        _ slot: Span<UInt8>, uid: UInt32, instance: [UInt8]?, sealer: borrowing RecordSealer
    ) -> Slot {
        guard slot.count == slotCount, let keyID = keyID(of: slot) else { return .unusable(.damaged) }
        let isAuthentic = isAuthentic(slot, under: keyID, sealer)
        do throws(RecordError) {
            var reader = ByteReader(slot)
            guard try reader.bytes(magic.count) == magic else { throw .malformed }
            try reader.expect(kind: AttemptsRecord.kind, version: AttemptsRecord.version)
            let owner = try reader.uint32()
            guard try reader.bytes(SealedHeader.keyIDCount) == sealer.keyID || keyID == sealer.formerKeyID else {
                return .unusable(isOurs(slot, sealer) ? .damaged : .foreign)
            }
            guard owner == uid else { return .unusable(isAuthentic ? .otherUser : .damaged) }
            guard isAuthentic else { throw .malformed }
            let count = Int(try reader.uint16())
            guard count <= AttemptsRecord.byteLimit else { throw .malformed }
            let record = try AttemptsRecord(decoding: slot.extracting(try reader.skip(count)))
            guard record.uid == uid, instance == nil || record.instance == instance else {
                return .unusable(.otherUser)
            }
            return .usable(record)
        } catch {
            return .unusable(isAuthentic ? RecordFault(error) : .damaged)
        }
    }

    /// Whether the tag fits; a key that does not count authenticates nothing.
    private static func isAuthentic(
        _ slot: Span<UInt8>, under keyID: [UInt8], _ sealer: borrowing RecordSealer
    ) -> Bool {
        guard let tag = sealer.slotTag(over: slot.extracting(0..<tagOffset), keyID: keyID) else { return false }
        var difference: UInt8 = 0
        for index in 0..<tag.count { difference |= tag[index] ^ slot[tagOffset + index] }
        return difference == 0
    }

    /// Whether a slot that names another key was written under ours, so that the name is what was hit.
    private static func isOurs(_ slot: Span<UInt8>, _ sealer: borrowing RecordSealer) -> Bool {
        let name = sealer.keyID
        let end = keyIDOffset + name.count
        var bytes: [UInt8] = []
        for index in 0..<slot.count {
            bytes.append(index >= keyIDOffset && index < end ? name[index - keyIDOffset] : slot[index])
        }
        return isAuthentic(bytes.span, under: name, sealer)
    }

    /// The id of the master key that a slot tells, not yet proven.
    package static func keyID(of slot: Span<UInt8>) -> [UInt8]? {
        guard slot.count >= keyIDOffset + SealedHeader.keyIDCount else { return nil }
        return (keyIDOffset..<keyIDOffset + SealedHeader.keyIDCount).map { slot[$0] }
    }

    /// Decides between the two slots.
    package static func choose(_ first: Slot, _ second: Slot) throws(RecordFault) -> Reading {
        switch (first, second) {
        case (.usable(let one), .usable(let two)):
            let firstIsNewer = one.sequence > two.sequence
            let newest = firstIsNewer ? one : two
            return Reading(
                attempts: newest.attempts, sequence: newest.sequence, instance: newest.instance,
                identities: newest.identities, torn: false, nextSlot: firstIsNewer ? 1 : 0)
        case (.usable(let one), .unusable(let fault)):
            return try torn(one, other: fault, nextSlot: 1)
        case (.unusable(let fault), .usable(let two)):
            return try torn(two, other: fault, nextSlot: 0)
        case (.unusable(let one), .unusable(let two)):
            throw one == .damaged ? two : one
        }
    }

    private static func torn(_ record: AttemptsRecord, other: RecordFault, nextSlot: Int) throws(RecordFault) -> Reading
    {
        // A later Signet wrote the newer slot: the older one would take back what was charged there.
        guard other != .newer else { throw .newer }
        var attempts = record.attempts
        attempts.pin.byPerson = attempts.pin.byPerson.addingSaturated(1)
        attempts.finger.count = attempts.finger.count.addingSaturated(1)
        return Reading(
            attempts: attempts, sequence: record.sequence, instance: record.instance, identities: record.identities,
            torn: true, nextSlot: nextSlot)
    }
}

extension UInt8 {
    fileprivate func addingSaturated(_ value: UInt8) -> UInt8 {
        let (sum, overflow) = addingReportingOverflow(value)
        return overflow ? .max : sum
    }
}

extension SecureFolder {
    /// Makes both slots anew with these counters, beside which one of `identities` may stand.
    ///
    /// `sequence` is what the newest of the slots in whose place they come had; 0 where there are none.
    borrowing func createAttempts(
        _ attempts: Attempts, uid: UInt32, instance: [UInt8], identities: [Digest], after sequence: UInt64 = 0,
        sealer: borrowing RecordSealer
    ) throws(StoreError) {
        var file: [UInt8] = []
        for step in UInt64(1)...2 {
            let (sequence, overflow) = sequence.addingReportingOverflow(step)
            let record = AttemptsRecord(
                uid: uid, instance: instance, sequence: sequence, attempts: attempts, identities: identities)
            guard !overflow, let slot = AttemptsFile.encode(record, sealer: sealer) else {
                throw .system(errno: EINVAL)
            }
            file += slot
        }
        do throws(FileFault) {
            try replace(.attempts, with: file.span)
        } catch {
            throw StoreError(.attempts, error)
        }
    }

    /// Reads both slots.
    borrowing func readAttempts(
        uid: UInt32, instance: [UInt8]?, sealer: borrowing RecordSealer
    ) throws(StoreError) -> AttemptsFile.Reading {
        let file = try openAttempts(flags: O_RDONLY)
        return try readAttempts(from: file, uid: uid, instance: instance, sealer: sealer)
    }

    /// Writes the counters over the older slot, nil: those that are there; durable when it returns.
    ///
    /// `known` is what was read under the same hold of the lock, with nothing written since; nil: both slots are read.
    /// `identity` stands beside them and must be one that the slots admit; `identities` may stand there from now on.
    borrowing func writeAttempts(
        _ attempts: Attempts?, over known: AttemptsFile.Reading?, uid: UInt32, instance: [UInt8],
        beside identity: Digest, admitting identities: [Digest], sealer: borrowing RecordSealer
    ) throws(StoreError) {
        let file = try openAttempts(flags: O_RDWR)
        let current: AttemptsFile.Reading
        if let known {
            current = known
        } else {
            current = try readAttempts(from: file, uid: uid, instance: instance, sealer: sealer)
        }
        // Else counting beside an older identity, put back from a copy, would admit it.
        guard current.identities.contains(identity) else { throw .fault(.identity, .rolledBack) }
        let (sequence, overflow) = current.sequence.addingReportingOverflow(1)
        let record = AttemptsRecord(
            uid: uid, instance: instance, sequence: sequence, attempts: attempts ?? current.attempts,
            identities: identities)
        guard !overflow, let slot = AttemptsFile.encode(record, sealer: sealer) else { throw .system(errno: EINVAL) }
        do throws(FileFault) {
            try file.write(slot.span, at: current.nextSlot * AttemptsFile.slotCount)
            try file.syncData()
        } catch {
            throw StoreError(.attempts, error)
        }
    }

    private borrowing func openAttempts(flags: Int32) throws(StoreError) -> FileDescriptor {
        do throws(FileFault) {
            let file = try file(.attempts, flags: flags)
            guard try file.status().st_size == AttemptsFile.byteCount else { throw .wrongSize }
            return file
        } catch {
            throw StoreError(.attempts, error)
        }
    }

    private borrowing func readAttempts(
        from file: borrowing FileDescriptor, uid: UInt32, instance: [UInt8]?, sealer: borrowing RecordSealer
    ) throws(StoreError) -> AttemptsFile.Reading {
        let first = slot(0, of: file, uid: uid, instance: instance, sealer: sealer)
        let second = slot(1, of: file, uid: uid, instance: instance, sealer: sealer)
        do throws(RecordFault) {
            return try AttemptsFile.choose(first, second)
        } catch {
            throw .fault(.attempts, error)
        }
    }

    /// A slot that the disk cannot read any more is as good as a torn one.
    private borrowing func slot(
        _ index: Int, of file: borrowing FileDescriptor, uid: UInt32, instance: [UInt8]?,
        sealer: borrowing RecordSealer
    ) -> AttemptsFile.Slot {
        var bytes = [UInt8](repeating: 0, count: AttemptsFile.slotCount)
        var span = bytes.mutableSpan
        let count = try? file.read(into: &span, at: index * AttemptsFile.slotCount)
        guard count == AttemptsFile.slotCount else { return .unusable(.damaged) }
        return AttemptsFile.decode(bytes.span, uid: uid, instance: instance, sealer: sealer)
    }
}
