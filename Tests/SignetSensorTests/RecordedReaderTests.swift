import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import Testing

extension SensorTests {
    /// Real drivers with the recorded traffic of real readers.
    @Suite struct RecordedReaderTests {
        struct Placed: Sendable {
            let recording: String
            let place: ReaderPlace

            init(_ recording: String, _ attachment: PortAttachment, _ path: String) {
                self.recording = recording
                place = ReaderPlace(bus: .usb, attachment: attachment, path: Array(path.utf8))
            }
        }

        /// Catches a place that is another device's, misses a hub on the way, or holds what the next boot changes; the
        /// expected ones are those of the recordings' own descriptions of /sys.
        @Test(
            .enabled(
                if: Testbed.obstacle("aes3500") == nil, Comment(rawValue: Testbed.obstacle("aes3500") ?? "")),
            arguments: [
                Placed(
                    "aes3500", .removable,
                    "pci0000:00/0000:00:1c.0/0000:01:00.0/0000:02:02.0/0000:39:00.0/usb2/1.1.3"),
                Placed("elanmoc", .removable, "pci0000:00/0000:00:14.0/usb2/9"),
                Placed("nb1010", .unknown, "pci0000:00/0000:00:01.3/0000:02:00.0/usb2/7"),
                Placed("synaptics", .fixed, "pci0000:00/0000:00:14.0/usb2/9"),
            ])
        func places(of reader: Placed) throws {
            let stage = try Stage()
            guard let testbed = try Testbed(reader.recording, stage) else {
                Issue.record("no testbed")
                return
            }
            // The drivers of chips leave out what they do not know unless they are told that it is a replay.
            var sensor = client(try helper(stage, testbed, emulation: true))
            let readers = try sensor.readers()
            #expect(readers.map(\.place) == [reader.place])
            sensor.close()
            sensor.stopListening()
        }

        /// Catches a helper that opens what looks the same at another port, and a client that believes it.
        @Test(
            .enabled(
                if: Testbed.obstacle("aes3500") == nil, Comment(rawValue: Testbed.obstacle("aes3500") ?? "")))
        func thePlaceThatIsNamedIsOpened() throws {
            let stage = try Stage()
            guard let testbed = try Testbed("aes3500", stage) else {
                Issue.record("no testbed")
                return
            }
            var sensor = client(try helper(stage, testbed))
            let reader = try #require(try sensor.readers().first)
            guard let none = makeSet([], reader.identity, onReader: false) else { return }
            let elsewhere = ReaderPlace(bus: .usb, attachment: .fixed, path: Array("pci0000:00/usb2/9".utf8))
            #expect(throws: ReaderProblem.noReader) {
                try sensor.open(reader.identity, at: elsewhere, for: none, gallery: [])
            }
            sensor.close()
            let opened = try sensor.open(reader.identity, at: reader.place, for: none, gallery: [])
            #expect(opened.description.place == reader.place)
            sensor.close()
            sensor.stopListening()
        }

        private func helper(_ stage: Stage, _ testbed: Testbed, emulation: Bool = false) throws -> String {
            let emulate = emulation ? "export FP_DEVICE_EMULATION=1\n" : ""
            return try stage.script("\(testbed.exports)\n\(emulate)exec '\(Stage.helper ?? "")'")
        }

        /// Catches a helper whose confinement, threads or loop keep a real driver from working: an image sensor enrolls,
        /// matches in another process, and knows a template that is not its own.
        @Test(
            .enabled(
                if: Testbed.obstacle("aes3500") == nil, Comment(rawValue: Testbed.obstacle("aes3500") ?? "")),
            arguments: ["aes3500", "nb1010"])
        func imageSensor(driver: String) throws {
            let stage = try Stage()
            guard let testbed = try Testbed(driver, stage) else {
                Issue.record("no testbed")
                return
            }
            var sensor = client(try helper(stage, testbed))
            let readers = try sensor.readers()
            let reader = try #require(readers.first)
            #expect(reader.identity.driver == Array(driver.utf8))
            #expect(reader.identifies)
            #expect(!reader.storesPrints)
            guard let none = makeSet([], reader.identity, onReader: false), let finger = Finger(number: 7) else {
                return
            }
            _ = try sensor.open(reader.identity, for: none, gallery: [])
            var stages = 0
            let print = try sensor.enroll(finger, userName: Array("tester".utf8)) { step in
                if case .stage = step { stages += 1 }
            }
            #expect(stages == Int(reader.stages))
            guard let print else {
                Issue.record("interrupted")
                return
            }
            let onReader = print.onReader
            #expect(!onReader)
            let template = print.template.copied()
            sensor.close()
            sensor.stopListening()
            // The same template under another reader's name must never be compared: image drivers would.
            var foreign = template
            let name = Array(driver.utf8)
            let place = try #require(foreign.indices.first { foreign[$0...].starts(with: name) })
            foreign[place] = UInt8(ascii: "x")
            guard let set = makeSet([foreign, template], reader.identity, onReader: false) else { return }
            for _ in 0..<2 {
                let opened = try sensor.open(reader.identity, for: set, gallery: [0, 1])
                #expect(opened.presence == [.missing, .host])
                for _ in 0..<3 {
                    try sensor.arm()
                    #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 1))
                }
                sensor.close()
            }
            sensor.stopListening()
        }
    }
}
