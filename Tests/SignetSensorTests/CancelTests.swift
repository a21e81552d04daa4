import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

extension SensorTests {
    /// A person who gives up right after a touch that was not recognised: the try that was about to begin costs nothing, and
    /// what was compared is never given back.
    @Suite struct CancelTests {
        private static let identity = ReaderIdentity.plainVirtual

        private func touch(_ sensor: inout SensorClient, _ reader: VirtualReader, _ finger: String) throws -> Touch {
            try sensor.arm()
            let scan = Background { reader.send("SCAN \(finger)") }
            defer { scan.join() }
            return sensor.awaitTouch(seconds: 10)
        }

        /// A touch that is set aside by a key some milliseconds after its reader was asked for it.
        private func leave(_ sensor: inout SensorClient, after milliseconds: UInt32) throws -> Touch {
            var field = PipeField()
            let typing = field.press("c", after: milliseconds)
            defer { typing.join() }
            try sensor.arm(beside: &field)
            return sensor.awaitTouch(seconds: 10, beside: &field)
        }

        /// Catches a try that is charged to somebody who pressed Ctrl-C while the chip still rested from the try before.
        @Test(arguments: [0, 50, 300] as [UInt32]) func theTryAfterAMismatchHasNotBegun(delay: UInt32) throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            guard let set = makeSet(try plainTemplates(of: ["f1"]), Self.identity, onReader: false) else { return }
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            #expect(try touch(&sensor, reader, "x") == .notRecognised)
            #expect(try leave(&sensor, after: delay) == .setAside(.cancelled, fingerSeen: false))
            // The reader is as good as before, and the next try is charged as each is.
            #expect(try touch(&sensor, reader, "x") == .notRecognised)
            #expect(try touch(&sensor, reader, "f1") == .matched(index: 0))
            sensor.stopListening()
        }

