import Glibc
import Testing

/// Whatever changes a user's prints without the user's PIN closes the finger path until the user activates anew (rule 5).
@Suite(.serialized, .inWorld, .withProduct) struct ChangedSetTests {
    private static let added =
        "Your fingerprints were changed (1 added). Type your PIN; then run \"sudo signet activate\": "

    /// After a change: the sentence stands there, no finger is offered, the PIN works and does not open the finger path.
    private func expectClosed(_ alice: Enrolled, _ words: String, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        try alice.expectPINOnly(words, sourceLocation: sourceLocation)
        try alice.expectPINOnly(words, sourceLocation: sourceLocation)
        let status = try alice.status()
        #expect(!status.fingerprint.on, sourceLocation: sourceLocation)
        #expect(status.fingerprint.reason == "enrollment_changed", sourceLocation: sourceLocation)
    }

    /// Only PIN and finger together open it.
    private func expectActivationOpens(_ alice: Enrolled, _ finger: String = Enrolled.finger) throws {
        let terminal = try alice.activate(finger)
        #expect(try terminal.finish() == 0, "\(terminal.transcript)")
        #expect(try alice.acceptsFinger(finger))
    }

    private func copy(_ from: String, to target: String) throws { try Command.must("cp", "-p", from, target) }

    // Would catch a print file from an earlier time that root copies back, with a finger in it that was deleted since; a set
    // that goes back to what was approved and is open again by itself; and a change that the status hides.
    @Test func aPrintAddedByCopyingAFileClosesUntilActivation() throws {
        try Enrolled.with { alice in
            try alice.enroll("left", as: "left-index")
            let (two, one) = (alice.reader.folder + "/two", alice.reader.folder + "/one")
            try copy(alice.printsFile, to: two)
            let deletion = try alice.signetOnTerminal("delete", "left-index")
            try deletion.waitForSecretPrompt("PIN: ")
            try deletion.type(line: Enrolled.pin)
            #expect(try deletion.finish() == 0)
            try copy(alice.printsFile, to: one)
            #expect(try alice.acceptsFinger())

            let journal = try JournalListener()
            try copy(two, to: alice.printsFile)
            try expectClosed(alice, ChangedSetTests.added)
            try journal.waitFor("event=finger_closed", "reason=enrollment_changed added=1 removed=0")
            try copy(one, to: alice.printsFile)
            try expectClosed(alice, ChangedSetTests.added)
            let page = try alice.signet("status").output
            #expect(page.hasPrefix("\(alice.user.name): the fingerprints were changed (1 added)"), "\(page)")
            #expect(page.contains("sudo signet activate"), "\(page)")
            try expectActivationOpens(alice)
        }
    }

    // Would catch a rolled-back file from before a finger was enrolled: the user's newest finger is gone without a word.
    @Test func aRolledBackFileCloses() throws {
        try Enrolled.with { alice in
            let old = alice.reader.folder + "/old"
            try copy(alice.printsFile, to: old)
            try alice.enroll("left", as: "left-index")
            try copy(old, to: alice.printsFile)
            try expectClosed(alice, "Your fingerprints were changed (1 removed). Type your PIN")
            try expectActivationOpens(alice)
        }
    }

    // Would catch a set that root changed to and fro, with a print in it for a while that somebody used to get in.
    @Test func addingAndRemovingIsAChangeToo() throws {
        try Enrolled.with { alice in
            try alice.enroll("left", as: "left-index", byAdministrator: true)
            #expect(try alice.signet("delete", "left-index", byAdministrator: true).code == 0)
            try expectClosed(alice, "Your fingerprints were changed. Type your PIN")
            try expectActivationOpens(alice)
        }
    }

    // Would catch a root who enrols a finger of his own for somebody and gets in with it, or with whom the user's own still does.
    @Test func aPrintEnrolledByRootWithoutThePINCloses() throws {
        try Enrolled.with { alice in
            try alice.enroll("roots-finger", as: "left-index", byAdministrator: true)
            try expectClosed(alice, ChangedSetTests.added)
            #expect(try alice.signet("delete", "left-index", byAdministrator: true).code == 0)
            try expectClosed(alice, "Your fingerprints were changed")
            try expectActivationOpens(alice)
            #expect(try !alice.acceptsFinger("roots-finger"))
        }
    }

    // Would catch a print that is exchanged for another under the same name: the number of prints does not tell.
    @Test func aReplacedPrintCloses() throws {
        try Enrolled.with { alice in
            #expect(try alice.signet("delete", "right-index", byAdministrator: true).code == 0)
            try alice.enroll("roots-finger", byAdministrator: true)
            try expectClosed(alice, "Your fingerprints were changed (1 added, 1 removed). Type your PIN")
            try expectActivationOpens(alice, "roots-finger")
        }
    }

