import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import Testing

extension SensorTests {
    /// libfprint's virtual reader that can only verify: prints lie on the host, and one is compared at a time.
    @Suite struct VerifyReaderTests {
        private static let identity = ReaderIdentity.plainVirtual

        private func open(_ sensor: inout SensorClient, _ names: [String]) throws -> OpenedReader {
            guard let set = makeSet(try plainTemplates(of: names), Self.identity, onReader: false) else {
                throw ReaderProblem.faulty
            }
            return try sensor.open(Self.identity, for: set, gallery: Array(names.indices))
        }

        private func touch(_ sensor: inout SensorClient, _ reader: VirtualReader, _ command: String) throws -> Touch {
            try sensor.arm()
            let scan = Background { reader.send(command) }
            defer { scan.join() }
            return sensor.awaitTouch(seconds: 10)
        }

        /// Catches a reader that compares with the first print only, so that a second finger never gets in.
        @Test func aTryGoesThroughTheGallery() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            let opened = try open(&sensor, ["f1", "f2", "f3"])
            #expect(opened.presence == [.host, .host, .host])
            #expect(!opened.description.identifies)
            #expect(try touch(&sensor, reader, "SCAN f3") == .retry(.removeFinger))
            #expect(try touch(&sensor, reader, "SCAN f3") == .retry(.removeFinger))
            #expect(try touch(&sensor, reader, "SCAN f3") == .matched(index: 2))
            // The next try begins with the first print again.
            #expect(try touch(&sensor, reader, "SCAN f1") == .matched(index: 0))
            sensor.stopListening()
        }

        /// Catches a try with more comparisons than the gallery has prints: free guesses.
        @Test func aTryEndsWithTheGallery() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            _ = try open(&sensor, ["f1", "f2"])
            #expect(try touch(&sensor, reader, "SCAN x") == .retry(.removeFinger))
            #expect(try touch(&sensor, reader, "SCAN x") == .notRecognised)
            // A comparison was made in this try, so a timeout must not give it back.
            #expect(try touch(&sensor, reader, "SCAN x") == .retry(.removeFinger))
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 0) == .timedOut(fingerSeen: true))
            // And the next try begins with the first print.
            #expect(try touch(&sensor, reader, "SCAN f1") == .matched(index: 0))
            sensor.stopListening()
        }

        /// Catches a helper that lets a print of another reader, or no print at all, be compared.
        @Test func printsThatDoNotFitAreNotCompared() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            let good = try plainTemplates(of: ["f1"])[0]
            // The same print as another driver would have it, the same length.
            var foreign = good
            let name = Array("virtual_device".utf8)
            let place = try #require(foreign.indices.first { foreign[$0...].starts(with: name) })
            foreign[place] = UInt8(ascii: "w")
            guard let set = makeSet([foreign, Array("no print at all".utf8), good], Self.identity, onReader: false)
            else {
                return
            }
            let opened = try sensor.open(Self.identity, for: set, gallery: [0, 1, 2])
            #expect(opened.presence == [.missing, .missing, .host])
            #expect(try touch(&sensor, reader, "SCAN f1") == .matched(index: 2))
            #expect(try touch(&sensor, reader, "SCAN x") == .notRecognised)
            // The gallery is what the caller chose, in the caller's order, and not the whole set.
            let again = try sensor.open(Self.identity, for: set, gallery: [2, 0])
            #expect(again.presence == [.host, .missing])
            #expect(try touch(&sensor, reader, "SCAN f1") == .matched(index: 0))
            // With no print left nothing is armed.
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 1) == .failed(.unsupported))
            #expect(throws: ReaderProblem.unsupported) { try sensor.open(Self.identity, for: set, gallery: [3]) }
            sensor.stopListening()
        }

        /// Catches a deletion that is reported as done where the reader cannot delete.
        @Test func cannotDelete() throws {
            let stage = try Stage()
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            _ = try open(&sensor, ["f1"])
            #expect(throws: ReaderProblem.unsupported) { try sensor.deleteFromReader(index: 0) }
        }
    }
}
