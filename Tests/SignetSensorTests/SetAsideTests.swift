import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

extension SensorTests {
    /// Something happens at the field while a reader is listed, opened, armed or awaited.
    @Suite struct SetAsideTests {
        private static let identity = ReaderIdentity.plainVirtual

        private static let description = ReaderDescription.plainVirtual

        static let opened: [SensorEvent] = [
            .reader(description), .opened(presence: [.host], others: []),
        ]

        private func set() throws -> EnrollmentSet {
            guard let set = makeSet([Array("FP3 a template of no reader".utf8)], Self.identity, onReader: false) else {
                throw ReaderProblem.faulty
            }
            return set
        }

        /// Opens a stand-in, or its real reader, for one print.
        func open(_ sensor: inout SensorClient) throws {
            _ = try sensor.open(Self.identity, for: try set(), gallery: [0])
        }

        /// The real helper with the finger "f1" enrolled and its reader open.
        private func withReader(_ body: (inout SensorClient, VirtualReader, Stage) throws -> Void) throws {
            let stage = try Stage()
            let reader = VirtualReader(path: stage.socketPath)
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            guard let set = makeSet(try plainTemplates(of: ["f1"]), Self.identity, onReader: false) else {
                throw ReaderProblem.faulty
            }
            _ = try sensor.open(Self.identity, for: set, gallery: [0])
            try body(&sensor, reader, stage)
            sensor.close()
            sensor.stopListening()
        }

        private func matches(_ sensor: inout SensorClient, _ reader: VirtualReader) throws -> Bool {
            var field = PipeField()
            try sensor.arm(beside: &field)
            let scan = Background { reader.send("SCAN f1") }
            defer { scan.join() }
            return sensor.awaitTouch(seconds: 10, beside: &field) == .matched(index: 0)
        }

        // MARK: Before a finger is charged

        /// Catches a person with the PIN typed who waits for a reader that is only being looked for.
        @Test(arguments: [("e", FieldEvent.answered), ("c", .cancelled), ("l", .left)])
        func aKeyWhileListing(key: String, event: FieldEvent) throws {
            let stage = try Stage()
            var sensor = client(try stage.script("exec sleep 30"))
            var field = PipeField()
            sensor.prepare()
            let pid = stage.pid()
            let typing = field.press("12" + key, after: 50)
            let start = Date()
            #expect(throws: SensorStop.setAside(event)) { try sensor.readers(beside: &field) }
            sensor.close()
            #expect(Date().timeIntervalSince(start) < 0.35)
            typing.join()
            #expect(isGone(pid))
        }

        /// Catches a person held up by a reader that takes long to open, whether its helper looks up or not, and a claim
        /// that outlives it.
        @Test(arguments: ["exec sleep 5", "trap '' TERM HUP; sleep 5; sleep 5"])
        func aKeyWhileOpening(slowly: String) throws {
            let stage = try Stage()
            let claims = stage.folder + "/claims"
            let listing = [SensorEvent.reader(Self.description), .listed(count: 1, virtualRefused: false)]
            var sensor = client(try stage.standIn(listing, slowly), claims: claims)
            var field = PipeField()
            #expect(try sensor.readers(beside: &field).count == 1)
            let pid = stage.pid()
            let set = try set()
            let typing = field.press("1234e", after: 50)
            let start = Date()
            var stop: SensorStop?
            do { _ = try sensor.open(Self.identity, at: .virtual, for: set, gallery: [0], beside: &field) } catch {
                stop = error
            }
            #expect(stop == .setAside(.answered))
            #expect(Date().timeIntervalSince(start) < 0.2)
            sensor.startClosing()
            sensor.close()
            #expect(Date().timeIntervalSince(start) < 0.35)
            typing.join()
            #expect(isGone(pid))
            _ = try ReaderClaim(Self.identity, in: Array(claims.utf8))
        }

        /// Catches keys that wait until a helper that takes no packets has taken them.
        @Test func aKeyWhileSending() throws {
            let stage = try Stage()
            var sensor = client(try stage.script("exec sleep 30"))
            var field = PipeField()
            // Ten prints of 32 kB do not fit into the socket.
            let templates = [[UInt8]](repeating: [UInt8](repeating: 1, count: 32_768), count: 10)
            guard let big = makeSet(templates, Self.identity, onReader: false) else { return }
            let typing = field.press("e", after: 50)
            let start = Date()
            var stop: SensorStop?
            do {
                _ = try sensor.open(Self.identity, at: .virtual, for: big, gallery: Array(0..<10), beside: &field)
            } catch { stop = error }
            #expect(stop == .setAside(.answered))
            #expect(Date().timeIntervalSince(start) < 0.3)
            typing.join()
        }

        /// Catches a client that is of no use after it was set aside: the person comes back to the same prompt.
        @Test func anotherReaderOpensAfterwards() throws {
            let stage = try Stage()
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"), claims: stage.folder + "/claims")
            guard let none = makeSet([], Self.identity, onReader: false) else { return }
            for _ in 0..<3 {
                var field = PipeField()
                field.press("l")
                #expect(throws: SensorStop.setAside(.left)) { try sensor.readers(beside: &field) }
                #expect(try sensor.readers(beside: &field).count == 1)
                _ = try sensor.open(Self.identity, at: .virtual, for: none, gallery: [], beside: &field)
                sensor.close()
            }
        }

