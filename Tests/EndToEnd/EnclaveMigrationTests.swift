import Glibc
import Testing

/// The way from a key file to the TPM and back, for all users, with an end in each step.
@Suite(.serialized, .inWorld, .withProduct, .withTPM) struct EnclaveMigrationTests {
    private static let keyFile = Signet.store + "/key"
    private static let tpmFile = Signet.store + "/key.tpm"

    // Would catch a PIN, a recovery code or an approval that is lost on the way, and an old secret that stays.
    @Test func thereAndBack() throws {
        try MachineTPM.machine("enclave = file") { (tpm) throws in
            try Signet.must(["enclave", "setup"])
            let (user, other) = (try Signet.user(), try Signet.user())
            try Signet.guarding("sudo") { () throws in
                let there = try Signet.must(["enclave", "migrate", "--to", "tpm"])
                #expect(there.contains("2 users' records") && there.contains("at its next right use"), "\(there)")
                #expect(access(Self.keyFile, F_OK) != 0 && access(Self.tpmFile, F_OK) == 0)
                #expect(try Signet.must(["enclave", "status"]).contains("0 of 2"))
                #expect(try Sudo.accepts(user))
                #expect(try Signet.must(["enclave", "status"]).contains("not yet: \(other.name)"))
                #expect(try Sudo.answer(other, [Signet.wrongPIN(1), Signet.pin]).isGranted)
                #expect(try Signet.must(["enclave", "status"]).contains("2 of 2"))
                // Bound now: no TPM, no way in.
                try tpm.gone { () throws in #expect(try Sudo.answer(user, []).isRefused) }
                // The TPM keeps its halves until each PIN was given, which a migration cannot do.
                let back = try Command.run(["signet", "enclave", "migrate", "--to", "file"])
                #expect(back.code == 1 && back.output.contains("half of \(user.name)'s PIN"), "\(back)")
                for one in [user, other] { #expect(try Sudo.accepts(one)) }
                try Signet.must(["enclave", "migrate", "--to", "file"])
                #expect(try Signet.must(["enclave", "status"]).contains("key file"))
                #expect(access(Self.keyFile, F_OK) == 0 && access(Self.tpmFile, F_OK) != 0)
                try tpm.gone { () throws in for one in [user, other] { #expect(try Sudo.accepts(one)) } }
            }
        }
    }

    // Would catch fingers that count no more, or that count without their approval, after a migration.
    @Test func approvalsStay() throws {
        try MachineTPM.machine("enclave = file") { (tpm) throws in
            let lines = ["enclave = file", "tpm = \(tpm.connection)"]
            try Enrolled.with(lines: lines) { person in
                #expect(try person.status().fingerprint.on)
                try Signet.must(["enclave", "migrate", "--to", "tpm"])
                #expect(try person.status().fingerprint.on)
                try givePIN(person)
                #expect(try person.status().fingerprint.on)
                #expect(try Command.run(["signet", "enclave", "migrate", "--to", "file"]).code == 1)
                try givePIN(person)
                try Signet.must(["enclave", "migrate", "--to", "file"])
                #expect(try person.status().fingerprint.on)
            }
        }
    }

    private func givePIN(_ person: Enrolled) throws {
        let terminal = try Sudo.start(person.user)
        try terminal.waitForSecretPrompt("or type your PIN: ")
        try terminal.type(line: Enrolled.pin)
        #expect(try terminal.finish() == 0)
    }

    // Would catch a store that no longer opens because the migration was killed, whichever file was being put in place.
    @Test(arguments: ["rename", "fsync"]) func killedAnywhereItGoesOn(_ call: String) throws {
        try MachineTPM.machine("enclave = file") { (tpm) throws in
            try Signet.must(["enclave", "setup"])
            let (user, other) = (try Signet.user(), try Signet.user())
            try Signet.guarding("sudo") { () throws in
                for target in ["tpm", "file"] {
                    var kills = 0
                    while kills < 60 {
                        let ended = try migrate(to: target, killedAt: call, number: kills + 1)
                        if ended { break }
                        kills += 1
                        // Everybody gets in at each of these moments, and what is typed wrong counts.
                        #expect(try Sudo.accepts(user), "\(target), \(call) \(kills)")
                        #expect(try Sudo.answer(other, [Signet.wrongPIN(1), Signet.pin]).isGranted)
                        try Signet.must(["enclave", "status"])
                    }
                    #expect(kills > 2 && kills < 60, "\(kills)")
                    try Signet.must(["enclave", "migrate", "--to", target])
                    for one in [user, other] { #expect(try Sudo.accepts(one)) }
                    #expect((access(Self.keyFile, F_OK) == 0) == (target == "file"))
                    #expect(!(try Signet.must(["enclave", "status"])).contains("Migration"))
                }
            }
        }
    }

    // Would catch a migration that destroys the old key though the new enclave was never proven.
    @Test func withoutATPMNothingIsTouched() throws {
        try MachineTPM.machine("enclave = file") { (tpm) throws in
            try Signet.must(["enclave", "setup"])
            let user = try Signet.user()
            try Signet.guarding("sudo") { () throws in
                try tpm.gone { () throws in
                    let refused = try Command.run(["signet", "enclave", "migrate", "--to", "tpm"])
                    #expect(refused.code != 0 && refused.error.contains("TPM"), "\(refused)")
                    #expect(access(Self.keyFile, F_OK) == 0 && access(Self.tpmFile, F_OK) != 0)
                    #expect(try Sudo.accepts(user))
                }
            }
        }
    }

    // Would catch a key of the attacker's own that is taken because it lies there.
    @Test func aPlantedKeyIsNotRead() throws {
        try MachineTPM.bound { (_, user) throws in
            try Command.must("sh", "-euc", "head -c 32 /dev/urandom > \(Self.keyFile); chmod 400 \(Self.keyFile)")
            #expect(try Sudo.accepts(user))
            let doctor = try Command.run(["signet", "doctor"])
            #expect(doctor.output.contains(Self.keyFile), "\(doctor.output)")
            // With the TPM's file gone the planted key must not open a store of its own.
            try Command.must("mv", Self.tpmFile, Self.tpmFile + ".aside")
            #expect(try Sudo.answer(user, []).isRefused)
        }
    }

    /// Whether the migration came to its end before the call of this number, at which it is killed.
    private func migrate(to target: String, killedAt call: String, number: Int) throws -> Bool {
        let calls = call == "rename" ? "rename,renameat,renameat2,unlink,unlinkat" : "fsync,fdatasync"
        let result = try Command.run(
            [
                "strace", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
                "inject=\(calls):signal=KILL:when=\(number)", "signet", "enclave", "migrate", "--to", target,
            ], within: 60)
        return result.code == 0
    }
}