        /// Catches a free guess: a try that has compared with one print already is given back because the comparison with
        /// the next one had not begun.
        @Test(arguments: [0, 50, 300, 800] as [UInt32]) func aComparedTryStaysCharged(delay: UInt32) throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            guard let set = makeSet(try plainTemplates(of: ["f1", "f2"]), Self.identity, onReader: false) else {
                return
            }
            _ = try sensor.open(Self.identity, for: set, gallery: [0, 1])
            #expect(try touch(&sensor, reader, "x") == .retry(.removeFinger))
            #expect(try leave(&sensor, after: delay) == .setAside(.cancelled, fingerSeen: true))
            // A retry of the reader's own is a touch as well.
            try sensor.arm()
            let retry = Background { reader.send("RETRY 2") }
            #expect(sensor.awaitTouch(seconds: 10) == .retry(.centreFinger))
            retry.join()
            #expect(try leave(&sensor, after: delay) == .setAside(.cancelled, fingerSeen: true))
            // What came after the cancel is a try of its own.
            #expect(try leave(&sensor, after: 700) == .setAside(.cancelled, fingerSeen: false))
            sensor.stopListening()
        }

        /// Catches a helper that forgets by itself what it has compared, and is saved by its client's memory only.
        @Test func theHelpersOwnWord() throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            let templates = try plainTemplates(of: ["f1", "f2"])
            var helper = try HelperProcess(
                path: Array(stage.virtual("FP_VIRTUAL_DEVICE").utf8), arguments: [],
                packetLimit: SensorMessage.packetLimit)
            try send(.begin(Self.identity, path: []), to: &helper)
            for template in templates {
                try send(.galleryPrint(template: 0..<template.count), template, to: &helper)
            }
            try send(.open, to: &helper)
            #expect(try ending(of: &helper) == .opened(presence: [.host, .host], others: []))
            for (finger, ending) in [
                ("x", SensorEvent.retry(.removeFinger)), ("x", .notMatched), ("x", .retry(.removeFinger)),
                ("f2", .matched(index: 1)),
            ] {
                try send(.arm, to: &helper)
                let scan = Background { reader.send("SCAN \(finger)") }
                #expect(try self.ending(of: &helper) == ending)
                scan.join()
                // Only where the try goes on it has compared something.
                guard ending != .retry(.removeFinger) || finger == "f2" else { continue }
                for _ in 1...2 {
                    try send(.arm, to: &helper)
                    try send(.cancel, to: &helper)
                    #expect(try self.ending(of: &helper) == .cancelled(fingerSeen: false))
                }
            }
            for again in [true, false] {
                if again {
                    try send(.arm, to: &helper)
                    let scan = Background { reader.send("SCAN x") }
                    #expect(try ending(of: &helper) == .retry(.removeFinger))
                    scan.join()
                }
                try send(.arm, to: &helper)
                try send(.cancel, to: &helper)
                #expect(try ending(of: &helper) == .cancelled(fingerSeen: again))
            }
        }

        /// Catches the same at a reader of images, where the operation before lasts as long as the finger lies there: a finger
        /// that stays is seen in a new try only once the person was asked to lift it.
        @Test func aFingerThatStays() throws {
            let stage = try Stage()
            let identity = ReaderIdentity(driver: Array("virtual_image".utf8), device: Array("0".utf8))
            let template = try #require(Self.imagePrint)
            var helper = try HelperProcess(
                path: Array(stage.virtual("FP_VIRTUAL_IMAGE").utf8), arguments: [],
                packetLimit: SensorMessage.packetLimit)
            try send(.begin(identity, path: []), to: &helper)
            try send(.galleryPrint(template: 0..<template.count), template, to: &helper)
            try send(.open, to: &helper)
            #expect(try ending(of: &helper) == .opened(presence: [.host], others: []))
            let reader = try #require(ImageReader(stage.socketPath))
            // Fingers come and go when they are told to.
            reader.send([-3, 0])
            try send(.arm, to: &helper)
            #expect(try helper.receive(within: 5000) { try? SensorEvent(decoding: $0) } == .armed)
            reader.send([-4, 1])
            reader.sendBlankImage()
            // An image without a finger's lines is a retry, and belongs to a try.
            #expect(try ending(of: &helper) == .retry(.general))
            for expected in [true, false, false] {
                try send(.arm, to: &helper)
                try send(.cancel, to: &helper)
                #expect(try ending(of: &helper) == .cancelled(fingerSeen: expected))
            }
            try send(.arm, to: &helper)
            #expect(try ending(of: &helper) == .retry(.removeFinger))
            for expected in [true, false] {
                try send(.arm, to: &helper)
                try send(.cancel, to: &helper)
                #expect(try ending(of: &helper) == .cancelled(fingerSeen: expected))
            }
            reader.send([-4, 0])
            try send(.arm, to: &helper)
            #expect(try helper.receive(within: 5000) { try? SensorEvent(decoding: $0) } == .armed)
            reader.send([-4, 1])
            reader.sendBlankImage()
            #expect(try ending(of: &helper) == .retry(.general))
        }

        /// A print of libfprint's virtual reader of images, with one minutia; the form is a GVariant (issbymsmsia{sv}v).
        private static let imagePrint: [UInt8]? = {
            var bytes: [UInt8] = Array("FP3".utf8) + [2, 0, 0, 0] + Array("virtual_image\00\0".utf8)
            // Not on the reader, no finger, no names; 22 bytes so far without "FP3".
            bytes += [0, 0] + [0, 0] + [0, 0, 0, 0x80] + [0, 0, 0, 0]
            // At 32: one print of one minutia, (a(aiaiai)): three arrays of one number, two of them framed, all in frames.
            bytes += [16, 0, 0, 0, 20, 0, 0, 0, 90, 0, 0, 0, 8, 4] + [14]
            return bytes + [0] + Array("(a(aiaiai))".utf8) + [32, 22, 22, 20, 18]
        }()

        /// A client of libfprint's virtual reader of images: pairs of numbers, and images.
        private final class ImageReader {
            private let descriptor: Int32

            init?(_ path: String) {
                guard let descriptor = VirtualReader.connect(to: path) else { return nil }
                self.descriptor = descriptor
            }

            deinit { close(descriptor) }

            func send(_ numbers: [Int32]) {
                let bytes = numbers.withUnsafeBytes { Array($0) }
                _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }

            func sendBlankImage() {
                send([128, 128])
                let bytes = [UInt8](repeating: 255, count: 128 * 128)
                _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }

        private func send(
            _ request: SensorRequest, _ template: [UInt8] = [], to helper: inout HelperProcess
        ) throws {
            try helper.send(within: 1000) { try? request.encode(templateFrom: template.span, into: &$0) }
        }

        /// The next event that ends what was asked.
        private func ending(of helper: inout HelperProcess) throws -> SensorEvent? {
            while true {
                let event = try helper.receive(within: 5000) { try? SensorEvent(decoding: $0) }
                switch event {
                case .armed, .fingerSeen, .reader: continue
                default: return event
                }
            }
        }
    }
}
