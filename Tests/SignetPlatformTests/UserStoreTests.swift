import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct UserStoreTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try makeStore(folder)
    }

    /// Catches anything that is not kept, or that a new process would not find.
    @Test func keepsWhatIsSaved() throws {
        var store = try userStore(folder.bytes)
        #expect(try store.loadIdentity() == nil)
        try store.lock()
        try store.create(identity())
        try store.save(enrollment())
        var attempts = Attempts()
        attempts.finger.count = 3
        try store.save(attempts)
        store.unlock()

        var again = try userStore(folder.bytes)
        #expect(try again.loadIdentity() == identity())
        #expect(try again.loadAttempts() == attempts)
        let set = try again.loadPrints()
        let generation = set.generation
        let fingers = set.entries.map(\.finger.number)
        let first = set.withTemplate(of: set.entries[0]) { span in (0..<span.count).map { span[$0] } }
        let second = set.withTemplate(of: set.entries[1]) { span in (0..<span.count).map { span[$0] } }
        #expect(generation == 4)
        #expect(fingers == [7, 2])
        #expect(first == bytes(8, from: 2))
        #expect(second == bytes(4, from: 10))
        #expect(names(in: folder.sub("users/1000")) == ["attempts", "identity", "lock", "prints"])
        #expect(try UserStore.users(root: folder.bytes) == [1000])
    }

    /// Catches prints of nobody that are not the empty set of generation 0.
    @Test func emptyPrints() throws {
        var store = try userStore(folder.bytes)
        let set = try store.loadPrints()
        let (generation, count) = (set.generation, set.entries.count)
        #expect(generation == 0 && count == 0)
    }

    /// Catches records that stay, or a store that fails, when the user is removed, twice, and made again.
    @Test func removeRemovesAll() throws {
        var store = try userStore(folder.bytes)
        try store.lock()
        try store.create(identity())
        try store.save(enrollment())
        try store.remove()
        store.unlock()
        #expect(names(in: folder.sub("users")) == [])
        try store.remove()
        #expect(try store.loadIdentity() == nil)
        try store.lock()
        try store.create(identity())
        #expect(try store.loadIdentity() == identity())
    }

    /// Catches a removal that was cut off in its midst and leaves a user with half a record, or one who cannot be made anew.
    @Test func removalThatWasCutOff() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        #expect(rename(folder.sub("users/1000"), folder.sub("users/1000.old")) == 0)
        #expect(try UserStore.users(root: folder.bytes) == [])
        #expect(try store.loadIdentity() == nil)
        #expect(!StoreInspection.hasHalfRecord(root: folder.bytes, uid: 1000))
        try store.create(identity())
        #expect(names(in: folder.sub("users")) == ["1000"])
        #expect(rename(folder.sub("users/1000"), folder.sub("users/1000.old")) == 0)
        try store.remove()
        #expect(names(in: folder.sub("users")) == [])
    }

    /// Catches an identity without counters that lets anybody in, or counters without an identity that mean something.
    @Test func missingCounters() throws {
        var store = try userStore(folder.bytes)
        #expect(storeError { _ = try store.loadAttempts() } == .fault(.attempts, .missing))
        try store.create(identity())
        unlink(folder.sub("users/1000/attempts"))
        #expect(storeError { _ = try store.loadAttempts() } == .fault(.attempts, .missing))
        #expect(storeError { try store.save(Attempts()) } == .fault(.attempts, .missing))
    }

    /// Catches records of somebody else, of a former name or of another machine that are accepted, or not told apart.
    @Test func misplacedRecordsAreToldApart() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        try store.save(enrollment())

        var bob = try userStore(folder.bytes, uid: 1001, name: Array("bob".utf8))
        try bob.create(identity(uid: 1001, name: Array("bob".utf8), instance: 0x30))
        for name in ["identity", "prints", "attempts"] {
            let path = folder.sub("users/1001/\(name)")
            unlink(path)
            try FileManager.default.copyItem(atPath: folder.sub("users/1000/\(name)"), toPath: path)
        }
        #expect(storeError { _ = try bob.loadIdentity() } == .fault(.identity, .otherUser))
        #expect(storeError { _ = try bob.loadPrints() } == .fault(.prints, .otherUser))
        #expect(
            storeError { try bob.save(identity(uid: 1001, name: Array("bob".utf8), instance: 0x30)) }
                == .fault(.identity, .otherUser))
        let alicesAttempts = try read(folder.sub("users/1000/attempts"))
        try bob.create(identity(uid: 1001, name: Array("bob".utf8), instance: 0x30))
        try overwrite(folder.sub("users/1001/attempts"), alicesAttempts)
        #expect(storeError { _ = try bob.loadAttempts() } == .fault(.attempts, .otherUser))

        var renamed = try userStore(folder.bytes, name: Array("alicia".utf8))
        #expect(storeError { _ = try renamed.loadIdentity() } == .fault(.identity, .renamed))
        #expect(storeError { _ = try renamed.loadPrints() } == .fault(.prints, .renamed))

        let otherKey = secret(bytes(32, from: 1))
        var foreign = try UserStore(root: folder.bytes, uid: 1000, userName: alice, masterKey: otherKey)
        #expect(storeError { _ = try foreign.loadIdentity() } == .fault(.identity, .foreign))
        #expect(storeError { try foreign.save(identity()) } == .fault(.identity, .foreign))
        let old = try read(folder.sub("users/1000/attempts"))
        try foreign.create(identity())
        try overwrite(folder.sub("users/1000/attempts"), old)
        #expect(storeError { _ = try foreign.loadAttempts() } == .fault(.attempts, .foreign))
    }

    /// Catches counters of an earlier instance of the same user that are taken for the present one's.
    @Test func countersOfAnEarlierInstance() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity(instance: 1))
        let old = try read(folder.sub("users/1000/attempts"))
        try store.create(identity(instance: 2))
        try overwrite(folder.sub("users/1000/attempts"), old)
        #expect(storeError { _ = try store.loadAttempts() } == .fault(.attempts, .otherUser))
    }

    /// Catches a byte of a sealed file that nothing depends on, and a truncation that is not noticed.
    @Test func everyChangedByteIsRefused() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        let path = folder.sub("users/1000/identity")
        let valid = try read(path)
        for index in valid.indices {
            var changed = valid
            changed[index] ^= 0x40
            try overwrite(path, changed)
            #expect(storeError { _ = try store.loadIdentity() } != nil, "byte \(index)")
        }
        for length in stride(from: 0, to: valid.count, by: 7) {
            try overwrite(path, Array(valid[..<length]))
            #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .damaged), "length \(length)")
        }
        try overwrite(path, valid + [0])
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .damaged))
        // A later version's header has another version under the seal as well; one that only claims it is damaged.
        var newer = valid
        newer[5] = 2
        try overwrite(path, newer)
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .damaged))
        let sealer = RecordSealer(masterKey: masterKey())!
        let header = SealedHeader(kind: valid[4], uid: 1000, keyID: sealer.keyID, userName: alice, version: 2)
        try overwrite(path, sealer.seal(bytes(40).span, header: header) ?? [])
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .newer))
        try overwrite(path, [UInt8](repeating: 0, count: 200_000))
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .damaged))
    }

    /// Catches prints sealed as an identity, or the reverse, that pass for each other.
    @Test func recordsDoNotStandInForEachOther() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        try store.save(enrollment())
        try overwrite(folder.sub("users/1000/identity"), try read(folder.sub("users/1000/prints")))
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .damaged))
    }

    /// Catches links and open modes anywhere below the store.
    @Test func unsafePlacesAreRefused() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        chmod(folder.sub("users/1000"), 0o770)
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .unsafe))
        #expect(storeError { try store.lock() } == .fault(.store, .unsafe))
        chmod(folder.sub("users/1000"), 0o700)
        chmod(folder.sub("users/1000/attempts"), 0o666)
        #expect(storeError { _ = try store.loadAttempts() } == .fault(.attempts, .unsafe))
        rename(folder.sub("users/1000"), folder.sub("users/moved"))
        symlink(folder.sub("users/moved"), folder.sub("users/1000"))
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .unsafe))
        #expect(storeError { try store.lock() } == .fault(.store, .unsafe))
        chmod(folder.path, 0o755)
        #expect(storeError { _ = try userStore(folder.bytes) } == .fault(.store, .unsafe))
    }

    /// Catches an identity that is remembered past the hold it was read in, or past a change by this very store.
    @Test func identityIsReadAnewInEachHold() throws {
        var store = try userStore(folder.bytes)
        var other = try userStore(folder.bytes)
        try store.create(identity())
        var changed = identity()
        changed.pinChangedAt = 77
        try store.lock()
        #expect(try store.loadIdentity() == identity())
        store.unlock()
        try other.save(changed)
        #expect(try store.loadIdentity() == changed)
        try store.lock()
        #expect(try store.loadIdentity() == changed)
        changed.pinChangedAt = 78
        try store.save(changed)
        #expect(try store.loadIdentity() == changed)
        store.unlock()
        try other.save(identity())
        try store.lock()
        #expect(try store.loadIdentity() == identity())
    }

    /// Catches the one file that is read once a hold being read more often, which every touch waits for.
    @Test func identityIsReadOnceInAHold() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        try store.lock()
        #expect(try store.loadIdentity() == identity())
        unlink(folder.sub("users/1000/identity"))
        #expect(try store.loadIdentity() == identity())
        #expect(try store.loadAttempts() == Attempts())
        store.unlock()
        #expect(try store.loadIdentity() == nil)
    }

    /// Catches counters that are written over what another hold left, over the slot just written, or for an instance that
    /// is no longer there.
    @Test func countersAreReadAnewInEachHold() throws {
        func counted(_ pin: UInt8) -> Attempts {
            var attempts = Attempts()
            attempts.pin.byPerson = pin
            return attempts
        }
        let path = folder.sub("users/1000/attempts")
        var store = try userStore(folder.bytes)
        var other = try userStore(folder.bytes)
        try store.create(identity())
        try store.lock()
        #expect(try store.loadAttempts() == Attempts())
        store.unlock()
        // Three writes, so that the older slot is another than the one that was read.
        for pin: UInt8 in [1, 2, 3] { try other.save(counted(pin)) }
        try store.lock()
        try store.save(counted(4))
        let afterFirst = try read(path)
        try store.save(counted(5))
        let afterSecond = try read(path)
        #expect((afterFirst[..<4096] == afterSecond[..<4096]) != (afterFirst[4096...] == afterSecond[4096...]))
        #expect(try other.loadAttempts() == counted(5))
        #expect(try store.loadAttempts() == counted(5))
        try store.create(identity(instance: 9))
        #expect(try store.loadAttempts() == Attempts())
        try store.save(counted(6))
        store.unlock()
        #expect(try other.loadAttempts() == counted(6))
    }

    /// Catches a user who is made anew in a folder that was removed under the same hold, and so is nowhere.
    @Test func madeAnewInTheHoldThatRemoved() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        try store.lock()
        #expect(try store.loadIdentity() == identity())
        try store.remove()
        #expect(try store.loadIdentity() == nil)
        try store.create(identity(instance: 9))
        store.unlock()
        #expect(try store.loadIdentity() == identity(instance: 9))
        #expect(try store.loadAttempts() == Attempts())
    }

    /// Catches an adoption that loses something, half of which was done before, or that adopts another uid's records.
    @Test func adoptGivesTheNewName() throws {
        var store = try userStore(folder.bytes)
        try store.create(identity())
        try store.save(enrollment())
        let oldIdentity = try read(folder.sub("users/1000/identity"))
        let oldAttempts = try read(folder.sub("users/1000/attempts"))
        var renamed = try userStore(folder.bytes, name: Array("alicia".utf8))
        try renamed.adopt()
        // As after a power cut between the two files.
        try overwrite(folder.sub("users/1000/identity"), oldIdentity)
        try overwrite(folder.sub("users/1000/attempts"), oldAttempts)
        #expect(storeError { _ = try renamed.loadIdentity() } == .fault(.identity, .renamed))
        try renamed.adopt()
        #expect(try renamed.loadIdentity() == identity(name: Array("alicia".utf8)))
        let generation = try renamed.loadPrints().generation
        #expect(generation == 4)
        #expect(try renamed.loadAttempts() == Attempts())

        try FileManager.default.copyItem(atPath: folder.sub("users/1000"), toPath: folder.sub("users/7"))
        var other = try userStore(folder.bytes, uid: 7, name: Array("carol".utf8))
        #expect(storeError { try other.adopt() } == .fault(.identity, .otherUser))
    }

    /// Catches a store that is made although there is none to open, and faults of its making that are not told.
    @Test func openingNeedsAStore() throws {
        let empty = try TestFolder()
        #expect(storeError { _ = try userStore(empty.bytes) } == .fault(.store, .missing))
        #expect(storeError { _ = try userStore(Array(empty.sub("none").utf8)) } == .fault(.store, .missing))
    }
}
