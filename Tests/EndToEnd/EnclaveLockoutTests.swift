import Glibc
import Testing

/// The TPM's own protection against guessing, which belongs to the whole machine.
@Suite(.serialized, .inWorld, .withProduct, .withTPM) struct EnclaveLockoutTests {
    private static let secret = "far-away-in-a-drawer"

    // Would catch somebody else's failures at the TPM that shut everybody out, where the TPM does not count PINs.
    @Test func aLockedTPMStillOpensWhatItDoesNotCount() throws {
        try MachineTPM.bound { (tpm, user) throws in
            try tpm.fail(times: 4)
            #expect(try Command.run(["signet", "enclave", "status"]).code == 6)
            #expect(try Sudo.answer(user, [Signet.wrongPIN(1), Signet.pin]).isGranted)
            #expect(try tpm.failures() == 3)
        }
    }

    // Would catch numbers other than the ones that were promised, and a secret that guards nothing.
    @Test func setupGuardsTheReset() throws {
        try MachineTPM.bound(lockoutSecret: Self.secret) { (tpm, user) throws in
            let status = try Signet.must(["enclave", "status"])
            #expect(
                status.contains("0 of 32") && status.contains("10 minutes") && status.contains("24 hours"), "\(status)")
            // Once set, it is set: nobody is asked for a secret that the TPM would then count as a wrong one.
            let again = try Command.run(
                ["signet", "enclave", "setup", "--set-lockout-auth", "--stdin"], input: "another-secret\n")
            #expect(again.code == 1 && again.error.contains("already"), "\(again)")
            #expect(try tpm.failures() == 0)
            try tpm.tool("tpm2_dictionarylockout --clear-lockout --auth=\(Self.secret)")
        }
    }

    // Would catch a wrong PIN that the TPM should have counted, a right one that is counted, and a user whose typing uses up
    // what the machine has.
    @Test func theTPMCountsWrongPINs() throws {
        try MachineTPM.bound(lockoutSecret: Self.secret) { (tpm, user) throws in
            #expect(try Sudo.answer(user, [1, 2].map(Signet.wrongPIN) + [Signet.pin]).isGranted)
            #expect(try tpm.failures() == 2)
            #expect(try Sudo.accepts(user))
            #expect(try tpm.failures() == 2)
        }
    }

    // Would catch a prompt that uses up the rest of the machine's failures, and a refusal that tells no time.
    @Test func aTPMNearItsLimitRefusesEarly() throws {
        try MachineTPM.bound(lockoutSecret: Self.secret) { (tpm, user) throws in
            try tpm.fail(times: 31)
            let refused = try Sudo.answer(user, [])
            #expect(refused.isRefused && refused.shown.contains("Try again in"), "\(refused)")
            #expect(try tpm.failures() == 31)
            #expect(try Signet.lockout(user).pinFailures == 0)
            try tpm.tool("tpm2_dictionarylockout --clear-lockout --auth=\(Self.secret)")
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch a reset without its secret, a second question that locks the reset, and users' failures that outlive it.
    @Test func theResetAsksOnce() throws {
        try MachineTPM.bound(lockoutSecret: Self.secret) { (tpm, user) throws in
            #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
            #expect(try tpm.failures() == 3)
            try Signet.must(["enclave", "reset", "--stdin"], input: Self.secret + "\n")
            #expect(try tpm.failures() == 0)
            #expect(try Sudo.accepts(user))
            let wrong = try Command.run(["signet", "enclave", "reset", "--stdin"], input: "not-the-secret\n")
            #expect(wrong.code == 1 && wrong.error.contains("24 hours"), "\(wrong)")
            // From here on the TPM refuses the right one too, and that is told apart.
            let barred = try Command.run(["signet", "enclave", "reset", "--stdin"], input: Self.secret + "\n")
            #expect(barred.code == 6, "\(barred)")
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch a secret in the process list or the journal, and one that is set though the two did not agree.
    @Test func theSecretIsAskedTwice() throws {
        try MachineTPM.bound { (tpm, _) throws in
            let terminal = try Terminal(["signet", "enclave", "setup", "--set-lockout-auth"])
            try terminal.waitForSecretPrompt("New lockout secret: ")
            try terminal.type(line: Self.secret)
            try terminal.waitForSecretPrompt("New lockout secret again: ")
            try terminal.type(line: Self.secret + "x")
            #expect(try terminal.finish() == 1)
            #expect(!terminal.transcript.contains(Self.secret))
            #expect(try Signet.must(["enclave", "status"]).contains("open"))
            try tpm.tool("tpm2_dictionarylockout --clear-lockout")
        }
    }
}
