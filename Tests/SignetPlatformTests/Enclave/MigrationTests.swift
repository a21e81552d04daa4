import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// A store with two users, whose content must not change on the way.
enum Migrating {
    static let bob = Array("bob".utf8)
    static let people: [(uid: UInt32, name: [UInt8])] = [(1000, alice), (1001, bob)]

    /// All that must not change on the way.
    struct Content: Equatable {
        var digest: Digest
        var identities: [IdentityRecord] = []
        var attempts: [Attempts] = []
        var generations: [UInt64] = []
    }

    static func populate(_ stage: StandIn, counters: Bool = false) throws {
        for (uid, name) in people {
            var store = try stage.store(uid: uid, name: name)
            try store.lock()
            try store.create(identity(uid: uid, name: name, instance: UInt8(uid - 990)))
            try store.save(enrollment(generation: UInt64(uid)))
            store.unlock()
            try count(stage, uid, name, failures: 2)
        }
        if counters { try makeCounters(stage) }
    }

    static func makeCounters(_ stage: StandIn) throws {
        for (uid, name) in people {
            var vault = try stage.vault()
            let counter = try vault.makeCounter(
                for: CounterOwner(uid: uid, instance: bytes(16, from: UInt8(uid - 990))))
            _ = consume vault
            var store = try stage.store(uid: uid, name: name)
            try store.lock()
            var attempts = try store.loadAttempts()
            attempts.counter = counter
            try store.save(attempts)
        }
    }

    static func count(_ stage: StandIn, _ uid: UInt32, _ name: [UInt8], failures: UInt8) throws {
        var store = try stage.store(uid: uid, name: name)
        try store.lock()
        var attempts = try store.loadAttempts()
        attempts.pin.byPerson = failures
        try store.save(attempts)
    }

