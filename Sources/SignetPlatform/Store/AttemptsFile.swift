internal import CPlatform
package import SignetEngine
package import SignetPolicy
package import SignetRecords

/// The file of one user's counters: two slots of a page each, written in turn and in place.
///
/// Nothing is allocated after the file was made, so counting works on a full disk; and since a write touches only the
/// older slot, a power cut in its midst leaves the newer one whole. So no slot is written over while the other one may
/// still be on its way to the disk: what was left there unsynced (`Durability.soon`) is synced first, or a power cut could
/// tear both.
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
    private static let recordOffset = 28
    /// Where the sequence number lies in a record: behind kind, version, uid and instance id.
    private static let sequenceOffset = 22
    private static let tagOffset = slotCount - RecordSealer.slotTagCount

    /// When what is written is on the disk.
    package enum Durability: Equatable, Sendable {
        /// Before the call returns.
        case now
        /// When the kernel writes it, half a minute later at most (dirty_expire_centisecs in the kernel's vm.rst), or
        /// before the next write: for what may be lost, since then only the charge that stands in the other slot counts.
        case soon
    }

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

    /// Both slots as they lay in the file, of whom, and what they said then: the very same bytes, read anew, say the same again.
    package struct Seen: Equatable, Sendable {
        let bytes: [UInt8]
        let instance: [UInt8]?
        package let reading: Reading

        /// The same once this record, whose slot is the last argument, was written over the older slot.
        func after(_ record: AttemptsRecord, _ slot: [UInt8]) -> Seen {
            var bytes = bytes
            let start = reading.nextSlot * slotCount
            bytes.replaceSubrange(start..<start + slotCount, with: slot)
            return Seen(
                bytes: bytes, instance: instance,
                reading: Reading(
                    attempts: record.attempts, sequence: record.sequence, instance: record.instance,
                    identities: record.identities, torn: false, nextSlot: 1 - reading.nextSlot))
        }
    }

    /// The bytes of a slot; nil where the counters do not fit the format.
    package static func encode(_ record: AttemptsRecord, sealer: borrowing RecordSealer) -> [UInt8]? {
        guard let content = try? record.encoded(), content.count <= AttemptsRecord.byteLimit else { return nil }
        var writer = ByteWriter(roomFor: recordOffset)
        for byte in magic { writer.byte(byte) }
        writer.byte(AttemptsRecord.kind)
        writer.byte(AttemptsRecord.version)
        writer.uint32(record.uid)
        for byte in sealer.keyID { writer.byte(byte) }
        writer.uint16(UInt16(clamping: content.count))
        // One piece of memory, which is not copied as it grows: somebody waits who has touched the reader.
        var slot = [UInt8](repeating: 0, count: slotCount)
        var end = 0
        for part in [writer.bytes, content] {
            for byte in part {
                slot[end] = byte
                end += 1
            }
        }
        guard let tag = sealer.slotTag(over: slot.span.extracting(0..<tagOffset)) else { return nil }
        for index in 0..<tag.count { slot[tagOffset + index] = tag[index] }
        return slot
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

    /// Whether both slots say, not yet proven, that nothing was written over what the file was made with.
    static func claimsToBeNew(_ file: Span<UInt8>) -> Bool {
        guard file.count == byteCount else { return false }
        for start in [0, slotCount] {
            let record = file.extracting(start + recordOffset..<start + tagOffset)
            var reader = ByteReader(record)
            guard (try? reader.skip(sequenceOffset)) != nil, let sequence = try? reader.uint64(), sequence <= 2
            else { return false }
        }
        return true
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
        try readAttempts(uid: uid, instance: instance, knowing: nil, sealer: sealer).reading
    }

    /// Reads both slots, of which the same sealer may have seen the bytes before.
    borrowing func readAttempts(
        uid: UInt32, instance: [UInt8]?, knowing seen: AttemptsFile.Seen?, sealer: borrowing RecordSealer
    ) throws(StoreError) -> AttemptsFile.Seen {
        let file = try openAttempts(flags: O_RDONLY)
        return try readAttempts(from: file, uid: uid, instance: instance, knowing: seen, sealer: sealer)
    }

    /// Writes the counters over the older slot, nil: those that are there.
    ///
    /// `known` is what was read under the same hold of the lock, with nothing written since; nil: both slots are read.
    /// `identity` stands beside them and must be one that the slots admit; `identities` may stand there from now on.
    /// `next` is the instance whose counters they are to be, nil: the same; the other slot then counts for the one before.
    /// `synced` is the number of a slot that is known to be on the disk; another newest one is synced first, and where the
    /// disk refuses now what was left to it before, nothing is written. Answers what both slots say then,
    /// or said before where nobody goes on from there (`soon`).
    borrowing func writeAttempts(
        _ attempts: Attempts?, over known: AttemptsFile.Seen?, uid: UInt32, instance: [UInt8],
        becoming next: [UInt8]? = nil, beside identity: Digest, admitting identities: [Digest],
        durable: AttemptsFile.Durability = .now, synced: UInt64?, sealer: borrowing RecordSealer
    ) throws(StoreError) -> AttemptsFile.Seen {
        let file = try openAttempts(flags: O_RDWR)
        let before: AttemptsFile.Seen
        if let known {
            before = known
        } else {
            before = try readAttempts(from: file, uid: uid, instance: instance, knowing: nil, sealer: sealer)
        }
        let current = before.reading
        // Else counting beside an older identity, put back from a copy, would admit it.
        guard current.identities.contains(identity) else { throw .fault(.identity, .rolledBack) }
        let (sequence, overflow) = current.sequence.addingReportingOverflow(1)
        let record = AttemptsRecord(
            uid: uid, instance: next ?? instance, sequence: sequence, attempts: attempts ?? current.attempts,
            identities: identities)
        guard !overflow, let slot = AttemptsFile.encode(record, sealer: sealer) else { throw .system(errno: EINVAL) }
        do throws(FileFault) {
            if current.sequence != synced { try file.syncData() }
            try file.write(slot.span, at: current.nextSlot * AttemptsFile.slotCount)
            if durable == .now { try file.syncData() }
        } catch {
            throw StoreError(.attempts, error)
        }
        return durable == .now ? before.after(record, slot) : before
    }

    private borrowing func openAttempts(flags: Int32) throws(StoreError) -> FileDescriptor {
        do throws(FileFault) {
            return try file(.attempts, flags: flags, size: AttemptsFile.byteCount)
        } catch {
            throw StoreError(.attempts, error)
        }
    }

    private borrowing func readAttempts(
        from file: borrowing FileDescriptor, uid: UInt32, instance: [UInt8]?, knowing seen: AttemptsFile.Seen?,
        sealer: borrowing RecordSealer
    ) throws(StoreError) -> AttemptsFile.Seen {
        var bytes = [UInt8](repeating: 0, count: AttemptsFile.byteCount)
        var span = bytes.mutableSpan
        let count = try? file.read(into: &span, at: 0)
        if let seen, count == bytes.count, areSame(seen.bytes, bytes), seen.instance == instance { return seen }
        var slots: [AttemptsFile.Slot] = []
        for start in [0, AttemptsFile.slotCount] {
            let isRead = count == bytes.count || isReadable(start, of: file, into: &bytes)
            slots.append(
                isRead
                    ? AttemptsFile.decode(
                        bytes.span.extracting(start..<start + AttemptsFile.slotCount), uid: uid, instance: instance,
                        sealer: sealer) : .unusable(.damaged))
        }
        do throws(RecordFault) {
            let reading = try AttemptsFile.choose(slots[0], slots[1])
            return AttemptsFile.Seen(bytes: bytes, instance: instance, reading: reading)
        } catch {
            throw .fault(.attempts, error)
        }
    }

    /// Reads one slot alone: one that the disk cannot read any more is as good as a torn one.
    private borrowing func isReadable(
        _ start: Int, of file: borrowing FileDescriptor, into bytes: inout [UInt8]
    ) -> Bool {
        var slot = [UInt8](repeating: 0, count: AttemptsFile.slotCount)
        var span = slot.mutableSpan
        guard (try? file.read(into: &span, at: start)) == slot.count else { return false }
        bytes.replaceSubrange(start..<start + slot.count, with: slot)
        return true
    }
}
