import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

extension SensorTests {
    /// Helpers that are dead, frozen, lying or strange: never a match, never a wait without end.
    @Suite struct HostileHelperTests {
        private static let identity = ReaderIdentity.plainVirtual

        private static let description = ReaderDescription.plainVirtual

        private func opened(_ presence: [PrintPresence] = [.host]) -> [SensorEvent] {
            [.reader(Self.description), .opened(presence: presence, others: [])]
        }

        private func open(_ sensor: inout SensorClient, prints: Int = 1) throws -> OpenedReader {
            let templates = [[UInt8]](repeating: Array("FP3 a template of no reader".utf8), count: prints)
            guard let set = makeSet(templates, Self.identity, onReader: false) else { throw ReaderProblem.faulty }
            return try sensor.open(Self.identity, for: set, gallery: Array(0..<prints))
        }

        /// Catches an honest-looking helper whose answers stop the tests below from meaning anything.
        @Test func theScriptsCanBeBelieved() throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(opened() + [.armed, .fingerSeen, .matched(index: 0)]))
            _ = try open(&sensor)
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 5) == .matched(index: 0))
            sensor.stopListening()
        }

        /// Catches an answer that is taken although it may not come: each of these events by itself would be a match or more.
        @Test(
            arguments: [
                [.armed, .matched(index: 1)], [.armed, .matched(index: 63)], [.armed, .armed, .matched(index: 0)],
                [.armed, .fingerSeen, .fingerSeen, .matched(index: 0)], [.armed, .cancelled(fingerSeen: false)],
                [.armed, .opened(presence: [.host], others: []), .matched(index: 0)], [.armed, .deleted],
                [.armed, .closed], [.armed, .stage(done: 1, of: 5)],
                [.armed, .listed(count: 0, virtualRefused: false)],
            ] as [[SensorEvent]])
        func liesAfterArming(events: [SensorEvent]) throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(opened() + events))
            _ = try open(&sensor)
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 5) == .failed(.helperFailed))
            #expect(sensor.awaitTouch(seconds: 5) == .failed(.helperFailed))
            sensor.stopListening()
        }

        /// Catches a match that was on its way before the try was charged and the reader armed.
        @Test(arguments: [.matched(index: 0), .notMatched, .retry(.general), .fingerSeen] as [SensorEvent])
        func matchBeforeArming(event: SensorEvent) throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(opened() + [event]))
            _ = try open(&sensor)
            #expect(throws: ReaderProblem.helperFailed) { try sensor.arm() }
            sensor.stopListening()
        }

        /// Catches a print that is not on the chip and matches all the same.
        @Test func missingPrintCannotMatch() throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(opened([.missing]) + [.armed, .matched(index: 0)]))
            _ = try open(&sensor)
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 5) == .failed(.helperFailed))
            sensor.stopListening()
        }

        /// Catches an opening that believes another reader, another gallery, or an answer to another question.
        @Test func liesWhileOpening() throws {
            let other = ReaderDescription(
                identity: ReaderIdentity(driver: [120], device: [48]), place: .virtual, name: [97], stages: 5,
                swipes: false, identifies: true, storesPrints: false, listsPrints: false)
            let lies: [[SensorEvent]] = [
                [.reader(other), .opened(presence: [.host], others: [])],
                [.reader(Self.description), .opened(presence: [], others: [])],
                [.reader(Self.description), .opened(presence: [.host, .host], others: [])],
                [.opened(presence: [.host], others: [])], [.armed], [.matched(index: 0)],
                [.reader(Self.description), .armed],
            ]
            for lie in lies {
                let stage = try Stage()
                var sensor = client(try stage.standIn(lie))
                #expect(throws: ReaderProblem.helperFailed, "\(lie)") { try open(&sensor) }
            }
        }

        /// Catches packets that are no messages, too long, or none at all.
        @Test(arguments: [
            "printf garbage >&3; exec sleep 30", "printf '\\001\\104\\001\\000\\000\\000' >&3; exec sleep 30",
            "dd if=/dev/zero bs=60000 count=1 >&3 2>/dev/null; exec sleep 30", "exit 0", "kill -9 $$",
            "printf '\\002\\104\\000\\000\\000\\000' >&3; exec sleep 30", "exec 3>&-; exec sleep 30",
        ])
        func nonsense(lines: String) throws {
            let stage = try Stage()
            var sensor = client(try stage.script(lines))
            let start = Date()
            #expect(throws: ReaderProblem.helperFailed) { try open(&sensor) }
            #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            #expect(Date().timeIntervalSince(start) < 10)
        }

        /// Catches a list that goes on for ever, or whose number is wrong.
        @Test func floods() throws {
            let reader = "printf '\(try escaped(.reader(Self.description)))' >&3"
            let flood = try Stage()
            var sensor = client(try flood.script("while :; do \(reader); done"))
            #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            let stage = try Stage()
            var wrong = client(
                try stage.standIn([.reader(Self.description), .listed(count: 2, virtualRefused: false)]))
            #expect(throws: ReaderProblem.helperFailed) { try wrong.readers() }
        }

        /// Catches a silent helper that is waited for, and one that takes no packets.
        @Test func silence() throws {
            let stage = try Stage()
            let path = try stage.script("exec sleep 30")
            var sensor = client(path, openSeconds: 1)
            var start = Date()
            #expect(throws: ReaderProblem.timedOut) { try open(&sensor) }
            #expect(Date().timeIntervalSince(start) < 10)
            // Forty prints of 32 kB do not fit into the socket.
            guard
                let big = makeSet(
                    [[UInt8]](repeating: [UInt8](repeating: 1, count: 32_768), count: 10), Self.identity,
                    onReader: false)
            else { return }
            start = Date()
            #expect(throws: ReaderProblem.helperFailed) {
                try sensor.open(Self.identity, for: big, gallery: Array(0..<10))
            }
            #expect(Date().timeIntervalSince(start) < 10)
        }

        /// Catches a helper that does not answer a cancel and is believed to have seen no finger.
        @Test func unansweredCancelIsAFailure() throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(opened() + [.armed]))
            _ = try open(&sensor)
            try sensor.arm()
            let start = Date()
            #expect(sensor.awaitTouch(seconds: 0) == .failed(.stalled))
            #expect(Date().timeIntervalSince(start) < 10)
            #expect(isGone(stage.pid()))
            sensor.stopListening()
        }

        /// Catches a frozen helper from which Ctrl-C leads to another prompt instead of out, or whose try is given back.
        @Test func anUnansweredCancelAfterASignalIsAnInterruption() throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(opened() + [.armed]))
            _ = try open(&sensor)
            var blocked = sigset_t()
            var before = sigset_t()
            sigemptyset(&blocked)
            sigaddset(&blocked, SIGTERM)
            pthread_sigmask(SIG_BLOCK, &blocked, &before)
            pthread_kill(pthread_self(), SIGTERM)
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 10) == .interrupted(fingerSeen: true))
            sensor.stopListening()
            var taken: Int32 = 0
            sigwait(&blocked, &taken)
            #expect(taken == SIGTERM)
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }

        /// Catches a real helper that is killed or frozen by somebody, and what it was doing counted as no finger.
        @Test(arguments: [SIGKILL, SIGSTOP, SIGSEGV]) func killedOrFrozen(signal: Int32) throws {
            let stage = try Stage()
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            guard let none = makeSet([], Self.identity, onReader: false), let finger = Finger(number: 7) else { return }
            let reader = VirtualReader(path: stage.socketPath)
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            let scans = Background { reader.send([String](repeating: "SCAN f1", count: 5)) }
            let print = try sensor.enroll(finger, userName: [97]) { _ in }
            scans.join()
            guard let print, let set = makeSet([print.template.copied()], Self.identity, onReader: false) else {
                return
            }
            try FileManager.default.removeItem(atPath: stage.pidPath)
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            let pid = stage.pid()
            try sensor.arm()
            kill(pid, signal)
            let start = Date()
            #expect(sensor.awaitTouch(seconds: 1) == .failed(signal == SIGSTOP ? .stalled : .helperFailed))
            #expect(Date().timeIntervalSince(start) < 10)
            #expect(waitpid(pid, nil, WNOHANG) == -1)
            #expect(isGone(pid))
            sensor.stopListening()
        }
    }
}
