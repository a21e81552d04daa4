import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// The counters know which identity may stand beside them.
@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct IdentityRollbackTests {
    let folder: TestFolder
    let identityPath: String
    let attemptsPath: String

    init() throws {
        folder = try TestFolder()
        identityPath = folder.sub("users/1000/identity")
        attemptsPath = folder.sub("users/1000/attempts")
        try makeStore(folder)
    }

    func next() -> IdentityRecord {
        var next = identity()
        next.pinChangedAt = 99
        return next
    }

    /// Catches an older identity, with an older PIN, that is put back from a copy and used, or that counting admits.
    @Test func olderIdentityIsRefused() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        let old = try read(identityPath)
        try store.save(next())
        #expect(try store.loadAttempts() == Attempts())
        try overwrite(identityPath, old)
        #expect(storeError { _ = try store.loadAttempts() } == .fault(.identity, .rolledBack))
        #expect(storeError { try store.save(Attempts()) } == .fault(.identity, .rolledBack))
        #expect(storeError { try store.save(next()) } == .fault(.identity, .rolledBack))
        // A new identity is an administrator's way out.
        try store.create(next())
        #expect(try store.loadAttempts() == Attempts())
    }

    /// Catches a slot that admits the replaced identity once the other slot is spoiled.
    @Test(arguments: [0, 1]) func neitherSlotAdmitsTheOld(slot: Int) throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        let old = try read(identityPath)
        try store.save(next())
        var attempts = try read(attemptsPath)
        attempts[slot * 4096 + 60] ^= 1
        try overwrite(attemptsPath, attempts)
        #expect(try store.loadAttempts().pin.byPerson == 1)
        try overwrite(identityPath, old)
        #expect(storeError { _ = try store.loadAttempts() } == .fault(.identity, .rolledBack))
    }

    /// Catches a crash between two writes of a change that leaves records nobody can use: every pair of files that there
    /// is for a moment must open, count, and take the next change.
    @Test func everyMomentOfAChangeIsUsable() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        var failures = Attempts()
        failures.pin.byPerson = 2
        try store.save(failures)
        let oldIdentity = try read(identityPath)
        let oldAttempts = try read(attemptsPath)
        // The first write of a change is kept by a folder in which no new file can be made.
        try store.save(next())
        let newIdentity = try read(identityPath)
        let newAttempts = try read(attemptsPath)
        // The slots as after the first write: one admits both, the other the old one; a full disk stops the rest.
        try overwrite(attemptsPath, oldAttempts)
        try overwrite(identityPath, oldIdentity)
        mkdir(folder.sub("users/1000/identity.new"), 0o700)
        #expect(storeError { try store.save(next()) } != nil)
        rmdir(folder.sub("users/1000/identity.new"))
        let bothAttempts = try read(attemptsPath)
        #expect(bothAttempts != oldAttempts)
        for (moment, (identityFile, attemptsFile)) in [
            (oldIdentity, oldAttempts), (oldIdentity, bothAttempts), (newIdentity, bothAttempts),
            (newIdentity, newAttempts),
        ].enumerated() {
            try overwrite(identityPath, identityFile)
            try overwrite(attemptsPath, attemptsFile)
            #expect(try store.loadAttempts() == failures, "moment \(moment)")
            try store.save(failures)
            #expect(try store.loadAttempts() == failures, "moment \(moment)")
            var another = next()
            another.recoveryMadeAt = 5
            try store.save(another)
            #expect(try store.loadIdentity() == another)
            #expect(try store.loadAttempts() == failures, "moment \(moment)")
        }
    }

    /// Catches a crash while an administrator's new identity takes the place of another that leaves the user with neither.
    @Test func everyMomentOfANewIdentityIsUsable() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        var failures = Attempts()
        failures.pin.byPerson = 2
        try store.save(failures)
        let old = (identity: try read(identityPath), attempts: try read(attemptsPath))
        let other = identity(instance: 0x70)
        mkdir(folder.sub("users/1000/identity.new"), 0o700)
        #expect(storeError { try store.create(other) } != nil)
        rmdir(folder.sub("users/1000/identity.new"))
        let both = try read(attemptsPath)
        try store.create(other)
        let new = (identity: try read(identityPath), attempts: try read(attemptsPath))
        // A slot of the other identity counts as torn, and as one failure more.
        for (moment, (identityFile, attemptsFile, count)) in [
            (old.identity, old.attempts, UInt8(2)), (old.identity, both, 3), (new.identity, both, 1),
            (new.identity, new.attempts, 0),
        ].enumerated() {
            try overwrite(identityPath, identityFile)
            try overwrite(attemptsPath, attemptsFile)
            #expect(try store.loadAttempts().pin.byPerson == count, "moment \(moment)")
            try store.save(failures)
            #expect(try store.loadAttempts() == failures, "moment \(moment)")
        }
        // And then only the new one.
        try overwrite(identityPath, old.identity)
        #expect(storeError { _ = try store.loadAttempts() } != nil)
    }

    /// Catches counters whose torn newest write, which admits both, shuts the person out.
    @Test func tornWriteOfAChange() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        mkdir(folder.sub("users/1000/identity.new"), 0o700)
        #expect(storeError { try store.save(next()) } != nil)
        rmdir(folder.sub("users/1000/identity.new"))
        let file = try read(attemptsPath)
        for slot in [0, 1] {
            var torn = file
            torn[slot * 4096 + 2000] ^= 1
            try overwrite(attemptsPath, torn)
            #expect(try store.loadAttempts().pin.byPerson == 1)
        }
    }

    /// Catches an identity of another instance that takes over the counters of the first.
    @Test func anotherInstanceIsNoChange() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        #expect(storeError { try store.save(identity(instance: 9)) } == .system(errno: EINVAL))
        #expect(try store.loadIdentity() == identity())
    }
}
