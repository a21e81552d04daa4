import Foundation
import SignetPlatform
import Testing

@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct SecureFolderTests {
    static func open(_ path: String, creating: Bool = false) -> FileFault? {
        fileFault { _ = try SecureFolder(path: Array(path.utf8), creating: creating) }
    }

    /// Catches a check that is missing for the folder itself or for a parent: whoever may write there could put a
    /// store of their own in its place.
    ///
    /// The sticky bit must not excuse a parent, and a parent's fault must not be told as the folder's.
    @Test(
        arguments: [
            (0o700, 0o700, nil), (0o755, 0o700, nil), (0o755, 0o500, nil),
            (0o770, 0o700, .unsafeAbove), (0o707, 0o700, .unsafeAbove), (0o1777, 0o700, .unsafeAbove),
            (0o775, 0o700, .unsafeAbove), (0o775, 0o755, .unsafeAbove),
            (0o755, 0o750, .unsafe), (0o755, 0o701, .unsafe), (0o755, 0o704, .unsafe), (0o755, 0o702, .unsafe),
        ] as [(Int, Int, FileFault?)]) func modes(parent: Int, own: Int, expected: FileFault?) throws
    {
        let folder = try TestFolder()
        mkdir(folder.sub("store"), 0o700)
        chmod(folder.sub("store"), mode_t(own))
        chmod(folder.path, mode_t(parent))
        #expect(Self.open(folder.sub("store")) == expected)
    }

    /// Catches an owner who is not looked at, for the folder and for each parent.
    @Test func foreignOwners() throws {
        let folder = try TestFolder()
        mkdir(folder.sub("store"), 0o700)
        chown(folder.sub("store"), 65_534, 0)
        #expect(Self.open(folder.sub("store")) == .unsafe)
        chown(folder.sub("store"), 0, 0)
        chown(folder.path, 65_534, 0)
        #expect(Self.open(folder.sub("store")) == .unsafeAbove)
    }

    /// Catches a link that is followed: as the folder, as a parent, and where the folder would be made.
    @Test func linksAreRefused() throws {
        let folder = try TestFolder()
        mkdir(folder.sub("real"), 0o700)
        mkdir(folder.sub("real/store"), 0o700)
        symlink(folder.sub("real"), folder.sub("link"))
        #expect(Self.open(folder.sub("real/store")) == nil)
        #expect(Self.open(folder.sub("link/store")) == .unsafeAbove)
        #expect(Self.open(folder.sub("link")) == .unsafe)
        symlink(folder.sub("nowhere"), folder.sub("dangling"))
        #expect(Self.open(folder.sub("dangling"), creating: true) == .unsafe)
        #expect(!FileManager.default.fileExists(atPath: folder.sub("nowhere")))
    }

    /// Catches a file taken for a folder, a relative path, dots, and the root folder itself.
    @Test(arguments: ["", "relative", "/", "/run/../run/x", "/run/./x", "/dev/null"])
    func pathsThatAreNone(path: String) { #expect(Self.open(path) == .unsafe) }

    /// Catches a file taken for a folder on the way.
    @Test func aFileOnTheWay() { #expect(Self.open("/etc/passwd/x") == .unsafeAbove) }

    /// Catches "missing" that is taken for "unsafe": a user without records would read as an attack.
    @Test func missingIsMissing() throws {
        let folder = try TestFolder()
        #expect(Self.open(folder.sub("nothing")) == .missing)
        #expect(Self.open(folder.sub("nothing/deeper"), creating: true) == .missing)
    }

    /// Catches a file that is read although others could have written or read it, or that is no file.
    @Test func unsafeFilesAreRefused() throws {
        let folder = try TestFolder()
        let secure = try SecureFolder(path: folder.bytes)
        let path = folder.sub("identity")
        func fault() -> FileFault? { fileFault { _ = try secure.read(.identity, limit: 16) } }
        func put(_ mode: mode_t) {
            unlink(path)
            try? Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
            chmod(path, mode)
        }
        #expect(fault() == .missing)
        put(0o600)
        #expect(fault() == nil)
        for mode: mode_t in [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o777] {
            put(mode)
            #expect(fault() == .unsafe, "mode \(String(mode, radix: 8))")
        }
        put(0o600)
        chown(path, 65_534, 0)
        #expect(fault() == .unsafe)
        unlink(path)
        symlink("/etc/hostname", path)
        #expect(fault() == .unsafe)
        unlink(path)
        mkdir(path, 0o700)
        #expect(fault() == .unsafe)
        rmdir(path)
        // A pipe must be refused at once and not wait for a writer.
        mkfifo(path, 0o600)
        #expect(fault() == .unsafe)
        unlink(path)
        try? Data(bytes(17)).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        #expect(fault() == .wrongSize)
    }

    /// Catches a replacement that keeps the caller's umask or leaves its temporary file.
    @Test func replaceWritesWhole() async throws {
        let folder = try TestFolder()
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            umask(0o777)
            let secure = try SecureFolder(path: Array(path.utf8))
            try secure.replace(.identity, with: bytes(5000).span)
            try secure.replace(.identity, with: bytes(10, from: 3).span)
            let inner = try secure.folder(.users, creating: true)
            try inner.replace(.prints, with: bytes(1).span)
        }
        #expect(try read(folder.sub("identity")) == bytes(10, from: 3))
        #expect(names(in: folder.path) == ["identity", "users"])
        var status = stat()
        stat(folder.sub("identity"), &status)
        #expect(status.st_mode & 0o7777 == 0o600)
        stat(folder.sub("users"), &status)
        #expect(status.st_mode & 0o7777 == 0o700)
    }

    /// Catches a write that a caller's file size limit turns into SIGXFSZ, which would kill sudo.
    @Test func fileSizeLimitRefuses() async throws {
        let folder = try TestFolder()
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let secure = try SecureFolder(path: Array(path.utf8))
            try secure.replace(.identity, with: bytes(100).span)
            limitFileSize(to: 99)
            let fault = fileFault { try secure.replace(.identity, with: bytes(100, from: 1).span) }
            require(fault == .system(errno: EFBIG), 10)
            try secure.replace(.prints, with: bytes(99).span)
        }
        #expect(try read(folder.sub("identity")) == bytes(100))
        #expect(names(in: folder.path) == ["identity", "prints"])
    }

    /// Catches names that lead out of the folder.
    @Test(arguments: ["", ".", "..", "a/b", "/", "a\0b", String(repeating: "x", count: 256)])
    func namesThatAreNone(name: String) { #expect(FileName(Array(name.utf8)) == nil) }

    /// Catches a listing that takes other names for users.
    @Test func numbersAreTheUsers() throws {
        let folder = try TestFolder()
        for name in ["0", "1000", "4294967295", "4294967296", "12a", "-1", "lock", "99999999999"] {
            mkdir(folder.sub(name), 0o700)
        }
        let found = try SecureFolder(path: folder.bytes).numbers().sorted()
        #expect(found == [0, 1000, 4_294_967_295])
    }

    /// Catches a secret that stays in its blocks, a name that outlives it, and what an interrupted call leaves.
    @Test func destroying() throws {
        let test = try TestFolder()
        let store = try SecureFolder(path: test.bytes)
        let path = test.sub("key")
        func write(_ name: String, _ byte: UInt8) {
            let made = FileManager.default.createFile(
                atPath: test.sub(name), contents: Data(repeating: byte, count: 32),
                attributes: [.posixPermissions: 0o400])
            #expect(made)
        }
        write("key", 7)
        let open = try #require(FileHandle(forReadingAtPath: path))
        try store.destroy(.key)
        #expect(try open.readToEnd() == Data(count: 32))
        #expect(names(in: test.path) == [])
        write("key.old", 8)
        try store.destroy(.key)
        #expect(names(in: test.path) == [])
        write("key.old", 8)
        write("key", 9)
        let older = try #require(FileHandle(forReadingAtPath: test.sub("key.old")))
        try store.destroy(.key)
        #expect(try older.readToEnd() == Data(count: 32))
        #expect(names(in: test.path) == [])
        symlink("/etc/passwd", path)
        try store.destroy(.key)
        #expect(names(in: test.path) == [])
        #expect(access("/etc/passwd", R_OK) == 0)
    }
}
