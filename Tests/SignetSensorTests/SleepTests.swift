import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

extension SensorTests {
    /// A machine that sleeps while its reader is in use, and drivers that end badly.
    ///
    /// That the machine has slept is a meter that began before the clocks did; what it measures is tested by itself, and
    /// with the kernel's clocks in EndToEnd/SleepTests.
    @Suite struct SleepTests {
        private static let identity = ReaderIdentity.plainVirtual
        private static let slept = SleepMeter(SleepMeter.Reading(before: 1 << 60, boot: 0, after: 1 << 60))
        private static let opened = [
            SensorEvent.reader(.plainVirtual), .opened(presence: [.host], others: []),
        ]

        private func open(_ sensor: inout SensorClient) throws {
            guard let set = makeSet([Array("FP3 a template of no reader".utf8)], Self.identity, onReader: false) else {
                return
            }
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
        }

        /// A touch of a helper that says this once it is armed; the machine has slept when it is awaited.
        private func touch(_ events: [SensorEvent], _ ending: String = "exec sleep 30", seconds: Int = 20) throws
            -> Touch
        {
            let stage = try Stage()
            var sensor = client(try stage.standIn(Self.opened + [.armed] + events, ending))
            try open(&sensor)
            try sensor.arm()
            sensor.sleep = Self.slept
            defer { sensor.stopListening() }
            return sensor.awaitTouch(seconds: seconds)
        }

        /// Takes so much of what is asked.
        private static let untilItIsArmed =
            "for request in begin print open arm; do dd bs=65536 count=1 <&3 > /dev/null 2>&1; done; "
        private static let untilTheCancel = untilItIsArmed + "dd bs=65536 count=1 <&3 > /dev/null 2>&1; "

        /// Catches a prompt that ends, hangs, or blames the reader after a sleep; a try that is given back though a finger
        /// was seen; and a finger that wakes the machine up and lets somebody in by it.
        @Test func whatAReaderSaysAfterASleep() throws {
            let cancelled = "printf '\(try escaped(.cancelled(fingerSeen: false)))' >&3; exec sleep 30"
            let start = Date()
            // A reader that was suspended and says nothing by itself is cancelled.
            #expect(try touch([], Self.untilTheCancel + cancelled) == .slept(fingerSeen: false))
            #expect(try touch([.failed(.removed)]) == .slept(fingerSeen: false))
            #expect(try touch([.failed(.faulty)]) == .slept(fingerSeen: false))
            #expect(try touch([.fingerSeen, .failed(.faulty)]) == .slept(fingerSeen: true))
            #expect(try touch([.matched(index: 0)]) == .slept(fingerSeen: true))
            #expect(try touch([.retry(.general)]) == .slept(fingerSeen: true))
            #expect(try touch([.cancelled(fingerSeen: true)]) == .slept(fingerSeen: true))
            // Nobody lives who could say that no finger lay there.
            #expect(try touch([], Self.untilItIsArmed + "exit 0") == .slept(fingerSeen: true))
            #expect(Date().timeIntervalSince(start) < 15)
            // A dead driver does not answer the cancel.
            #expect(try touch([]) == .slept(fingerSeen: true))
            // What was decided is decided.
            #expect(try touch([.notMatched]) == .notRecognised)
            // The deadline has passed over the sleep.
            #expect(try touch([.failed(.removed)], seconds: 0) == .slept(fingerSeen: false))
        }

        /// Catches a reader that is given up because it needs a moment to come back.
        @Test func aReaderThatComesBackIsOpened() throws {
            let stage = try Stage()
            func lines(_ events: [SensorEvent]) throws -> String {
                try events.map { "printf '\(try escaped($0))' >&3" }.joined(separator: "\n")
            }
            // The first one is armed and fails; the next two find nothing; then a reader that does not open at once.
            let path = try stage.script(
                """
                echo >> '\(stage.folder)/starts'
                one() { dd bs=65536 count=1 <&3 > /dev/null 2>&1; }
                case $(wc -l < '\(stage.folder)/starts') in
                1) one; one; one
                \(try lines(Self.opened + [.armed, .failed(.removed)])) ;;
                2|3) one
                \(try lines([.listed(count: 0, virtualRefused: false)])) ;;
                4) one
                \(try lines([.reader(.plainVirtual), .listed(count: 1, virtualRefused: false)]))
                one; one; one
                \(try lines([.failed(.ghost)])) ;;
                *) one; one; one
                \(try lines(Self.opened)) ;;
                esac
                exec sleep 30
                """)
            var sensor = client(path)
            try open(&sensor)
            try sensor.arm()
            sensor.sleep = Self.slept
            #expect(sensor.awaitTouch(seconds: 20) == .slept(fingerSeen: false))
            let start = Date()
            #expect(try sensor.readers() == [.plainVirtual])
            try open(&sensor)
            let took = Date().timeIntervalSince(start)
            #expect(took > 0.5 && took < 3, "\(took)")
            sensor.stopListening()
        }

