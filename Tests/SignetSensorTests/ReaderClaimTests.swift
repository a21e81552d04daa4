import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

extension SensorTests {
    /// A reader that another prompt has is named, and not waited for.
    @Suite struct ReaderClaimTests {
        private static let identity = ReaderIdentity.plainVirtual

        private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

        /// How a claim of the reader is refused now; nil where it is free.
        private static func refusal(in folder: String, _ reader: ReaderIdentity = identity) -> ClaimRefusal? {
            do throws(ClaimRefusal) {
                _ = try ReaderClaim(reader, in: bytes(folder))
                return nil
            } catch {
                return error
            }
        }

        /// Catches a reader that is called busy because the helper of the prompt before is still closing it.
        @Test func oneAfterTheOtherIsNeverBusy() throws {
            let stage = try Stage()
            let path = try stage.virtual("FP_VIRTUAL_DEVICE")
            let reader = VirtualReader(path: stage.socketPath)
            var enrolling = client(path)
            let finger = try #require(Finger(number: 7))
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            _ = try enrolling.open(Self.identity, for: none, gallery: [])
            let scans = Background { reader.send([String](repeating: "SCAN f1", count: 5)) }
            let print = try enrolling.enroll(finger, userName: [97]) { _ in }
            scans.join()
            enrolling.close()
            enrolling.stopListening()
            guard let print, let set = makeSet([print.template.copied()], Self.identity, onReader: false) else {
                return
            }
            for round in 0..<20 {
                var sensor = client(path, claims: stage.folder + "/claims")
                sensor.prepare()
                #expect(try sensor.readers().count == 1)
                _ = try sensor.open(Self.identity, for: set, gallery: [0])
                try sensor.arm()
                let scan = Background { reader.send("SCAN f1") }
                #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 0), "\(round)")
                // As the module does after a match; sometimes it only lets go.
                sensor.startClosing()
                if round % 4 != 0 { sensor.close() }
                scan.join()
                sensor.stopListening()
            }
        }

        /// Catches a second prompt that waits for the first, blames the reader, or names nobody.
        @Test func aSecondPromptNamesTheFirst() async throws {
            let stage = try Stage()
            let path = try stage.virtual("FP_VIRTUAL_DEVICE")
            let claims = stage.folder + "/claims"
            var sensor = client(path, claims: claims)
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            let me = String(decoding: ReaderHolder(process: getpid())?.words ?? [], as: UTF8.self)
            try #require(!me.isEmpty)
            await #expect(processExitsWith: .exitCode(77)) {
                [path = path as String, claims = claims as String, me = me as String] in
                var second = client(path, claims: claims)
                guard try second.readers().count == 1,
                    let none = makeSet([], ReaderClaimTests.identity, onReader: false)
                else { exit(1) }
                let start = Date()
                var problem: ReaderProblem?
                do { _ = try second.open(ReaderClaimTests.identity, for: none, gallery: []) } catch {
                    problem = error as? ReaderProblem
                }
                guard problem == .busy else { exit(2) }
                guard Date().timeIntervalSince(start) < 0.1 else { exit(3) }
                exit(second.holder == Array(me.utf8) ? 77 : 4)
            }
            sensor.close()
            #expect(Self.refusal(in: claims) == nil)
        }

