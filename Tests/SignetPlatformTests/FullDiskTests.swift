import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

/// Whether a private mount namespace can be had, in which a small file system is mounted.
let canMount: Bool = {
    guard isRoot else { return false }
    let probe = Process()
    probe.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    probe.arguments = ["-m", "mount", "-t", "tmpfs", "tmpfs", "/run"]
    probe.standardError = nil
    guard (try? probe.run()) != nil else { return false }
    probe.waitUntilExit()
    return probe.terminationStatus == 0
}()

/// Mounts in a namespace that this thread alone has, gone with the process: nothing of it is seen outside.
func mountPrivately(_ options: String, at path: String) {
    typealias Unshare = @convention(c) (Int32) -> Int32
    let newNamespace: Int32 = 0x0002_0000
    let symbol = dlsym(nil, "unshare")!
    require(unsafeBitCast(symbol, to: Unshare.self)(newNamespace) == 0, 50)
    mkdir(path, 0o700)
    run("mount --make-rprivate / && mount \(options) \(path) && chmod 700 \(path)")
}

private func run(_ command: String) { require(system(command) == 0, 51) }

/// Fills a file system until it has no byte left.
private func fill(_ path: String) {
    let file = open("\(path)/filler", O_WRONLY | O_CREAT, 0o600)
    require(file >= 0, 52)
    for size in [65_536, 4096, 512, 1] {
        let block = [UInt8](repeating: 1, count: size)
        while write(file, block, size) > 0 {}
    }
    require(errno == ENOSPC, 53)
    close(file)
}

@Suite(.enabled(if: canMount, "needs root and permission to mount in a private namespace"))
struct FullDiskTests {
    /// What holds on a full disk, whatever it is full of: counting works, nothing is lost, nothing is left behind.
    static func checkFull(_ root: String) throws {
        var store = try userStore(Array(root.utf8))
        try store.lock()
        for count in UInt8(1)...5 {
            var attempts = Attempts()
            attempts.pin.byPerson = count
            try store.save(attempts)
            require(try store.loadAttempts() == attempts, 20)
        }
        let bigger = enrollment(generation: 9)
        require(storeError { try store.save(bigger) } == .system(errno: ENOSPC), 21)
        var changed = identity()
        changed.pinChangedAt = 77
        require(storeError { try store.save(changed) } == .system(errno: ENOSPC), 22)
        require(try store.loadIdentity() == identity(), 23)
        // The change that began in the counters costs nobody anything.
        var attempts = Attempts()
        attempts.pin.byPerson = 5
        require(try store.loadAttempts() == attempts, 26)
        try store.save(attempts)
        require(try store.loadAttempts() == attempts, 27)
        let generation = try store.loadPrints().generation
        require(generation == 4, 24)
        require(names(in: "\(root)/users/1000") == ["attempts", "identity", "lock", "prints"], 25)
    }

    static func prepare(_ root: String) throws {
        try StoreCreation.createStore(root: Array(root.utf8), settings: EnclaveSettings(preference: .file))
        var store = try userStore(Array(root.utf8))
        try store.lock()
        try store.create(identity())
        try store.save(enrollment())
    }

    /// Catches counters that need room, and a replacement that destroys the old record: a full disk must still let
    /// people in.
    @Test func fullOfBytes() async throws {
        let folder = try TestFolder()
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            mountPrivately("-t tmpfs -o size=256k tmpfs", at: "\(path)/disk")
            try FullDiskTests.prepare("\(path)/disk/store")
            fill("\(path)/disk")
            try FullDiskTests.checkFull("\(path)/disk/store")
        }
    }

    /// Catches the same where no new file can be made.
    @Test func fullOfInodes() async throws {
        let folder = try TestFolder()
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            mountPrivately("-t tmpfs -o nr_inodes=40 tmpfs", at: "\(path)/disk")
            try FullDiskTests.prepare("\(path)/disk/store")
            for number in 0..<100 where open("\(path)/disk/\(number)", O_WRONLY | O_CREAT, 0o600) < 0 { break }
            try FullDiskTests.checkFull("\(path)/disk/store")
        }
    }

    /// Catches the same on a disk that allocates late, as ext4 does; needs a loop device.
    @Test(
        .enabled(
            if: access("/sbin/mkfs.ext4", X_OK) == 0 && access("/dev/loop-control", F_OK) == 0, "needs ext4 and loop"))
    func fullExt4() async throws {
        let folder = try TestFolder()
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            run("truncate -s 4M \(path)/image && /sbin/mkfs.ext4 -q -m 0 \(path)/image")
            mountPrivately("-o loop \(path)/image", at: "\(path)/disk")
            try FullDiskTests.prepare("\(path)/disk/store")
            fill("\(path)/disk")
            try FullDiskTests.checkFull("\(path)/disk/store")
        }
    }

    /// Catches an attempt that is compared although it cannot be counted: on a read-only disk nobody is let in, and
    /// nothing traps.
    @Test func readOnly() async throws {
        let folder = try TestFolder()
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            mountPrivately("-t tmpfs tmpfs", at: "\(path)/disk")
            let root = "\(path)/disk/store"
            try FullDiskTests.prepare(root)
            run("mount -o remount,ro \(path)/disk")
            var store = try userStore(Array(root.utf8))
            require(storeError { try store.lock() } == .system(errno: EROFS), 30)
            require(try store.loadIdentity() == identity(), 31)
            require(try store.loadAttempts() == Attempts(), 32)
            require(storeError { try store.save(Attempts()) } == .system(errno: EROFS), 33)
            require(storeError { try store.save(identity()) } == .system(errno: EROFS), 34)
            require(storeError { try store.remove() } == .system(errno: EROFS), 35)
        }
    }

    /// Catches a count that is written although the caller's file size limit would kill him for it.
    @Test func fileSizeLimit() async throws {
        let folder = try TestFolder()
        let path = folder.path
        try FullDiskTests.prepare("\(path)/store")
        await #expect(processExitsWith: .success) { [path = path as String] in
            limitFileSize(to: 0)
            var store = try userStore(Array("\(path)/store".utf8))
            try store.lock()
            require(storeError { try store.save(Attempts()) } == .system(errno: EFBIG), 40)
            require(storeError { try store.save(identity()) } == .system(errno: EFBIG), 41)
            require(try store.loadAttempts() == Attempts(), 42)
        }
    }
}
