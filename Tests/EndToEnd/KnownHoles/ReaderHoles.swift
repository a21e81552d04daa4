import Glibc
import Testing

extension KnownHoles {
    // CVE-2024-37408, fprintd: a program of the user's asks for root while he touches the reader for something else.
    // What is closed: asking unseen. Malware that opens a terminal of its own asks like anybody; there only the person's
    // attention helps.
    @Test func nobodyAsksForATouchUnseen() throws {
        try Enrolled.with { alice in
            let host = "\(World.tools)/pamhost sudo \(alice.user.name)"
            let unseen = [
                ["setsid", "--wait", "sudo", "-k", "-S", "id", "-u"], ["sh", "-c", "sudo -k -S id -u < /dev/null"],
                ["sh", "-c", "nohup sudo -n id -u"],
            ]
            for command in unseen {
                let result = try Command.run(command, as: alice.user)
                #expect(result.code != 0 && !result.output.contains("0\n"), "\(command): \(result)")
                #expect(SensorProcess.all().isEmpty, "\(command) armed the reader")
            }
            let terminal = try Terminal(["bash", "-c", "set -m; \(host) < /dev/null & wait"])
            _ = try terminal.finish()
            #expect(!terminal.transcript.contains("ouch"), "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 0)
            // What is seen says who asks before the reader is armed.
            let seen = try alice.sudo()
            try alice.arm(seen)
            #expect(seen.transcript.contains("[sudo: \(alice.user.name)] PIN:"), "\(seen.transcript)")
            try seen.press("c")
            _ = try seen.ended()
        }
    }

    // fprintd 1.90.6 to 1.90.8: a daemon that vanishes while it verifies lets in.
    @Test func aVanishedHelperLetsNobodyIn() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            kill(try SensorProcess.only(), SIGKILL)
            try terminal.waitForSecretPrompt(Offer.pin)
            try terminal.press("c")
            #expect(try terminal.ended().isRefused, "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 1, "the try was free")
            // Where there is no PIN to go on with, too.
            try Guarded.services(["sudo"], arguments: "pin=no") {
                let alone = try alice.sudo()
                try alone.waitFor(Offer.fingerOnly)
                kill(try SensorProcess.only(), SIGKILL)
                if try alone.waitForAny(["Sorry, try again.", "\nsudo:"]).index == 0 { try alone.press("c") }
                #expect(try alone.ended().code != 0, "\(alone.transcript)")
            }
        }
    }

    // libfprint: FP_VIRTUAL_DEVICE of the caller makes a reader that says "match".
    @Test func theCallerBringsNoReader() throws {
        let user = try Signet.user()
        let folder = try World.scratchFolder()
        chmod(folder, 0o1777)
        let names = ["FP_VIRTUAL_DEVICE", "FP_VIRTUAL_DEVICE_STORAGE", "FP_VIRTUAL_IMAGE"]
        let variables = names.map { "\($0)=\(folder)/\($0)" }
        try File.write("Defaults env_keep += \"FP_*\"\n", to: "/etc/sudoers.d/kept", mode: 0o440)
        defer { unlink("/etc/sudoers.d/kept") }
        try Signet.guarding("sudo", "su") {
            for command in [Sudo.command, ["su", user.name, "-c", "id -u"]] {
                let terminal = try Terminal(["env"] + variables + command, as: user)
                try terminal.waitForSecretPrompt(Sudo.prompt)
                #expect(!terminal.transcript.contains("ouch"), "\(terminal.transcript)")
                try terminal.press("c")
                #expect(try terminal.finish() != 0)
            }
        }
        #expect(try Command.must("ls", "-A", folder) == "", "libfprint listens where the caller said")
    }

    // tpm2-tss: TSS2_LOGFILE of the caller is opened as root, and what the TPM is told is written there.
    @Test(.withTPM) func theTPMsLogIsNotTheCallers() throws {
        try MachineTPM.bound { (_, user) throws in
            let folder = try World.scratchFolder()
            chmod(folder, 0o1777)
            try File.write("Defaults env_keep += \"TSS2_* TCTI_*\"\n", to: "/etc/sudoers.d/kept", mode: 0o440)
            defer { unlink("/etc/sudoers.d/kept") }
            let variables = [
                "TSS2_LOG=all+trace", "TSS2_LOGFILE=\(folder)/log", "TCTI_PCAP_FILE=\(folder)/pcap",
            ]
            let terminal = try Terminal(["env"] + variables + Sudo.command, as: user)
            try terminal.waitForSecretPrompt(Sudo.prompt)
            try terminal.type(line: Signet.pin)
            #expect(try terminal.finish(within: 30) == 0)
            #expect(try Command.must("ls", "-A", folder) == "")
        }
    }
}