        /// Catches a look at a claim that takes it, that makes files, or that does not see who has it.
        @Test func aLookClaimsNothing() async throws {
            let stage = try Stage()
            let folder = stage.folder + "/claims"
            #expect(ReaderClaim.refusal(of: Self.identity, in: Self.bytes(folder)) == nil)
            #expect(!FileManager.default.fileExists(atPath: folder))
            let claim = try ReaderClaim(Self.identity, in: Self.bytes(folder))
            let me = String(decoding: ReaderHolder(process: getpid())?.words ?? [], as: UTF8.self)
            try #require(!me.isEmpty)
            await #expect(processExitsWith: .exitCode(77)) { [folder = folder as String, me = me as String] in
                let refusal = ReaderClaim.refusal(of: ReaderClaimTests.identity, in: ReaderClaimTests.bytes(folder))
                exit(refusal == .held(by: Array(me.utf8)) ? 77 : 1)
            }
            _ = consume claim
            #expect(ReaderClaim.refusal(of: Self.identity, in: Self.bytes(folder)) == nil)
            #expect(Self.refusal(in: folder) == nil)
        }

        /// Catches a holder that is named though the reader that is busy now is another's, or none is.
        @Test func aHolderIsForgotten() throws {
            let stage = try Stage()
            let claims = stage.folder + "/claims"
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"), claims: claims)
            do {
                let claim = try ReaderClaim(Self.identity, in: Self.bytes(claims))
                #expect(throws: ReaderProblem.busy) { try sensor.open(Self.identity, for: none, gallery: []) }
                sensor.holder = Self.bytes("sudo")
                _ = consume claim
            }
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            #expect(sensor.holder == nil)
        }

        /// Catches a claim that is let go of while the reader is still open, and one that is kept when it is closed.
        @Test func theClaimLastsAsLongAsTheHelper() throws {
            let stage = try Stage()
            let claims = stage.folder + "/claims"
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            do {
                var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"), claims: claims)
                _ = try sensor.open(Self.identity, for: none, gallery: [])
                #expect(Self.refusal(in: claims) == .held(by: nil))
                let pid = stage.pid()
                kill(pid, SIGSTOP)
                sensor.startClosing()
                #expect(Self.refusal(in: claims) == .held(by: nil))
                kill(pid, SIGCONT)
                sensor.close()
                #expect(Self.refusal(in: claims) == nil)
                _ = try sensor.open(Self.identity, for: none, gallery: [])
                #expect(Self.refusal(in: claims) == .held(by: nil))
            }
            #expect(Self.refusal(in: claims) == nil)
        }

        /// Catches a claim that outlives a prompt which was killed.
        @Test func aDeadProcessHasNoClaim() async throws {
            let stage = try Stage()
            let claims = stage.folder + "/claims"
            await #expect(processExitsWith: .signal(SIGKILL)) { [claims = claims as String] in
                let claim = try ReaderClaim(ReaderClaimTests.identity, in: Array(claims.utf8))
                kill(getpid(), SIGKILL)
                _ = consume claim
            }
            #expect(FileManager.default.fileExists(atPath: claims))
            #expect(Self.refusal(in: claims) == nil)
        }

        /// Catches two readers that share a claim, or one that cannot be claimed.
        @Test func readersAreToldApart() throws {
            let stage = try Stage()
            let claims = stage.folder + "/claims"
            let other = ReaderIdentity(driver: Self.bytes("virtual_device"), device: Self.bytes("1"))
            let claim = try ReaderClaim(Self.identity, in: Self.bytes(claims))
            #expect(Self.refusal(in: claims) == .held(by: nil))
            #expect(Self.refusal(in: claims, other) == nil)
            _ = consume claim
            #expect(Self.refusal(in: claims) == nil)
        }

        /// Catches a device's own words as a path, and different readers with one name.
        @Test func fileNamesAreHexadecimal() {
            let pairs: [(String, String)] = [
                ("a", "bc"), ("ab", "c"), ("", ""), ("..", "/etc/passwd"), ("x", "../../etc"), ("\0", "/"),
                (String(repeating: "d", count: 64), String(repeating: "i", count: 128)),
            ]
            var names: Set<[CChar]> = []
            for (driver, device) in pairs {
                let reader = ReaderIdentity(driver: Self.bytes(driver), device: Self.bytes(device))
                let name = ReaderClaim.fileName(of: reader)?.terminated ?? []
                #expect(name.count == 33 && name.last == 0)
                #expect(name.dropLast().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
                names.insert(name)
            }
            #expect(names.count == pairs.count)
        }

        /// Catches an authentication that fails for want of a place for claims, and a claim where others could have it.
        @Test func anOddFolderMeansNoClaim() throws {
            let stage = try Stage()
            let file = stage.folder + "/file"
            _ = FileManager.default.createFile(atPath: file, contents: nil)
            let open = stage.folder + "/open"
            try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
            chmod(open, 0o755)
            let link = stage.folder + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: stage.folder)
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            let path = try stage.virtual("FP_VIRTUAL_DEVICE")
            for folder in [
                file, open, link, "/proc/signet", "/tmp/signet-claims", "relative", "", "/", "/absent/run/x",
            ] {
                #expect(Self.refusal(in: folder) == .impossible, "\(folder)")
                var sensor = client(path, claims: folder)
                _ = try sensor.open(Self.identity, for: none, gallery: [])
                sensor.close()
            }
            // Made at need, and root's alone.
            let claims = stage.folder + "/claims"
            #expect(Self.refusal(in: claims) == nil)
            var about = stat()
            #expect(stat(claims, &about) == 0 && about.st_mode & 0o7777 == 0o700 && about.st_uid == 0)
        }

        /// Catches a reader that a user keeps from everybody with a frozen control group, which does not show as stopped.
        @Test func aClaimGrowsOld() throws {
            let stage = try Stage()
            let claims = stage.folder + "/claims"
            let first = try ReaderClaim(Self.identity, in: Self.bytes(claims))
            let path = claims + "/" + (try FileManager.default.contentsOfDirectory(atPath: claims)[0])
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            let began = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let now = try #require(SystemClock.secondsSinceBoot)
            #expect(bytes.count == 8 && began <= now && now - began < 5)
            for (age, isOver) in [(UInt64(100), false), (ClaimAge.limit + 5, true)] {
                let beginning = now - min(age, now)
                let old = (0..<8).map { UInt8(truncatingIfNeeded: beginning >> UInt64(8 * $0)) }
                // In place: the lock is the file's.
                let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
                try handle.write(contentsOf: old)
                try handle.close()
                let file = FileDescriptor(owning: open(path, O_RDONLY | O_CLOEXEC))
                #expect(ClaimAge.isOver(in: file) == isOver)
                // The lock of this very process has no holder that it could name.
                #expect(Self.refusal(in: claims) == (isOver ? .impossible : .held(by: nil)))
            }
            _ = consume first
        }

        /// Catches a program's name that acts on the terminal, a wrong terminal, and a stopped holder that blocks everybody.
        @Test func holdersAreNamed() throws {
            let stage = try Stage()
            let folder = stage.folder + "/proc/42"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            func holder(_ name: String, _ stat: String) throws -> ReaderHolder? {
                // What its starter called it must not count.
                try Data("PIN expired\n".utf8).write(to: URL(fileURLWithPath: folder + "/comm"))
                unlink(folder + "/exe")
                if !name.isEmpty { #expect(symlink(name, folder + "/exe") == 0) }
                try Data(stat.utf8).write(to: URL(fileURLWithPath: folder + "/stat"))
                return ReaderHolder(process: 42, root: Self.bytes(stage.folder))
            }
            let cases: [(exe: String, stat: String, words: String?, stopped: Bool)] = [
                ("/usr/bin/sudo", "42 (sudo) S 1 42 42 34819 42 0", "sudo on pts/3", false),
                ("/usr/bin/su", "42 (su) S 1 42 42 34816 42 0", "su on pts/0", false),
                ("/usr/bin/su", "42 (su) S 1 42 42 1083395 42 0", "su on pts/259", false),
                ("/usr/bin/su", "42 (su) S 1 42 42 1281 42 0", "su", false),
                ("/usr/bin/login", "42 (login) S 1 42 42 1025 42 0", "login on tty1", false),
                ("/usr/bin/login", "42 (login) S 1 42 42 1088 42 0", "login on ttyS0", false),
                ("/usr/bin/polkit-agent-he", "42 (polkit-agent-he) S 1 42 42 0 -1 0", "polkit-agent-he", false),
                ("/usr/bin/a) S (b", "42 (a) S (b) T 1 42 42 34816 42 0", "a) S (b on pts/0", true),
                ("/usr/bin/\u{1B}[2J", "42 (x) t 1 42 42 0 -1 0", "?[2J", true),
                ("/usr/bin/su", "42 (su) S 1 42 42 -5 42 0", "su", false),
                ("/usr/bin/su", "42 (su) S 1 42 42 99999999999 42 0", "su", false),
                ("/usr/bin/su", "42 (su", nil, false), ("", "42 () S 1 42 42 34816 42 0", nil, false),
                ("/usr/bin/su", "", nil, false), ("/usr/bin/su", "42 (su) S 1", nil, false),
            ]
            let upgraded = try holder("/usr/bin/sudo (deleted)", "42 (sudo) S 1 42 42 34819 42 0")
            #expect(upgraded?.words == Self.bytes("sudo on pts/3"))
            for entry in cases {
                let found = try holder(entry.exe, entry.stat)
                #expect(found.map { String(decoding: $0.words, as: UTF8.self) } == entry.words, "\(entry)")
                #expect((found?.isStopped ?? false) == entry.stopped, "\(entry)")
            }
            #expect(ReaderHolder(process: 43, root: Self.bytes(stage.folder)) == nil)
            #expect(ReaderHolder(process: 0) == nil)
            #expect(ReaderHolder(process: -1) == nil)
        }
    }
}