    // Would catch a user's prints that count for somebody else once their file is copied, and a PIN that goes with them.
    @Test func anotherUsersFileOpensNothing() throws {
        try Enrolled.with { alice in
            let mallory = try alice.another(finger: "mallorys-finger")
            try copy(mallory.printsFile, to: alice.printsFile)
            let terminal = try alice.sudo()
            try terminal.waitForPrompt()
            #expect(!terminal.transcript.contains(Offer.touch), "\(terminal.transcript)")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try mallory.acceptsFinger("mallorys-finger"), "the file that was copied is as good as before")
        }
    }

    // Would catch a record that is deleted and taken for "no finger was ever enrolled", so that a new set needs no PIN.
    @Test func aDeletedPrintsFileCloses() throws {
        try Enrolled.with { alice in
            unlink(alice.printsFile)
            let terminal = try alice.sudo()
            try terminal.waitForPrompt()
            #expect(!terminal.transcript.contains(Offer.touch), "\(terminal.transcript)")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try !alice.status().fingerprint.on)
        }
    }

    // Would catch damage that locks the user out, or that opens anything.
    @Test func aDamagedPrintsFileLeavesThePIN() throws {
        try Enrolled.with { alice in
            try Command.must(
                "dd", "if=/dev/zero", "of=\(alice.printsFile)", "bs=1", "seek=100", "count=8", "conv=notrunc")
            let terminal = try alice.sudo()
            try terminal.waitForPrompt()
            #expect(!terminal.transcript.contains(Offer.touch), "\(terminal.transcript)")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch a switch that does not switch off, or that loses the prints.
    @Test func deactivationClosesAndActivationOpens() throws {
        try Enrolled.with { alice in
            #expect(try alice.signet("deactivate").code == 0)
            try alice.expectPINOnly("Your fingerprints are not switched on yet.")
            try expectActivationOpens(alice)
        }
    }

    // Would catch a change that happens while the person is already asked to touch: the match of a set that is no longer there.
    @Test func aChangeWhileTheReaderWaitsIsNoticed() throws {
        try Enrolled.with { alice in
            let old = alice.reader.folder + "/old"
            try copy(alice.printsFile, to: old)
            try alice.enroll("left", as: "left-index")
            let terminal = try alice.sudo()
            try terminal.waitForSecretPrompt(Offer.begun)
            try terminal.waitForSecretPrompt(Offer.touch)
            try copy(old, to: alice.printsFile)
            try alice.reader.retry(.removeFinger)
            try terminal.waitFor("Lift your finger")
            try alice.reader.scan(Enrolled.finger)
            try terminal.waitFor("Your fingerprints were changed")
            try alice.typePIN(terminal, at: ": ")
        }
    }

    // MARK: The reader's own memory

    // Would catch a reader with a memory that does not work at all, so that the tests below would prove nothing.
    @Test func aFingerInTheReadersMemoryIsLetIn() throws {
        try Enrolled.with(.storage) { alice in
            let accepted = try (alice.acceptsFinger(), alice.acceptsFinger("someone-else"))
            #expect(accepted == (true, false))
        }
    }

    // Would catch a print that vanished from the reader's memory without a word, and one that is back and counts again.
    @Test func aPrintRemovedFromTheReaderCloses() throws {
        try Enrolled.with(.storage) { alice in
            let words = "or one is gone from the reader's memory. Type your PIN"
            let terminal = try alice.sudo()
            try terminal.waitForSecretPrompt(Offer.begun)
            // The list that differs is looked at once more, after closing and opening.
            try terminal.waitFor(words)
            #expect(try alice.fingerFailures() == 0)
            try alice.typePIN(terminal, at: ": ")
            try expectClosed(alice, words)
            try expectActivationOpens(alice)
        }
    }

    // Would catch a foreign print in the reader's memory that authenticates, that closes the path, or that nobody hears of.
    @Test func aForeignPrintInTheReaderIsReportedAndOpensNothing() throws {
        try Enrolled.with(.storage) { alice in
            let chip = [Enrolled.finger, "foreign"]
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try alice.arm(terminal, chip: chip)
            try alice.reader.scan("foreign")
            try terminal.waitFor(Offer.refused)
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            try journal.waitFor("event=foreign_prints", "count=1", "user=\(alice.user.name)")
        }
    }

    // Would catch a finger that opens another user's account because both lie in one reader's memory.
    @Test func anotherUsersPrintInTheReaderOpensNothing() throws {
        try Enrolled.with(.storage) { alice in
            let bob = Enrolled(user: try User.fresh(), reader: alice.reader, kind: .storage)
            #expect(try bob.signet("pin", "set", "--stdin", input: Enrolled.pin + "\n").code == 0)
            try bob.enroll("bobs-finger", chip: [Enrolled.finger])
            let chip = [Enrolled.finger, "bobs-finger"]
            #expect(try bob.acceptsFinger("bobs-finger", chip: chip))
            #expect(try !alice.acceptsFinger("bobs-finger", chip: chip))
            #expect(try alice.acceptsFinger(chip: chip))
        }
    }
}
