import Foundation
import Testing

/// Where a finger does not count: after a boot, after days, from afar, in the background, without a terminal; and who
/// may use whose.
@Suite(.serialized, .inWorld, .withProduct) struct SurroundingsTests {
    // Would catch a finger that counts on a machine that was stolen and switched on, and one that never counts again
    // after a boot.
    @Test func afterAReboothThePINComesOnceAndThenFingersCount() throws {
        try Enrolled.with { alice in
            let boot = try BootShift.reboot(seconds: 100)
            try alice.expectPINOnly("Type your PIN (first use since start-up): ", in: boot)
            #expect(try alice.acceptsFinger(in: boot.later(seconds: 10)))
            try alice.expectPINOnly("(first use since start-up)")
        }
    }

    // Would catch days without a PIN, an hour too early and an hour too late.
    @Test func after72HoursThePINComesOnce() throws {
        try Enrolled.with { alice in
            #expect(try alice.acceptsFinger(in: .later(seconds: 71 * 3600)))
            let late = BootShift.later(seconds: 73 * 3600)
            try alice.expectPINOnly("Type your PIN (first use for some time): ", in: late)
            #expect(try alice.acceptsFinger(in: late.later(seconds: 60)))
        }
    }

    // Would catch a PIN that an administrator set and that makes fingers count before its owner has ever typed it.
    @Test func aPINThatAnAdministratorSetIsNotFreshUntilItIsUsed() throws {
        try Enrolled.with { alice in
            let result = try alice.signet("pin", "set", "--stdin", input: Enrolled.pin + "\n", byAdministrator: true)
            #expect(result.code == 0, "\(result.error)")
            let terminal = try alice.sudo()
            try terminal.waitForPrompt()
            #expect(!terminal.transcript.contains(Offer.touch), "\(terminal.transcript)")
            #expect(terminal.transcript.contains("An administrator set your PIN."))
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try !alice.status().fingerprint.on, "a new signing key has approved nothing yet")
        }
    }

    // Would catch a person afar who is let in by a finger that somebody else lays on the reader at home.
    @Test(arguments: ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"])
    func aRemoteSessionGetsNoFinger(_ variable: String) throws {
        try Enrolled.with { alice in
            let journal = try JournalListener()
            let terminal = try alice.sudo(environment: [variable: "192.0.2.1 50000 192.0.2.2 22"])
            try terminal.waitForSecretPrompt(Offer.pinRemote)
            #expect(!terminal.transcript.contains(Offer.touch))
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted)
            try journal.waitFor("event=finger_closed", "reason=remote")

            // Would catch a status that shows the finger as on to whoever was refused it a moment ago.
            let remote = alice.asUser.merging([variable: "192.0.2.1 50000 192.0.2.2 22"]) { $1 }
            let there = try Command.run(["signet", "status"], environment: remote).output
                .replacing(/\s+/, with: " ")
            #expect(there.contains("on, but not asked for here: the session is remote"), "\(there)")
            let json = try Command.run(["signet", "status", "--json"], environment: remote).output
            #expect(json.contains("\"not_asked_here\":\"remote\",\"on\":true"), "\(json)")
            #expect(try !alice.signet("status").output.contains("not asked for here"))
        }
    }

    // Would catch a service for people afar that names no remote host, and is taken for somebody at the machine.
    @Test(arguments: ["xrdp-sesman", "vncserver"]) func aRemoteServiceGetsNoFinger(_ service: String) throws {
        try Enrolled.with { alice in
            try PAMStack.with(service, auth: ["auth [success=ok default=die] pam_signet.so"]) {
                let terminal = try Terminal(
                    PAMHost.command(service, alice.user.name, options: ["--conversation", "field"]))
                try terminal.waitForSecretPrompt(Offer.pinRemote)
                #expect(!terminal.transcript.contains(Offer.touch))
                try terminal.type(line: Enrolled.pin)
                #expect(try terminal.finish() == 0)
            }
        }
    }

    // Would catch a finger on the first seat's reader that counts for a session without a seat, or at another one.
    @Test(arguments: [("SEAT=seat-other\n", false), ("", false), ("SEAT=seat0\n", true)])
    func anotherSeatGetsNoFinger(_ seat: String, _ offers: Bool) throws {
        try Enrolled.with { alice in
            let folder = "/run/systemd"
            for name in ["", "/users", "/sessions"] { mkdir(folder + name, 0o755) }
            try File.write("SESSIONS=77\n", to: "\(folder)/users/\(alice.user.uid)", mode: 0o644)
            try File.write("REMOTE=0\n\(seat)", to: "\(folder)/sessions/77", mode: 0o644)
            defer {
                unlink("\(folder)/users/\(alice.user.uid)")
                unlink("\(folder)/sessions/77")
            }
            guard !offers else { return #expect(try alice.acceptsFinger()) }
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try terminal.waitForSecretPrompt(Offer.pinElsewhere)
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            try journal.waitFor("event=finger_closed", "reason=another_seat")
        }
    }

    // Would catch a touch that is asked for under a closed lid.
    @Test(.enabled(if: access("/proc/acpi", F_OK) == 0, "this kernel has no /proc/acpi to put a lid into"))
    func aClosedLidGetsNoFinger() throws {
        try Enrolled.with { alice in
            try Command.must("mount", "-t", "tmpfs", "lid", "/proc/acpi")
            defer { _ = try? Command.must("umount", "/proc/acpi") }
            for folder in ["button", "button/lid", "button/lid/LID0"] { mkdir("/proc/acpi/" + folder, 0o755) }
            let state = "/proc/acpi/button/lid/LID0/state"
            try File.write("state:      open\n", to: state, mode: 0o644)
            #expect(try alice.acceptsFinger())
            try File.write("state:      closed\n", to: state, mode: 0o644)
            let status = try alice.signet("status").output
            #expect(status.contains("but not asked for here: the lid is closed"), "\(status)")
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try terminal.waitForSecretPrompt(Offer.pinUnderLid)
            #expect(!terminal.transcript.contains(Offer.touch))
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            try journal.waitFor("event=finger_closed", "reason=lid_closed")
        }
    }

    // Would catch a PAM_RHOST that is overlooked, and one that says "local" and closes the finger.
    @Test(arguments: [
        ("rhost=192.0.2.1", false), ("rhost=example.org", false), ("rhost=localhost", true), ("rhost=::1", true),
    ])
    func theRemoteHostThatAProgramNamesCounts(_ item: String, _ offers: Bool) throws {
        try Enrolled.with { alice in
            let options = ["--conversation", "field", "--item", item]
            let terminal = try Terminal(PAMHost.command("sudo", alice.user.name, options: options))
            try terminal.waitForPrompt()
            let first = offers ? Offer.begun : "] \(Offer.pinRemote)"
            #expect(terminal.transcript.contains(first), "\(terminal.transcript)")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.finish() == 0)
        }
    }

    // Would catch a job in the background that asks for a touch while the person looks at something else.
    @Test func aBackgroundJobGetsNoFinger() throws {
        try Enrolled.with { alice in
            let journal = try JournalListener()
            let script =
                "set -m; pamhost() { \(World.tools)/pamhost --conversation canned sudo \(alice.user.name); }; pamhost < /dev/null & wait"
            let terminal = try Terminal(["bash", "-c", script])
            _ = try terminal.finish()
            try journal.waitFor("event=finger_closed", "reason=background")
            #expect(!terminal.transcript.contains(Offer.touch), "\(terminal.transcript)")
            #expect(
                terminal.transcript.contains("Type your PIN (this is a background job): "), "\(terminal.transcript)")
        }
    }

    // Would catch arguments that are not obeyed: a program that runs one stack for fingers and another for the PIN.
    @Test func twoStacksShareTheFactors() throws {
        try Enrolled.with { alice in
            try Guarded.services(["sudo"], arguments: "finger=no") {
                let terminal = try alice.sudo()
                try terminal.waitForSecretPrompt(Offer.pin)
                #expect(!terminal.transcript.contains(Offer.touch))
                try terminal.type(line: Enrolled.pin)
                #expect(try terminal.ended().isGranted)
            }
            try Guarded.services(["sudo"], arguments: "pin=no") {
                let terminal = try alice.sudo()
                try terminal.waitFor(Offer.fingerOnly)
                #expect(!terminal.transcript.contains("PIN"), "\(terminal.transcript)")
                try alice.reader.scan(Enrolled.finger)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")

                let refused = try alice.sudo()
                for number in 1...3 {
                    try refused.waitFor(number == 1 ? Offer.fingerOnly : "Not recognised. Touch again.")
                    try alice.reader.scan("someone-else")
                }
                try refused.waitFor("Sorry, try again.")
                try refused.press("c")
                #expect(try refused.ended().isRefused, "\(refused.transcript)")
                #expect(!refused.transcript.contains("PIN"), "\(refused.transcript)")
            }
        }
    }

    // Would catch a program without a terminal that waits for a touch that nobody is asked for, and prompts that sudo
    // cannot replace.
    @Test func withoutATerminalOnlyThePINIsAskedFor() throws {
        try Enrolled.with { alice in
            let result = try Command.run(
                ["sudo", "-k", "-S", "-p", "ask: ", "id", "-u"], as: alice.user, input: Enrolled.pin + "\n", within: 10)
            #expect((result.code, result.output, result.error) == (0, "0\n", "ask: "))
            let host = try PAMHost.run("sudo", alice.user.name, answers: [Enrolled.pin])
            #expect(host.messages == ["prompt: Password: "])
            #expect(host.rounds.allSatisfy { $0.code == 0 && $0.left.isEmpty }, "\(host.rounds)")
        }
    }

    // Would catch a match that leaves a child, a descriptor, a handler or a blocked signal in the program.
    // Both ways: at the field, and where the program's own conversation asks first.
    @Test(arguments: ["field", "terminal"]) func aTouchLeavesNothingBehind(_ kind: String) throws {
        try Enrolled.with { alice in
            let terminal = try Terminal(
                PAMHost.command("sudo", alice.user.name, options: ["--conversation", kind, "--rounds", "2"]))
            for finger in ["someone-else", Enrolled.finger] {
                if kind == "field" {
                    try alice.arm(terminal)
                } else {
                    try terminal.waitForSecretPrompt("PIN, or press Enter and touch the reader: ")
                    try terminal.type(line: "")
                    try terminal.waitFor(Offer.fingerOnly)
                }
                if finger != Enrolled.finger {
                    try alice.reader.scan(finger)
                    try terminal.waitFor("ot recognised. Touch again")
                }
                try alice.reader.scan(Enrolled.finger)
            }
            #expect(try terminal.finish() == 0)
            let rounds = try PAMHost(report: Terminal.lines(of: terminal.transcript).joined(separator: "\n")).rounds
            #expect(rounds.count == 2 && rounds.allSatisfy { $0.code == 0 && $0.left.isEmpty }, "\(rounds)")
        }
    }

    // Would catch a su to somebody whose own finger is not taken, and a stranger whose touches cost her the PIN.
    @Test func anotherPersonsSuTakesAlicesFingerAndCountsHisOwnTouches() throws {
        try Enrolled.with { alice in
            let mallory = try User.fresh()
            let right = try Terminal(["su", alice.user.name, "-c", "id -un"], as: mallory)
            try alice.arm(right)
            try alice.reader.scan(Enrolled.finger)
            try right.waitFor("\(alice.user.name)\r\n")
            #expect(try right.finish() == 0)

            let wrong = try Terminal(["su", alice.user.name, "-c", "id -un"], as: mallory)
            try alice.arm(wrong)
            for number in 1...3 {
                try alice.reader.scan("mallorys-finger")
                if number < 3 { try wrong.waitFor(Offer.refused) }
            }
            try wrong.waitForSecretPrompt(Offer.pin)
            try wrong.press("c")
            #expect(try wrong.finish() != 0)
            let lockout = try alice.status().lockout
            #expect((lockout.fingerFailures, lockout.pinFailures) == (3, 0))
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a login in which a finger does not count, or a wrong one does.
    @Test func loginTakesAFinger() throws {
        try Enrolled.with { alice in
            try PAMStack.with("login", auth: ["auth [success=ok default=die] pam_signet.so"]) {
                let terminal = try Terminal(["login", alice.user.name])
                try alice.arm(terminal)
                try alice.reader.scan("someone-else")
                try terminal.waitFor(Offer.refused)
                try alice.reader.scan(Enrolled.finger)
                try terminal.waitFor("$ ")
                try terminal.type(line: "echo name=$(id -un)")
                try terminal.waitFor("name=\(alice.user.name)")
                try terminal.type(line: "exit")
                #expect(try terminal.finish() == 0)
            }
        }
    }

    // MARK: The caller's environment

    private static let hostile = [
        "FP_VIRTUAL_DEVICE": "/tmp/hostile", "FP_VIRTUAL_DEVICE_STORAGE": "/tmp/hostile",
        "FP_VIRTUAL_IMAGE": "/tmp/hostile",
        "FP_DRIVERS_WHITELIST": "none", "FP_DRIVERS_ALLOWLIST": "none", "FP_DEVICE_EMULATION": "1",
        "G_MESSAGES_DEBUG": "all", "G_DEBUG": "fatal-warnings", "LIBUSB_DEBUG": "4",
    ]

    // Would catch a caller who brings a reader of his own that says "match", or hides the real one: through sudo with every
    // variable kept, and through su, which keeps them all.
    @Test(arguments: ["sudo", "sudo -E", "su"])
    func theCallersVariablesAddNoReader(_ program: String) throws {
        try Enrolled.with { alice in
            let keep = "Defaults env_keep += \"FP_* G_* LIBUSB_*\"\nDefaults:\(alice.user.name) setenv\n"
            try File.replaced("/etc/sudoers.d/keep", with: keep, mode: 0o440) {
                unlink("/tmp/hostile")
                let terminal =
                    program == "su"
                    ? try Terminal(
                        ["su", alice.user.name, "-c", "echo; echo 0"], as: try User.fresh(),
                        environment: Child.environment.merging(SurroundingsTests.hostile) { $1 })
                    : try alice.sudo(program == "sudo -E" ? ["-E"] : [], environment: SurroundingsTests.hostile)
                try alice.arm(terminal)
                #expect(access("/tmp/hostile", F_OK) != 0, "libfprint listens where the caller said")
                try alice.reader.scan(Enrolled.finger)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                #expect(access("/tmp/hostile", F_OK) != 0)
            }
        }
    }

    // Would catch a virtual reader that counts without the administrator's word for it, and a prompt that does not say
    // what it is.
    @Test func withoutAConfiguredHelperAVirtualReaderIsRefused() throws {
        try Enrolled.with { alice in
            try File.replaced("/etc/security/signet.conf", with: "") {
                let terminal = try alice.sudo(environment: ["FP_VIRTUAL_DEVICE": "/tmp/hostile"])
                try terminal.waitForSecretPrompt(
                    "Your fingerprints are for a stand-in reader, and none is configured. \(Offer.pin)")
                #expect(!terminal.transcript.contains(Offer.touch))
                #expect(access("/tmp/hostile", F_OK) != 0)
                try terminal.type(line: Enrolled.pin)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            }
            let unflagged =
                "#!/bin/sh\nexport FP_VIRTUAL_DEVICE=\(alice.reader.socket)\nexec \(SensorProcess.program)\n"
            try File.replaced(alice.reader.folder + "/sensor", with: unflagged, mode: 0o755) {
                let terminal = try alice.sudo()
                try terminal.waitForSecretPrompt(Offer.begun)
                try terminal.waitFor("Only a virtual reader was found, and those are refused. ")
                try alice.typePIN(terminal)
            }
        }
    }

    // Would catch a stand-in that passes for a reader anywhere.
    @Test func aStandInReaderIsNamedEverywhere() throws {
        try Enrolled.with { alice in
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try terminal.waitFor("(stand-in reader) \(Offer.touch)")
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted)
            try journal.waitFor("event=authentication", "reader=\"stand-in reader\"")
            #expect(try alice.signet("status").output.contains("(stand-in reader)"))
            let doctor = try Command.run(["signet", "doctor"])
            #expect((doctor.output + doctor.error).contains("stand-in reader"), "\(doctor.output)")
        }
    }
}
