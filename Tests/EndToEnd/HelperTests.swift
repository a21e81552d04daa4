import Foundation
import Testing

/// The reader helper under real sudo: what it gets, who may touch it, and what a dead, frozen or lying one can do,
/// which is nothing.
@Suite(.serialized, .inWorld, .withProduct) struct HelperTests {
    // Would catch a free guess: a helper that is killed after a finger was seen, or before, proves nothing about the finger.
    @Test(arguments: [false, true])
    func aKilledHelperLeavesTheTryCharged(_ fingerLies: Bool) throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            if fingerLies { try alice.reader.lay(finger: true) }
            kill(try SensorProcess.only(), SIGKILL)
            try terminal.waitForSecretPrompt(Offer.pin, within: 3)
            #expect(try alice.fingerFailures() == 1)
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch a frozen helper that freezes sudo, and whose try is given back.
    @Test(arguments: [false, true])
    func aFrozenHelperLeavesTheTryChargedAndThePIN(_ fingerLies: Bool) throws {
        try Enrolled.with(lines: ["finger_timeout = 5"]) { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            if fingerLies { try alice.reader.lay(finger: true) }
            let helper = try SensorProcess.only()
            kill(helper, SIGSTOP)
            try terminal.waitFor("The reader stopped answering. ", within: 9)
            try terminal.waitForSecretPrompt(Offer.pin)
            #expect(try alice.fingerFailures() == 1)
            #expect(!SensorProcess.all().contains(helper), "the frozen helper is still there")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch a Ctrl-C that leads from a frozen helper to another prompt instead of out.
    @Test func controlCEndsTheWaitForAFrozenHelper() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            kill(try SensorProcess.only(), SIGSTOP)
            try terminal.press("c")
            #expect(try terminal.ended(within: 5).isRefused)
            #expect(!terminal.transcript.contains(Offer.pin))
            #expect(try alice.fingerFailures() == 1)
            try SensorProcess.waitForNone()
        }
    }

