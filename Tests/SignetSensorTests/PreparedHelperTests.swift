import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

extension SensorTests {
    /// A helper that is started before anybody has asked for a touch.
    @Suite struct PreparedHelperTests {
        private static let identity = ReaderIdentity.plainVirtual

        /// How many helpers the script has started: it writes a letter for each.
        private func counting(_ stage: Stage) throws -> String {
            try stage.script(
                """
                printf x >> '\(stage.folder)/starts'
                export FP_VIRTUAL_DEVICE='\(stage.socketPath)'
                exec '\(Stage.helper ?? "")' --allow-virtual
                """)
        }

        private func starts(_ stage: Stage) -> Int {
            (try? String(contentsOfFile: stage.folder + "/starts", encoding: .utf8).count) ?? 0
        }

        /// Catches a second helper for one touch: one is enough to list, open and arm, however often it is prepared.
        @Test func oneHelperServesACall() throws {
            let stage = try Stage()
            var sensor = client(try counting(stage))
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            sensor.prepare()
            sensor.prepare()
            let pid = stage.pid()
            #expect(try sensor.readers().map { $0.identity } == [Self.identity])
            #expect(try sensor.readers().map { $0.identity } == [Self.identity])
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            #expect(starts(stage) == 1)
            #expect(stage.pid() == pid)
            sensor.close()
            #expect(waitpid(pid, nil, WNOHANG) == -1)
            #expect(isGone(pid))
        }

        /// Catches a reader that is opened, and so taken from others, while a person only reads the prompt.
        @Test func preparingOpensNothing() throws {
            let stage = try Stage()
            var sensor = client(try counting(stage))
            sensor.prepare()
            // The list is answered after everything that was prepared.
            _ = try sensor.readers()
            #expect(!FileManager.default.fileExists(atPath: stage.socketPath))
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            #expect(FileManager.default.fileExists(atPath: stage.socketPath))
        }

        /// Catches a helper that stays behind when the PIN was typed instead, whether it is waited for at once or later.
        @Test(arguments: [false, true]) func anUnusedHelperIsGone(early: Bool) throws {
            let stage = try Stage()
            var sensor = client(try counting(stage))
            sensor.prepare()
            let pid = stage.pid()
            if early { sensor.startClosing() }
            if early { sensor.startClosing() }
            let start = Date()
            sensor.close()
            #expect(Date().timeIntervalSince(start) < 5)
            #expect(waitpid(pid, nil, WNOHANG) == -1)
            #expect(isGone(pid))
            sensor.startClosing()
            #expect(starts(stage) == 1)
        }

        /// Catches a touch that is refused because the helper met its end while the person read the prompt.
        @Test func aDeadHelperIsReplaced() throws {
            let stage = try Stage()
            var sensor = client(try counting(stage))
            sensor.prepare()
            _ = try sensor.readers()
            kill(stage.pid(), SIGKILL)
            #expect(try sensor.readers().map { $0.identity } == [Self.identity])
            #expect(starts(stage) == 2)
        }

        /// Catches a helper that is asked again and again, or a frozen one that is waited for twice as long.
        @Test func aBadHelperIsReplacedOnce() throws {
            let stage = try Stage()
            var sensor = client(try stage.script("printf x >> '\(stage.folder)/starts'"))
            sensor.prepare()
            #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            #expect(starts(stage) == 2)
            let silent = try Stage()
            var other = client(
                try silent.script("printf x >> '\(silent.folder)/starts'; exec sleep 30"), openSeconds: 1)
            other.prepare()
            #expect(throws: ReaderProblem.timedOut) { try other.readers() }
            #expect(starts(silent) == 1)
        }

        /// Catches a failure that shows, or that keeps the ordinary way from saying what is wrong.
        @Test func failingToPrepareIsSilent() throws {
            var sensor = client("/nonexistent/helper")
            sensor.prepare()
            #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            sensor.close()
        }

        /// Catches a match that is still taken from a reader that was told to close.
        @Test func nothingIsAskedOfAClosingHelper() throws {
            let stage = try Stage()
            var sensor = client(try counting(stage))
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            sensor.startClosing()
            #expect(throws: ReaderProblem.helperFailed) { try sensor.arm() }
            #expect(sensor.awaitTouch(seconds: 1) == .failed(.helperFailed))
            // The next touch has a helper of its own.
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            #expect(starts(stage) == 2)
            sensor.stopListening()
        }
    }
}
