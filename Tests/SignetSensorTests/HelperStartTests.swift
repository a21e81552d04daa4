import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

extension SensorTests {
    /// What a helper gets of its parent, what its parent keeps of it, and which files are helpers at all.
    @Suite struct HelperStartTests {
        /// Catches anything of the caller that reaches the helper: environment, descriptors, signals, limits, folder.
        @Test func nothingOfTheCallerIsLeft() throws {
            let stage = try Stage()
            let file = stage.folder + "/facts"
            let path = try stage.script(
                """
                tr '\\0' '\\n' < /proc/$$/environ > '\(file).environ'
                (cat /proc/$$/status > '\(file).status')
                cat /proc/$$/limits > '\(file).limits'
                cat /proc/$$/stat > '\(file).stat'
                (ls -l /proc/$$/fd > '\(file).fds')
                readlink /proc/$$/cwd > '\(file).cwd'
                umask > '\(file).umask'
                """)
            setenv("FP_VIRTUAL_DEVICE", "/tmp/attack", 1)
            setenv("LD_PRELOAD", "/tmp/attack.so", 1)
            defer {
                unsetenv("FP_VIRTUAL_DEVICE")
                unsetenv("LD_PRELOAD")
            }
            var blocked = sigset_t()
            var before = sigset_t()
            sigfillset(&blocked)
            pthread_sigmask(SIG_BLOCK, &blocked, &before)
            signal(SIGPIPE, SIG_IGN)
            let open = open("/etc/passwd", O_RDONLY)
            // More than the helper may have itself, and some that lie high.
            let many = (0..<150).map { _ in dup(open) }
            let high = fcntl(open, F_DUPFD, 300)
            defer {
                close(open)
                close(high)
                for descriptor in many { close(descriptor) }
                signal(SIGPIPE, SIG_DFL)
                pthread_sigmask(SIG_SETMASK, &before, nil)
            }
            var sensor = client(path)
            #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: file + "." + name, encoding: .utf8)
            }
            #expect(try text("environ") == "PATH=/usr/bin:/bin\nLC_ALL=C\nLD_BIND_NOW=1\n")
            let status = try text("status")
            #expect(status.contains("Uid:\t0\t0\t0\t0"))
            #expect(status.contains("Gid:\t0\t0\t0\t0"))
            #expect(status.contains("Groups:\t \n"))
            #expect(status.contains("SigBlk:\t0000000000000000"))
            #expect(status.contains("SigIgn:\t0000000000000000"))
            // Lines of ls(1): "… 0 -> /dev/null". What the shell itself opened, on the script, does not count.
            let links = try text("fds").split(separator: "\n").filter { $0.contains(" -> ") }.map { line in
                line.split(separator: " ").suffix(3).joined(separator: " ")
            }
            let inherited = links.filter { !$0.hasSuffix(" -> \(path)") }.sorted()
            #expect(inherited.count == 4, "\(inherited)")
            #expect(inherited.prefix(3) == ["0 -> /dev/null", "1 -> /dev/null", "2 -> /dev/null"])
            #expect(inherited.last?.hasPrefix("3 -> socket:") == true)
            #expect(try text("cwd") == "/\n")
            #expect(try text("umask") == "0077\n")
            let limits = try text("limits").split(separator: "\n").map { $0.split(separator: " ") }
            #expect(limits.contains { $0.prefix(5) == ["Max", "core", "file", "size", "0"] })
            #expect(limits.contains { $0.prefix(4) == ["Max", "open", "files", "128"] })
            // Fields 1 and 6 of stat: the session is the helper's own.
            let fields = try text("stat").split(separator: " ")
            #expect(fields[0] == fields[5])
        }

