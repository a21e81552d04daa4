import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

extension SensorTests {
    /// What readers go through: found anew by the bus, failing again and again, and fingers that stay where they are.
    @Suite struct LifeTests {
        private static let identity = ReaderIdentity.plainVirtual

        /// Catches a reader that is dead after a resume because its ghost, which the bus still lists, is asked instead.
        @Test(
            .enabled(
                if: Testbed.obstacle("aes3500") == nil, Comment(rawValue: Testbed.obstacle("aes3500") ?? "")),
            arguments: ["004", "009"])
        func theOneThatOpensIsTaken(dead: String) throws {
            let stage = try Stage()
            let folder = try #require(Testbed.recording("aes3500"))
            // The same reader at another place on the bus.
            let text = try String(contentsOfFile: folder + "/device", encoding: .utf8)
            let first = try #require(text.components(separatedBy: "\n\n").first)
            let twin =
                first.replacingOccurrences(of: "/3-1.1.3\n", with: "/3-1.1.2\n")
                .replacingOccurrences(of: "003/004", with: "003/009")
                .replacingOccurrences(of: "DEVNUM=004", with: "DEVNUM=009")
                .replacingOccurrences(of: "devnum=4", with: "devnum=9")
                .replacingOccurrences(of: "dev=189:259", with: "dev=189:300") + "\n"
            try twin.write(toFile: stage.folder + "/twin", atomically: false, encoding: .utf8)
            let alive = dead == "004" ? "009" : "004"
            let arguments = [
                "-d", folder + "/device", "-d", stage.folder + "/twin", "-i",
                "/dev/bus/usb/003/\(alive)=\(folder)/capture.ioctl",
            ]
            let testbed = try #require(
                try Testbed(
                    arguments: arguments, before: "rm \"$UMOCKDEV_DIR/dev/bus/usb/003/\(dead)\"", stage))
            var sensor = client(try stage.script("\(testbed.exports)\nexec '\(Stage.helper ?? "")'"))
            let readers = try sensor.readers()
            #expect(readers.count == 2)
            let reader = try #require(readers.first)
            guard let none = makeSet([], reader.identity, onReader: false), let finger = Finger(number: 7) else {
                return
            }
            _ = try sensor.open(reader.identity, for: none, gallery: [])
            let print = try sensor.enroll(finger, userName: [97]) { _ in }
            let isThere = print != nil
            #expect(isThere)
            sensor.close()
            sensor.stopListening()
        }

