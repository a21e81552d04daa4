import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import Testing

extension SensorTests {
    /// Chips that keep prints, with the recorded traffic of real ones, and the drivers whose recordings Debian has.
    @Suite struct RecordedChipTests {
        private static let user = "tester"

        /// A helper whose reader is a chip that expects this one step, byte for byte; the testbed lives as long as it.
        private func chip(_ name: String, _ step: String, _ stage: Stage) throws -> (path: String, testbed: Testbed) {
            let folder = Testbed.recording(name) ?? Self.fetched + name
            let traffic = stage.folder + "/\(step).pcapng"
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "UTC")
            formatter.dateFormat = "yyyyMMdd"
            let editing = try Process.run(
                URL(fileURLWithPath: "/usr/bin/python3"),
                arguments: [
                    Stage.packageRoot + "/Tests/Tools/chiprecording.py", folder, name, step, Self.user,
                    formatter.string(from: Date()), traffic,
                ])
            editing.waitUntilExit()
            try #require(editing.terminationStatus == 0)
            let testbed = try #require(try Testbed(folder: folder, traffic: traffic, stage))
            let lines = "\(testbed.exports)\nexport FP_DEVICE_EMULATION=1\nexec '\(Stage.helper ?? "")'"
            return (try stage.script(lines, name: step), testbed)
        }

        /// Catches a confinement, an order of requests or a name in a print with which a chip that compares by itself does not
        /// enroll, tell where the print is, match in another process, or delete.
        @Test(
            .enabled(
                if: Testbed.obstacle("elanmoc") == nil, Comment(rawValue: Testbed.obstacle("elanmoc") ?? "")),
            arguments: ["elanmoc", "synaptics"])
        func aChipsWholeLife(name: String) throws {
            try wholeLife(name, retries: name == "elanmoc" ? 2 : 1)
        }

        /// Catches the same for chips whose recordings Debian has.
        @Test(
            .enabled(if: obstacle == nil, Comment(rawValue: obstacle ?? "")),
            arguments: [("fpcmoc", 3), ("goodixmoc", 0)])
        func aFetchedChipsWholeLife(name: String, retries: Int) throws {
            try wholeLife(name, retries: retries)
        }

        private func wholeLife(_ name: String, retries expected: Int) throws {
            let stage = try Stage()
            var testbed = try chip(name, "enroll", stage)
            var sensor = client(testbed.path)
            let reader = try #require(try sensor.readers().first)
            #expect(reader.identity.driver == Array(name.utf8))
            #expect(reader.storesPrints)
            guard let none = makeSet([], reader.identity, onReader: false), let finger = Finger(number: 7) else {
                return
            }
            #expect(try sensor.open(reader.identity, for: none, gallery: []).others.isEmpty)
            var retries = 0
            let print = try sensor.enroll(finger, userName: Array(Self.user.utf8)) { step in
                if case .retry = step { retries += 1 }
            }
            #expect(retries == expected)
            guard let print else { throw ReaderProblem.faulty }
            let onReader = print.onReader
            #expect(onReader)
            guard let set = makeSet([print.template.copied()], reader.identity, onReader: true) else { return }
            sensor.close()
            sensor.stopListening()

            testbed = try chip(name, "touch", stage)
            sensor = client(testbed.path)
            var opened = try sensor.open(reader.identity, for: set, gallery: [0])
            #expect(opened.presence == [reader.listsPrints ? .onReader : .unlistable])
            #expect(opened.others.isEmpty)
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 0))
            sensor.close()
            sensor.stopListening()

            testbed = try chip(name, "delete", stage)
            sensor = client(testbed.path)
            opened = try sensor.open(reader.identity, for: set, gallery: [0])
            try sensor.deleteFromReader(index: 0)
            sensor.close()
            withExtendedLifetime(testbed) {}
        }

        // MARK: What scripts/fetch-recordings gets

        private static let fetched = Stage.packageRoot + "/.build-recordings/libfprint/"
        private static let obstacle =
            FileManager.default.fileExists(atPath: fetched + "complete")
            ? Testbed.obstacle("aes3500") : "libfprint's recordings are not there; run scripts/fetch-recordings"

        private func fetchedReader(_ name: String, _ stage: Stage) throws -> (path: String, testbed: Testbed) {
            let testbed = try #require(try Testbed(folder: Self.fetched + name, stage))
            let lines = "\(testbed.exports)\nexport FP_DEVICE_EMULATION=1\nexec '\(Stage.helper ?? "")'"
            return (try stage.script(lines), testbed)
        }

        /// Catches a filter of system calls with which one of libfprint's drivers does not enroll and compare.
        @Test(
            .enabled(if: obstacle == nil, Comment(rawValue: obstacle ?? "")), arguments: ["elan", "vfs301", "vfs7552"])
        func aWholeEnrollment(driver: String) throws {
            let stage = try Stage()
            let testbed = try fetchedReader(driver, stage)
            var sensor = client(testbed.path)
            let reader = try #require(try sensor.readers().first)
            guard let finger = Finger(number: 7), let none = makeSet([], reader.identity, onReader: false) else {
                Issue.record("no set")
                return
            }
            _ = try sensor.open(reader.identity, for: none, gallery: [])
            guard let print = try sensor.enroll(finger, userName: [97], progress: { _ in }),
                let set = makeSet([print.template.copied()], reader.identity, onReader: false)
            else {
                Issue.record("no print")
                return
            }
            sensor.close()
            _ = try sensor.open(reader.identity, for: set, gallery: [0])
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 20) == .matched(index: 0))
            sensor.close()
            sensor.stopListening()
            withExtendedLifetime(testbed) {}
        }

        /// Catches the same for recordings of one touch; after it the replay stalls, which a helper has to survive.
        @Test(
            .enabled(if: obstacle == nil, Comment(rawValue: obstacle ?? "")),
            arguments: [
                "egis0570", "elan-cobo", "upektc_img", "uru4000-4500", "uru4000-msv2", "vfs0050", "vfs5011", "aes2501",
                "elanspi",
            ])
        func oneTouchAndAStall(driver: String) throws {
            let stage = try Stage()
            let testbed = try fetchedReader(driver, stage)
            var sensor = client(testbed.path)
            let reader = try #require(try sensor.readers().first)
            guard let none = makeSet([], reader.identity, onReader: false), let finger = Finger(number: 7) else {
                return
            }
            _ = try sensor.open(reader.identity, for: none, gallery: [])
            // The first touch ends the enrollment as Ctrl-C would.
            var blocked = sigset_t()
            var before = sigset_t()
            sigemptyset(&blocked)
            sigaddset(&blocked, SIGTERM)
            pthread_sigmask(SIG_BLOCK, &blocked, &before)
            var touches = 0
            do throws(ReaderProblem) {
                let print = try sensor.enroll(finger, userName: [97]) { _ in
                    touches += 1
                    if touches == 1 { pthread_kill(pthread_self(), SIGTERM) }
                }
                let isNone = print == nil
                #expect(isNone)
            } catch {
                // Some of these drivers are told of the stall before they are asked to end.
                #expect([.timedOut, .faulty, .helperFailed, .removed].contains(error), "\(error)")
            }
            #expect(touches >= 1)
            sensor.close()
            sensor.stopListening()
            var taken: Int32 = 0
            if touches > 0 { sigwait(&blocked, &taken) }
            pthread_sigmask(SIG_SETMASK, &before, nil)
            withExtendedLifetime(testbed) {}
        }
    }
}