    // Would catch a helper that the caller may signal: `su alice` and sudo run with the caller's real uid, the helper must not.
    @Test func theCallerCannotSignalTheHelper() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let helper = try SensorProcess.only()
            #expect(try Command.run(["kill", "-STOP", "\(helper)"], as: alice.user).code != 0)
            #expect(try Command.run(["cat", "/proc/\(helper)/environ"], as: alice.user).code != 0)
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch a helper that outlives the program: it would hold the reader, and the next sudo would find it busy.
    @Test func aKilledSudoLeavesNoHelper() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            terminal.signal(SIGKILL)
            try SensorProcess.waitForNone()
            #expect(try alice.fingerFailures() == 1, "nobody was left to say that no finger lay there")
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch what leaks from the caller into the helper: libfprint obeys variables that belong to an attacker,
    // descriptors lead to the terminal and to records, ignored signals and limits make it deaf.
    @Test func theHelperStartsFromNothing() throws {
        try Enrolled.with { alice in
            let notes = alice.reader.folder + "/notes"
            // A shell that notes what it was given, as the caller would have it inherited.
            let script = """
                #!/bin/sh
                while read -r line; do
                    case $line in Uid:* | Gid:* | Groups:* | SigBlk:* | SigIgn:*) status="$status$line\n" ;; esac
                done < /proc/$$/status
                { tr '\\0' '\\n' < /proc/$$/environ; echo --; printf "$status"; echo --
                ls -l /proc/$$/fd | sed -n 's/.* \\([0-9]*\\) -> /\\1 /p'; echo --; umask; pwd; } > \(notes).new
                mv \(notes).new \(notes)
                """
            try File.replaced(alice.reader.folder + "/sensor", with: script, mode: 0o755) {
                let hostile = [
                    "FP_VIRTUAL_DEVICE": "/tmp/x", "LD_DEBUG": "all", "G_MESSAGES_DEBUG": "all", "SHELLOPTS": "xtrace",
                ]
                let terminal = try Terminal(
                    ["sh", "-c", "umask 0; exec su \(alice.user.name) -c 'id -u' 7< /etc/passwd"], as: try User.fresh(),
                    environment: Child.environment.merging(hostile) { $1 })
                try terminal.waitForSecretPrompt(Offer.begun)
                try terminal.waitForSecretPrompt(Offer.pin)
                try terminal.press("c")
                _ = try terminal.finish()
            }
            let parts = try File.read(notes).components(separatedBy: "--\n").map {
                $0.split(separator: "\n").map(String.init)
            }
            try #require(parts.count == 4)
            #expect(Set(parts[0]) == ["PATH=/usr/bin:/bin", "LC_ALL=C", "LD_BIND_NOW=1"])
            #expect(parts[1].contains("Uid:\t0\t0\t0\t0") && parts[1].contains("Gid:\t0\t0\t0\t0"), "\(parts[1])")
            #expect(
                parts[1].contains { $0.hasPrefix("Groups:") && $0.split(whereSeparator: \.isWhitespace).count == 1 })
            let idle = parts[1].contains("SigBlk:\t0000000000000000") && parts[1].contains("SigIgn:\t0000000000000000")
            #expect(idle, "\(parts[1])")
            for line in parts[2] {
                let (number, target) = (line.prefix { $0 != " " }, line.drop { $0 != " " }.dropFirst())
                switch Int(number) {
                case 0, 2: #expect(target == "/dev/null")
                case 3: #expect(target.hasPrefix("socket:"))
                // The shell's own: its script, its output and what it keeps aside.
                default:
                    let isShells =
                        target.hasPrefix(alice.reader.folder) || target.hasPrefix("pipe:") || target == "/dev/null"
                    #expect(isShells, "\(parts[2])")
                }
            }
            #expect(parts[3] == ["0077", "/"])
        }
    }

    // Would catch a helper that keeps root while a stranger's finger drives a C library: after opening it has given up
    // everything.
    @Test func theArmedHelperHasGivenUpRoot() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let status = try File.read("/proc/\(SensorProcess.only())/status")
            let uid = try SensorProcess.ownUser()
            for line in [
                "Uid:\t\(uid)\t\(uid)\t\(uid)\t\(uid)", "CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2",
            ] {
                #expect(status.contains(line), "\(line) is not in\n\(status)")
            }
            try terminal.press("c")
            _ = try terminal.finish()
        }
    }

    // Would catch a helper whose nonsense is taken for a match, hangs the program, or takes the PIN with it.
    @Test(arguments: [
        "printf matched >&3; exec sleep 60", "head -c 40000 /dev/urandom >&3; exec sleep 60", "exit 0", "exit 1",
        "kill -9 $$",
        "printf '\\001D\\000\\000\\000\\000' >&3; printf '\\001F\\004\\000\\000\\000\\021\\001\\000\\000' >&3; exec sleep 60",
        "exec sleep 60", "exec cat <&3 >&3",
    ])
    func aLyingHelperLeavesThePIN(_ lie: String) throws {
        try Enrolled.with(lines: ["reader_timeout = 1"]) { alice in
            try File.replaced(alice.reader.folder + "/sensor", with: "#!/bin/sh\n\(lie)\n", mode: 0o755) {
                let terminal = try alice.sudo()
                try terminal.waitForSecretPrompt(Offer.begun)
                try terminal.waitForSecretPrompt(Offer.pin, within: 6)
                try terminal.type(line: Enrolled.pin)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            }
        }
    }

    // Would catch a configuration that makes root run somebody else's program.
    @Test(arguments: [
        "chmod 777 F/sensor", "chown nobody F/sensor", "chmod 777 F", "mv F/sensor F/real && ln -s real F/sensor",
        "rm F/sensor",
    ])
    func anUnsafeHelperIsNotStarted(_ change: String) throws {
        try Enrolled.with { alice in
            let folder = alice.reader.folder
            try File.write("#!/bin/sh\ntouch \(folder)/started\n", to: folder + "/sensor", mode: 0o755)
            try Command.must("sh", "-c", change.replacingOccurrences(of: "F", with: folder))
            let terminal = try alice.sudo()
            try terminal.waitForSecretPrompt(Offer.begun)
            try terminal.waitFor("The program that drives the reader failed. ")
            try alice.typePIN(terminal)
            #expect(!FileManager.default.fileExists(atPath: folder + "/started"))
        }
    }

    // Would catch a process beside sudo that the caller may signal before it is the helper: one that is stopped keeps a
    // copy of the locks, and one that is killed leaves two of us on one stack.
    @Test func nothingIsStartedWithTheCallerForItsUser() throws {
        try Enrolled.with { alice in
            let calls = alice.reader.folder + "/calls"
            let terminal = try Terminal([
                "strace", "-u", alice.user.name, "-f", "-qqq", "-o", calls, "-e", "signal=none", "-e",
                "trace=clone,clone3,fork,vfork,setresuid,execve", "/usr/bin/sudo", "-k", "id", "-u",
            ])
            try alice.arm(terminal)
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            let lines = try File.read(calls).split(separator: "\n").map(String.init)
            let start = try #require(lines.firstIndex { $0.contains("CLONE_VM|CLONE_VFORK") }, "\(lines)")
            let before = lines[..<start].last { $0.contains("setresuid(") }
            #expect(before?.contains("setresuid(0, -1, -1)") == true, "\(lines[...start])")
            // It is the caller's again before anything else is done with it.
            let process = try #require(before?.split(separator: " ").first)
            let after = lines[start...].first { $0.hasPrefix(process + " ") && $0.contains("setresuid(") }
            #expect(after?.contains("setresuid(\(alice.user.uid), -1, -1)") == true, "\(lines[start...])")
        }
    }
}