        /// Catches a chip that compares the same long touch again and again, so that it takes all three tries.
        @Test func aChipRestsAfterAComparison() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            guard let none = makeSet([], Self.identity, onReader: false), let finger = Finger(number: 7) else { return }
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            let scans = Background { reader.send([String](repeating: "SCAN f1", count: 5)) }
            guard let print = try sensor.enroll(finger, userName: [97], progress: { _ in }),
                let set = makeSet([print.template.copied()], Self.identity, onReader: false)
            else { return }
            scans.join()
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            var start = Date()
            try sensor.arm()
            #expect(Date().timeIntervalSince(start) < 0.5, "nothing was compared before")
            let scan = Background { reader.send("SCAN x") }
            #expect(sensor.awaitTouch(seconds: 10) == .notRecognised)
            scan.join()
            start = Date()
            try sensor.arm()
            #expect(Date().timeIntervalSince(start) > 0.4)
            let again = Background { reader.send("SCAN f1") }
            #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 0))
            again.join()
            sensor.stopListening()
        }

        // MARK: Programs that ask again by themselves

        /// Catches a rest that does not grow, grows without a bound, or stands after a boot.
        @Test func restsGrowUpToThirtySeconds() {
            let pauses = ([0, 1, 2, 3, 4, 5, 6, 7, UInt32.max] as [UInt32]).map {
                ReaderRest.Failures(count: $0, last: 0, problem: .busy).pause
            }
            #expect(pauses == [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
            let once = ReaderRest.Failures(count: 1, last: 5000, problem: .busy)
            #expect(!once.areRested(at: 5000) && !once.areRested(at: 5999) && once.areRested(at: 6000))
            #expect(once.areRested(at: 4999), "the clock has begun anew")
        }

        /// Catches a loop that opens a failing reader each time, and a rest that is another user's too or outlasts a success.
        @Test func aFailingReaderIsNotTriedAgainAtOnce() throws {
            let stage = try Stage()
            let folder = Array((stage.folder + "/rests").utf8)
            let broken = try stage.script("echo x >> '\(stage.folder)/starts'; exit 1", name: "broken")
            let rest = ReaderRest(user: 1000, in: folder)
            func starts() -> Int {
                (try? String(contentsOfFile: stage.folder + "/starts", encoding: .utf8))?.split(separator: "\n").count
                    ?? 0
            }
            for _ in 0..<20 {
                var sensor = SensorClient(helper: Array(broken.utf8), openSeconds: 20, claims: nil, rest: rest)
                sensor.prepare()
                #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            }
            let count = starts()
            // The prepared one and its successor; a slow machine may see the end of the first rest.
            #expect((2...6).contains(count), "\(count)")
            #expect(rest.problem == .helperFailed)
            #expect(ReaderRest(user: 1001, in: folder).problem == nil)
            var resting = SensorClient(helper: Array(broken.utf8), openSeconds: 20, claims: nil, rest: rest)
            _ = try? resting.readers()
            let isResting = resting.isResting
            #expect(isResting)
            // A person's own prompt does not rest.
            var personal = SensorClient(helper: Array(broken.utf8), openSeconds: 20, claims: nil)
            #expect(throws: ReaderProblem.helperFailed) { try personal.readers() }
            #expect(starts() > count)
            rest.succeeded()
            #expect(rest.problem == nil)
        }

        /// Catches somebody who makes another person's reader rest by failing at it in that person's name (`su alice`).
        @Test func onlyTheOwnFailuresRest() throws {
            let stage = try Stage()
            let folder = Array((stage.folder + "/rests").utf8)
            let alice = ReaderRest(user: 1000, in: folder)
            ReaderRest(user: 1000, caller: 1001, in: folder).failed(.busy)
            #expect(alice.problem == nil)
            #expect(ReaderRest(user: 1000, caller: 1001, in: folder).problem == .busy)
            #expect(ReaderRest(user: 1000, caller: 1002, in: folder).problem == nil)
            #expect(ReaderRest(user: 1001, in: folder).problem == nil, "nor the caller's own")
            // Her own programs and the machine's are one: the locker of one desktop runs as her, that of another as root.
            ReaderRest(user: 1000, caller: 0, in: folder).failed(.faulty)
            #expect(alice.problem == .faulty)
            #expect(ReaderRest(user: 1000, caller: 1000, in: folder).problem == .faulty)
            #expect(ReaderRest(user: 1000, caller: 1001, in: folder).problem == .busy)
        }

        /// Catches a file for each pair of caller and user, and files that stay when there is nothing more to say.
        @Test func thereAreFewFiles() throws {
            let stage = try Stage()
            let folder = Array((stage.folder + "/rests").utf8)
            func files() -> [String] {
                ((try? FileManager.default.contentsOfDirectory(atPath: stage.folder + "/rests")) ?? []).sorted()
            }
            ReaderRest(user: 1, caller: 1001, in: folder).succeeded()
            #expect(files().isEmpty)
            for user in 1...50 as ClosedRange<UInt32> { ReaderRest(user: user, caller: 1001, in: folder).failed(.busy) }
            #expect(files() == ["rest-by-1001"])
            #expect(ReaderRest(user: 70, caller: 1001, in: folder).problem == .busy)
            ReaderRest(user: 1, caller: 0, in: folder).failed(.faulty)
            #expect(files() == ["rest-1", "rest-by-1001"])
            ReaderRest(user: 60, caller: 1001, in: folder).succeeded()
            #expect(files() == ["rest-1"])
            ReaderRest(user: 1, in: folder).succeeded()
            #expect(files().isEmpty)
        }

        /// Catches a reader that rests half a minute for one failure because it failed often on another day.
        @Test func oldFailuresAreForgotten() {
            let often = ReaderRest.Failures(count: 9, last: 1_000_000, problem: .busy)
            #expect(often.countBefore(failureAt: 1_030_000) == 9)
            #expect(often.countBefore(failureAt: 1_300_000) == 9)
            #expect(often.countBefore(failureAt: 1_300_001) == 0)
            #expect(often.countBefore(failureAt: 999_999) == 0, "the clock has begun anew")
        }

        /// Catches a failure that is kept from the journal because the reader rested when the same prompt looked before.
        @Test func aRestEnds() throws {
            let stage = try Stage()
            let rest = ReaderRest(user: 1, in: Array((stage.folder + "/rests").utf8))
            rest.failed(.busy)
            let broken = try stage.script("exit 1", name: "broken")
            var sensor = SensorClient(helper: Array(broken.utf8), openSeconds: 20, claims: nil, rest: rest)
            #expect(throws: ReaderProblem.busy) { try sensor.readers() }
            var isResting = sensor.isResting
            #expect(isResting)
            rest.succeeded()
            #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            isResting = sensor.isResting
            #expect(!isResting)
        }

        /// Catches a damaged file of rests that closes the reader for ever, or stops anything.
        @Test func whatCannotBeReadDoesNotRest() throws {
            let stage = try Stage()
            let rest = ReaderRest(user: 1, in: Array((stage.folder + "/rests").utf8))
            rest.failed(.busy)
            #expect(rest.problem == .busy)
            for text in ["", "x", String(repeating: "\u{7F}", count: 13), String(repeating: "x", count: 64)] {
                try text.write(toFile: stage.folder + "/rests/rest-1", atomically: false, encoding: .utf8)
                #expect(rest.problem == nil, "\(text)")
            }
            // An instant so long ago that the time since then is no number, which would end the caller.
            let bytes: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, ReaderProblem.busy.rawValue]
            try Data(bytes).write(to: URL(fileURLWithPath: stage.folder + "/rests/rest-1"))
            #expect(rest.problem == nil)
            #expect(ReaderRest(user: 1, in: Array("/nonexistent/x".utf8)).problem == nil)
        }
    }
}
