import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

@testable import SignetPlatform

/// Whether a file of /run can be made immutable: tmpfs takes the attribute since Linux 6.6.
private let canFreeze: Bool = {
    guard isRoot, let folder = try? TestFolder() else { return false }
    guard FileManager.default.createFile(atPath: folder.sub("probe"), contents: nil) else { return false }
    defer { _ = system("chattr -i \(folder.sub("probe")) 2> /dev/null") }
    return system("chattr +i \(folder.sub("probe")) 2> /dev/null") == 0
}()

/// An index of prints in readers' memories that this version may not replace, and one that nobody can.
@Suite(.enabled(if: isRoot, "everything in the store must be root's"))
struct StuckIndexTests {
    private static func store(_ folder: TestFolder) throws -> UserStore {
        try userStore(folder.bytes, uid: 1000, name: Array("u1000".utf8))
    }

    /// An index, and the store with three users around it.
    private static func prepared() throws -> TestFolder {
        let folder = try ChipIndexFileTests.prepared()
        var store = try store(folder)
        try store.changeChipIndex { $0.loosen([]) }
        return folder
    }

    /// Puts what a later Signet would write there: under its own seal's version, or with a content of its own.
    private static func writeLater(_ folder: TestFolder, sealed: Bool) throws {
        let sealer = RecordSealer(masterKey: masterKey())!
        let content: [UInt8] = [ChipIndex.kind, ChipIndex.version + 1, 1, 2, 3]
        let plain = sealer.header(.chips, uid: 0, userName: [])
        let header =
            sealed
            ? SealedHeader(
                kind: plain.kind, uid: plain.uid, keyID: plain.keyID, userName: plain.userName,
                version: plain.version + 1) : plain
        let file = sealer.seal(content.span, header: header)
        try overwrite(folder.sub("chips"), try #require(file))
    }

    /// Whatever would write the index; each has to end with `expected` and to leave it as it is.
    private static func expectNothingWrites(_ folder: TestFolder, _ expected: RecordFault) throws {
        var store = try store(folder)
        let before = try? read(folder.sub("chips"))
        let entry = try ChipIndexFileTests.entry(1000, 9)
        #expect(storeError { try store.changeChipIndex { $0.loosen([entry]) } } == .fault(.chips, expected))
        #expect(storeError { try store.loosenChipIndex() } == .fault(.chips, expected))
        // Known before there is anything to be changed.
        #expect(storeError { try store.renewChipIndex() } == .fault(.chips, expected))
        #expect((try? read(folder.sub("chips"))) == before)
        // What counts for the PIN is not touched by it.
        try store.lock()
        try store.save(Attempts())
        #expect(try store.loadIdentity() != nil)
        store.unlock()
    }

    /// Catches an index of a later Signet that is made anew, or emptied by a deletion, as if it were a spoilt one.
    @Test(arguments: [false, true]) func aLaterOneStays(sealed: Bool) throws {
        let folder = try Self.prepared()
        try Self.writeLater(folder, sealed: sealed)
        try Self.expectNothingWrites(folder, .newer)
        var store = try Self.store(folder)
        let file = try read(folder.sub("chips"))
        #expect(storeError { _ = try store.loadChipIndex() } == .fault(.chips, .newer))
        let left = try ChipIndexFileTests.entry(1000, 9)
        #expect(storeError { try store.forgetLeftovers([left]) } == .fault(.chips, .newer))
        for mending in [false, true] {
            #expect(storeError { _ = try store.surveyChipIndex(mending: mending) } == .fault(.chips, .newer))
        }
        #expect(try read(folder.sub("chips")) == file)
    }

    /// Catches a migration that leaves a later Signet's index under a key which is destroyed afterwards.
    @Test func aLaterOneIsNotLostWithItsKey() throws {
        let folder = try Self.prepared()
        let next = secret(bytes(32, from: 100))
        let moving = StoreKeys(current: next.copy()!, former: masterKey())
        let sealer = RecordSealer(moving)!
        let alone = RecordSealer(masterKey: next)!
        let place = try SecureFolder(path: folder.bytes)

        try Self.writeLater(folder, sealed: true)
        let file = try read(folder.sub("chips"))
        #expect(storeError { try ChipIndexFile.reseal(in: place, sealer) } == .fault(.chips, .newer))
        #expect(try read(folder.sub("chips")) == file)

        try Self.writeLater(folder, sealed: false)
        try ChipIndexFile.reseal(in: place, sealer)
        let moved = try read(folder.sub("chips"))
        let opened = try alone.open(moved.span, header: alone.header(.chips, uid: 0, userName: []))
        let kept = content(opened)
        #expect(kept == [ChipIndex.kind, ChipIndex.version + 1, 1, 2, 3])

        // A spoilt one keeps no key from going.
        try overwrite(folder.sub("chips"), bytes(80))
        try ChipIndexFile.reseal(in: place, sealer)
    }

    /// Catches a record that lets a print go because an index that nobody can write is taken for a passing shortage.
    @Test(
        .enabled(if: canFreeze, "no file of /run can be made immutable here"), arguments: ["chips", "chips.lock", "."])
    func anImmutableOneIsTold(_ name: String) throws {
        let folder = try Self.prepared()
        // What a cut writing leaves has to go first, and an immutable folder keeps it.
        #expect(system("chattr +i \(folder.sub(name))") == 0)
        defer { _ = system("chattr -i \(folder.sub(name))") }
        try Self.expectNothingWrites(folder, .stuck)
        _ = system("chattr -i \(folder.sub(name))")
        var store = try Self.store(folder)
        try store.loosenChipIndex()
        #expect(try store.loadChipIndex().loose.count == 1)
    }

    /// Catches an enrollment that takes PIN and touches before it learns that no list can be made.
    @Test(.enabled(if: canFreeze, "no file of /run can be made immutable here"))
    func whereThereIsNoneYetItIsTold() throws {
        let folder = try TestFolder()
        try makeStore(folder)
        var store = try userStore(folder.bytes)
        try store.renewChipIndex()
        unlink(folder.sub("chips"))
        #expect(system("chattr +i \(folder.path)") == 0)
        defer { _ = system("chattr -i \(folder.path)") }
        #expect(storeError { try store.renewChipIndex() } == .fault(.chips, .stuck))
    }

    /// Catches a removal that takes half of a user's records, says that nothing was done, and leaves what nobody can set up
    /// anew; and one of them that is not found when somebody looks for the reason.
    @Test(
        .enabled(if: canFreeze, "no file of /run can be made immutable here"),
        arguments: ["", "/identity", "/prints", "/attempts"])
    func aUserWhoseRecordsAreImmutableStaysWhole(_ name: String) throws {
        let folder = try Self.prepared()
        let path = folder.sub("users/1000" + name)
        #expect(system("chattr +i \(path)") == 0)
        defer { _ = system("chattr -i \(path)") }
        var store = try Self.store(folder)
        #expect(storeError { try store.remove() } == .fault(.identity, .stuck))
        #expect(StoreInspection.frozen(root: folder.bytes, uids: [1000, 1001]) == [Array(path.utf8)])
        #expect(try store.loadIdentity() != nil)
        _ = system("chattr -i \(path)")
        #expect(StoreInspection.frozen(root: folder.bytes, uids: [1000]).isEmpty)
        try store.remove()
    }

    /// Catches a record that lets a print go because a list that may not be read is taken for a passing shortage.
    @Test func aRefusedReadIsTold() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try StuckIndexTests.prepared()
            chmod(folder.sub("chips"), 0)
            // As a security module does it: root's file, and no capability to pass over its mode (capabilities(7)).
            typealias SetCapabilities = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> Int32
            let capset = unsafeBitCast(dlsym(nil, "capset")!, to: SetCapabilities.self)
            require(capset([0x2008_0522, 0] as [UInt32], [UInt32](repeating: 0, count: 6)) == 0, 70)
            var store = try StuckIndexTests.store(folder)
            let stuck = StoreError.fault(.chips, .stuck)
            require(storeError { try store.loosenChipIndex() } == stuck, 71)
            require(storeError { try store.renewChipIndex() } == stuck, 72)
            require(storeError { _ = try store.surveyChipIndex(mending: true) } == stuck, 73)
            // A prompt that only looks something up remembers nothing of it.
            require(storeError { _ = try store.loadChipIndex() } == .system(errno: EACCES), 74)
        }
    }

    /// Catches the same for a mount point, which cannot be replaced either, and a command that waits for it.
    @Test(
        .enabled(if: canMount, "needs root and permission to mount in a private namespace"),
        arguments: ["--bind other chips", "-t tmpfs tmpfs chips", "-t tmpfs tmpfs chips.new"])
    func aMountPointIsTold(_ mount: String) async throws {
        await #expect(processExitsWith: .success) { [mount = mount as String] in
            let folder = try StuckIndexTests.prepared()
            let words = mount.split(separator: " ").map(String.init)
            let place = folder.sub(words[words.count - 1])
            if words[0] == "--bind" {
                try Data(bytes(80)).write(to: URL(fileURLWithPath: folder.sub("other")))
                mountPrivately("--bind \(folder.sub("other"))", at: place)
            } else {
                unlink(place)
                mountPrivately("-t tmpfs tmpfs", at: place)
            }
            var store = try StuckIndexTests.store(folder)
            let stuck = StoreError.fault(.chips, .stuck)
            require(storeError { try store.loosenChipIndex() } == stuck, 70)
            // A good index needs no mending.
            let mended = storeError { _ = try store.surveyChipIndex(mending: true) }
            require(mended == (words.last == "chips" ? stuck : nil), 71)
            try store.lock()
            try store.save(Attempts())
            store.unlock()
        }
    }
}
