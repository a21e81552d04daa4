import Foundation
import SignetEngine
import SignetPlatform
import SignetRecords
import Testing

/// Removing a user whose folder has more in it than Signet put there.
@Suite(.enabled(if: isRoot, "the store belongs to root")) struct RemovalTests {
    let folder: TestFolder
    private var users: String { folder.sub("users") }

    init() throws {
        folder = try TestFolder()
        try makeStore(folder)
    }

    /// The store of a user with records, locked.
    private func user() throws -> UserStore {
        var store = try userStore(folder.bytes)
        try store.lock()
        try store.create(identity())
        try store.save(enrollment())
        return store
    }

    private func touch(_ name: String) { close(open("\(users)/\(name)", O_WRONLY | O_CREAT, 0o600)) }

    /// Catches a removal that stops at a copy which somebody made of a record, half-done, or leaves that copy; and one that
    /// follows a link.
    @Test func allFilesGo() throws {
        let outside = folder.sub("outside")
        close(open(outside, O_WRONLY | O_CREAT, 0o600))
        for attempt in 0..<2 {
            var store = try user()
            touch("1000/identity.bak")
            touch("1000/identity.new")
            touch("1000/ .~")
            #expect(symlink(outside, "\(users)/1000/link") == 0 && mkfifo("\(users)/1000/pipe", 0o600) == 0)
            if attempt == 1 { touch("1000.old") }
            #expect(storeError { try store.remove() } == nil)
            store.unlock()
            #expect(names(in: users) == [] && access(outside, F_OK) == 0)
        }
    }

    /// Catches a removal that stops at a folder, half-done, or empties what is not for us to empty; and a user who can never be
    /// set up again since that folder is left.
    @Test func aFolderAmongTheRecordsStaysAlone() throws {
        for name in ["backup", "identity.new"] {
            var store = try user()
            #expect(mkdir("\(users)/1000/\(name)", 0o700) == 0)
            touch("1000/\(name)/file")
            touch("1000/identity.bak")
            #expect(storeError { try store.remove() } == nil)
            store.unlock()
            #expect(names(in: users) == ["1000.old"])
            #expect(names(in: "\(users)/1000.old") == [name])
            #expect(names(in: "\(users)/1000.old/\(name)") == ["file"])

            store = try user()
            #expect(try store.loadIdentity() == identity())
            // The next removal would have no name to give, and is refused whole.
            let before = names(in: "\(users)/1000")
            #expect(storeError { try store.remove() } == .fault(.identity, .stuck))
            #expect(names(in: "\(users)/1000") == before)
            #expect(try store.loadIdentity() == identity())
            try FileManager.default.removeItem(atPath: "\(users)/1000.old")
            #expect(storeError { try store.remove() } == nil)
            store.unlock()
            #expect(names(in: users) == [])
        }
    }

    /// Catches a folder in the place of the list of prints or of its lock that is taken for a file that others can open.
    @Test func aFolderInAFilesPlaceIsOne() throws {
        let root = folder.bytes
        #expect(StoreInspection.indexLeak(root: root) == nil)
        for (name, matter) in [("chips", StoreLeak.Matter.folder), ("chips.lock", .folder)] {
            #expect(mkdir(folder.sub(name), 0o700) == 0)
            let leak = StoreLeak(path: Array(folder.sub(name).utf8), isFolder: false, matter: matter)
            #expect(StoreInspection.indexLeak(root: root) == leak)
        }
        #expect(rmdir(folder.sub("chips.lock")) == 0 && rmdir(folder.sub("chips")) == 0)
        #expect(symlink("nowhere", folder.sub("chips")) == 0)
        #expect(StoreInspection.indexLeak(root: root)?.matter == .wrongKind)
    }

    /// Catches a stray name that doctor does not see, or calls by another path.
    @Test func straysAreNamed() throws {
        var store = try user()
        store.unlock()
        let root = folder.bytes
        #expect(StoreInspection.strays(root: root) == [])
        #expect(mkdir("\(users)/1001.old", 0o700) == 0 && mkdir("\(users)/1000/lost", 0o700) == 0)
        touch("1000/identity.bak")
        touch("1000/prints.new")
        touch("1000 copy.old")
        func stray(_ name: String, _ matter: StoreStray.Matter) -> StoreStray {
            StoreStray(path: Array("\(users)/\(name)".utf8), matter: matter)
        }
        #expect(
            StoreInspection.strays(root: root) == [
                stray("1000/identity.bak", .file), stray("1000/lost", .folder), stray("1000 copy.old", .unknown),
                stray("1001.old", .leftover),
            ])
        #expect(
            StoreInspection.strays(root: root, uid: 1000) == [
                stray("1000/identity.bak", .file), stray("1000/lost", .folder),
            ])
        #expect(StoreInspection.strays(root: root, uid: 1001) == [stray("1001.old", .leftover)])
        #expect(unlink("\(users)/1000/lock") == 0 && mkdir("\(users)/1000/lock", 0o700) == 0)
        #expect(StoreInspection.strays(root: root, uid: 1000).contains(stray("1000/lock", .folder)))
    }
}
