import Foundation
import Proof
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

/// Files of a store that lie where another belongs, are older than the rest, or are no files.
@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct SwappedFilesTests {
    let stage: DamageStage

    init() throws { stage = try DamageStage() }

    private typealias File = DamageStage.File

    /// Catches a record that stands in for one of another kind, user or machine, or that is not told apart.
    @Test func swapped() throws {
        var tally = Tally("damage: files swapped with other kinds', users', machines'")
        for file in File.allCases {
            func check(_ bytes: [UInt8], _ fault: StoreError, _ what: String) throws {
                try stage.put(bytes, into: file)
                let sight = stage.look()
                tally.check(sight == stage.sight(with: fault, of: file), "\(file) is \(what): \(sight.faults)")
                try stage.restore(file)
            }
            for other in File.allCases where other != file {
                try check(stage.written(in: other), .fault(file.kind, .damaged), "\(other)")
            }
            if let path = file.ofBob {
                try check(try read(stage.folder.sub(path)), .fault(file.kind, .otherUser), "bob's")
            }
            let foreign = StoreError.fault(file == .key ? .values : file.kind, .foreign)
            try check(try read(stage.another.sub(file.rawValue)), foreign, "another machine's")
        }
        tally.check(stage.look() == stage.intact, "restored")
        tally.report()
    }

    /// Catches an older identity or older prints that count again, and says what only a TPM can tell.
    @Test func rolledBack() throws {
        var tally = Tally("damage: files put back from an older copy")
        func older(_ files: File...) throws -> Sight {
            for file in files { try stage.put(stage.older[file] ?? [], into: file) }
            defer { for file in files { try? stage.restore(file) } }
            return stage.look()
        }
        let sight = try older(.identity)
        tally.check(sight.faults == [.attempts: .fault(.identity, .rolledBack)], "identity: \(sight.faults)")
        tally.check(!sight.isOverwritten && sight.attempts == nil, "identity: counted beside")
        // The older counters know the older identity alone.
        let counters = try older(.attempts)
        tally.check(counters.faults == [.attempts: .fault(.identity, .rolledBack)], "attempts: \(counters.faults)")
        tally.check(!counters.isOverwritten && counters.attempts == nil, "attempts: counted beside")
        // Prints are readable; neither the approval nor the generation that the counters hold is theirs.
        let prints = try older(.prints)
        tally.check(prints.faults.isEmpty && prints.generation == 4, "prints: \(prints.faults)")
        tally.check(prints.attempts?.generation == 5, "prints: the counters follow them")
        tally.check(prints.identity?.approvals.allSatisfy { $0.generation == 5 } == true, "prints: approved")
        // All of them at once agree with each other: without a TPM's counter nothing on the disk is newer.
        let all = try older(.identity, .attempts, .prints)
        tally.check(all.faults.isEmpty && all.generation == 4, "all: \(all.faults)")
        // Neither key nor values ever change in a store that stays where it is.
        tally.check(try older(.key, .values) == stage.intact, "key and values")
        tally.check(stage.look() == stage.intact, "restored")
        tally.report()
    }

    /// Catches a file that is followed, waited for, read although others can write it, or that is told as something else.
    @Test func noFiles() throws {
        var tally = Tally("damage: links, pipes, folders, devices, owners, modes in a file's place")
        let lock = "users/1000/lock"
        for name in File.allCases.map(\.rawValue) + [lock] {
            let path = stage.folder.sub(name)
            let aside = stage.folder.sub("aside")
            let mode: mode_t = name == "key" ? 0o400 : 0o600
            let file = File(rawValue: name)
            let expected =
                file.map { stage.sight(with: .fault($0.kind, .unsafe), of: $0) }
                ?? stage.sight(with: .fault(.store, .unsafe), of: .key)
            rename(path, aside)
            for (what, make) in Self.things {
                guard make(path, aside) else { continue }
                let sight = stage.look()
                tally.check(sight == expected, "\(name) is \(what): \(sight.faults)")
                remove(path)
            }
            // The very file by another name is the file.
            link(aside, path)
            tally.check(stage.look() == stage.intact, "\(name) has another name")
            unlink(path)
            rename(aside, path)
            for bit: mode_t in [0o001, 0o002, 0o004, 0o010, 0o020, 0o040] {
                chmod(path, mode | bit)
                let sight = stage.look()
                tally.check(sight == expected, "\(name) with mode \(String(mode | bit, radix: 8)): \(sight.faults)")
            }
            chmod(path, mode)
            chown(path, 1000, 0)
            let sight = stage.look()
            tally.check(sight == expected, "\(name) is somebody's: \(sight.faults)")
            chown(path, 0, 0)
            tally.check(stage.look() == stage.intact, "\(name) restored")
        }
        tally.report()
    }

    /// Catches a folder on the way that others can change, or that is somewhere else.
    @Test func folders() throws {
        var tally = Tally("damage: links, files, owners, modes in a folder's place")
        let aside = stage.folder.path + "-aside"
        for name in ["users/1000", "users", "."] {
            let path = name == "." ? stage.folder.path : stage.folder.sub(name)
            let expected = stage.sight(with: .fault(.store, .unsafe), of: .key)
            func check(_ what: String) {
                let sight = stage.look()
                tally.check(sight == expected, "\(name) \(what): \(sight.faults)")
            }
            rename(path, aside)
            for (what, make) in Self.things where what != "a folder" && make(path, aside) {
                check("is \(what)")
                remove(path)
            }
            rename(aside, path)
            for bit: mode_t in [0o001, 0o002, 0o004, 0o010, 0o020, 0o040] {
                chmod(path, 0o700 | bit)
                check("with bit \(String(bit, radix: 8))")
            }
            chmod(path, 0o700)
            chown(path, 1000, 0)
            check("is somebody's")
            chown(path, 0, 0)
            tally.check(stage.look() == stage.intact, "\(name) restored")
        }
        tally.report()
    }

    /// Catches a file that is not there and is made anew, or is told as something else.
    @Test func missing() throws {
        var tally = Tally("damage: each file missing")
        for file in File.allCases {
            let aside = stage.folder.sub("aside")
            rename(stage.path(file), aside)
            var expected = stage.sight(with: .fault(file.kind, .missing), of: file)
            switch file {
            case .key: expected = stage.sight(with: .fault(.store, .keyLost), of: .key)
            // Nobody has a PIN then, and what is left means nothing.
            case .identity:
                expected.faults = [.attempts: .fault(.attempts, .missing)]
            // The empty set is approved by nobody.
            case .prints:
                expected.faults = [:]
                expected.generation = 0
            case .values, .attempts: break
            }
            let sight = stage.look()
            tally.check(sight == expected, "\(file): \(sight.faults)")
            tally.check(access(stage.path(file), F_OK) != 0, "\(file) was made anew")
            rename(aside, stage.path(file))
            tally.check(stage.look() == stage.intact, "\(file) restored")
        }
        tally.report()
    }

    /// What is put into a file's place, and whether it could be: of two paths, the second is the real file.
    private static let things: [(String, @Sendable (String, String) -> Bool)] = [
        ("a folder", { path, _ in mkdir(path, 0o700) == 0 }),
        ("a link to the file", { path, real in symlink(real, path) == 0 }),
        ("a link to nowhere", { path, _ in symlink("/nonexistent", path) == 0 }),
        ("a link to itself", { path, _ in symlink(path, path) == 0 }),
        ("a link to a terminal", { path, _ in symlink("/dev/tty", path) == 0 }),
        ("a pipe", { path, _ in mkfifo(path, 0o600) == 0 }),
        ("a device that gives zeros", { path, _ in mknod(path, S_IFCHR | 0o600, 1 << 8 | 5) == 0 }),
        ("a device that is not there", { path, _ in mknod(path, S_IFCHR | 0o600, 250 << 8 | 77) == 0 }),
        ("a socket", { path, _ in mknod(path, S_IFSOCK | 0o600, 0) == 0 }),
    ]
}
