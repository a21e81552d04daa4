import Glibc
import Testing

/// Old copies of files, put back by somebody who can write to the disk and nothing else.
@Suite(.serialized, .inWorld, .withProduct, .withTPM) struct EnclaveRollbackTests {
    /// What is copied while the user has no failures, and put back after three; `$U` is the user's folder, `$S` the store.
    private static let copies: [(what: String, from: String)] = [
        ("the counters", "$U/attempts"), ("the identity and the counters", "$U/identity $U/attempts"),
        ("all of the user's files", "$U/*"), ("all of the store", "$S/key.tpm $S/values $U/*"),
    ]

    // Would catch tries that come back with old files, one of them or all together.
    @Test(arguments: 0..<copies.count) func oldFilesAreRefusedUntilTheyAreAccepted(_ number: Int) throws {
        let copy = Self.copies[number]
        try MachineTPM.bound { (_, user) throws in
            #expect(try Sudo.accepts(user))
            try put(copy.from, of: user, "tar -C / -cPf $A/copy.tar \(copy.from)")
            #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
            try put(copy.from, of: user, "tar -xPf $A/copy.tar")
            let journal = try JournalListener()
            let refused = try Sudo.answer(user, [])
            #expect(refused.isRefused && refused.count(of: "PIN: ") == 0, "\(copy.what): \(refused)")
            try journal.waitFor("event=record_fault", "fault=rolled_back", "user=\(user.name)")
            #expect(try Sudo.answerOnPipes(user, [Signet.pin]).code == 1)
            // Whoever restored a backup says so.
            try Signet.must(["enclave", "accept", "--user", user.name])
            #expect(try Sudo.accepts(user), "\(copy.what)")
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch an old PIN that counts again once its file is put back.
    @Test func anOldIdentityIsRefused() throws {
        try MachineTPM.bound { (_, user) throws in
            #expect(try Sudo.accepts(user))
            try put("identity", of: user, "cp -a $U/identity $A/identity")
            try Signet.setPINAsAdministrator(user, "917352")
            try put("identity", of: user, "cp -a $A/identity $U/identity")
            #expect(try Sudo.answer(user, []).isRefused)
            #expect(try Sudo.answerOnPipes(user, [Signet.pin]).code == 1)
        }
    }

    // Would catch a backup of everybody that has to be accepted one by one, or that opens a door for fingers on the way.
    @Test func aBackupOfAllIsAcceptedAtOnce() throws {
        try MachineTPM.bound { (_, user) throws in
            let other = try Signet.user()
            try put("", of: user, "cp -a $S/. $A")
            for one in [user, other] { #expect(try Sudo.answer(one, [1, 2, 3].map(Signet.wrongPIN)).isRefused) }
            try put("", of: user, "cp -a $A/. $S")
            for one in [user, other] { #expect(try Sudo.answer(one, []).isRefused) }
            let doctor = try Command.run(["signet", "doctor"])
            #expect(doctor.output.contains("sudo signet enclave accept"), "\(doctor.output)")
            try Signet.must(["enclave", "accept", "--all"])
            for one in [user, other] { #expect(try Sudo.accepts(one)) }
        }
    }

    // Would catch a counter that is undefined, or made anew by somebody who reaches the TPM, and passes for the old one.
    @Test func aRemovedCounterIsNoticed() throws {
        try MachineTPM.bound { (tpm, user) throws in
            #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
            try tpm.tool(
                """
                for index in $(tpm2_getcap handles-nv-index | grep -o '0x18[0-9A-Fa-f]*'); do
                    tpm2_nvundefine -Q -C o $index
                done
                """)
            #expect(try Sudo.answer(user, []).isRefused)
            try Signet.must(["enclave", "accept", "--user", user.name])
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch flash that is written at each authentication: the counter is for failures alone.
    @Test func successCountsNothing() throws {
        try MachineTPM.bound { (tpm, user) throws in
            let values =
                "for i in $(tpm2_getcap handles-nv-index | grep -o '0x18[0-9A-Fa-f]*'); do tpm2_nvreadpublic $i; done"
            #expect(try Sudo.accepts(user))
            let status = try Signet.must(["enclave", "status"])
            #expect(status.contains("1 used"), "\(status)")
            let before = try tpm.tool(values)
            for _ in 1...3 { #expect(try Sudo.accepts(user)) }
            #expect(try tpm.tool(values) == before)
        }
    }

    private func put(_ what: String, of user: User, _ script: String) throws {
        let aside = Signet.store + ".copy"
        try Command.must(
            "sh", "-euc", "S=\(Signet.store) U=\(Signet.folder(user)) A=\(aside); mkdir -p -m 700 $A; \(script)")
    }
}
