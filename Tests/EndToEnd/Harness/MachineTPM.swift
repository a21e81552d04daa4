import Glibc

/// A TPM of one test, by swtpm, and a store that is bound to it; the world's own store is aside meanwhile.
final class MachineTPM {
    let folder: String

    private init() throws { folder = try World.scratchFolder() }

    /// Whether swtpm and tpm2-tools are here.
    static let isHere = access("/usr/bin/swtpm", X_OK) == 0 && access("/usr/bin/tpm2_getcap", X_OK) == 0

    /// Runs `body` on a machine with a TPM of its own and no store.
    ///
    /// `lines` are further `key = value` of the configuration.
    static func machine<Result>(_ lines: String..., body: (MachineTPM) throws -> Result) throws -> Result {
        let tpm = try MachineTPM()
        let text = (["tpm = \(tpm.connection)"] + lines).joined(separator: "\n") + "\n"
        return try File.replaced("/etc/security/signet.conf", with: text) {
            try storeAside {
                try tpm.start()
                defer { try? tpm.end() }
                return try body(tpm)
            }
        }
    }

    /// Runs `body` where the store is bound to that TPM, sudo asks Signet, and somebody has a PIN.
    ///
    /// `lockoutSecret` becomes the TPM's lockoutAuth first, so that the TPM counts wrong PINs.
    static func bound(
        _ lines: String..., lockoutSecret: String? = nil, body: (MachineTPM, User) throws -> Void
    ) throws {
        let text = (["enclave = require"] + lines).joined(separator: "\n")
        try machine(text) { tpm in
            try Signet.must(["enclave", "setup"])
            if let lockoutSecret {
                try Signet.must(["enclave", "setup", "--set-lockout-auth", "--stdin"], input: lockoutSecret + "\n")
            }
            let user = try Signet.user()
            try Signet.guarding("sudo") { try body(tpm, user) }
        }
    }

    private static func storeAside<Result>(_ body: () throws -> Result) throws -> Result {
        let aside = Signet.store + ".aside"
        let hadStore = rename(Signet.store, aside) == 0
        defer {
            _ = try? Command.must("rm", "-rf", Signet.store)
            if hadStore { rename(aside, Signet.store) }
        }
        return try body()
    }

    /// As signet.conf names it.
    var connection: String { "swtpm:path=\(folder)/socket" }

    func start() throws { try work("start") }
    /// Switches it off as a machine does that halts.
    func stop() throws { try work("stop") }
    /// As the firmware clears it.
    func clear() throws { try work("clear") }

    /// It answers no more while `body` runs, though it is there.
    func frozen<Result>(_ body: () throws -> Result) throws -> Result {
        try work("freeze")
        defer { try? work("thaw") }
        return try body()
    }

    /// It is gone while `body` runs.
    func gone<Result>(_ body: () throws -> Result) throws -> Result {
        try stop()
        defer { try? start() }
        return try body()
    }

    /// Another TPM is in its place while `body` runs.
    func replaced<Result>(_ body: () throws -> Result) throws -> Result {
        try stop()
        try Command.must("mv", "\(folder)/state", "\(folder)/state.aside")
        try start()
        defer {
            try? stop()
            _ = try? Command.must("sh", "-euc", "cd \(folder); rm -rf state; mv state.aside state")
            try? start()
        }
        return try body()
    }

    private func work(_ word: String) throws {
        try Command.must("\(World.packageRoot)/scripts/virtual-tpm", word, folder)
    }

    /// Ends it whatever state it is in.
    private func end() throws {
        guard let text = try? File.read("\(folder)/pid"), let process = pid_t(text.filter(\.isNumber)) else { return }
        kill(process, SIGKILL)
    }

    /// Runs tpm2-tools on it; answers what they print.
    @discardableResult
    func tool(_ script: String) throws -> String {
        let prologue = "export TPM2TOOLS_TCTI=\(connection) TSS2_LOG=all+none; cd \(folder)\n"
        return try Command.must("bash", "-euc", prologue + script)
    }

    /// Gives a wrong authorisation so often, for an object of somebody else's that the TPM guards against guessing.
    func fail(times: Int) throws {
        try tool(
            """
            if [ ! -e other.private ]; then
                tpm2_createprimary -Q -C o -G ecc -c other.primary; tpm2_flushcontext -t
                echo secret | tpm2_create -Q -C other.primary -i - -p right -u other.public -r other.private
                tpm2_flushcontext -t
                tpm2_load -Q -C other.primary -u other.public -r other.private -c other.object; tpm2_flushcontext -t
            fi
            for try in $(seq \(times)); do
                ! tpm2_unseal -Q -c other.object -p wrong 2> /dev/null; tpm2_flushcontext -t
            done
            """)
    }

    /// TPM2_PT_LOCKOUT_COUNTER.
    func failures() throws -> Int {
        let text = try tool("tpm2_getcap properties-variable | sed -n 's/^TPM2_PT_LOCKOUT_COUNTER: 0x//p'")
        return Int(text.filter { !$0.isWhitespace }, radix: 16) ?? -1
    }
}
