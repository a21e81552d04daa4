import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

extension SensorTests {
    /// A helper that behaves up to one moment and then no more: every moment with every kind of misbehaviour.
    @Suite struct HostileMatrixTests {
        /// What Signet waits for when the helper begins to misbehave.
        enum Moment: CaseIterable {
            case listing, opening, arming, touching, cancelling, enrolling, deleting
        }

        /// Ways to misbehave, as lines of a shell whose descriptor 3 is the socket.
        enum Misbehaviour: CaseIterable {
            case garbage, emptyPacket, wrongVersion, unknownKind, shortLength, longLength, trailingByte, hugePacket,
                echo
            case flood, silence, death, killed, closedSocket, everyMessage

            func lines() throws -> String {
                let pause = "; exec sleep 30"
                func header(_ bytes: [UInt8]) -> String {
                    "printf '" + bytes.map { "\\" + String($0, radix: 8).leftPadded(3) }.joined() + "' >&3" + pause
                }
                switch self {
                case .garbage: return "head -c 400 /dev/urandom >&3" + pause
                case .emptyPacket: return "printf '' >&3; exec 3>&-" + pause
                case .wrongVersion: return header([2, 68, 0, 0, 0, 0])
                case .unknownKind: return header([1, 200, 0, 0, 0, 0])
                case .shortLength: return header([1, 70, 2, 0, 0, 0, 10, 1, 0, 0])
                case .longLength: return header([1, 70, 200, 0, 0, 0, 10, 1, 0, 0])
                case .trailingByte: return header([1, 68, 1, 0, 0, 0, 0])
                case .hugePacket: return "dd if=/dev/zero bs=60000 count=1 >&3 2>/dev/null" + pause
                case .echo: return "exec cat <&3 >&3"
                case .flood:
                    let one = try escaped(.stage(done: 1, of: 5))
                    return "while printf '\(one)' >&3; do :; done"
                case .silence: return "exec sleep 30"
                case .death: return "exit 0"
                case .killed: return "kill -9 $$"
                case .closedSocket: return "exec 3>&-" + pause
                case .everyMessage:
                    let all: [SensorEvent] = [
                        .closed, .deleted, .listed(count: 3, virtualRefused: false), .matched(index: 0),
                        .opened(presence: [.host, .host], others: []), .armed, .notMatched, .fingerSeen,
                    ]
                    return try all.map { "printf '\(try escaped($0))' >&3" }.joined(separator: "; ") + pause
                }
            }
        }

        /// Catches a misbehaviour that, at some moment, is taken for an answer, waited for without end, or fatal.
        @Test(arguments: Moment.allCases, Misbehaviour.allCases)
        func neverAnAnswer(moment: Moment, misbehaviour: Misbehaviour) throws {
            // A person has a minute for each touch of an enrollment.
            if moment == .enrolling, misbehaviour == .silence { return }
            let opened: [SensorEvent] = [.reader(.plainVirtual), .opened(presence: [.host], others: [])]
            let before: [SensorEvent]
            switch moment {
            case .listing, .opening: before = []
            case .arming, .enrolling, .deleting: before = opened
            case .touching, .cancelling: before = opened + [.armed]
            }
            let stage = try Stage()
            var sensor = client(try stage.standIn(before, try misbehaviour.lines()), openSeconds: 1)
            let start = Date()
            guard
                let set = makeSet([Array("FP3 a template of no reader".utf8)], .plainVirtual, onReader: false),
                let finger = Finger(number: 7)
            else { return }
            let problems: [ReaderProblem] = [.helperFailed, .timedOut, .stalled]
            if moment == .listing {
                do throws(ReaderProblem) {
                    Issue.record("listed \(try sensor.readers())")
                } catch { #expect(problems.contains(error)) }
            } else {
                do throws(ReaderProblem) {
                    _ = try sensor.open(.plainVirtual, for: set, gallery: [0])
                    if moment == .opening { Issue.record("it was opened") }
                    try use(&sensor, moment, finger)
                } catch { #expect(problems.contains(error)) }
            }
            // Whatever comes afterwards is no answer either.
            #expect(sensor.awaitTouch(seconds: 1) == .failed(.helperFailed))
            sensor.close()
            sensor.stopListening()
            #expect(Date().timeIntervalSince(start) < 15)
            let pid = stage.pid()
            #expect(isGone(pid), "the helper is still there")
        }

        private func use(_ sensor: inout SensorClient, _ moment: Moment, _ finger: Finger) throws(ReaderProblem) {
            switch moment {
            case .listing, .opening: break
            case .arming, .touching, .cancelling:
                try sensor.arm()
                // A flood or a lie may reach `arm` or the touch, but must end in a failure.
                let touch = sensor.awaitTouch(seconds: moment == .cancelling ? 0 : 1)
                guard case .failed(let problem) = touch else {
                    Issue.record("\(touch)")
                    return
                }
                throw problem
            case .enrolling:
                let print = try sensor.enroll(finger, userName: [97]) { _ in }
                Issue.record(print == nil ? "enrolling was cancelled" : "a print was enrolled")
            case .deleting:
                try sensor.deleteFromReader(index: 0)
                Issue.record("a print was deleted")
            }
        }
    }
}