    static func content(_ stage: StandIn, withCounters: Bool = false) throws -> Content {
        var vault = try stage.vault()
        let text: [UInt8] = [1, 2, 3]
        var content = Content(digest: try vault.digest(of: text.span))
        _ = consume vault
        for (uid, name) in people {
            var store = try stage.store(uid: uid, name: name)
            try store.lock()
            content.identities.append(try #require(try store.loadIdentity()))
            var attempts = try store.loadAttempts()
            if !withCounters { attempts.counter = nil }
            content.attempts.append(attempts)
            content.generations.append(try store.loadPrints().generation)
        }
        return content
    }

    /// Whether these bytes, a key's id or the key, lie anywhere in the store.
    static func lies(_ bytes: [UInt8], in stage: StandIn) -> Bool {
        let files = FileManager.default.enumerator(atPath: stage.root)?.compactMap { $0 as? String } ?? []
        return files.contains { name in
            FileManager.default.contents(atPath: "\(stage.root)/\(name)")?.range(of: Data(bytes)) != nil
        }
    }

    /// Runs a migration that ends after its `number`th step; whether it had that many.
    static func interrupt(_ stage: StandIn, _ target: EnclaveKind, after number: Int) throws -> Bool {
        let counter = Counter()
        let error = storeError {
            _ = try stage.migrate(target) { (_) throws(StoreError) in
                counter.value += 1
                if counter.value == number { throw .system(errno: EINTR) }
            }
        }
        #expect(error == nil || error == .system(errno: EINTR))
        return error != nil
    }

    final class Counter: @unchecked Sendable { var value = 0 }

    /// To the TPM, with an end after each step, and on from there.
    static func toTheTPM(_ makeStage: () throws -> StandIn) throws {
        var number = 1
        while true {
            let stage = try makeStage()
            try stage.make(.file)
            try populate(stage)
            let before = try content(stage)
            let old = try read("\(stage.root)/key")
            let oldKey = secret(old)
            let oldID = RecordSealer.keyID(of: oldKey) ?? []
            guard try interrupt(stage, .tpm, after: number) else { break }
            #expect(try content(stage) == before, "step \(number)")
            try count(stage, 1000, alice, failures: 4)
            try count(stage, 1001, bob, failures: 5)
            let outcome = try stage.migrate(.tpm)
            #expect(outcome.isFinished && outcome.unreadable == [] && outcome.movedUsers == 2, "step \(number)")
            #expect(stage.files == ["enclave", "key.tpm", "users", "values"])
            #expect(!lies(oldID, in: stage) && !lies(old, in: stage), "step \(number)")
            var expected = before
            expected.attempts[0].pin.byPerson = 4
            expected.attempts[1].pin.byPerson = 5
            #expect(try content(stage) == expected, "step \(number)")
            #expect(stage.fault(.require) == nil)
            number += 1
        }
        // keyPrepared, committed, valuesMoved, two users, verified, oldKeyDropped, oldKeyDestroyed.
        #expect(number == 9)
    }

    /// The other way; the TPM's counters go, and a file's store is left as one that never had a TPM.
    static func toAFile(_ makeStage: () throws -> StandIn) throws {
        var number = 1
        while true {
            let stage = try makeStage()
            try stage.make(.require)
            try populate(stage, counters: true)
            let before = try content(stage)
            guard try interrupt(stage, .file, after: number) else { break }
            #expect(try content(stage) == before, "step \(number)")
            try count(stage, 1000, alice, failures: 4)
            let outcome = try stage.migrate(.file)
            #expect(outcome.isFinished && outcome.unreadable == [] && outcome.waitingForPIN == [], "step \(number)")
            #expect(outcome.countersLeft == [])
            #expect(stage.files == ["key", "users", "values"], "step \(number)")
            var expected = before
            expected.attempts[0].pin.byPerson = 4
            #expect(try content(stage, withCounters: true) == expected, "step \(number)")
            _ = stage.requests()
            #expect(stage.fault() == nil)
            #expect(stage.requests() == [])
            #expect(!names(in: stage.tpm).contains { $0.hasPrefix("counter-") })
            number += 1
        }
        #expect(number == 9)
    }
}

/// A store on its way between a file and a TPM.
@Suite(.enabled(if: StandIn.obstacle == nil, Comment(rawValue: StandIn.obstacle ?? ""))) struct MigrationTests {
    /// Catches a step after which the store does not open, loses something, or takes back what was counted; and a second
    /// run that does not go on, or leaves the old key.
    @Test func toTheTPMInterruptedAfterEachStep() throws { try Migrating.toTheTPM { try StandIn() } }

    /// The same the other way.
    @Test func toAFileInterruptedAfterEachStep() throws { try Migrating.toAFile { try StandIn() } }

    /// Catches a migration that cannot be turned back half way, either way.
    @Test(arguments: [EnclaveKind.file, .tpm], 1...6)
    func turnedBackHalfWay(from: EnclaveKind, after number: Int) throws {
        let stage = try StandIn()
        try stage.make(from == .file ? .file : .require)
        try Migrating.populate(stage)
        let before = try Migrating.content(stage)
        #expect(try Migrating.interrupt(stage, from == .file ? .tpm : .file, after: number))
        let outcome = try stage.migrate(from)
        #expect(outcome.isFinished)
        let files = from == .file ? ["key", "users", "values"] : ["enclave", "key.tpm", "users", "values"]
        #expect(stage.files == files)
        #expect(try Migrating.content(stage) == before)
    }

    /// Catches an index of prints in readers' memories that stops a migration after nobody can go back, and one that is
    /// lost because others can read it.
    @Test(arguments: [EnclaveKind.tpm, .file]) func anIndexThatCannotGoAlong(target: EnclaveKind) throws {
        let stage = try StandIn()
        try stage.make(target == .tpm ? .file : .require)
        try Migrating.populate(stage)
        var store = try stage.store()
        let entry = try ChipIndexFileTests.entry(1000, 9)
        try store.changeChipIndex { $0.loosen([entry]) }
        let index = try read("\(stage.root)/chips")
        let sealer = RecordSealer(try stage.open().takeKeys())!
        let plain = sealer.header(.chips, uid: 0, userName: [])
        let later = SealedHeader(
            kind: plain.kind, uid: plain.uid, keyID: plain.keyID, userName: plain.userName, version: plain.version + 1)
        let content: [UInt8] = [ChipIndex.kind, ChipIndex.version]
        let sealed = sealer.seal(content.span, header: later)
        let file = try #require(sealed)
        let before = stage.files

        func expectRefusal(_ fault: RecordFault) {
            let steps = Migrating.Counter()
            let refusal = storeError { _ = try stage.migrate(target) { (_) throws(StoreError) in steps.value += 1 } }
            #expect(refusal == .fault(.chips, fault) && steps.value == 0 && stage.files == before)
        }
        try overwrite("\(stage.root)/chips", file)
        expectRefusal(.newer)
        #expect(try read("\(stage.root)/chips") == file)
        try overwrite("\(stage.root)/chips", index)
        chmod("\(stage.root)/chips.lock", 0o666)
        expectRefusal(.unsafe)

        chmod("\(stage.root)/chips.lock", 0o600)
        chmod("\(stage.root)/chips", 0o644)
        #expect(try stage.migrate(target).isFinished)
        var moved = try stage.store()
        #expect(try moved.loadChipIndex().loose.count == 1)
    }

    /// Catches a program that opened the store before a migration and goes on under the old key.
    @Test func whoOpenedItBefore() throws {
        let stage = try StandIn()
        try stage.make(.file)
        try Migrating.populate(stage)
        var early = try stage.store()
        _ = try stage.migrate(.tpm)
        #expect(storeError { try early.lock() } == .busy)
        var late = try stage.store()
        #expect(storeError { try late.lock() } == nil)
    }

    /// Catches an old key that counts again once it is put back after the migration.
    @Test func theOldKeyPutBack() throws {
        let stage = try StandIn()
        try stage.make(.file)
        try Migrating.populate(stage)
        let key = try read("\(stage.root)/key")
        let old = try read("\(stage.root)/users/1000/identity")
        _ = try stage.migrate(.tpm)
        try Data(key).write(to: URL(fileURLWithPath: "\(stage.root)/key"))
        chmod("\(stage.root)/key", 0o400)
        try overwrite("\(stage.root)/users/1000/identity", old)
        var store = try stage.store()
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .foreign))
        #expect(EnclaveAdministration.status(root: stage.rootBytes, settings: stage.settings()).hasStrayKey)
    }

    /// Catches a key that nothing is sealed under, in the place of a lost `key.tpm`, taking the way back with it.
    @Test func aKeyOfAnotherStoreIsRefusedBeforeAnythingIsWritten() throws {
        let stage = try StandIn()
        try stage.make(.require)
        try Migrating.populate(stage)
        let before = try Migrating.content(stage)
        let manager = FileManager.default
        try manager.moveItem(atPath: stage.root + "/key.tpm", toPath: stage.root + "/away")
        let planted = manager.createFile(
            atPath: stage.root + "/key", contents: Data(repeating: 7, count: 32), attributes: [.posixPermissions: 0o400]
        )
        #expect(planted)
        for target in [EnclaveKind.tpm, .file] {
            #expect(throws: StoreError.fault(.store, .foreign)) { _ = try stage.migrate(target) }
        }
        try manager.removeItem(atPath: stage.root + "/key")
        try manager.moveItem(atPath: stage.root + "/away", toPath: stage.root + "/key.tpm")
        #expect(try Migrating.content(stage) == before)
    }

    /// Catches a migration that destroys the old key although a user's records are still under it.
    @Test func unreadableRecordsKeepTheOldKey() throws {
        let stage = try StandIn()
        try stage.make(.file)
        try Migrating.populate(stage)
        let path = "\(stage.root)/users/1001/identity"
        let valid = try read(path)
        var damaged = valid
        damaged[damaged.count - 1] ^= 1
        try overwrite(path, damaged)
        let outcome = try stage.migrate(.tpm)
        #expect(!outcome.isFinished)
        #expect(outcome.unreadable == [.init(uid: 1001, error: .fault(.identity, .damaged))])
        #expect(stage.files.contains("key"))
        let status = EnclaveAdministration.status(root: stage.rootBytes, settings: stage.settings())
        #expect(status.direction == .toTPM && status.kind == .tpm)
        try overwrite(path, valid)
        #expect(try stage.migrate(.tpm).isFinished)
        #expect(!stage.files.contains("key"))
    }

    /// Catches counters of a first PIN that a crash left without an identity, which would stop every migration.
    @Test func countersWithoutAnIdentity() throws {
        let stage = try StandIn()
        try stage.make(.file)
        try Migrating.populate(stage)
        unlink("\(stage.root)/users/1001/identity")
        #expect(try stage.migrate(.tpm).isFinished)
        #expect(try stage.migrate(.file).isFinished)
    }

    /// Catches two migrations at once.
    @Test func onlyOneAtATime() throws {
        let stage = try StandIn()
        try stage.make(.file)
        let first = try StoreMigration(root: stage.rootBytes, settings: stage.settings(), timing: stage.timing)
        #expect(storeError { _ = try stage.migrate(.tpm) } == .busy)
        _ = consume first
        #expect(try stage.migrate(.tpm).isFinished)
    }

    /// Catches a TPM that fails in the middle and takes the file key with it.
    @Test(arguments: ["seal 9", "unseal nonsense", "open 1", "unseal die"]) func aTPMThatFails(_ fault: String) throws {
        let stage = try StandIn()
        try stage.make(.file)
        try Migrating.populate(stage)
        let before = try Migrating.content(stage)
        try stage.misbehave(fault)
        #expect(storeError { _ = try stage.migrate(.tpm) } == .fault(.store, .enclaveGone))
        #expect(stage.files == ["key", "users", "values"])
        #expect(try Migrating.content(stage) == before)
    }
}