        /// Catches a reader that is lost and waited for without end, or told as if it had never been there; and a field that is
        /// not attended to meanwhile.
        @Test func aReaderThatIsLost() throws {
            let stage = try Stage()
            let none = "printf '\(try escaped(.listed(count: 0, virtualRefused: false)))' >&3"
            let path = try stage.script(
                "while [ -n \"$(dd bs=65536 count=1 <&3 2> /dev/null | od -An)\" ]; do \(none); done")
            var sensor = client(path)
            sensor.sleep = Self.slept
            let hasSlept = sensor.hasSlept()
            #expect(hasSlept)
            sensor.waking = SensorClient.Waking(reader: Self.identity, end: Deadline(milliseconds: 4000))
            var start = Date()
            #expect(throws: ReaderProblem.slept) { try sensor.readers() }
            var took = Date().timeIntervalSince(start)
            #expect(took > 3.5 && took < 6, "\(took)")
            // It was waited for; now nobody waits.
            start = Date()
            #expect(try sensor.readers().isEmpty)
            #expect(Date().timeIntervalSince(start) < 1)
            sensor.waking = SensorClient.Waking(reader: Self.identity, end: Deadline(milliseconds: 4000))
            var field = PipeField()
            let typing = field.press("e", after: 100)
            start = Date()
            #expect(throws: SensorStop.setAside(.answered)) { try sensor.readers(beside: &field) }
            took = Date().timeIntervalSince(start)
            #expect(took < 1, "\(took)")
            typing.join()
        }

        /// Catches a deletion that was cut off by a sleep and is told as the reader's fault.
        @Test(arguments: [false, true]) func aDeletionThatIsCutOff(slept: Bool) throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(Self.opened + [.failed(.faulty)]))
            try open(&sensor)
            if slept { sensor.sleep = Self.slept }
            #expect(throws: slept ? ReaderProblem.slept : .faulty) { try sensor.deleteFromReader(index: 0) }
        }

        // MARK: Drivers

        /// Catches a driver that waits on when it is asked to stop: without a word, for long, or with a helper that stays.
        @Test(arguments: [false, true]) func aDriverThatIgnoresTheCancel(finger: Bool) throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            guard let none = makeSet([], Self.identity, onReader: false), let name = Finger(number: 7) else { return }
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            let scans = Background { reader.send([String](repeating: "SCAN f1", count: 5)) }
            guard let print = try sensor.enroll(name, userName: [97], progress: { _ in }),
                let set = makeSet([print.template.copied()], Self.identity, onReader: false)
            else { return }
            scans.join()
            try FileManager.default.removeItem(atPath: stage.pidPath)
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            let helper = stage.pid()
            try sensor.arm()
            if finger { reader.send("FINGER 1") }
            reader.send("SET_CANCELLATION_ENABLED 0")
            let start = Date()
            #expect(sensor.awaitTouch(seconds: 0) == .cancelIgnored(fingerSeen: finger))
            #expect(Date().timeIntervalSince(start) < 1.5)
            #expect(isGone(helper))
            // The next prompt finds a reader that works.
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            try sensor.arm()
            let scan = Background { reader.send("SCAN f1") }
            #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 0))
            scan.join()
            sensor.stopListening()
        }

        /// Catches a transfer that never ends: a helper in its driver's own wait is killed, and the try stays charged.
        @Test func aStalledTransfer() throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(Self.opened + [.armed]))
            try open(&sensor)
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 0) == .failed(.stalled))
            #expect(isGone(stage.pid()))
            sensor.stopListening()
        }

        /// Catches a ghost that is told as a reader that was unplugged just now: it was never there.
        @Test(
            .enabled(if: Testbed.obstacle("aes3500") == nil, Comment(rawValue: Testbed.obstacle("aes3500") ?? "")))
        func onlyAGhost() throws {
            let stage = try Stage()
            let folder = try #require(Testbed.recording("aes3500"))
            let testbed = try #require(
                try Testbed(
                    arguments: [
                        "-d", folder + "/device", "-i", "/dev/bus/usb/003/004=\(folder)/capture.ioctl",
                    ], before: "rm \"$UMOCKDEV_DIR/dev/bus/usb/003/004\"", stage))
            var sensor = client(try stage.script("\(testbed.exports)\nexec '\(Stage.helper ?? "")'"))
            let reader = try #require(try sensor.readers().first)
            guard let none = makeSet([], reader.identity, onReader: false) else { return }
            #expect(throws: ReaderProblem.ghost) { try sensor.open(reader.identity, for: none, gallery: []) }
            sensor.close()
            withExtendedLifetime(testbed) {}
        }
    }
}
