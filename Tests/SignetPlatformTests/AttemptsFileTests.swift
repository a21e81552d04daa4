import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct AttemptsFileTests {
    let folder: TestFolder
    let path: String

    init() throws {
        folder = try TestFolder()
        path = folder.sub("users/1000/attempts")
        try makeStore(folder)
        var store = try userStore(folder.bytes)
        try store.create(identity())
    }

    /// Catches writes that do not take turns, change the file's size, or are not what is read next.
    @Test func slotsTakeTurns() throws {
        var store = try userStore(folder.bytes)
        var before = try read(path)
        #expect(before.count == AttemptsFile.byteCount)
        for count in UInt8(1)...6 {
            try store.save(attempts(pin: count, finger: 0))
            let after = try read(path)
            let changed = [0..<4096, 4096..<8192].map { before[$0] != after[$0] }
            #expect(changed == (count % 2 == 1 ? [true, false] : [false, true]), "write \(count)")
            #expect(after.count == AttemptsFile.byteCount)
            #expect(try store.loadAttempts().pin.byPerson == count)
            #expect([store.attemptsWereTorn] == [false])
            before = after
        }
    }

    /// Catches a file that is replaced and not written in place: on a full disk nobody would get in.
    @Test func isWrittenInPlace() throws {
        var first = stat()
        var second = stat()
        stat(path, &first)
        var store = try userStore(folder.bytes)
        try store.save(attempts(pin: 1, finger: 1))
        stat(path, &second)
        #expect(first.st_ino == second.st_ino)
        #expect(first.st_blocks == second.st_blocks)
    }

    /// Catches a torn write that gives a free guess, that shuts the person out, or that goes unnoticed; whichever
    /// slot it hits, and wherever in the slot.
    @Test(arguments: [0, 1], [0, 5, 6, 10, 27, 60, 2000, 4063, 4064, 4095])
    func oneTornSlotCostsOneFailure(slot: Int, offset: Int) throws {
        var store = try userStore(folder.bytes)
        try store.save(attempts(pin: 2, finger: 1))
        try store.save(attempts(pin: 3, finger: 2))
        var file = try read(path)
        file[slot * 4096 + offset] ^= 0xFF
        try overwrite(path, file)
        // Slot 1 holds the newer counters; without it the older ones stand.
        let survivor: UInt8 = slot == 1 ? 2 : 3
        for _ in 0..<2 {
            let loaded = try store.loadAttempts()
            #expect(loaded == attempts(pin: survivor + 1, finger: survivor))
            #expect([store.attemptsWereTorn] == [true])
        }
        // The next write mends the torn slot and leaves the good one alone until then.
        try store.save(attempts(pin: 9, finger: 5))
        #expect(try store.loadAttempts() == attempts(pin: 9, finger: 5))
        #expect([store.attemptsWereTorn] == [false])
        let mended = try read(path)
        let other = slot == 0 ? 4096..<8192 : 0..<4096
        #expect(mended[other] == file[other])
    }

    /// Catches an added failure that overflows, which would trap, or start again at 0.
    @Test func tornCountersSaturate() throws {
        var store = try userStore(folder.bytes)
        try store.save(attempts(pin: 255, finger: 255))
        var file = try read(path)
        file[4096] ^= 1
        try overwrite(path, file)
        #expect(try store.loadAttempts() == attempts(pin: 255, finger: 255))
    }

    /// Catches a power cut in the midst of a write: a page may then be half old and half new, at any sector.
    @Test func everyTornSectorIsNoticed() throws {
        var store = try userStore(folder.bytes)
        try store.save(attempts(pin: 1, finger: 0))
        try store.save(attempts(pin: 2, finger: 0))
        let old = try read(path)
        try store.save(attempts(pin: 3, finger: 0))
        let new = try read(path)
        for cut in stride(from: 512, to: 4096, by: 512) {
            try overwrite(path, Array(new[..<cut] + old[cut...]))
            #expect(try store.loadAttempts().pin.byPerson == 3)
            #expect([store.attemptsWereTorn] == [true])
        }
    }

    /// Catches counters that read as fresh when both slots are gone.
    @Test func bothTornIsDamaged() throws {
        var store = try userStore(folder.bytes)
        for file in [[UInt8](repeating: 0, count: 8192), bytes(8192), [UInt8](repeating: 255, count: 8192)] {
            try overwrite(path, file)
            #expect(storeError { _ = try store.loadAttempts() } == .fault(.attempts, .damaged))
            #expect(storeError { try store.save(Attempts()) } == .fault(.attempts, .damaged))
        }
        for count in [0, 1, 4096, 8191, 8193] {
            try overwrite(path, bytes(count))
            #expect(storeError { _ = try store.loadAttempts() } == .fault(.attempts, .damaged))
        }
    }

    /// Catches a downgrade: a slot that a later Signet wrote must not be passed over in favour of an older one, and a
    /// slot that only claims to be later must not shut the person out.
    @Test func newerSlots() throws {
        var store = try userStore(folder.bytes)
        try store.save(attempts(pin: 2, finger: 0))
        let file = try read(path)
        var slot = Array(file[4096...])
        slot[5] = 2
        try overwrite(path, file[..<4096] + slot)
        #expect(try store.loadAttempts().pin.byPerson == 3)
        #expect([store.attemptsWereTorn] == [true])

        let sealer = RecordSealer(masterKey: masterKey())!
        let tag = sealer.slotTag(over: slot.span.extracting(0..<4064))!
        try overwrite(path, file[..<4096] + slot[..<4064] + tag)
        #expect(storeError { _ = try store.loadAttempts() } == .fault(.attempts, .newer))
        #expect(storeError { try store.save(Attempts()) } == .fault(.attempts, .newer))
    }

    /// Catches an order in which an older slot wins, and faults of two unreadable slots that are not told apart.
    @Test func choiceBetweenSlots() throws {
        func slot(_ sequence: UInt64, pin: UInt8) -> AttemptsFile.Slot {
            .usable(
                AttemptsRecord(
                    uid: 1, instance: bytes(16), sequence: sequence, attempts: attempts(pin: pin, finger: 0)))
        }
        let first = try AttemptsFile.choose(slot(9, pin: 1), slot(8, pin: 2))
        #expect(first.attempts.pin.byPerson == 1 && first.nextSlot == 1 && first.sequence == 9 && !first.torn)
        let second = try AttemptsFile.choose(slot(8, pin: 1), slot(9, pin: 2))
        #expect(second.attempts.pin.byPerson == 2 && second.nextSlot == 0 && second.sequence == 9 && !second.torn)
        #expect(throws: RecordFault.newer) { try AttemptsFile.choose(slot(8, pin: 1), .unusable(.newer)) }
        #expect(throws: RecordFault.newer) { try AttemptsFile.choose(.unusable(.newer), slot(8, pin: 1)) }
        #expect(throws: RecordFault.foreign) { try AttemptsFile.choose(.unusable(.foreign), .unusable(.damaged)) }
        #expect(throws: RecordFault.otherUser) { try AttemptsFile.choose(.unusable(.damaged), .unusable(.otherUser)) }
        #expect(throws: RecordFault.damaged) { try AttemptsFile.choose(.unusable(.damaged), .unusable(.damaged)) }
    }

    /// Catches a change of the slot's format.
    ///
    /// Keys and tag were computed by another implementation of BLAKE2b (Python's hashlib) over the fields as the
    /// format lists them.
    @Test func goldenSlot() throws {
        let record = AttemptsRecord(
            uid: 1000, instance: bytes(16, from: 0x20), sequence: 1, attempts: attempts(pin: 2, finger: 1))
        let sealer = RecordSealer(masterKey: masterKey())!
        let slot = AttemptsFile.encode(record, sealer: sealer) ?? []
        let head = hex("53474e41 03 01 e8030000 c205529884989a660c4f7eb30a15b56f 4d00")
        let tag = hex("f820050547732e598b20ae8e77a8a922fac6d412a7b43f81c1438ce9578ba439")
        let content = try record.encoded()
        #expect(content.count == 0x4d)
        #expect(slot == head + content + [UInt8](repeating: 0, count: 4064 - 28 - 0x4d) + tag)
        let decoded = AttemptsFile.decode(slot.span, uid: 1000, instance: bytes(16, from: 0x20), sealer: sealer)
        #expect(decoded == .usable(record))
    }
}
