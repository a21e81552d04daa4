import Glibc
import Testing

/// Callers that prepare what the module inherits: the environment, descriptors, limits and signals are theirs to choose.
@Suite(.serialized, .inWorld, .withProduct) struct PINSurroundingsTests {
    /// Variables that libfprint, GLib, libusb, tpm2-tss, the dynamic linker and Swift's runtime obey.
    ///
    /// `folder` is anybody's to write.
    private static func variables(_ folder: String) -> [String] {
        let names = [
            "FP_VIRTUAL_DEVICE", "FP_VIRTUAL_DEVICE_STORAGE", "FP_VIRTUAL_DEVICE_IDENT", "FP_DRIVERS_ALLOWLIST",
            "FP_DRIVERS_WHITELIST", "FP_EMULATION", "G_MESSAGES_DEBUG", "G_DEBUG", "G_SLICE", "GIO_MODULE_DIR",
            "GIO_EXTRA_MODULES", "GIO_USE_VFS", "GSETTINGS_BACKEND", "LIBUSB_DEBUG", "TSS2_LOG", "TSS2_LOGFILE",
            "TSS2_FAPICONF",
            "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "LD_DEBUG", "LD_DEBUG_OUTPUT", "LD_BIND_NOT",
            "SWIFT_BACKTRACE",
            "SWIFT_DEBUG_ENABLE_MALLOC_SCRIBBLE", "SWIFT_ROOT", "UMOCKDEV_DIR", "MALLOC_PERTURB_", "GCONV_PATH",
            "LOCPATH",
            "NLSPATH", "TZ", "TMPDIR", "LANG", "LC_ALL", "IFS", "ENV", "BASH_ENV",
        ]
        let special = [
            "G_MESSAGES_DEBUG": "all", "G_DEBUG": "fatal-warnings", "LIBUSB_DEBUG": "4", "TSS2_LOG": "all+trace",
            "LD_DEBUG": "all", "LD_BIND_NOT": "1", "SWIFT_BACKTRACE": "enable=yes,output-to=\(folder)/swift",
            "MALLOC_PERTURB_": "165", "SWIFT_DEBUG_ENABLE_MALLOC_SCRIBBLE": "YES",
        ]
        return names.map { "\($0)=\(special[$0] ?? "\(folder)/\($0)")" }
    }

    // Would catch a variable of the caller's that decides, writes a file as root, or reaches a library of ours.
    @Test func hostileVariablesChangeNothing() throws {
        let user = try Signet.user()
        let folder = try World.scratchFolder()
        try Command.must("chmod", "1777", folder)
        let rules = """
            Defaults:\(user.name) env_keep += "FP_* G_* GIO_* GSETTINGS_* LIBUSB_* TSS2_* SWIFT_* UMOCKDEV_* MALLOC_PERTURB_"
            \(user.name) ALL=(ALL:ALL) SETENV: ALL

            """
        try File.write(rules, to: "/etc/sudoers.d/\(user.name)", mode: 0o440)
        // Set by env as the user, so that what stands before it in the test is not touched.
        let environment = ["env"] + Self.variables(folder)
        try Signet.guarding("sudo", "su") {
            let commands = [["sudo", "-k", "id", "-u"], ["sudo", "-E", "-k", "id", "-u"]]
            for command in commands {
                let terminal = try Terminal(environment + command, as: user)
                for answer in [Signet.wrongPIN(1), Signet.pin] {
                    try terminal.waitForSecretPrompt(Sudo.prompt)
                    try terminal.type(line: answer)
                }
                #expect(try terminal.finish() == 0)
                #expect(terminal.transcript.contains("Wrong PIN.") && terminal.transcript.hasSuffix("0\r\n"))
            }
            for (answer, code) in [(Signet.wrongPIN(1), 1), (Signet.pin, 0)] {
                let su = try Terminal(environment + ["su", user.name, "-c", "exit 0"], as: user)
                try su.waitForSecretPrompt(Sudo.prompt)
                try su.type(line: answer)
                #expect(try su.finish() == code)
            }
        }
        #expect(try Command.must("ls", "-A", folder) == "")
    }

