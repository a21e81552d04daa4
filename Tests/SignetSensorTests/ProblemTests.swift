import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

extension SensorTests {
    /// Each way in which a reader can fail, from the helper's word to what its client answers.
    @Suite struct ProblemTests {
        private static let identity = ReaderIdentity.plainVirtual
        private static let opened = [
            SensorEvent.reader(.plainVirtual), .opened(presence: [.host], others: []),
        ]
        static let all = (0...UInt8.max).compactMap { ReaderProblem(rawValue: $0) }

        private func open(_ sensor: inout SensorClient) throws {
            guard let set = makeSet([Array("FP3 a template of no reader".utf8)], Self.identity, onReader: false) else {
                return
            }
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
        }

        private func problem(_ body: () throws -> Void) -> ReaderProblem? {
            do { try body() } catch {
                if let error = error as? ReaderProblem { return error }
                if case .problem(let problem) = error as? SensorStop { return problem }
            }
            return nil
        }

        /// A helper that answers each request by its kind: the list with one reader, `open` with this problem.
        private func failing(_ problem: ReaderProblem, _ stage: Stage) throws -> String {
            func lines(_ events: [SensorEvent]) throws -> String {
                try events.map { "printf '\(try escaped($0))' >&3" }.joined(separator: "; ")
            }
            return try stage.script(
                """
                while set -- $(dd bs=65536 count=1 <&3 2> /dev/null | od -An -tu1 -N2) && [ $# = 2 ]; do
                case $2 in
                1) \(try lines([.reader(.plainVirtual), .listed(count: 1, virtualRefused: false)])) ;;
                4) \(try lines([.failed(problem)])) ;;
                esac
                done
                """)
        }

        /// Catches a problem that becomes another one on its way, at whatever moment it comes.
        @Test(arguments: all) func isToldAsWhatItIs(problem: ReaderProblem) throws {
            let stage = try Stage()
            // Goes when its socket closes.
            let ending = "exec cat <&3 > /dev/null"
            var sensor = client(try failing(problem, stage))
            #expect(try sensor.readers() == [.plainVirtual])
            #expect(self.problem { try open(&sensor) } == problem)
            // Before the reader is armed.
            sensor = client(try stage.standIn(Self.opened + [.failed(problem)], ending))
            try open(&sensor)
            #expect(self.problem { try sensor.arm() } == problem)
            // While a finger is awaited.
            sensor = client(try stage.standIn(Self.opened + [.armed, .failed(problem)], ending))
            try open(&sensor)
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 5) == .failed(problem))
            sensor.stopListening()
        }

        /// Catches a reader that is too hot, or may not be used, and is told as lost in the sleep after which it was found so;
        /// one that is waited for though waiting does not help; and a ghost of the bus's new count that is not told as one.
        @Test(arguments: all) func afterASleep(problem: ReaderProblem) throws {
            let stage = try Stage()
            var sensor = client(try failing(problem, stage))
            sensor.waking = SensorClient.Waking(reader: Self.identity, end: Deadline(milliseconds: 700))
            let start = Date()
            let told = self.problem { try open(&sensor) }
            let took = Date().timeIntervalSince(start)
            switch problem {
            case .helperFailed: #expect(told == .slept || told == .helperFailed)
            case .noReader, .removed, .timedOut, .stalled, .faulty, .cancelIgnored:
                // A reader that wakes up may answer anything at first.
                #expect(told == .slept && took > 0.6, "\(took)")
            case .ghost: #expect(told == .ghost && took > 0.6, "\(took)")
            case .busy: #expect(told == .busy)
            case .tooHot, .notPermitted, .unsupported, .virtualRefused, .storageFull, .duplicate, .printNotFound,
                .slept:
                #expect(told == problem && took < 0.6, "\(took)")
            }
        }

        /// Catches a reader that rests because the machine was asleep, and the next prompt that finds no reader for it.
        @Test func aSleepIsNoReasonToRest() throws {
            let stage = try Stage()
            let rest = ReaderRest(user: 1000, in: Array((stage.folder + "/rests").utf8))
            func fresh(_ path: String) -> SensorClient {
                SensorClient(helper: Array(path.utf8), openSeconds: 1, claims: nil, rest: rest)
            }
            // Lost for good, while it is looked for and while it opens.
            let none = "printf '\(try escaped(.listed(count: 0, virtualRefused: false)))' >&3"
            let empty = try stage.script(
                "while [ -n \"$(dd bs=65536 count=1 <&3 2> /dev/null | od -An)\" ]; do \(none); done", name: "empty")
            for reader in [Self.identity, nil] {
                var sensor = fresh(empty)
                sensor.waking = SensorClient.Waking(reader: reader, end: Deadline(milliseconds: 300))
                #expect(problem { _ = try sensor.readers() } == .slept)
                #expect(rest.problem == nil)
            }
            var sensor = fresh(try failing(.removed, stage))
            sensor.waking = SensorClient.Waking(reader: Self.identity, end: Deadline(milliseconds: 300))
            #expect(problem { try open(&sensor) } == .slept)
            #expect(rest.problem == nil)
            // While it is being armed.
            sensor = fresh(try stage.standIn(Self.opened + [.failed(.slept)]))
            try open(&sensor)
            #expect(problem { try sensor.arm() } == .slept)
            #expect(rest.problem == nil)
            // A reader that fails rests as before, and a sleep does not end its rest.
            rest.failed(.faulty)
            rest.failed(.slept)
            #expect(rest.problem == .faulty)
            sensor.stopListening()
        }

        /// Catches a device file that may not be opened and is told as a fault: through libfprint, libgusb and libusb, by a
        /// helper whose root has no right to pass over the file's mode.
        @Test(
            .enabled(if: Testbed.obstacle("aes3500") == nil, Comment(rawValue: Testbed.obstacle("aes3500") ?? "")))
        func aDeviceThatMayNotBeOpened() throws {
            let stage = try Stage()
            let folder = try #require(Testbed.recording("aes3500"))
            let device = "\"$UMOCKDEV_DIR/dev/bus/usb/003/004\""
            let testbed = try #require(
                try Testbed(
                    arguments: [
                        "-d", folder + "/device", "-i", "/dev/bus/usb/003/004=\(folder)/capture.ioctl",
                    ], before: "chown nobody \(device); chmod 600 \(device)", stage))
            let powerless = "setpriv --bounding-set=-dac_override,-dac_read_search"
            var sensor = client(try stage.script("\(testbed.exports)\nexec \(powerless) '\(Stage.helper ?? "")'"))
            let reader = try #require(try sensor.readers().first)
            guard let none = makeSet([], reader.identity, onReader: false) else { return }
            #expect(throws: ReaderProblem.notPermitted) {
                try sensor.open(reader.identity, for: none, gallery: [])
            }
            sensor.close()
            withExtendedLifetime(testbed) {}
        }
    }
}
