import Foundation
import Testing

extension KnownHoles {
    // pam_faillock (linux-pam#299, #454): the tally belongs to the user, who empties it, and a reboot forgets it.
    @Test func theCountIsNotTheUsersAndOutlivesAReboot() throws {
        let user = try Signet.user()
        try Signet.guarding("sudo") {
            #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
            let folder = Signet.folder(user)
            for script in ["cat F/attempts", ": > F/attempts", "rm -rf F", "mv F F.old", "faillock --reset", "ls F"] {
                _ = try Command.run(
                    ["sh", "-c", script.replacingOccurrences(of: "F", with: folder)], as: user)
            }
            #expect(try Command.must("find", Signet.store, "!", "-user", "root") == "")
            #expect(try Command.must("find", Signet.store, "-perm", "/077") == "")
            #expect(try Signet.lockout(user).pinFailures == 3)
            #expect(try Signet.lockout(user, in: .reboot(seconds: 100)).pinFailures == 3)
        }
    }

    // pam_faillock (linux-pam#1016): failures at the same time overwrite each other's count.
    @Test func failuresAtOnceAreAllCounted() throws {
        let user = try Signet.user()
        try Signet.alone { service in
            let one = PAMHost.command(service, user.name).joined(separator: " ")
            let many = (1...4).map { "echo \(Signet.wrongPIN($0)) | \(one) &" }.joined(separator: "\n")
            try Command.must("sh", "-c", many + "\nwait")
            #expect(try Signet.lockout(user).pinFailures == 4)
        }
    }

    // Howdy, pinlock, pam_u2f before 1.0.4: the policy is read from the home or XDG folder of who is to be kept out.
    @Test func thePolicyIsNotTheUsers() throws {
        let user = try Signet.user()
        let home = try World.scratchFolder()
        let script = """
            cd \(home); mkdir -p .config/signet .config/security .config/Yubico .pinlock .local/share/signet
            printf '#!/bin/sh\\ntouch \(home)/started\\n' > helper; chmod 755 helper
            for file in .config/signet.conf .config/signet/signet.conf .config/security/signet.conf .signet.conf \
                signet.conf .pinlock/policy .pinlock/signet.conf; do
                printf 'pin_limit = 10\\nfinger = yes\\nsensor_helper = \(home)/helper\\n' > $file
            done
            """
        try Command.must("chown", user.name, home)
        let made = try Command.run(["sh", "-euc", script], as: user)
        #expect(made.code == 0, "\(made.error)")
        let variables = ["HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "SIGNET_CONF"].map {
            "\($0)=\(home)\($0.hasPrefix("XDG_CONFIG") ? "/.config" : "")"
        }
        try File.write(
            "Defaults env_keep += \"HOME XDG_* SIGNET_*\"\n\(user.name) ALL=(ALL:ALL) SETENV: ALL\n",
            to: "/etc/sudoers.d/\(user.name)", mode: 0o440)
        try Signet.guarding("sudo") {
            try File.replaced("/etc/security/signet.conf", with: "pin_limit = 5\n") {
                for (numbers, disabled) in [([1, 2, 3], false), ([4, 5], true)] {
                    let terminal = try Terminal(["env", "-C", home] + variables + Sudo.command, as: user)
                    for number in numbers {
                        try terminal.waitForSecretPrompt(Sudo.prompt)
                        try terminal.type(line: Signet.wrongPIN(number))
                    }
                    #expect(try terminal.finish() == 1)
                    #expect(terminal.transcript.contains("Your PIN is disabled.") == disabled)
                }
            }
        }
        #expect(access("\(home)/started", F_OK) != 0, "a helper of the user's was started")
    }

    // CVE-2019-3842, systemd: XDG_SEAT and XDG_VTNR of the caller's environment told where he sits.
    @Test func theSeatIsNotWhatTheCallerSays() throws {
        try Enrolled.with { alice in
            let folder = "/run/systemd"
            for name in ["", "/users", "/sessions"] { mkdir(folder + name, 0o755) }
            try File.write("SESSIONS=78\n", to: "\(folder)/users/\(alice.user.uid)", mode: 0o644)
            try File.write("REMOTE=1\n", to: "\(folder)/sessions/78", mode: 0o644)
            defer {
                unlink("\(folder)/users/\(alice.user.uid)")
                unlink("\(folder)/sessions/78")
            }
            let terminal = try alice.sudo(environment: [
                "XDG_SEAT": "seat0", "XDG_VTNR": "1", "XDG_SESSION_ID": "1", "XDG_SESSION_TYPE": "x11",
                "XDG_SESSION_CLASS": "user", "DISPLAY": ":0",
            ])
            try terminal.waitForPrompt()
            #expect(!terminal.transcript.contains(Offer.touch), "\(terminal.transcript)")
            #expect(terminal.transcript.contains("Type your PIN ("), "\(terminal.transcript)")
            #expect(SensorProcess.all().isEmpty)
            try terminal.press("c")
            #expect(try terminal.ended().isRefused)
        }
    }
}
