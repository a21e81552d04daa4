import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

@Suite(.enabled(if: isRoot, "needs root: fprintd's store is root's")) struct FprintdStoreTests {
    /// Catches a print that is read otherwise than it is, or in another order each time.
    @Test func whatFprintdWroteIsRead() throws {
        let fprintd = try FprintdFolder()
        try fprintd.putAlice()
        let chip = FprintdPrint(driver: "chip", device: "serial 9", finger: 10, day: 0x8000_0000, data: bytes(300))
        try fprintd.put("alice/chip/serial 9/a", chip.bytes)
        try fprintd.put("bob/elan/0/1", FprintdPrint(finger: 1, user: "bob").bytes)
        let found = try fprintd.store.read()
        #expect(found.problems.isEmpty)
        let entries = found.set.entries
        #expect(entries.map(\.finger.number) == [10, 7])
        #expect(entries.map { String(decoding: $0.reader.driver, as: UTF8.self) } == ["chip", "elan"])
        #expect(entries.map { String(decoding: $0.reader.device, as: UTF8.self) } == ["serial 9", "0"])
        // 2026-11-29 at noon.
        let noon: Int64 = 1_795_953_600
        #expect(entries.last?.enrolledAt == noon)
        // No day in it: the file's own.
        #expect(abs((entries.first?.enrolledAt ?? 0) - Int64(time(nil))) < 60)
        let template = entries.first.map { entry in
            found.set.withTemplate(of: entry) { span in (0..<span.count).map { span[$0] } }
        }
        #expect(template == chip.bytes)
    }

    /// Catches a machine without fprintd, or a user whom it does not know, that reads as damage.
    @Test func nothingIsNoProblem() throws {
        let fprintd = try FprintdFolder()
        #expect(try fprintd.generation() == 0)
        rmdir(fprintd.root)
        let empty = try fprintd.store.read()
        #expect(empty.set.entries.isEmpty && empty.set.generation == 0 && empty.problems.isEmpty)
        for name in ["", "..", ".", "a/b"] {
            let none = try FprintdStore(root: Array(fprintd.root.utf8), userName: Array(name.utf8)).read()
            #expect(none.set.entries.isEmpty)
        }
    }

    /// Catches a link that is followed, at each place on the way: a user's own file would count as fprintd's.
    @Test(arguments: ["alice", "alice/elan", "alice/elan/0", "alice/elan/0/7"]) func links(place: String) throws {
        let fprintd = try FprintdFolder()
        try fprintd.putAlice()
        let path = "\(fprintd.root)/\(place)"
        #expect(rename(path, fprintd.folder.sub("aside")) == 0)
        #expect(symlink(fprintd.folder.sub("aside"), path) == 0)
        let problems = try fprintd.problems()
        #expect(problems.count == 1)
        guard case .path = problems["/\(place)"] else {
            Issue.record("\(problems)")
            return
        }
        #expect(try fprintd.count() == 0)
        #expect(fprintd.fault() != nil)
    }

    /// Catches a foreign owner, or a mode in which others may write, that is not looked at somewhere on the way.
    @Test(arguments: ["", "/alice", "/alice/elan", "/alice/elan/0", "/alice/elan/0/7"])
    func ownersAndModes(place: String) throws {
        for mode: mode_t in [0o020, 0o002] {
            let fprintd = try FprintdFolder()
            try fprintd.putAlice()
            var about = stat()
            #expect(stat(fprintd.root + place, &about) == 0)
            chmod(fprintd.root + place, about.st_mode & 0o777 | mode)
            let bits = UInt32(about.st_mode & 0o777 | mode)
            #expect(try fprintd.problems() == [place: .path(.writableByOthers(mode: bits))])
            #expect(fprintd.fault() == .fault(.prints, .unsafe))
            #expect(try fprintd.count() == 0)
        }
        let fprintd = try FprintdFolder()
        try fprintd.putAlice()
        chown(fprintd.root + place, 65_534, 0)
        #expect(try fprintd.problems() == [place: .path(.notRoots(owner: 65_534))])
        #expect(fprintd.fault() == .fault(.prints, .unsafe))
    }

    /// Catches something that is no file and is waited for, and a folder in a file's place.
    @Test func otherKinds() throws {
        let fprintd = try FprintdFolder()
        try fprintd.putAlice()
        #expect(mkfifo("\(fprintd.root)/alice/elan/0/1", 0o600) == 0)
        mkdir("\(fprintd.root)/alice/elan/0/2", 0o700)
        try fprintd.put("alice/elan/file", [1])
        try fprintd.put("alice/file", [1])
        let problems = try fprintd.problems()
        #expect(problems["/alice/elan/0/1"] == .path(.wrongKind))
        #expect(problems["/alice/elan/0/2"] == .path(.wrongKind))
        #expect(problems["/alice/elan/file"] == .path(.wrongKind))
        #expect(problems["/alice/file"] == .path(.wrongKind))
        #expect(try fprintd.count() == 1)
    }

    /// Catches a template that is cut at any place and counts; libfprint itself would end its process on most.
    @Test func truncatedTemplates() throws {
        let fprintd = try FprintdFolder()
        let whole = FprintdPrint().bytes
        for count in 0..<whole.count {
            try fprintd.put("alice/elan/0/7", Array(whole[..<count]))
            #expect(try fprintd.count() == 0, "\(count)")
            #expect(fprintd.fault() != nil)
        }
        try fprintd.put("alice/elan/0/7", [])
        #expect(try fprintd.problems() == ["/alice/elan/0/7": .notWhole])
    }

    /// Catches a print that counts for another finger, user or reader than its path says, and one without a name.
    @Test func printsThatSayOtherwise() throws {
        let cases: [(FprintdPrint, FprintdProblem.Matter, StoreError)] = [
            (FprintdPrint(finger: 6), .otherFinger, .fault(.prints, .damaged)),
            (FprintdPrint(finger: 0), .otherFinger, .fault(.prints, .damaged)),
            (FprintdPrint(user: "mallory"), .otherUser, .fault(.prints, .otherUser)),
            (FprintdPrint(user: "alicea"), .otherUser, .fault(.prints, .otherUser)),
            (FprintdPrint(user: ""), .otherUser, .fault(.prints, .otherUser)),
            (FprintdPrint(user: nil), .otherUser, .fault(.prints, .otherUser)),
            (FprintdPrint(driver: "aes3500"), .otherReader, .fault(.prints, .damaged)),
            (FprintdPrint(device: "1"), .otherReader, .fault(.prints, .damaged)),
            (FprintdPrint(extensions: bytes(8, from: 1)), .template(.unsupported), .fault(.prints, .newer)),
        ]
        for (print, matter, fault) in cases {
            let fprintd = try FprintdFolder()
            try fprintd.put("alice/elan/0/7", print.bytes)
            #expect(try fprintd.problems() == ["/alice/elan/0/7": matter], "\(print)")
            #expect(fprintd.fault() == fault)
            #expect(try fprintd.count() == 0)
        }
    }

    /// Catches a file that is read without end, and a folder with thousands of names that costs seconds or memory.
    @Test func limits() throws {
        let fprintd = try FprintdFolder()
        try fprintd.put("alice/elan/0/7", [UInt8](repeating: 0x46, count: PrintEntry.templateLimit + 1))
        #expect(try fprintd.problems() == ["/alice/elan/0/7": .template(.tooLarge)])
        try fprintd.putAlice()
        for number in 0..<5000 {
            close(open("\(fprintd.root)/alice/elan/0/x\(number)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        }
        let start = Date()
        #expect(try fprintd.problems() == ["/alice/elan/0": .tooMany])
        #expect(Date().timeIntervalSince(start) < 1)
        #expect(fprintd.fault() == .fault(.prints, .damaged))
        let many = try FprintdFolder()
        for number in 0..<17 { try many.put("alice/d\(number)/0/7", FprintdPrint(driver: "d\(number)").bytes) }
        #expect(try many.problems() == ["/alice": .tooMany])
        // More prints than a set holds, of readers that are not too many.
        let full = try FprintdFolder()
        for number in 0..<5 {
            for finger in UInt8(1)...10 {
                let print = FprintdPrint(driver: "d\(number)", finger: finger)
                try full.put("alice/d\(number)/0/\(String(finger, radix: 16))", print.bytes)
            }
        }
        #expect(try full.count() == EnrollmentSet.limit)
        #expect(try full.problems().values.allSatisfy { $0 == .tooMany })
        #expect(full.fault() == .fault(.prints, .damaged))
    }

    /// Catches a file of an interrupted enrollment that closes the finger path: fprintd itself passes over it.
    @Test func unknownNamesAreToldAndCloseNothing() throws {
        let fprintd = try FprintdFolder()
        try fprintd.putAlice()
        try fprintd.put("alice/elan/0/7.ABC123", [1])
        try fprintd.put("alice/el an/0/7", [1])
        #expect(try fprintd.problems() == ["/alice/elan/0/7.ABC123": .unknownName, "/alice/el an": .unknownName])
        #expect(fprintd.fault() == nil)
        #expect(try fprintd.count() == 1)
    }

    // MARK: The generation

    /// Catches a generation that changes by itself, so that fingers would be off for nothing.
    @Test func readingChangesNothing() throws {
        let fprintd = try FprintdFolder()
        try fprintd.putAlice()
        try fprintd.put("bob/elan/0/7", FprintdPrint(user: "bob").bytes)
        let first = try fprintd.generation()
        #expect(first != 0)
        for _ in 0..<3 { #expect(try fprintd.generation() == first) }
        // Another user's prints are nobody else's business.
        try fprintd.put("bob/elan/0/1", FprintdPrint(finger: 1, user: "bob").bytes)
        #expect(try fprintd.generation() == first)
        // Nor is the store's own folder, which systemd may touch at each start.
        chmod(fprintd.root, 0o755)
        #expect(try fprintd.generation() == first)
    }

    /// Catches a print that was added and removed again, or written anew with the same bytes, and is not seen.
    @Test func whatGoesBackIsSeen() throws {
        let fprintd = try FprintdFolder()
        try fprintd.putAlice()
        var seen: Set<UInt64> = [try fprintd.generation()]
        let changes: [() throws -> Void] = [
            {
                try fprintd.put("alice/elan/0/1", FprintdPrint(finger: 1).bytes)
                unlink("\(fprintd.root)/alice/elan/0/1")
            },
            { try fprintd.putAlice() },
            {
                try fprintd.put("alice/aes3500/0/1", FprintdPrint(driver: "aes3500", finger: 1).bytes)
                try FileManager.default.removeItem(atPath: "\(fprintd.root)/alice/aes3500")
            },
            {
                // The times that a program can set are put back.
                try fprintd.put("alice/elan/0/7", FprintdPrint(data: [9, 9, 9]).bytes)
                try fprintd.putAlice()
                var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
                utimensat(AT_FDCWD, "\(fprintd.root)/alice/elan/0/7", &times, 0)
            },
        ]
        for change in changes {
            // The kernel's clock for these times goes by ticks of a few milliseconds.
            usleep(20_000)
            try change()
            #expect(seen.insert(try fprintd.generation()).inserted)
        }
        #expect(try fprintd.count() == 1)
    }

    // MARK: As a user's set

    /// Catches a store that still answers its own record, one that writes there, and a rename that is refused by it.
    @Test func aUsersSetIsFprintds() throws {
        let folder = try TestFolder()
        try makeStore(folder)
        let fprintd = try FprintdFolder()
        try fprintd.putAlice()
        var store = try userStore(folder.bytes)
        try store.create(identity())
        store.elsewhere = fprintd.store
        let set = try store.loadPrints()
        #expect(set.entries.map(\.finger.number) == [7])
        #expect(throws: StoreError.system(errno: EROFS)) { try store.save(set) }
        store.elsewhere = nil
        #expect(try store.loadPrints().entries.isEmpty)
        var renamed = try userStore(folder.bytes, name: Array("alison".utf8))
        renamed.elsewhere = FprintdStore(root: Array(fprintd.root.utf8), userName: Array("alison".utf8))
        try renamed.adopt()
        #expect(try renamed.loadIdentity()?.userName == Array("alison".utf8))
        #expect(renamed.elsewhere != nil)
    }
}
