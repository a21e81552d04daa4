import Glibc
import Testing

/// Prints that a real fprintd enrolled, taken over into Signet's own set.
@Suite(.serialized, .inWorld, .withProduct, .withFprintd) struct ImportTests {
    /// Runs `body` with a user who has a PIN, no finger of Signet's, and a right index of fprintd's.
    private func with(_ body: (Enrolled, Fprintd) throws -> Void) throws {
        try Enrolled.with(finger: nil) { alice in
            let fprintd = try Fprintd(alice.reader)
            try fprintd.enroll(Enrolled.finger, for: alice.user)
            try body(alice, fprintd)
        }
    }

    private func importing(_ alice: Enrolled) throws -> Terminal {
        let terminal = try alice.signetOnTerminal("import")
        try terminal.waitForSecretPrompt("PIN: ")
        try terminal.type(line: Enrolled.pin)
        try terminal.waitFor("Touch the reader with an enrolled finger.")
        return terminal
    }

    // Would catch a print that is taken over and does not work, one that is there twice, and files of fprintd's that
    // Signet touched.
    @Test func aPrintOfFprintdsIsTakenOver() throws {
        try with { alice, _ in
            let file = Fprintd.file("7", of: alice.user)
            let before = try Command.must("stat", "-c", "%i %Z %s %a", file)
            let journal = try JournalListener()
            alice.reader.forget()
            let terminal = try importing(alice)
            #expect(terminal.transcript.contains("fprintd keeps these fingers of \(alice.user.name):"))
            #expect(terminal.transcript.contains("right index"))
            try alice.reader.scan(Enrolled.finger)
            try terminal.waitFor("Imported and switched on: right index.")
            #expect(try terminal.finish() == 0, "\(terminal.transcript)")
            try journal.waitFor("event=management", "act=fingers_imported", "prints=1")
            #expect(try alice.status().fingerprint.on)
            #expect(try alice.acceptsFinger())
            #expect(try !alice.acceptsFinger("someone-else"))
            #expect(try Command.must("stat", "-c", "%i %Z %s %a", file) == before)

            let again = try alice.signetOnTerminal("import", "--json")
            try again.waitFor("\"known\":1")
            #expect(try again.finish() == 0, "\(again.transcript)")
            #expect(again.transcript.contains("\"imported\":[]"))
            #expect(!again.transcript.contains("PIN: "), "what is here already needs no PIN")
            #expect(try alice.status().fingerprint.fingers.count == 1)
        }
    }

    // Would catch a print of a stranger, whom fprintd let enrol by the system password, that gets in without the PIN or
    // without its finger.
    @Test func nothingIsTakenOverWithoutPINAndTouch() throws {
        try with { alice, _ in
            let noPIN = try alice.signetOnTerminal("import")
            for _ in 1...3 {
                try noPIN.waitForSecretPrompt("PIN: ")
                try noPIN.type(line: "591357")
            }
            #expect(try noPIN.finish() == 1)
            alice.reader.forget()
            let noFinger = try importing(alice)
            try alice.reader.scan("someone-else")
            try noFinger.waitFor("Not recognised. Touch again.")
            try noFinger.press("c")
            #expect(try noFinger.finish() == 130)
            #expect(try alice.status().fingerprint.fingers.isEmpty)
            #expect(try !alice.status().fingerprint.on)
        }
    }

