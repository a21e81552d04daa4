import Glibc
import Testing

/// A PIN that is bound to a TPM: let in with it, and with nothing else.
@Suite(.serialized, .inWorld, .withProduct, .withTPM) struct EnclavePINTests {
    // Would catch a store that says it is bound and is not, and a PIN that any TPM, or none, is enough for.
    @Test func thePINNeedsThisTPM() throws {
        try MachineTPM.bound { (tpm, user) throws in
            #expect(access(Signet.store + "/key", F_OK) != 0 && access(Signet.store + "/key.tpm", F_OK) == 0)
            #expect(try Sudo.accepts(user))
            #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
            #expect(try Signet.lockout(user).pinFailures == 3)
            #expect(try Sudo.accepts(user))
            #expect(try Signet.lockout(user).pinFailures == 0)
            let status = try Signet.must(["enclave", "status"])
            #expect(status.contains("stand-in TPM") && status.contains("1 of 1"), "\(status)")
        }
    }

    // Would catch a person who waits for ever, or a guess that is free, because the TPM hangs (rule 9).
    @Test func aTPMThatHangsRefusesInTime() throws {
        try MachineTPM.bound { (tpm, user) throws in
            let journal = try JournalListener()
            try tpm.frozen { () throws in
                let start = monotonicMilliseconds()
                let refused = try Sudo.answer(user, [])
                #expect(refused.isRefused && refused.shown.contains("TPM"), "\(refused)")
                #expect(refused.count(of: "PIN: ") == 0)
                #expect(monotonicMilliseconds() - start < 25_000)
                try journal.waitFor("fault=tpm_gone", "user=\(user.name)")
            }
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch a TPM that hangs once the PIN is typed, when all that came before went well.
    @Test func aTPMThatHangsAtThePINRefusesInTime() throws {
        try MachineTPM.bound { (tpm, user) throws in
            let terminal = try Sudo.start(user)
            try terminal.waitForSecretPrompt(Sudo.prompt)
            try tpm.frozen { () throws in
                try terminal.type(line: Signet.pin)
                #expect(try terminal.finish(within: 60) == 1)
                #expect(Terminal.lines(of: terminal.transcript).last != "0")
            }
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch a fall back to anything weaker, and a TPM that is back and not taken.
    @Test func aTPMThatIsGoneRefusesAndComesBack() throws {
        try MachineTPM.bound { (tpm, user) throws in
            let journal = try JournalListener()
            try tpm.gone { () throws in
                let refused = try Sudo.answer(user, [])
                #expect(refused.isRefused && refused.shown.contains("TPM"), "\(refused)")
                #expect(try Sudo.answerOnPipes(user, [Signet.pin]).code == 1)
                try journal.waitFor("fault=tpm_gone", "user=\(user.name)")
                let doctor = try Command.run(["signet", "doctor"])
                #expect(doctor.code == 1 && doctor.output.contains("nobody gets in"), "\(doctor)")
                #expect(try Command.run(["signet", "enclave", "status"]).code == 4)
                // Nothing may be destroyed for a TPM that is only switched off.
                #expect(try Command.run(["signet", "enclave", "forget", "--yes"]).code != 0)
                #expect(access(Signet.store + "/key.tpm", F_OK) == 0)
            }
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch a store that opens on another board.
    @Test func anotherTPMIsForeign() throws {
        try MachineTPM.bound { (tpm, user) throws in
            let journal = try JournalListener()
            try tpm.replaced { () throws in
                let refused = try Sudo.answer(user, [])
                #expect(refused.isRefused && refused.count(of: "PIN: ") == 0, "\(refused)")
                try journal.waitFor("fault=tpm_foreign", "user=\(user.name)")
            }
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch a cleared TPM from which there is no way back, one that loses more than it must, and one by accident.
    @Test func aClearedTPMIsForgottenAndSetUpAnew() throws {
        try MachineTPM.bound { (tpm, user) throws in
            let refusedWhileWell = try Command.run(["signet", "enclave", "forget", "--yes"])
            #expect(refusedWhileWell.code == 1, "\(refusedWhileWell)")
            try tpm.clear()
            #expect(try Sudo.answer(user, []).isRefused)
            let asked = try Command.run(["signet", "enclave", "forget"])
            #expect(asked.code == 1 && asked.output.contains(user.name) && asked.error.contains("--yes"), "\(asked)")
            #expect(access(Signet.store + "/key.tpm", F_OK) == 0)
            let done = try Signet.must(["enclave", "forget", "--yes"])
            #expect(done.contains(user.name))
            let without = try Sudo.answer(user, [])
            #expect(without.isRefused && without.shown.contains("has no Signet PIN yet"), "\(without)")
            try Signet.must(["enclave", "setup"])
            try Signet.setPINAsAdministrator(user)
            #expect(try Sudo.accepts(user))
            // What the forgotten store left in a TPM goes, and the counter in use stays.
            let given = try Signet.must(["enclave", "forget", "--counters"])
            #expect(given.contains("room for"), "\(given)")
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch a store that is made weaker than the configuration permits, and one that cannot be made at all.
    @Test func setupKeepsToTheConfiguration() throws {
        try MachineTPM.machine("enclave = require") { (tpm) throws in
            try tpm.gone { () throws in
                #expect(try Command.run(["signet", "enclave", "setup"]).code != 0)
                let user = try User.fresh()
                let set = try Command.run(
                    ["signet", "pin", "set", "--stdin", "--user", user.name], input: Signet.pin + "\n")
                #expect(set.code != 0 && access(Signet.store + "/key", F_OK) != 0, "\(set)")
            }
        }
        try MachineTPM.machine("enclave = prefer") { (tpm) throws in
            try Signet.must(["enclave", "setup"])
            #expect(access(Signet.store + "/key.tpm", F_OK) == 0)
        }
        try MachineTPM.machine("enclave = file") { (tpm) throws in
            try Signet.must(["enclave", "setup"])
            #expect(access(Signet.store + "/key", F_OK) == 0)
            let user = try Signet.user()
            try Signet.guarding("sudo") { () throws in
                #expect(try Sudo.accepts(user))
                // The same store, once the configuration asks for more.
                let text = "tpm = \(tpm.connection)\nenclave = require\n"
                try File.replaced("/etc/security/signet.conf", with: text) { () throws in
                    let journal = try JournalListener()
                    #expect(try Sudo.answer(user, []).isRefused)
                    try journal.waitFor("fault=tpm_required", "user=\(user.name)")
                }
            }
        }
    }

    // Would catch a module or a command line that needs tpm2-tss: without it a key file does (the world's /usr is its own).
    @Test func withoutTheLibrariesAKeyFileDoes() throws {
        let library = "/usr/lib/x86_64-linux-gnu/libtss2-esys.so.0"
        try MachineTPM.machine("enclave = prefer") { (_) throws in
            try Command.must("mv", library, library + ".aside")
            defer { _ = try? Command.must("mv", library + ".aside", library) }
            let setup = try Signet.must(["enclave", "setup"])
            #expect(setup.contains("key file") && setup.contains("helper"), "\(setup)")
            let user = try Signet.user()
            try Signet.guarding("sudo") { () throws in
                #expect(try Sudo.answer(user, [Signet.wrongPIN(1), Signet.pin]).isGranted)
            }
            let doctor = try Command.run(["signet", "doctor"])
            #expect(doctor.output.contains("libtss2-esys.so.0 is not there"), "\(doctor.output)")
        }
    }

    // Would catch a slip in the configuration that shuts out all whose secrets are in the TPM (rule 11).
    @Test func aSlipInTheConfigurationKeepsTheTPM() throws {
        try MachineTPM.bound("frobnicate = yes") { (_, user) throws in #expect(try Sudo.accepts(user)) }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where there is no software TPM.
    static var withTPM: Self { .enabled(if: MachineTPM.isHere, "swtpm and tpm2-tools are not installed") }
}
