import Glibc
import Testing

/// Records, keys and folders that are not as Signet left them: each is refused in the same words, and told apart in the journal.
@Suite(.serialized, .inWorld, .withProduct) struct PINRecordTests {
    /// What is done to the store of the user `$U`, where `$O` is another user's folder and `$F` another machine's store.
    struct Damage: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let script: String
        /// What the journal says of it.
        let journal: [String]

        init(_ what: String, _ script: String, _ record: String, _ fault: String) {
            testDescription = what
            self.script = script
            journal = ["event=record_fault", "record=\(record)", "fault=\(fault)"]
        }
    }

    static let damages: [Damage] = [
        Damage("identity of another user", "cp $O/identity $U/identity", "identity", "other_user"),
        Damage("identity of another machine", "cp $F/users/$ID/identity $U/identity", "identity", "foreign"),
        Damage("identity cut", "truncate -s -1 $U/identity", "identity", "damaged"),
        Damage("identity empty", "truncate -s 0 $U/identity", "identity", "damaged"),
        Damage("identity longer", "echo >> $U/identity", "identity", "damaged"),
        Damage("identity, one byte other", "flip $U/identity 150", "identity", "damaged"),
        Damage("identity open to all", "chmod 666 $U/identity", "identity", "unsafe"),
        Damage("identity somebody else's", "chown $ID $U/identity", "identity", "unsafe"),
        Damage("identity a link", "mv $U/identity $S/aside; ln -s $S/aside $U/identity", "identity", "unsafe"),
        Damage("identity a pipe", "rm $U/identity; mkfifo -m 600 $U/identity", "identity", "unsafe"),
        Damage("attempts missing", "rm $U/attempts", "attempts", "missing"),
        Damage("attempts of another user", "cp $O/attempts $U/attempts", "attempts", "other_user"),
        Damage("attempts of another machine", "cp $F/users/$ID/attempts $U/attempts", "attempts", "foreign"),
        Damage("attempts cut", "truncate -s 4096 $U/attempts", "attempts", "damaged"),
        Damage("attempts, both slots", "flip $U/attempts 40; flip $U/attempts 4136", "attempts", "damaged"),
        Damage("attempts open to all", "chmod 622 $U/attempts", "attempts", "unsafe"),
        Damage("attempts a link", "mv $U/attempts $S/aside; ln -s $S/aside $U/attempts", "attempts", "unsafe"),
        Damage("folder open to all", "chmod 777 $U", "identity", "unsafe"),
        Damage("folder a link", "mv $U $S/aside; ln -s $S/aside $U", "identity", "unsafe"),
        Damage("store open to all", "chmod 777 $S", "store", "unsafe"),
        Damage("store's users open to all", "chmod 770 $S/users", "store", "unsafe"),
        Damage("key of another machine", "cp $F/key $S/key", "values", "foreign"),
        Damage("key cut", "truncate -s 31 $S/key", "store", "damaged"),
        Damage("key missing", "rm $S/key", "store", "key_lost"),
        Damage("key open to others", "chmod 440 $S/key", "store", "unsafe"),
        Damage("key a link", "mv $S/key $S/aside; ln -s $S/aside $S/key", "store", "unsafe"),
        Damage("values missing", "rm $S/values", "values", "missing"),
        Damage("values, one byte other", "flip $S/values 100", "values", "damaged"),
        Damage("values of another machine", "cp $F/values $S/values", "values", "foreign"),
    ]

    // Would catch a record that is trusted although it is damaged, foreign or open, and an administrator who cannot tell why.
    @Test func eachDamageIsRefusedAndNamed() throws {
        let (user, other) = (try Signet.user(), try Signet.user())
        let aside = try World.scratchFolder()
        try Command.must("mv", Signet.store, "\(aside)/ours")
        try Signet.setPIN(user)
        try Command.must("mv", Signet.store, "\(aside)/foreign")
        defer { try? restore("\(aside)/ours") }
        try Signet.guarding("sudo") {
            for damage in Self.damages {
                try restore("\(aside)/ours")
                try Command.must("sh", "-euc", Self.prologue(user, other, foreign: "\(aside)/foreign") + damage.script)
                let journal = try JournalListener()
                let refused = try Sudo.answer(user, [])
                let what = damage.testDescription
                #expect(refused.isRefused && refused.count(of: Signet.damaged(user)) == 1, "\(what): \(refused)")
                #expect(refused.count(of: "PIN: ") == 0)
                // The journal's line has all of these, in words that differ for each kind of damage.
                let lines = journal.lines
                #expect(lines.contains { line in damage.journal.allSatisfy { line.contains($0) } }, "\(what): \(lines)")
                let answered = try Sudo.answerOnPipes(user, [Signet.pin, Signet.pin])
                #expect(answered.code == 1 && answered.output.isEmpty, "\(what)")
            }
            try restore("\(aside)/ours")
            #expect(try Sudo.accepts(user))
        }
    }

    // Would catch a user whose identity was removed and who gets in without one.
    @Test func aMissingIdentityIsNoPIN() throws {
        let user = try Signet.user()
        try Command.must("rm", Signet.folder(user) + "/identity")
        try Signet.guarding("sudo") {
            let refused = try Sudo.answer(user, [])
            #expect(refused.isRefused && refused.count(of: "\(user.name) has no Signet PIN yet.") == 1, "\(refused)")
        }
    }

    // Would catch prints that shut their owner out: they close the finger path, and the PIN still works (rule 11).
    @Test(arguments: [
        ("cp $O/identity $U/prints", "damaged"), ("printf 'SGNT' > $U/prints; chmod 600 $U/prints", "damaged"),
        ("cp $U/identity $U/prints; chmod 666 $U/prints", "unsafe"), ("ln -s identity $U/prints", "unsafe"),
    ])
    func unusablePrintsLeaveThePIN(_ script: String, _ fault: String) throws {
        let (user, other) = (try Signet.user(), try Signet.user())
        try Command.must("sh", "-euc", Self.prologue(user, other, foreign: "/nowhere") + script)
        let journal = try JournalListener()
        try Signet.guarding("sudo") {
            let terminal = try Sudo.start(user)
            try terminal.waitForSecretPrompt("Type your PIN")
            try terminal.type(line: Signet.pin)
            #expect(try terminal.finish() == 0)
            #expect(!terminal.transcript.contains("touch"))
            try journal.waitFor("event=record_fault", "record=prints", "fault=\(fault)")
        }
    }

    // Would catch a torn slot that shuts its owner out, or that hands back a failure that was charged.
    @Test(arguments: [40, 4136]) func oneTornSlotOfTwoCountsAsAFailureMore(_ offset: Int) throws {
        let user = try Signet.user()
        let journal = try JournalListener()
        try Signet.guarding("sudo") {
            #expect(try Sudo.answer(user, [1, 2, 3].map(Signet.wrongPIN)).isRefused)
            try Command.must("sh", "-euc", Self.prologue(user, user, foreign: "") + "flip $U/attempts \(offset)")
            #expect(try Signet.lockout(user).pinFailures >= 3)
            #expect(try Sudo.accepts(user))
            try journal.waitFor("event=attempts_torn", "user=\(user.name)")
            #expect(try Signet.lockout(user).pinFailures == 0)
        }
    }

    private static func prologue(_ user: User, _ other: User, foreign: String) -> String {
        // `flip FILE OFFSET` changes one bit.
        """
        S=\(Signet.store) U=\(Signet.folder(user)) O=\(Signet.folder(other)) F=\(foreign) ID=\(user.uid)
        flip() {
            byte=$(od -An -tu1 -j "$2" -N 1 "$1")
            printf "\\\\$(printf %o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
        }

        """
    }

    private func restore(_ store: String) throws {
        try Command.must("sh", "-euc", "rm -rf \(Signet.store); cp -a \(store) \(Signet.store)")
    }
}
