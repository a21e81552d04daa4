import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import Synchronization
import Testing

/// How often the handler ran; signals are sent to the test's own thread, so that no other thread takes them.
private let handled = Atomic<Int>(0)

extension SensorTests {
    @Suite struct SignalTests {
        private static let identity = ReaderIdentity.plainVirtual

        /// Opens a reader with one print, with a handler on `signal` that counts; answers the client's results of `body`.
        private func withReader(
            _ signal: Int32, ignoring: Bool = false, _ body: (inout SensorClient, VirtualReader) throws -> Void
        ) throws {
            // A thread may have been made while another test had everything blocked.
            var all = sigset_t()
            sigemptyset(&all)
            for signal in Self.signals { sigaddset(&all, signal) }
            pthread_sigmask(SIG_UNBLOCK, &all, nil)
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            guard let none = makeSet([], Self.identity, onReader: false), let finger = Finger(number: 7) else { return }
            _ = try sensor.open(Self.identity, for: none, gallery: [])
            let scans = Background { reader.send([String](repeating: "SCAN f1", count: 5)) }
            let print = try sensor.enroll(finger, userName: [97]) { _ in }
            scans.join()
            sensor.stopListening()
            guard let print, let set = makeSet([print.template.copied()], Self.identity, onReader: false) else {
                return
            }
            var old = sigaction()
            var new = sigaction()
            new.__sigaction_handler.sa_handler = ignoring ? SIG_IGN : { _ in handled.add(1, ordering: .relaxed) }
            sigaction(signal, &new, &old)
            defer { sigaction(signal, &old, nil) }
            handled.store(0, ordering: .relaxed)
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            try body(&sensor, reader)
            sensor.stopListening()
        }

        private static let signals: [Int32] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGALRM]

        /// Catches a signal that acts before the charge is settled, one that is swallowed, and one that acts twice.
        @Test(arguments: signals) func aSignalEndsTheWaitAndActsLater(signal: Int32) throws {
            try withReader(signal) { sensor, _ in
                try sensor.arm()
                let me = pthread_self()
                let sender = Background {
                    usleep(50_000)
                    pthread_kill(me, signal)
                }
                #expect(sensor.awaitTouch(seconds: 10) == .interrupted(fingerSeen: false))
                sender.join()
                #expect(handled.load(ordering: .relaxed) == 0)
                sensor.close()
                #expect(handled.load(ordering: .relaxed) == 0)
                sensor.stopListening()
                #expect(handled.load(ordering: .relaxed) == 1)
                sensor.stopListening()
                #expect(handled.load(ordering: .relaxed) == 1)
            }
        }

        /// Catches a wait that begins although the caller has already been asked to stop, and a mask that is not restored.
        @Test func aSignalThatIsPendingCounts() throws {
            try withReader(SIGTERM) { sensor, reader in
                var blocked = sigset_t()
                var before = sigset_t()
                sigemptyset(&blocked)
                sigaddset(&blocked, SIGTERM)
                pthread_sigmask(SIG_BLOCK, &blocked, &before)
                pthread_kill(pthread_self(), SIGTERM)
                try sensor.arm()
                reader.send("FINGER 1")
                let touch = sensor.awaitTouch(seconds: 10)
                let isInterrupted = touch == .interrupted(fingerSeen: false) || touch == .interrupted(fingerSeen: true)
                #expect(isInterrupted)
                sensor.stopListening()
                // The caller's own mask is in force again: still blocked, still pending.
                #expect(handled.load(ordering: .relaxed) == 0)
                pthread_sigmask(SIG_SETMASK, &before, nil)
                #expect(handled.load(ordering: .relaxed) == 1)
                var now = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &now)
                for signal in Self.signals { #expect(sigismember(&now, signal) == sigismember(&before, signal)) }
            }
        }

        /// Catches a wait that ends by a signal which the caller ignores, as under nohup.
        @Test func anIgnoredSignalIsNone() throws {
            try withReader(SIGHUP, ignoring: true) { sensor, reader in
                try sensor.arm()
                pthread_kill(pthread_self(), SIGHUP)
                let scan = Background { reader.send("SCAN f1") }
                #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 0))
                scan.join()
            }
        }

        /// Catches a person's finger that is forgotten when the wait is interrupted.
        @Test func anInterruptedWaitKnowsTheFinger() throws {
            try withReader(SIGINT) { sensor, reader in
                try sensor.arm()
                let me = pthread_self()
                let sender = Background {
                    reader.send("FINGER 1")
                    usleep(50_000)
                    pthread_kill(me, SIGINT)
                }
                #expect(sensor.awaitTouch(seconds: 10) == .interrupted(fingerSeen: true))
                sender.join()
            }
        }

        /// Catches Ctrl-C that does not end an enrollment, or that leaves the reader of no use.
        @Test func aSignalEndsAnEnrollment() throws {
            try withReader(SIGINT) { sensor, reader in
                let finger = try #require(Finger(number: 3))
                let me = pthread_self()
                let sender = Background {
                    reader.send(["SCAN f9", "SCAN f9"])
                    usleep(50_000)
                    pthread_kill(me, SIGINT)
                }
                let isNil = try sensor.enroll(finger, userName: [97]) { _ in } == nil
                #expect(isNil)
                sender.join()
                #expect(handled.load(ordering: .relaxed) == 0)
                sensor.stopListening()
                #expect(handled.load(ordering: .relaxed) == 1)
                try sensor.arm()
                let scan = Background { reader.send("SCAN f1") }
                #expect(sensor.awaitTouch(seconds: 10) == .matched(index: 0))
                scan.join()
            }
        }

        /// Catches a client that goes away with the caller's signals still blocked.
        @Test func lettingGoRestoresTheMask() throws {
            var before = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &before)
            try withReader(SIGUSR2) { sensor, _ in
                try sensor.arm()
                sensor = client("/nonexistent")
            }
            var now = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &now)
            for signal in Self.signals { #expect(sigismember(&now, signal) == sigismember(&before, signal)) }
        }
    }
}
