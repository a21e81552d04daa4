import Foundation
import SignetEngine
import SignetPolicy
import Testing

@testable import SignetPlatform

extension SensorTests {
    /// libfprint's virtual reader with a memory of its own, driven through the real helper.
    ///
    /// Its memory lives in the helper's process, so each opening starts empty; a print's data is the name of its finger.
    @Suite struct StorageReaderTests {
        private static let identity = ReaderIdentity(
            driver: Array("virtual_device_storage".utf8), device: Array("0".utf8))

        /// Enrolls the named finger; answers its template.
        private func template(of name: String) throws -> [UInt8] {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            guard let none = makeSet([], Self.identity, onReader: true), let finger = Finger(number: 7) else {
                return []
            }
            let help = Background { reader.send("CONT ") }
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            help.join()
            let scans = Background { reader.send([String](repeating: "SCAN \(name)", count: 5)) }
            let print = try sensor.enroll(finger, userName: Array("tester".utf8)) { _ in }
            scans.join()
            sensor.close()
            sensor.stopListening()
            guard let print else { throw ReaderProblem.faulty }
            return print.template.copied()
        }

        /// Opens a reader that holds `stored`, with a gallery of `names`.
        private func open(
            _ sensor: inout SensorClient, _ stage: Stage, names: [String], stored: [String]
        ) throws -> OpenedReader {
            let reader = VirtualReader(path: stage.socketPath)
            guard let set = makeSet(try names.map { try template(of: $0) }, Self.identity, onReader: true) else {
                throw ReaderProblem.faulty
            }
            let help = Background { reader.send(stored.map { "INSERT \($0)" } + ["CONT "]) }
            defer { help.join() }
            return try sensor.open(Self.identity, for: set, gallery: Array(names.indices))
        }

        /// Catches a list that loses a reader or what it can do.
        @Test func listsTheReader() throws {
            let stage = try Stage()
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            let readers = try sensor.readers()
            #expect(readers.map { $0.identity } == [Self.identity])
            #expect(
                readers.map { [$0.identifies, $0.storesPrints, $0.listsPrints, $0.swipes] } == [
                    [true, true, true, true]
                ])
            #expect(readers.map { $0.stages } == [5])
        }

        /// Catches a shipped helper that lets an attacker's variable add a reader that says "match".
        @Test func virtualReadersAreRefusedByDefault() throws {
            let stage = try Stage()
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE", arguments: ""))
            #expect(throws: ReaderProblem.virtualRefused) { try sensor.readers() }
            guard let none = makeSet([], Self.identity, onReader: true) else { return }
            #expect(throws: ReaderProblem.virtualRefused) { try sensor.open(Self.identity, for: none, gallery: []) }
            #expect(!FileManager.default.fileExists(atPath: stage.socketPath))
        }