        /// Catches a helper that somebody else than root could have put there or changed.
        @Test func unsafeHelpersAreNotStarted() throws {
            let stage = try Stage()
            let mark = stage.folder + "/started"
            let good = try stage.script("touch '\(mark)'", name: "good")
            let groupWritable = try stage.script("touch '\(mark)'", mode: 0o775, name: "group")
            let notExecutable = try stage.script("touch '\(mark)'", mode: 0o644, name: "plain")
            let foreign = try stage.script("touch '\(mark)'", name: "foreign")
            chown(foreign, 65_534, 65_534)
            let link = stage.folder + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: good)
            let open = stage.folder + "/open"
            try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: good, toPath: open + "/helper")
            chmod(open, 0o777)
            let paths = [
                groupWritable, notExecutable, foreign, link, open + "/helper", stage.folder, stage.folder + "/absent",
                "",
                "/",
                "good", stage.folder + "/./good", stage.folder + "/open/../good", good + "\0x",
            ]
            for path in paths {
                var sensor = client(path)
                #expect(throws: ReaderProblem.helperFailed, "\(path)") { try sensor.readers() }
                #expect(!FileManager.default.fileExists(atPath: mark), "\(path)")
            }
            var sensor = client(good)
            #expect(throws: ReaderProblem.helperFailed) { try sensor.readers() }
            #expect(FileManager.default.fileExists(atPath: mark))
        }

        private static func descriptorCount() -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
        }

        /// Thirty readers opened and closed; says what stays behind of them in this process, or nil.
        private static func leftovers(ignoringChildren: Bool) throws -> String? {
            let stage = try Stage()
            var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
            let identity = ReaderIdentity(driver: Array("virtual_device".utf8), device: Array("0".utf8))
            guard let none = makeSet([], identity, onReader: false) else { return "no set" }
            if ignoringChildren { signal(SIGCHLD, SIG_IGN) }
            let before = descriptorCount()
            for _ in 0..<30 {
                try? FileManager.default.removeItem(atPath: stage.pidPath)
                _ = try sensor.open(identity, for: none, gallery: [])
                let pid = stage.pid()
                if kill(pid, 0) != 0 { return "no helper ran" }
                sensor.close()
                sensor.close()
                if waitpid(pid, nil, WNOHANG) != -1 || errno != ECHILD { return "a child" }
                // Whose child it is reaps it when it likes.
                if !isGone(pid) { return "a process" }
            }
            // Other tests of the process open a few meanwhile; thirty rounds would leave thirty.
            return descriptorCount() - before < 15 ? nil : "descriptors"
        }

        /// Catches a child or descriptor that stays behind, once for each authentication of a long-lived caller.
        @Test func nothingStaysInTheParent() throws {
            #expect(try Self.leftovers(ignoringChildren: false) == nil)
        }

        /// The same in a caller whose children are reaped by the kernel; a process of its own, since other tests of this
        /// one wait for children.
        @Test func nothingStaysWhereChildrenAreIgnored() async {
            await #expect(processExitsWith: .exitCode(77)) {
                exit(try HelperStartTests.leftovers(ignoringChildren: true) == nil ? 77 : 1)
            }
        }

        /// Catches a helper that lives on when its parent is gone: the socket's end is its own.
        @Test func helperEndsWithItsSocket() throws {
            let stage = try Stage()
            let identity = ReaderIdentity(driver: Array("virtual_device".utf8), device: Array("0".utf8))
            guard let none = makeSet([], identity, onReader: false) else { return }
            do {
                var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
                _ = try sensor.open(identity, for: none, gallery: [])
                let status = try String(contentsOfFile: "/proc/\(stage.pid())/status", encoding: .utf8)
                // Confined once the reader is open: as the user of its own, where Signet is installed, else as nobody.
                let own = getpwnam("signet").map { $0.pointee.pw_uid } ?? 65_534
                let uids = "Uid:\t\(own)\t\(own)\t\(own)\t\(own)"
                #expect(status.contains("NoNewPrivs:\t1"))
                #expect(status.contains(uids))
                #expect(status.contains("CapEff:\t0000000000000000"))
                // A thread of GLib's or libusb's without the filter would be a way around it.
                let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(stage.pid())/task")
                #expect(threads.count > 1)
                for thread in threads {
                    let status = try String(
                        contentsOfFile: "/proc/\(stage.pid())/task/\(thread)/status", encoding: .utf8)
                    #expect(status.contains("Seccomp:\t2"))
                    #expect(status.contains(uids))
                }
            }
            #expect(isGone(stage.pid()))
        }

        /// Catches a SIGCHLD that reaches the caller's handler, which would look for a child that it never had.
        @Test func noHandlerHearsOfTheHelper() async {
            await #expect(processExitsWith: .exitCode(77)) {
                let stage = try Stage()
                var sensor = client(try stage.virtual("FP_VIRTUAL_DEVICE"))
                guard let none = makeSet([], .plainVirtual, onReader: false) else { exit(2) }
                // The notice of what `client` ran beside the helper, cp(1), may be pending for a thread that blocks it; to ignore
                // it takes it away (signal(7)).
                signal(SIGCHLD, SIG_IGN)
                // A C function can keep nothing: what it heard lies in the process, as an alarm far away.
                signal(SIGCHLD) { _ in alarm(1000) }
                for _ in 0..<3 {
                    _ = try sensor.open(.plainVirtual, for: none, gallery: [])
                    sensor.close()
                }
                exit(alarm(0) == 0 ? 77 : 1)
            }
        }

        /// Catches a zombie in a caller that gets the children of others: one that is a subreaper, or a container's init.
        @Test func nothingStaysInASubreaper() async {
            await #expect(processExitsWith: .exitCode(77)) {
                typealias Control = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
                let control = unsafeBitCast(dlsym(nil, "prctl")!, to: Control.self)
                // PR_SET_CHILD_SUBREAPER of prctl(2).
                guard control(36, 1, 0, 0, 0) == 0 else { exit(2) }
                // What `client` runs beside the helper, cp(1), is reaped by Foundation.
                let left = try HelperStartTests.leftovers(ignoringChildren: false)
                guard left == nil else { exit(3) }
                exit(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD ? 77 : 4)
            }
        }

        /// Catches a helper that says that it has closed its reader, is not waited for, and goes on: it would hold the reader,
        /// or do with it what it likes.
        @Test func whoTakesLeaveAndStaysIsKilled() throws {
            let stage = try Stage()
            let identity = ReaderIdentity.plainVirtual
            guard let none = makeSet([], identity, onReader: false) else { return }
            var sensor = client(
                try stage.standIn(
                    [
                        .reader(.plainVirtual), .opened(presence: [], others: []), .closed,
                    ], "exec sleep 30"))
            _ = try sensor.open(identity, for: none, gallery: [])
            let pid = stage.pid()
            let start = Date()
            sensor.close()
            #expect(Date().timeIntervalSince(start) < 0.5)
            #expect(isGone(pid))
        }

        /// Starts the real helper without the client, to say what the client never says.
        private func helper(_ stage: Stage) throws -> HelperProcess {
            try HelperProcess(
                path: Array(stage.virtual("FP_VIRTUAL_DEVICE").utf8), arguments: [],
                packetLimit: SensorMessage.packetLimit)
        }

        /// Catches a helper that takes a request out of turn, or half a message.
        @Test(
            arguments: [
                [[1, 5, 0, 0, 0, 0]], [[1, 8, 4, 0, 0, 0, 10, 1, 0, 0]], [[1, 4, 0, 0, 0, 0]],
                [[1, 3, 4, 0, 0, 0, 6, 1, 0, 1]],
                [[9, 1, 0, 0, 0, 0]], [[1]], [[1, 68, 0, 0, 0, 0]], [[1, 1, 0, 0, 0, 0, 0]],
                [[1, 2, 8, 0, 0, 0, 1, 1, 0, 97, 2, 1, 0, 48], [1, 2, 8, 0, 0, 0, 1, 1, 0, 97, 2, 1, 0, 48]],
            ] as [[[UInt8]]])
        func theHelperEndsOnNonsense(packets: [[UInt8]]) throws {
            let stage = try Stage()
            var helper = try helper(stage)
            for packet in packets {
                try helper.send(within: 1000) { memory in
                    for index in packet.indices { memory[index] = packet[index] }
                    return packet.count
                }
            }
            // It sends nothing and is gone.
            var ended = false
            do { try helper.receive(within: 5000) { _ in } } catch { ended = error == .ended }
            #expect(ended)
        }

        /// Catches a close that is not confirmed.
        @Test func closeIsConfirmed() throws {
            let stage = try Stage()
            var helper = try helper(stage)
            try helper.send(within: 1000) { try? SensorRequest.close.encode(into: &$0) }
            let event = try helper.receive(within: 5000) { try? SensorEvent(decoding: $0) }
            #expect(event == .closed)
        }

        private func send(_ requests: [SensorRequest], to helper: inout HelperProcess) throws {
            for request in requests {
                let none: [UInt8] = []
                try helper.send(within: 1000) { try? request.encode(templateFrom: none.span, into: &$0) }
            }
        }

        /// Catches a helper that opens a reader for nobody: what was asked before the hang-up still lies in its socket.
        @Test func nothingIsDoneAfterAHangUp() throws {
            let stage = try Stage()
            let identity = ReaderIdentity(driver: Array("virtual_device".utf8), device: Array("0".utf8))
            var helper = try helper(stage)
            try send([.begin(identity, path: []), .open], to: &helper)
            helper.hangUp()
            // The first thing to come of it is its end.
            var ended = false
            do { try helper.receive(within: 5000) { _ in } } catch { ended = error == .ended }
            #expect(ended)
            #expect(!FileManager.default.fileExists(atPath: stage.socketPath))
        }

        /// Catches a helper that does not look up while its reader lists prints, for half a second here: it is to close when
        /// it is asked to, and to go when nobody waits.
        @Test(arguments: [false, true]) func aBusyHelperLooksUp(asked: Bool) throws {
            let stage = try Stage()
            let identity = ReaderIdentity(driver: Array("virtual_device_storage".utf8), device: Array("0".utf8))
            var helper = try HelperProcess(
                path: Array(stage.virtual("FP_VIRTUAL_DEVICE_STORAGE").utf8), arguments: [],
                packetLimit: SensorMessage.packetLimit)
            try send([.begin(identity, path: []), .open], to: &helper)
            for _ in 0..<500 where !FileManager.default.fileExists(atPath: stage.socketPath) { usleep(5_000) }
            let start = Date()
            if asked {
                try send([.close], to: &helper)
                let event = try helper.receive(within: 5000) { try? SensorEvent(decoding: $0) }
                #expect(event == .closed)
            } else {
                helper.hangUp()
                // That its reader is closed is the last that it says.
                let event = try helper.receive(within: 5000) { try? SensorEvent(decoding: $0) }
                #expect(event == .closed)
                var ended = false
                do { try helper.receive(within: 5000) { _ in } } catch { ended = error == .ended }
                #expect(ended)
            }
            #expect(Date().timeIntervalSince(start) < 0.4)
        }
    }
}