    // Would catch a decision that hangs on what the caller left behind, and anything that the module leaves behind itself.
    @Test(arguments: [
        [], ["closed-stdio"], ["umask"], ["ignored-child"], ["ignored-pipe"], ["deleted-folder"], ["no-memlock"],
        ["blocked"],
        ["closed-stdio", "umask", "ignored-child", "ignored-pipe", "deleted-folder", "no-memlock", "blocked"],
    ])
    func hostileStatesChangeNothingAndNothingIsLeft(_ states: [String]) throws {
        let user = try Signet.user()
        let options = states.flatMap { ["--hostile", $0] }
        try Signet.alone { service in
            for (answer, code) in [(Signet.wrongPIN(1), 7), (Signet.pin, 0)] {
                let host = try PAMHost.run(service, user.name, answers: [answer], options: options)
                #expect(host.rounds.map(\.code) == [code] && host.rounds.allSatisfy { $0.left.isEmpty }, "\(host)")
            }
            #expect(try Signet.lockout(user).pinFailures == 0)
        }
        #expect(try Command.must("find", Signet.folder(user), "-perm", "/077") == "")
    }

    // Would catch a real sudo that hangs on what its shell prepared: closed descriptors, ignored signals, a folder that is gone.
    @Test func aHostileShellChangesNothingForSudo() throws {
        let user = try Signet.user()
        let folder = "/dev/shm/gone-\(user.uid)", output = "/dev/shm/answer-\(user.uid)"
        // The outer shell holds the terminal, which would end with its last descriptor.
        let script = """
            ( mkdir \(folder) && cd \(folder) && rmdir \(folder) || exit 9
            trap '' CHLD PIPE HUP ALRM USR1; umask 0; ulimit -c 0; ulimit -l 0
            exec 0<&- 1>&- 2>&-
            exec sudo -k sh -c 'id -u > \(output)' ); exit $?
            """
        try Signet.guarding("sudo") {
            let right = try Terminal(["sh", "-c", script], as: user)
            for answer in [Signet.wrongPIN(1), Signet.pin] {
                try right.waitForSecretPrompt(Sudo.prompt)
                try right.type(line: answer)
            }
            #expect(try right.finish() == 0)
            #expect(right.transcript.contains("Wrong PIN."))
            #expect(try File.read(output) == "0\n")
            unlink(output)
            let wrong = try Terminal(["sh", "-c", script], as: user)
            for number in 1...3 {
                try wrong.waitForSecretPrompt(Sudo.prompt)
                try wrong.type(line: Signet.wrongPIN(number))
            }
            #expect(try wrong.finish() == 1)
            #expect(access(output, F_OK) != 0)
        }
    }

    // Would catch a limit that kills the caller, makes a guess free, or lets in.
    @Test func tightLimitsRefuseOrDecideRightly() throws {
        let user = try Signet.user()
        try Signet.alone { service in
            for limit in ["--nofile=16", "--memlock=0", "--as=300000000", "--core=0", "--nproc=1", "--stack=262144"] {
                for (answer, code) in [(Signet.wrongPIN(1), 7), (Signet.pin, 0)] {
                    let host = try PAMHost.run(service, user.name, answers: [answer], limits: [limit])
                    #expect(host.rounds.map(\.code) == [code], "\(limit): \(host)")
                    #expect(host.rounds.allSatisfy { $0.left.isEmpty }, "\(limit): \(host)")
                }
            }
            // Where counting or comparing is impossible there is no answer but no, and nothing is charged.
            for limit in ["--nofile=5", "--as=60000000"] {
                let host = try PAMHost.run(service, user.name, answers: [Signet.pin], limits: [limit])
                #expect(host.rounds.allSatisfy { $0.code != 0 && $0.left.isEmpty }, "\(limit): \(host)")
                #expect(try Signet.lockout(user).pinFailures == 0, "\(limit)")
            }
            let host = try PAMHost.run(service, user.name, answers: [Signet.pin], options: ["--hostile", "no-files"])
            #expect(host.rounds.allSatisfy { $0.code != 0 && $0.left.isEmpty }, "\(host)")
            #expect(try Signet.lockout(user).pinFailures == 0)
        }
        // sudo itself, whose user sets the limits.
        try Signet.guarding("sudo") {
            for (limits, answer) in [(["--nofile=32", "--memlock=0"], Signet.pin), (["--fsize=0"], Signet.pin)] {
                let terminal = try Terminal(["prlimit"] + limits + Sudo.command, as: user)
                if try terminal.waitForAny([Sudo.prompt, "\nsudo:", "cannot check"]).index == 0 {
                    try terminal.type(line: answer)
                }
                let code = try terminal.finish()
                #expect(limits == ["--fsize=0"] ? code != 0 && code < 128 : code == 0, "\(terminal.transcript)")
            }
        }
    }

