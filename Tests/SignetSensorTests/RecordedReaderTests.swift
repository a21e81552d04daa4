import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import Testing

extension SensorTests {
    /// Real drivers with the recorded traffic of real readers.
    @Suite struct RecordedReaderTests {
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