    // Would catch an administrator whose import switches a finger on that the user never agreed to.
    @Test func anAdministratorsImportCountsAfterActivation() throws {
        try with { alice, _ in
            let result = try alice.signet("import", byAdministrator: true)
            #expect(result.code == 0, "\(result.error)")
            #expect(result.output.contains("They count after \(alice.user.name) runs"), "\(result.output)")
            try alice.expectPINOnly("Your fingerprints are not switched on yet.")
            let own = try alice.signetOnTerminal("import")
            try own.waitFor("They are not switched on; do that with \"sudo signet activate\".")
            #expect(try own.finish() == 0, "\(own.transcript)")
            let activation = try alice.activate()
            #expect(try activation.finish() == 0, "\(activation.transcript)")
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a print that was put into another user's folder or under another finger's name, and a refusal that
    // does not say which.
    @Test func whatIsNotAsFprintdWritesItIsLeftOutByName() throws {
        try with { alice, _ in
            let bob = Enrolled(user: try User.fresh(), reader: alice.reader, kind: .plain)
            #expect(try bob.signet("pin", "set", "--stdin", input: Enrolled.pin + "\n").code == 0)
            let folder = "\(Fprintd.store)/\(bob.user.name)"
            try Command.must("cp", "-a", "\(Fprintd.store)/\(alice.user.name)", folder)
            let refused = try bob.signet("import")
            #expect(refused.code == 4)
            #expect(
                refused.error.contains("\(folder)/virtual_device/0/7 is another user's print than its folder says"),
                "\(refused.error)")
            #expect(try bob.status().fingerprint.fingers.isEmpty)
        }
    }

    // Would catch a handle to a print in the reader's memory that is not taken for one, or that is taken over although
    // the print is gone.
    @Test func aPrintInTheReadersMemoryIsTakenOverWhileItIsThere() throws {
        try Enrolled.with(.storage, finger: nil) { alice in
            let fprintd = try Fprintd(alice.reader)
            try fprintd.enroll(Enrolled.finger, for: alice.user, stages: 6)
            alice.reader.forget()
            let gone = try alice.signetOnTerminal("import")
            try gone.waitFor("virtual_device_storage, is no longer on the reader")
            try gone.waitFor("Nothing was imported.")
            #expect(try gone.finish() == 0, "\(gone.transcript)")
            #expect(!gone.transcript.contains("PIN: "), "nobody is asked for a PIN for what is not there")
            #expect(try alice.status().fingerprint.fingers.isEmpty)

            alice.reader.forget()
            let terminal = try alice.signetOnTerminal("import", "--json")
            // It is opened for the list, and anew for the touch.
            try alice.fill(chip: [Enrolled.finger])
            try terminal.waitFor("virtual_device_storage, in the reader")
            try terminal.waitForSecretPrompt("PIN: ")
            alice.reader.forget()
            try terminal.type(line: Enrolled.pin)
            try alice.fill(chip: [Enrolled.finger])
            try terminal.waitFor("Touch the reader with an enrolled finger.")
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.finish() == 0, "\(terminal.transcript)")
            #expect(terminal.transcript.contains("\"state\":\"imported\""), "\(terminal.transcript)")
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a missing store that is told as damage.
    @Test func nothingToImportIsSaid() throws {
        try Enrolled.with(finger: nil) { alice in
            let none = try alice.signet("import", byAdministrator: true)
            #expect(none.code == 1)
            #expect(none.error.contains("fprintd keeps no fingerprint of \(alice.user.name)"), "\(none.error)")
        }
    }
}

/// `enrollment_source = fprintd`: the prints of the desktop's settings are the enrollment set.
@Suite(.serialized, .inWorld, .withProduct, .withFprintd) struct FprintdSourceTests {
    private static let lines = ["enrollment_source = fprintd"]
    private static let added =
        "Your fingerprints were changed (1 added). Type your PIN; then run \"sudo signet activate\": "

    /// Runs `body` with a user whose right index fprintd enrolled and the user activated.
    private func with(_ body: (Enrolled, Fprintd) throws -> Void) throws {
        try Enrolled.with(finger: nil, lines: FprintdSourceTests.lines) { alice in
            let fprintd = try Fprintd(alice.reader)
            try fprintd.enroll(Enrolled.finger, for: alice.user)
            try alice.expectPINOnly("Your fingerprints are not switched on yet.")
            try expectActivationOpens(alice)
            try body(alice, fprintd)
        }
    }

    /// A reader that cannot identify asks to lift the finger for each print that it is not.
    private func expectActivationOpens(_ alice: Enrolled, sourceLocation: SourceLocation = #_sourceLocation) throws {
        alice.reader.forget()
        let terminal = try alice.activate()
        while try terminal.waitForAny(["switched on.", "Lift your finger"]).index == 1 {
            try alice.reader.scan(Enrolled.finger)
        }
        #expect(try terminal.finish() == 0, "\(terminal.transcript)", sourceLocation: sourceLocation)
        #expect(try alice.acceptsFinger(), sourceLocation: sourceLocation)
    }

    // Would catch a finger that somebody with the system password enrolled in the desktop's settings and that counts, a
    // set that is not read anew, and a change that is forgotten once the set goes back.
    @Test func anotherFingerOfFprintdsClosesUntilThePINApproves() throws {
        try with { alice, fprintd in
            try fprintd.enroll("strangers-finger", as: "left-index-finger", for: alice.user)
            let journal = try JournalListener()
            try alice.expectPINOnly(FprintdSourceTests.added)
            try journal.waitFor("event=finger_closed", "reason=enrollment_changed added=1 removed=0")
            try fprintd.delete("left-index-finger", for: alice.user)
            try alice.expectPINOnly("Your fingerprints were changed (1 added)")
            try fprintd.enroll("left", as: "left-index-finger", for: alice.user)
            try expectActivationOpens(alice)
            #expect(try alice.acceptsFinger("left"))
        }
    }

    // Would catch a set that fprintd changes by comparing or by being started anew, as a desktop does all day: fingers
    // would be off for nothing.
    @Test func usingFprintdIsNoChange() throws {
        try Enrolled.with(finger: nil, lines: FprintdSourceTests.lines) { alice in
            do {
                let fprintd = try Fprintd(alice.reader)
                try fprintd.enroll(Enrolled.finger, for: alice.user)
                try expectActivationOpens(alice)
                try fprintd.verify(Enrolled.finger, for: alice.user)
            }
            let again = try Fprintd(alice.reader)
            try again.verify(Enrolled.finger, for: alice.user)
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a finger that was enrolled, used and removed between two looks: the set is what it was.
    @Test func addingAndRemovingIsSeen() throws {
        try with { alice, fprintd in
            try fprintd.enroll("strangers-finger", as: "left-index-finger", for: alice.user)
            try fprintd.delete("left-index-finger", for: alice.user)
            try alice.expectPINOnly("Your fingerprints were changed. Type your PIN")
            try expectActivationOpens(alice)
        }
    }

    // Would catch a print that fprintd replaced under the same name.
    @Test func aReplacedPrintCloses() throws {
        try with { alice, fprintd in
            try fprintd.enroll("strangers-finger", for: alice.user)
            try alice.expectPINOnly("Your fingerprints were changed (1 added, 1 removed). Type your PIN")
        }
    }

    // Would catch a deleted print that still gets in, and a path that stays closed for ever when the last one is gone.
    @Test func whenAllAreGoneThePINAloneSettlesIt() throws {
        try with { alice, fprintd in
            try fprintd.delete("right-index-finger", for: alice.user)
            try alice.expectPINOnly("Your fingerprints were changed (1 removed). Type your PIN")
            let terminal = try alice.signetOnTerminal("activate")
            try terminal.waitForSecretPrompt("PIN: ")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.finish() == 0, "\(terminal.transcript)")
            #expect(try !alice.status().fingerprint.on)
        }
    }

    // Would catch files that others can change, or that are not whole, as somebody's finger; and a user who is shut out by them.
    @Test(arguments: ["owner", "link", "truncated", "writable"]) func anUnsafeStoreLeavesThePIN(_ fault: String) throws
    {
        try with { alice, _ in
            let file = Fprintd.file("7", of: alice.user)
            switch fault {
            case "owner": try Command.must("chown", alice.user.name, file)
            case "link":
                try Command.must("mv", file, "\(alice.reader.folder)/print")
                try Command.must("ln", "-s", "\(alice.reader.folder)/print", file)
            case "truncated": try Command.must("truncate", "-s", "20", file)
            default: try Command.must("chmod", "666", file)
            }
            let doctor = try Command.run(["signet", "doctor"]).output
            #expect(doctor.replacing(/\s+/, with: " ").contains("fail fprintd \(file) "), "\(doctor)")
            let terminal = try alice.sudo()
            try terminal.waitForPrompt()
            #expect(!terminal.transcript.contains(Offer.touch), "\(terminal.transcript)")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try !alice.status().fingerprint.on)
        }
    }

    // Would catch commands that change a set that is not Signet's, or that do not say where it is changed.
    @Test func theCommandsThatChangePrintsSayWhereTheyAreChanged() throws {
        try with { alice, _ in
            for words in [["enroll", "left-index"], ["delete", "right-index"], ["import"]] {
                let terminal = try Terminal(["signet"] + words, environment: alice.asUser)
                try terminal.waitFor("your fingerprints are kept by fprintd on this machine")
                try terminal.waitFor("fprintd-enroll")
                #expect(try terminal.finish() == 1)
                #expect(!terminal.transcript.contains("PIN: "))
            }
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a change of the source that opens what the PIN approved for another set.
    @Test func aChangedSourceIsAChange() throws {
        try with { alice, _ in
            try alice.reader.configured("enrollment_source = signet") {
                try alice.expectPINOnly("Your fingerprints were changed (1 removed). Type your PIN")
            }
            try alice.expectPINOnly("Your fingerprints were changed")
            try expectActivationOpens(alice)
        }
    }
}
