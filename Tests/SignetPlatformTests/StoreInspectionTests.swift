import Foundation
import SignetPlatform
import SignetPolicy
import Testing

@Suite(.enabled(if: isRoot, "the store belongs to root"))
struct StoreInspectionTests {
    /// Catches a remedy for the wrong path, and a leak that is not found since only the folder was looked at.
    @Test func leaksAreNamed() throws {
        let folder = try TestFolder()
        try FullDiskTests.prepare(folder.path)
        let root = folder.bytes
        #expect(StoreInspection.leak(root: root, uid: 1000) == nil)
        #expect(StoreInspection.leak(root: root, uid: 1001) == nil)
        for name in ["prints", "attempts", "identity"] {
            let path = folder.sub("users/1000/\(name)")
            #expect(chmod(path, 0o640) == 0)
            #expect(
                StoreInspection.leak(root: root, uid: 1000)
                    == StoreLeak(path: Array(path.utf8), isFolder: false, matter: .openMode))
            #expect(chmod(path, 0o600) == 0)
        }
        let users = folder.sub("users/1000")
        #expect(chmod(users, 0o755) == 0)
        #expect(
            StoreInspection.leak(root: root, uid: 1000)
                == StoreLeak(path: Array(users.utf8), isFolder: true, matter: .openMode))
        #expect(chmod(users, 0o700) == 0 && chown(users, 7, 7) == 0)
        #expect(StoreInspection.leak(root: root, uid: 1000)?.matter == .foreignOwner)
        #expect(chown(users, 0, 0) == 0 && unlink("\(users)/prints") == 0)
        #expect(symlink("/etc/passwd", "\(users)/prints") == 0)
        #expect(StoreInspection.leak(root: root, uid: 1000)?.matter == .wrongKind)
    }

    /// Catches a lost identity that is told as "no PIN yet", and an emptied folder that is told as a loss.
    @Test func halfARecordIsSeen() throws {
        let folder = try TestFolder()
        try FullDiskTests.prepare(folder.path)
        let root = folder.bytes
        #expect(!StoreInspection.hasHalfRecord(root: root, uid: 1000))
        #expect(unlink(folder.sub("users/1000/identity")) == 0)
        #expect(StoreInspection.hasHalfRecord(root: root, uid: 1000))
        // A first PIN that was cut off left the counters that it begins with; any later ones are a loss.
        #expect(unlink(folder.sub("users/1000/prints")) == 0)
        #expect(!StoreInspection.hasHalfRecord(root: root, uid: 1000))
        var store = try userStore(root)
        try store.create(identity())
        try store.save(Attempts())
        #expect(unlink(folder.sub("users/1000/identity")) == 0)
        #expect(StoreInspection.hasHalfRecord(root: root, uid: 1000))
        #expect(unlink(folder.sub("users/1000/attempts")) == 0)
        #expect(!StoreInspection.hasHalfRecord(root: root, uid: 1000))
        #expect(StoreInspection.room(at: root) != .readOnly)
        #expect(StoreInspection.room(at: Array("/none/none".utf8)) == .unknown)
    }
}
