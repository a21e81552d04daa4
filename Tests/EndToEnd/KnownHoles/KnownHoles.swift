import Foundation
import Testing

/// Published faults of comparable systems, each tried on Signet as an attacker would; the README's table names them.
@Suite(.serialized, .inWorld, .withProduct) struct KnownHoles {
    /// A stack that lets in whoever the module has no opinion about, as administrators write them.
    private static let lenient = [
        "auth [success=ok ignore=ignore default=die] pam_signet.so", "auth required pam_permit.so",
    ]

    // CVE-2025-23013, pam_u2f: PAM_IGNORE on an error of its own, and the rest of the stack let in.
    @Test func anErrorIsNeverIgnored() throws {
        let user = try Signet.user()
        let identity = Signet.folder(user) + "/identity"
        try PAMStack.with("signet-test", auth: Self.lenient) {
            for kind in ["none", "failing", "null", "huge"] {
                try refuses(user, "a conversation: \(kind)", options: ["--conversation", kind])
            }
            try refuses(user, "no descriptors", limits: ["--nofile=5"])
            try refuses(user, "no memory", limits: ["--as=60000000"])
            let stranger = try User.fresh()
            try refuses(stranger, "no PIN")
            for spoiling in ["truncate -s 0 F", "chmod 666 F", "rm F", "rm F; mkdir F"] {
                try Command.must("cp", "-a", identity, identity + ".kept")
                try Command.must("sh", "-euc", spoiling.replacingOccurrences(of: "F", with: identity))
                try refuses(user, spoiling)
                try Command.must("sh", "-euc", "rm -rf \(identity); mv \(identity).kept \(identity)")
            }
            let host = try PAMHost.run("signet-test", user.name, answers: [Signet.pin])
            #expect(host.rounds.map(\.code) == [0], "the stack lets nobody in, and proves nothing")
        }
    }

    private func refuses(_ user: User, _ what: String, options: [String] = [], limits: [String] = []) throws {
        let host = try PAMHost.run(
            "signet-test", user.name, answers: [Signet.pin], options: options, limits: limits)
        #expect(host.rounds.allSatisfy { $0.code != 0 && $0.code != 25 }, "\(what): \(host)")
    }

    // CVE-2021-31924, pam_u2f: an answer that was no PIN passed where the PIN was to be verified.
    @Test func anEmptyAnswerIsNoPIN() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            for answers in [[], [""], ["", "", ""], [" "], ["\u{0}"]] {
                let result = try Sudo.answerOnPipes(user, answers)
                #expect(result.code == 1 && result.output.isEmpty, "\(answers): \(result)")
            }
        }
        try Signet.reset(user)
        try Signet.alone { service in
            for kind in ["none", "null", "failing"] {
                let host = try PAMHost.run(service, user.name, options: ["--conversation", kind])
                #expect(host.rounds.allSatisfy { $0.code != 0 }, "\(kind): \(host)")
            }
        }
        #expect(try Signet.lockout(user).pinFailures == 0, "nothing was compared")
    }

    // CVE-2019-12209, CVE-2019-12210, pam_u2f: a debug file opened as root through a user's link, and left to the child.
    @Test func noDebugFileIsOpened() throws {
        let user = try Signet.user()
        let folder = try World.scratchFolder()
        let target = try World.scratchFolder() + "/secret"
        try File.write("untouched\n", to: target, mode: 0o600)
        chmod(folder, 0o1777)
        symlink(target, folder + "/log")
        for path in ["\(folder)/log", "\(folder)/new", "stdout", "stderr"] {
            try Signet.alone("debug debug_file=\(path)") { service in
                let host = try PAMHost.run(service, user.name, answers: [Signet.pin])
                #expect(host.rounds.map(\.code) == [0] && host.rounds.allSatisfy { $0.left.isEmpty }, "\(host)")
            }
        }
        #expect(try File.read(target) == "untouched\n")
        #expect(try Command.must("ls", "-A", folder) == "log\n")
    }

    // facelock#71: a root child that inherits LD_PRELOAD runs the caller's code.
    @Test func theHelperLoadsNothingOfTheCallers() throws {
        try Enrolled.with { alice in
            let library = World.tools + "/linger.so"
            let variables = Child.environment.merging(["LD_PRELOAD": library, "LD_LIBRARY_PATH": World.tools]) { $1 }
            let command = PAMHost.command("sudo", alice.user.name, options: ["--conversation", "field"])
            let terminal = try Terminal(command, environment: variables)
            try alice.arm(terminal)
            #expect(try File.read("/proc/\(terminal.process)/maps").contains(library), "the caller has it not itself")
            let helper = try SensorProcess.only()
            #expect(try !File.read("/proc/\(helper)/maps").contains("linger"))
            let environment = try File.read("/proc/\(helper)/environ")
            #expect(!environment.contains("LD_PRELOAD") && !environment.contains("LD_LIBRARY_PATH"), "\(environment)")
            terminal.signal(SIGKILL)
            try SensorProcess.waitForNone()
        }
    }
}