        // MARK: After a finger was charged

        /// Catches a key that is lost because it was pressed while the reader got ready, and a try that is not given back.
        @Test func aKeyWhileArming() throws {
            try withReader { sensor, reader, _ in
                var field = PipeField()
                field.press("e")
                try sensor.arm(beside: &field)
                #expect(sensor.awaitTouch(seconds: 10, beside: &field) == .setAside(.answered, fingerSeen: false))
                #expect(try matches(&sensor, reader))
            }
        }

        /// Catches a helper that was never ready and is believed to have seen no finger.
        @Test func aKeyWhileArmingForEver() throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(Self.opened, "exec sleep 30"))
            try open(&sensor)
            var field = PipeField()
            let typing = field.press("c", after: 50)
            try sensor.arm(beside: &field)
            #expect(sensor.awaitTouch(seconds: 10, beside: &field) == .setAside(.cancelled, fingerSeen: true))
            typing.join()
            #expect(isGone(stage.pid()))
            sensor.stopListening()
        }

        /// Catches a wait that goes on after the PIN was typed, one that ends at the first key, and a forgotten finger.
        @Test(arguments: [false, true]) func aKeyWhileAwaiting(touching: Bool) throws {
            try withReader { sensor, reader, _ in
                var field = PipeField()
                try sensor.arm(beside: &field)
                let typing = Background { [field] in
                    if touching { reader.send("FINGER 1") }
                    for key in ["1", "2", "3", "4", "e"] {
                        usleep(20_000)
                        field.press(key)
                    }
                }
                let start = Date()
                let touch = sensor.awaitTouch(seconds: 10, beside: &field)
                #expect(touch == .setAside(.answered, fingerSeen: touching))
                #expect(Date().timeIntervalSince(start) < 2)
                #expect(field.looks >= 5)
                typing.join()
                if touching { reader.send("FINGER 0") }
                #expect(try matches(&sensor, reader))
            }
        }

        /// Catches a finger that is not accepted because somebody has begun to type.
        @Test func aTouchAfterSomeKeys() throws {
            try withReader { sensor, reader, _ in
                var field = PipeField()
                try sensor.arm(beside: &field)
                let typing = Background { [field] in
                    field.press("12")
                    usleep(20_000)
                    reader.send("SCAN f1")
                }
                #expect(sensor.awaitTouch(seconds: 10, beside: &field) == .matched(index: 0))
                typing.join()
            }
        }

        /// Catches a match that came first and is lost to a key.
        @Test func aMatchBeforeAKey() throws {
            #expect(try touch(afterTheMatch: "e") == .matched(index: 0))
        }

        /// What is answered where the match was sent before the person pressed this key, and looked at after it.
        func touch(afterTheMatch key: String) throws -> Touch {
            let stage = try Stage()
            let events = Self.opened + [.armed, .fingerSeen, .matched(index: 0)]
            var sensor = client(try stage.standIn(events, "touch '\(stage.folder)/sent'; exec sleep 30"))
            try open(&sensor)
            var field = PipeField()
            try sensor.arm(beside: &field)
            for _ in 0..<500 where !FileManager.default.fileExists(atPath: stage.folder + "/sent") { usleep(5_000) }
            field.press(key)
            defer { sensor.stopListening() }
            return sensor.awaitTouch(seconds: 5, beside: &field)
        }

        /// Catches a finger that lets in who has cancelled or typed already, an answer of the helper that swallows what the
        /// person did, and a touched reader whose try is given back.
        @Test(
            arguments: [
                [.armed, .fingerSeen, .matched(index: 0)], [.armed, .matched(index: 0)], [.armed, .notMatched],
                [.armed, .retry(.tooShort)], [.armed, .cancelled(fingerSeen: true)], [.failed(.removed)],
                [.armed, .failed(.tooHot)], [.armed, .deleted], [.matched(index: 0)], [.armed, .matched(index: 7)],
            ] as [[SensorEvent]])
        func whatComesAfterAKey(events: [SensorEvent]) throws {
            let stage = try Stage()
            // Dash reads no packets: the events come while the cancel is on its way.
            let late = try events.map { "printf '\(try escaped($0))' >&3" }.joined(separator: "\n")
            let ending = "while [ ! -e '\(stage.folder)/go' ]; do sleep 0.02; done\n\(late)\nexec sleep 30"
            var sensor = client(try stage.standIn(Self.opened, ending))
            try open(&sensor)
            var field = PipeField()
            field.press("c")
            try sensor.arm(beside: &field)
            _ = FileManager.default.createFile(atPath: stage.folder + "/go", contents: nil)
            #expect(sensor.awaitTouch(seconds: 5, beside: &field) == .setAside(.cancelled, fingerSeen: true))
            sensor.stopListening()
        }

        /// Catches a match that is lost only because it crossed the end of the wait on its way.
        @Test func aMatchThatCrossesTheDeadline() throws {
            let stage = try Stage()
            let ending = "sleep 0.3; printf '\(try escaped(.matched(index: 0)))' >&3; exec sleep 30"
            var sensor = client(try stage.standIn(Self.opened + [.armed], ending))
            try open(&sensor)
            var field = PipeField()
            try sensor.arm(beside: &field)
            #expect(sensor.awaitTouch(seconds: 0, beside: &field) == .matched(index: 0))
            sensor.stopListening()
        }

        /// Catches a PIN that is lost because the reader's own time was up while it was typed.
        @Test func aKeyAfterTheDeadline() throws {
            let stage = try Stage()
            var sensor = client(try stage.standIn(Self.opened + [.armed], "exec sleep 30"))
            try open(&sensor)
            var field = PipeField()
            try sensor.arm(beside: &field)
            let typing = field.press("e", after: 100)
            #expect(sensor.awaitTouch(seconds: 0, beside: &field) == .setAside(.answered, fingerSeen: true))
            typing.join()
            sensor.stopListening()
        }

        /// Catches a free guess: who freezes the helper after a touch and types gets the try back.
        @Test func aKeyBesideAFrozenHelper() throws {
            try withReader { sensor, _, stage in
                var field = PipeField()
                try sensor.arm(beside: &field)
                let pid = stage.pid()
                kill(pid, SIGSTOP)
                field.press("e")
                let start = Date()
                #expect(sensor.awaitTouch(seconds: 30, beside: &field) == .setAside(.answered, fingerSeen: true))
                #expect(Date().timeIntervalSince(start) < 3)
                #expect(isGone(pid))
            }
        }

        // MARK: What is no key

        /// Catches a signal that two places see: the field's is the field's alone.
        @Test func aSignalOfTheField() throws {
            try withReader { sensor, _, _ in
                var field = PipeField()
                var ends: [Int32] = [-1, -1]
                pipe(&ends)
                _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
                defer { for descriptor in ends { close(descriptor) } }
                field.signals = ends[0]
                var blocked = sigset_t()
                var before = sigset_t()
                sigemptyset(&blocked)
                sigaddset(&blocked, SIGTERM)
                pthread_sigmask(SIG_BLOCK, &blocked, &before)
                pthread_kill(pthread_self(), SIGTERM)
                try sensor.arm(beside: &field)
                // Pending all the time, but the field says nothing of it: it is no interruption.
                #expect(sensor.awaitTouch(seconds: 0, beside: &field) == .timedOut(fingerSeen: false))
                try sensor.arm(beside: &field)
                _ = write(ends[1], "x", 1)
                #expect(sensor.awaitTouch(seconds: 10, beside: &field) == .setAside(.cancelled, fingerSeen: false))
                sensor.stopListening()
                var taken: Int32 = 0
                sigwait(&blocked, &taken)
                #expect(taken == SIGTERM)
                pthread_sigmask(SIG_SETMASK, &before, nil)
            }
        }

        /// Catches a field that nobody looks at when its own time is up, while opening and while awaiting.
        @Test func theFieldsOwnDeadline() throws {
            let stage = try Stage()
            var slow = client(try stage.script("exec sleep 30"))
            var field = PipeField()
            field.end = Date().addingTimeInterval(0.1)
            let start = Date()
            #expect(throws: SensorStop.setAside(.timedOut)) { try slow.readers(beside: &field) }
            let took = Date().timeIntervalSince(start)
            #expect(took >= 0.1 && took < 0.4)
            try withReader { sensor, _, _ in
                var field = PipeField()
                try sensor.arm(beside: &field)
                field.end = Date().addingTimeInterval(0.1)
                #expect(sensor.awaitTouch(seconds: 10, beside: &field) == .setAside(.timedOut, fingerSeen: false))
                #expect(field.looks < 20)
            }
        }

        /// Catches a terminal that goes away, and a prompt that stays.
        @Test func theTerminalHangsUp() throws {
            try withReader { sensor, _, _ in
                var field = PipeField()
                try sensor.arm(beside: &field)
                let going = Background { [field] in
                    usleep(50_000)
                    field.hangUp()
                }
                #expect(sensor.awaitTouch(seconds: 10, beside: &field) == .setAside(.cancelled, fingerSeen: false))
                going.join()
            }
        }

        /// Catches a loop that burns a processor beside a descriptor that stays readable, and that forgets the reader for it.
        @Test(arguments: [false, true]) func aFieldThatTakesNothing(gone: Bool) throws {
            try withReader { sensor, reader, _ in
                var field = PipeField()
                field.isBroken = true
                if gone { field.hangUp() } else { field.press("e") }
                try sensor.arm(beside: &field)
                #expect(sensor.awaitTouch(seconds: 1, beside: &field) == .timedOut(fingerSeen: false))
                #expect(field.looks < 400)
                try sensor.arm(beside: &field)
                let scan = Background { reader.send("SCAN f1") }
                #expect(sensor.awaitTouch(seconds: 10, beside: &field) == .matched(index: 0))
                scan.join()
            }
        }
    }
}
