import Foundation
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform

extension SensorTests {
    /// The moments of a reader's life at which a helper may misbehave beside the straight way: after a touch that did not match,
    /// while a busy reader or one that wakes up is waited for, and while it is asked to close.
    @Suite struct HostileMomentsTests {
        typealias Misbehaviour = HostileMatrixTests.Misbehaviour

        private static let identity = ReaderIdentity.plainVirtual
        private static let opened = [
            SensorEvent.reader(.plainVirtual), .opened(presence: [.host], others: []),
        ]

        private func open(_ sensor: inout SensorClient) throws {
            guard let set = makeSet([Array("FP3 a template of no reader".utf8)], Self.identity, onReader: false) else {
                return
            }
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
        }

        /// Takes so many requests.
        private func taking(_ count: Int) -> String {
            "for request in $(seq \(count)); do dd bs=65536 count=1 <&3 > /dev/null 2>&1; done; "
        }

        /// Catches a second try in which anything counts that the helper says or does after the first.
        @Test(arguments: Misbehaviour.allCases) func afterAMismatch(misbehaviour: Misbehaviour) throws {
            let stage = try Stage()
            var sensor = client(
                try stage.standIn(
                    Self.opened + [.armed, .notMatched], taking(4) + (try misbehaviour.lines())), openSeconds: 1)
            try open(&sensor)
            try sensor.arm()
            #expect(sensor.awaitTouch(seconds: 1) == .notRecognised)
            let start = Date()
            do throws(ReaderProblem) {
                try sensor.arm()
                let touch = sensor.awaitTouch(seconds: 1)
                guard case .failed = touch else {
                    Issue.record("\(touch)")
                    return
                }
            } catch { #expect([.helperFailed, .timedOut].contains(error)) }
            #expect(sensor.awaitTouch(seconds: 1) == .failed(.helperFailed))
            sensor.close()
            sensor.stopListening()
            #expect(Date().timeIntervalSince(start) < 6)
            let pid = stage.pid()
            #expect(isGone(pid))
        }

        /// Catches a wait without end for a reader that wakes up, a field that is not attended to meanwhile, and a list that is
        /// believed.
        @Test(arguments: Misbehaviour.allCases) func afterASleep(misbehaviour: Misbehaviour) throws {
            let stage = try Stage()
            var sensor = client(try stage.script(try misbehaviour.lines()), openSeconds: 1)
            sensor.waking = SensorClient.Waking(reader: Self.identity, end: Deadline(milliseconds: 500))
            let start = Date()
            var problem: ReaderProblem?
            do { _ = try sensor.readers() } catch { problem = error }
            #expect(problem == .slept || problem == .helperFailed, "\(String(describing: problem))")
            #expect(Date().timeIntervalSince(start) < 4)
            sensor.waking = SensorClient.Waking(reader: Self.identity, end: Deadline(milliseconds: 4000))
            var field = PipeField()
            let typing = field.press("e", after: 10)
            #expect(throws: SensorStop.self) { try sensor.readers(beside: &field) }
            sensor.close()
            #expect(Date().timeIntervalSince(start) < 6)
            typing.join()
        }

        /// Catches a reader that is given up because one of the helpers that look for it after a sleep has died, and helpers
        /// without number where each of them does.
        @Test(arguments: [1, 2, 3, 100]) func helpersThatDieAfterASleep(deaths: Int) throws {
            let stage = try Stage()
            func lines(_ events: [SensorEvent]) throws -> String {
                try events.map { "printf '\(try escaped($0))' >&3" }.joined(separator: "; ")
            }
            let path = try stage.script(
                """
                echo >> '\(stage.folder)/starts'
                count=$(wc -l < '\(stage.folder)/starts')
                if [ $count = 1 ]; then
                    \(taking(1))
                    \(try lines([.listed(count: 0, virtualRefused: false)]))
                elif [ $count -gt \(1 + deaths) ]; then
                    \(taking(1))
                    \(try lines([.reader(.plainVirtual), .listed(count: 1, virtualRefused: false)]))
                else
                    exit 0
                fi
                exec sleep 30
                """)
            var sensor = client(path)
            sensor.waking = SensorClient.Waking(reader: Self.identity, end: Deadline(milliseconds: 4000))
            if deaths <= 3 {
                #expect(try sensor.readers() == [.plainVirtual])
            } else {
                #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            }
            let starts = try String(contentsOfFile: stage.folder + "/starts", encoding: .utf8).count
            #expect(starts <= 9, "\(starts)")
        }

        /// Catches a helper that speaks although it was asked nothing, while another program has the reader, and is believed.
        @Test(arguments: Misbehaviour.allCases) func whileTheReaderIsBusy(misbehaviour: Misbehaviour) throws {
            let stage = try Stage()
            // The first finds the reader busy; each after it misbehaves from its start on.
            let path = try stage.script(
                """
                if mkdir '\(stage.folder)/first' 2> /dev/null; then
                    \(taking(3))
                    printf '\(try escaped(.failed(.busy)))' >&3
                    exec sleep 30
                fi
                \(try misbehaviour.lines())
                """)
            var sensor = client(path, openSeconds: 1)
            let start = Date()
            var problem: ReaderProblem?
            do { try open(&sensor) } catch { problem = error as? ReaderProblem }
            #expect(problem == .helperFailed || problem == .timedOut, "\(String(describing: problem))")
            sensor.close()
            #expect(Date().timeIntervalSince(start) < 6)
        }

        /// Catches a helper that keeps a program from ending: it is asked to close and does anything else.
        @Test(arguments: Misbehaviour.allCases) func whileItCloses(misbehaviour: Misbehaviour) throws {
            let stage = try Stage()
            var sensor = client(
                try stage.standIn(Self.opened, taking(3) + (try misbehaviour.lines())), openSeconds: 1)
            try open(&sensor)
            let start = Date()
            sensor.startClosing()
            sensor.close()
            #expect(Date().timeIntervalSince(start) < 3)
            let pid = stage.pid()
            #expect(isGone(pid))
        }

        // MARK: A reader that vanishes

        /// The real helper and its virtual reader, open for one print.
        private func withReader(_ body: (inout SensorClient, VirtualReader) throws -> Void) throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            guard let set = makeSet(try plainTemplates(of: ["f1"]), Self.identity, onReader: false) else {
                throw ReaderProblem.faulty
            }
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            try body(&sensor, reader)
            // Plugged in again.
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            try sensor.arm()
            let scan = Background { reader.send("SCAN f1") }
            #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 0))
            scan.join()
            sensor.close()
            sensor.stopListening()
        }

        private func touch(_ sensor: inout SensorClient) -> Touch {
            do throws(ReaderProblem) { try sensor.arm() } catch { return .failed(error) }
            return sensor.awaitTouch(seconds: 10)
        }

        /// Catches a reader that goes before it is armed, and is told as anything else than unplugged, or waited for.
        @Test func unpluggedBeforeItIsArmed() throws {
            try withReader { sensor, reader in
                reader.send("UNPLUG")
                let start = Date()
                #expect(touch(&sensor) == .failed(.removed))
                #expect(Date().timeIntervalSince(start) < 2)
            }
        }

        /// Catches the same between two tries, while the chip rests.
        @Test func unpluggedBetweenTwoTries() throws {
            try withReader { sensor, reader in
                try sensor.arm()
                let scan = Background { reader.send("SCAN x") }
                #expect(sensor.awaitTouch(seconds: 10) == .notRecognised)
                scan.join()
                let pulling = Background {
                    usleep(100_000)
                    reader.send("UNPLUG")
                }
                let start = Date()
                #expect(touch(&sensor) == .failed(.removed))
                #expect(Date().timeIntervalSince(start) < 3)
                pulling.join()
            }
        }

        /// Catches a reader that goes at the very moment in which a person gives up: the cancel and the end of the reader cross.
        @Test func unpluggedWhileItIsCancelled() throws {
            try withReader { sensor, reader in
                var field = PipeField()
                try sensor.arm(beside: &field)
                let pulling = Background { [field] in
                    reader.send("UNPLUG")
                    field.press("c")
                }
                let ending = sensor.awaitTouch(seconds: 10, beside: &field)
                pulling.join()
                switch ending {
                case .setAside(.cancelled, _), .failed(.removed): break
                default: Issue.record("\(ending)")
                }
            }
        }
    }
}
