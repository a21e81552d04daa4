import Glibc
import Testing

/// What the caller of sudo and su sets up around a PIN that needs the TPM.
@Suite(.serialized, .inWorld, .withProduct, .withTPM) struct EnclaveSurroundingsTests {
    /// Variables that tpm2-tss, its tools and OpenSSL read (each was seen to be read, with getenv or secure_getenv).
    private static func variables(in folder: String) -> [String: String] {
        [
            "TSS2_LOG": "all+trace", "TSS2_LOGFILE": "\(folder)/tss.log", "TPM2TOOLS_TCTI": "swtpm:path=\(folder)/fake",
            "TCTI_PCAP_FILE": "\(folder)/tss.pcap", "OPENSSL_CONF": "\(folder)/openssl.cnf", "OPENSSL_MODULES": folder,
            "OPENSSL_ia32cap": "0", "TSS2_FAPICONF": "\(folder)/fapi.json", "LD_LIBRARY_PATH": folder,
            "SSLKEYLOGFILE": "\(folder)/keys",
        ]
    }

    // Would catch root's secrets in a file of the caller's choice, or on his terminal (notes of tpm2-tss: TSS2_LOGFILE is
    // opened for appending with plain getenv).
    @Test func sudoWithAKeptEnvironmentLeaksNothing() throws {
        try MachineTPM.bound { (_, user) throws in
            try inFolder { folder in
                let variables = Self.variables(in: folder)
                let names = variables.keys.joined(separator: " ")
                for line in ["Defaults env_keep += \"\(names)\"", "Defaults !env_reset"] {
                    try File.write(line + "\n", to: "/etc/sudoers.d/kept", mode: 0o440)
                    defer { unlink("/etc/sudoers.d/kept") }
                    try check(Sudo.command, "Type your PIN: ", user, variables, folder)
                }
            }
        }
    }

    // Would catch the same in su, which keeps the whole environment.
    @Test func suLeaksNothing() throws {
        try MachineTPM.bound { (_, user) throws in
            let other = try Signet.user()
            try Signet.guarding("su") { () throws in
                try inFolder { folder in
                    try check(
                        ["su", user.name, "-c", "id -u"], "PIN: ", other, Self.variables(in: folder), folder,
                        uid: user.uid)
                }
            }
        }
    }

    private func check(
        _ command: [String], _ prompt: String, _ user: User, _ variables: [String: String], _ folder: String,
        uid: uid_t = 0
    ) throws {
        let terminal = try Terminal(command, as: user, environment: Child.environment.merging(variables) { $1 })
        try terminal.waitForSecretPrompt(prompt)
        try terminal.type(line: Signet.wrongPIN(1))
        if command[0] == "sudo" {
            try terminal.waitForSecretPrompt(prompt)
            try terminal.type(line: Signet.pin)
            #expect(try terminal.finish(within: 30) == 0)
            #expect(Terminal.lines(of: terminal.transcript).last == "\(uid)")
        } else {
            #expect(try terminal.finish(within: 30) == 1)
        }
        let shown = terminal.transcript
        for word in ["trace", "esys", "tcti", "WARNING", "ERROR", "openssl"] {
            #expect(!shown.lowercased().contains(word.lowercased()), "\(shown)")
        }
        #expect(try Command.must("ls", "-A", folder).split(separator: "\n") == ["openssl.cnf"])
    }

    /// A folder that everybody may write, with a configuration of OpenSSL that would load a library.
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = try World.scratchFolder()
        try File.write(
            """
            openssl_conf = all
            [all]
            engines = some
            [some]
            evil = evil
            [evil]
            dynamic_path = \(folder)/evil.so
            init = 1

            """, to: "\(folder)/openssl.cnf")
        chmod(folder, 0o1777)
        try body(folder)
    }

    // Would catch a TPM helper, a session or an object that stays when a person leaves at the prompt.
    @Test func nothingStaysBehind() throws {
        try MachineTPM.bound { (tpm, user) throws in
            for round in 1...8 {
                let terminal = try Sudo.start(user)
                try terminal.waitForSecretPrompt(Sudo.prompt)
                switch round % 3 {
                case 0: try terminal.press("c")
                case 1: terminal.signal(SIGTERM)
                default: try terminal.type(line: Signet.pin)
                }
                try terminal.finish(within: 20)
            }
            #expect(try Command.run(["pgrep", "-f", "signet-enclave"]).code == 1)
            let left = try tpm.tool("tpm2_getcap handles-loaded-session; tpm2_getcap handles-transient")
            #expect(!left.contains("0x"), "\(left)")
        }
    }
}