    // Would catch a child, descriptor, handler, mode or variable that one of the ways to an answer leaves behind.
    @Test func noOutcomeLeavesAnythingBehind() throws {
        let (user, stranger) = (try Signet.user(), try User.fresh())
        try Signet.alone { service in
            // Right, wrong until the wait, then the wait; nobody; no PIN; damaged.
            let answers = [Signet.pin] + (1...5).map(Signet.wrongPIN)
            let all = try PAMHost.run(service, user.name, answers: answers, options: ["--rounds", "7"])
            #expect(all.rounds.map(\.code) == [0, 7, 7, 7, 7, 11, 11])
            let unknown = try PAMHost.run(service, "x" + user.name.dropFirst(), answers: ["1"])
            let without = try PAMHost.run(service, stranger.name)
            #expect(without.rounds.map(\.code) == [9])
            try Signet.reset(user)
            let cancelled = try PAMHost.run(service, user.name)
            #expect(cancelled.rounds.map(\.code) == [7])
            try Command.must("truncate", "-s", "100", Signet.folder(user) + "/identity")
            let damaged = try PAMHost.run(service, user.name, answers: [Signet.pin])
            #expect(damaged.rounds.map(\.code) == [3])
            for host in [all, unknown, without, cancelled, damaged] {
                #expect(host.rounds.allSatisfy { $0.left.isEmpty }, "\(host)")
            }
        }
    }

    // Would catch terminal modes that a prompt changes and does not put back, in a program that goes on.
    @Test func theTerminalIsAsItWasAfterEachAnswer() throws {
        let user = try Signet.user()
        try Signet.alone { service in
            let terminal = try Terminal(
                PAMHost.command(service, user.name, options: ["--conversation", "terminal", "--rounds", "2"]))
            for answer in [Signet.wrongPIN(1), Signet.pin] {
                try terminal.waitForSecretPrompt(Sudo.prompt)
                try terminal.type(line: answer)
            }
            #expect(try terminal.finish() == 1)
            let host = try PAMHost(report: terminal.transcript)
            #expect(host.rounds.map(\.code) == [7, 0] && host.rounds.allSatisfy { $0.left.isEmpty }, "\(host)")
        }
    }

    // Would catch a module that cannot be loaded, used and closed again and again in one process.
    @Test func aHundredLoadsInOneProcess() throws {
        let user = try Signet.user()
        try Signet.alone { service in
            // Ten with the PIN; the others end in a wait, which compares nothing and so takes little time.
            let right = try PAMHost.run(
                service, user.name, answers: Array(repeating: Signet.pin, count: 10), options: ["--rounds", "10"])
            #expect(right.rounds.count == 10 && right.rounds.allSatisfy { $0.code == 0 && $0.left.isEmpty })
            let wrong = try PAMHost.run(
                service, user.name, answers: (1...5).map(Signet.wrongPIN), options: ["--rounds", "105"])
            #expect(wrong.rounds.count == 105 && wrong.rounds.allSatisfy { $0.code != 0 && $0.left.isEmpty })
            #expect(wrong.rounds.dropFirst(5).allSatisfy { $0.code == 11 })
            // Many tries on one handle: what ended for good is answered at once and charged no more.
            let same = try PAMHost.run(service, user.name, options: ["--rounds", "20", "--same-handle"])
            #expect(same.rounds.allSatisfy { $0.code == 11 && $0.left.isEmpty })
        }
    }
}