        /// Catches stages that are lost or counted twice, and retry reasons that are mixed up.
        @Test func enrollmentTellsStagesAndRetries() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            _ = try open(&sensor, stage, names: [], stored: [])
            let finger = try #require(Finger(number: 7))
            let scans = Background {
                reader.send(["SCAN f1", "RETRY 2", "SCAN f1", "SCAN f2", "SCAN f1", "RETRY 1", "SCAN f1", "SCAN f1"])
            }
            var seen: [EnrollmentProgress] = []
            let print = try sensor.enroll(finger, userName: Array("tester".utf8)) { seen.append($0) }
            scans.join()
            #expect(
                seen == [
                    .stage(done: 1, of: 5), .retry(.centreFinger), .stage(done: 2, of: 5), .retry(.general),
                    .stage(done: 3, of: 5), .retry(.tooShort), .stage(done: 4, of: 5), .stage(done: 5, of: 5),
                ])
            guard let print else { throw ReaderProblem.faulty }
            let (onReader, identity) = (print.onReader, print.reader)
            #expect(onReader)
            #expect(identity == Self.identity)
            let bytes = print.template.copied()
            #expect(bytes.starts(with: "FP3".utf8))
            // A second enrollment of the same finger is refused by the reader and leaves it usable.
            let again = Background { reader.send("SCAN f1") }
            #expect(throws: ReaderProblem.duplicate) { try sensor.enroll(finger, userName: [97]) { _ in } == nil }
            again.join()
            let full = Background { reader.send("ERROR 8") }
            #expect(throws: ReaderProblem.storageFull) { try sensor.enroll(finger, userName: [97]) { _ in } == nil }
            full.join()
            sensor.stopListening()
        }

        /// Catches a wrong index, a match that is none, a retry that counts, and a reader that serves one touch only.
        @Test func touchesAreToldApart() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            let opened = try open(&sensor, stage, names: ["f1", "f2"], stored: ["f1", "x", "f2", "y"])
            #expect(opened.presence == [.onReader, .onReader])
            #expect(opened.others.count == 2)
            let touches: [(String, Touch)] = [
                ("SCAN f2", .matched(index: 1)), ("SCAN x", .notRecognised), ("SCAN nobody", .notRecognised),
                ("RETRY 1", .retry(.tooShort)), ("RETRY 3", .retry(.removeFinger)), ("RETRY 2", .retry(.centreFinger)),
                ("SCAN f1", .matched(index: 0)),
            ]
            for (command, expected) in touches {
                try sensor.arm()
                let scan = Background { reader.send(command) }
                let touch = sensor.awaitTouch(seconds: 10)
                scan.join()
                #expect(touch == expected, "\(command)")
            }
            sensor.close()
            sensor.stopListening()
        }

        /// Catches a helper and a store that know one print by two names: every print of another user would be foreign.
        @Test func aPrintHasOneDigestForBothSides() throws {
            let stage = try Stage()
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            let opened = try open(&sensor, stage, names: ["f1"], stored: ["x", "f1", "y", "x"])
            sensor.close()
            sensor.stopListening()
            let known = try ["x", "y"].map { name in
                let handle = try template(of: name)
                let digest = HandleDigest.of(handle: handle.span)
                return try #require(digest)
            }
            #expect(opened.others == known.sorted())
        }

        /// Catches an error of the reader that is taken for a decision or for another error.
        @Test(arguments: [
            (["ERROR 4"], ReaderProblem.busy), (["ERROR 5"], .faulty), (["ERROR 257"], .tooHot), (["UNPLUG"], .removed),
        ])
        func problemsAreNamed(commands: [String], problem: ReaderProblem) throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            _ = try open(&sensor, stage, names: ["f1"], stored: ["f1"])
            try sensor.arm()
            let scan = Background { reader.send(commands) }
            #expect(sensor.awaitTouch(seconds: 10) == .failed(problem))
            scan.join()
            #expect(throws: ReaderProblem.helperFailed) { try sensor.arm() }
            sensor.stopListening()
        }

        /// Catches a refund for somebody who laid a finger on the reader, and a charge for somebody who did not.
        @Test(arguments: [false, true]) func timeoutSaysWhetherAFingerWasThere(finger: Bool) throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            _ = try open(&sensor, stage, names: ["f1"], stored: ["f1"])
            try sensor.arm()
            if finger { reader.send("FINGER 1") }
            #expect(sensor.awaitTouch(seconds: 1) == .timedOut(fingerSeen: finger))
            if finger { reader.send("FINGER 0") }
            // The reader is of use afterwards, and the next try starts without a finger.
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 0) == .timedOut(fingerSeen: false))
            try sensor.arm()
            let scan = Background { reader.send("SCAN f1") }
            #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 0))
            scan.join()
            sensor.stopListening()
        }

        /// Catches a retry after which a timeout gives the try back: the reader may have compared something.
        @Test func retryKeepsTheFinger() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            _ = try open(&sensor, stage, names: ["f1"], stored: ["f1"])
            try sensor.arm()
            let scan = Background { reader.send("RETRY 0") }
            #expect(sensor.awaitTouch(seconds: 10) == .retry(.general))
            scan.join()
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 0) == .timedOut(fingerSeen: true))
            sensor.stopListening()
        }

        /// Catches a wait that a driver without cancelling turns into one without end.
        @Test func driverThatCannotCancel() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            _ = try open(&sensor, stage, names: ["f1"], stored: ["f1"])
            reader.send("SET_CANCELLATION_ENABLED 0")
            try sensor.arm()
            let start = Date()
            #expect(sensor.awaitTouch(seconds: 0) == .cancelIgnored(fingerSeen: false))
            sensor.close()
            #expect(Date().timeIntervalSince(start) < 10)
            sensor.stopListening()
        }

        /// Catches a print that vanished from the chip and is still taken for present, or that can still match.
        @Test func missingPrintIsReported() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            let opened = try open(&sensor, stage, names: ["f1", "f2"], stored: ["f2"])
            #expect(opened.presence == [.missing, .onReader])
            try sensor.arm()
            let scan = Background { reader.send("SCAN f1") }
            #expect(sensor.awaitTouch(seconds: 10) == .notRecognised)
            scan.join()
            sensor.stopListening()
        }

        /// Catches a deletion that deletes nothing, another print, or all of them.
        @Test func deletesOnePrint() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            _ = try open(&sensor, stage, names: ["f1", "f2"], stored: ["f1", "f2", "x"])
            try sensor.deleteFromReader(index: 0)
            let left = reader.send("LIST")?.split(separator: "\n").map(String.init).sorted()
            #expect(left == ["f2", "x"])
            #expect(throws: ReaderProblem.printNotFound) { try sensor.deleteFromReader(index: 0) }
            #expect(throws: ReaderProblem.helperFailed) { try sensor.deleteFromReader(index: 2) }
        }

        /// Catches a helper that opens whatever reader there is.
        @Test func anotherReaderIsNone() throws {
            let stage = try Stage()
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE_STORAGE"))
            let other = ReaderIdentity(driver: Array("aes3500".utf8), device: Array("0".utf8))
            guard let none = makeSet([], other, onReader: false) else { return }
            #expect(throws: ReaderProblem.noReader) { try sensor.open(other, for: none, gallery: []) }
        }
    }
}
