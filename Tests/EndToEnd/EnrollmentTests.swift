import Glibc
import Testing

/// `signet enroll` on a terminal, with libfprint's virtual readers.
@Suite(.serialized, .inWorld, .withProduct) struct EnrollmentTests {
    // Would catch stages that are not shown, a bar on a terminal that cannot draw one, and a finger that counts nowhere.
    @Test(arguments: ["xterm", "dumb"])
    func theStagesAreShownAndTheFingerIsSwitchedOn(_ kind: String) throws {
        try Enrolled.with(finger: nil) { alice in
            let terminal = try alice.signetOnTerminal("enroll", environment: ["TERM": kind])
            try terminal.waitForSecretPrompt("PIN: ")
            try terminal.type(line: Enrolled.pin)
            try terminal.waitFor("Finger    right index")
            for stage in 1...5 {
                try alice.reader.scan(Enrolled.finger)
                try terminal.waitFor(kind == "dumb" ? "\(stage) of 5: good\r\n" : "\(stage) of 5   Good")
            }
            try alice.confirm(terminal, Enrolled.finger, chip: [])
            try terminal.waitFor("Right index is enrolled and switched on.")
            try terminal.waitFor("You now have 1 finger.")
            #expect(try terminal.finish() == 0)
            #expect(terminal.transcript.contains("█") == (kind == "xterm"))
            #expect(try alice.status().fingerprint.on)
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch `enroll` and `list` that do not work through the very sudo that they are for.
    @Test func enrollsThroughSudo() throws {
        try Enrolled.with(finger: nil) { alice in
            let terminal = try Terminal(["sudo", "-k", "signet", "enroll"], as: alice.user)
            for prompt in [Offer.pin, "PIN: "] {
                try terminal.waitForSecretPrompt(prompt)
                try terminal.type(line: Enrolled.pin)
            }
            try alice.reader.enrol(Enrolled.finger)
            try alice.confirm(terminal, Enrolled.finger, chip: [])
            #expect(try terminal.finish() == 0, "\(terminal.transcript)")
            let list = try alice.signet("list")
            #expect(list.output.contains("right index"), "\(list.output)")
            let verify = try alice.signetOnTerminal("verify")
            try verify.waitForSecretPrompt("Touch the reader or type your PIN: ")
            try alice.reader.scan(Enrolled.finger)
            #expect(try verify.finish() == 0, "\(verify.transcript)")
        }
    }

    // Would catch a retry that ends the enrolment, counts as a stage, or does not say what to do.
    @Test func retryReasonsBecomeHints() throws {
        try Enrolled.with(finger: nil) { alice in
            let terminal = try alice.beginEnrolling()
            try alice.reader.scan(Enrolled.finger)
            try terminal.waitFor("1 of 5")
            for (reason, sentence) in [
                (VirtualReader.Retry.centreFinger, "Centre your finger"), (.removeFinger, "Lift your finger"),
            ] {
                try alice.reader.retry(reason)
                try terminal.waitFor(sentence)
            }
            try alice.reader.enrol(Enrolled.finger, stages: 4)
            try alice.confirm(terminal, Enrolled.finger, chip: [])
            #expect(try terminal.finish() == 0, "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 0)
        }
    }

    // Would catch a finger that stands twice in the set, under two names: deleting one would not switch it off.
    @Test func aDuplicateIsRefusedWithItsName() throws {
        try Enrolled.with { alice in
            let terminal = try alice.beginEnrolling(as: "left-index")
            try alice.reader.enrol(Enrolled.finger)
            try alice.confirm(terminal, Enrolled.finger, chip: [])
            try terminal.waitFor("this finger is enrolled already, as right index")
            #expect(try terminal.finish() == 1)
            #expect(try alice.status().fingerprint.fingers.map(\.finger) == ["right index"])
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch the same on a reader that sees duplicates itself, where the name is one more touch away.
    @Test func aDuplicateThatTheReaderSeesIsRefusedWithItsName() throws {
        try Enrolled.with(.storage) { alice in
            let terminal = try alice.beginEnrolling(as: "left-index", chip: [Enrolled.finger])
            try alice.reader.scan(Enrolled.finger)
            alice.reader.forget()
            try alice.fill(chip: [Enrolled.finger])
            try terminal.waitFor("Touch once more to see by what name.")
            try alice.reader.scan(Enrolled.finger)
            try terminal.waitFor("this finger is enrolled already, as right index")
            #expect(try terminal.finish() == 1)
            #expect(try alice.status().fingerprint.fingers.count == 1)
        }
    }

    // Would catch a name that is given twice, and a PIN asked for before that is said.
    @Test func anEnrolledNameIsRefusedBeforeAnythingIsAsked() throws {
        try Enrolled.with { alice in
            let terminal = try alice.signetOnTerminal("enroll", "right-index")
            try terminal.waitFor("your right index is enrolled already")
            #expect(try terminal.finish() == 1)
            #expect(!terminal.transcript.contains("PIN: "))
        }
    }

    // Would catch a print that is kept although the confirming touch was another finger's.
    @Test func aWrongConfirmingTouchKeepsNothing() throws {
        try Enrolled.with(finger: nil) { alice in
            let terminal = try alice.beginEnrolling()
            try alice.reader.enrol(Enrolled.finger)
            try alice.confirm(terminal, "someone-else", chip: [])
            for _ in 1...2 {
                try terminal.waitFor("Not recognised. Touch again.")
                try alice.reader.scan("someone-else")
            }
            try terminal.waitFor("the touch was not recognised or did not come, and no finger was changed")
            #expect(try terminal.finish() == 1)
            #expect(try alice.status().fingerprint.fingers.isEmpty)
            #expect(try alice.fingerFailures() == 3, "whoever holds the PIN alone guesses no finger for nothing")
        }
    }

    /// Where Ctrl-C comes.
    enum Moment: CaseIterable { case atThePIN, beforeTheFirstTouch, amongTheStages, atTheConfirmingTouch }

    // Would catch a cancelled enrolment that leaves a print, a charge, a helper, or a terminal that does not echo.
    @Test(arguments: Moment.allCases)
    func controlCChangesNothing(_ moment: Moment) throws {
        try Enrolled.with(finger: nil) { alice in
            let terminal = try alice.signetOnTerminal("enroll")
            try terminal.waitForSecretPrompt("PIN: ")
            if moment != .atThePIN {
                try terminal.type(line: Enrolled.pin)
                try terminal.waitFor("over the reader, again and again.")
            }
            if moment == .amongTheStages {
                try alice.reader.enrol(Enrolled.finger, stages: 3)
                try terminal.waitFor("3 of 5")
            }
            if moment == .atTheConfirmingTouch {
                try alice.reader.enrol(Enrolled.finger)
                try terminal.waitFor("Touch once more to confirm.")
            }
            try terminal.press("c")
            try terminal.waitFor("Nothing was changed.")
            #expect(try terminal.finish() == 130)
            #expect(try alice.status().fingerprint.fingers.isEmpty)
            #expect(try alice.fingerFailures() == 0)
            try SensorProcess.waitForNone()
        }
    }

    // Would catch a print that stays in the reader's own memory, where it takes a place for ever; and one that is told
    // as left although it is not there any more.
    @Test(arguments: [true, false])
    func aCancelledConfirmationDeletesThePrintFromTheReadersMemory(_ stillThere: Bool) throws {
        try Enrolled.with(.storage, finger: nil) { alice in
            let journal = try JournalListener()
            let terminal = try alice.beginEnrolling()
            try alice.reader.enrol(Enrolled.finger)
            alice.reader.forget()
            try alice.fill(chip: [Enrolled.finger])
            try terminal.waitFor("Touch once more to confirm.")
            alice.reader.forget()
            try terminal.press("c")
            // It is opened once more, for the deletion.
            try alice.fill(chip: stillThere ? [Enrolled.finger] : [])
            try terminal.waitFor("Nothing was changed.")
            #expect(try terminal.finish() == 130)
            #expect(try alice.status().fingerprint.fingers.isEmpty)
            #expect(!journal.lines.contains { $0.contains("event=print_left") }, "\(journal.lines)")
        }
    }

    // Would catch an enrolment that hangs without its reader, or keeps half a print.
    @Test func anUnpluggedReaderEndsTheEnrolment() throws {
        try Enrolled.with(finger: nil) { alice in
            let terminal = try alice.beginEnrolling()
            try alice.reader.enrol(Enrolled.finger, stages: 2)
            try terminal.waitFor("2 of 5")
            try alice.reader.unplug()
            try terminal.waitFor("the reader was unplugged")
            #expect(try terminal.finish() == 5)
            #expect(try alice.status().fingerprint.fingers.isEmpty)
        }
    }

    // Would catch a full memory that is told as a fault.
    @Test func aFullMemoryIsSaid() throws {
        try Enrolled.with(.storage, finger: nil) { alice in
            let terminal = try alice.beginEnrolling()
            try alice.reader.fail(error: 8)
            try terminal.waitFor("the reader's memory is full")
            #expect(try terminal.finish() == 5)
        }
    }

    // Would catch an administrator whose enrolment lets a finger in that the user never agreed to.
    @Test func anAdministratorsEnrolmentCountsAfterTheUsersActivation() throws {
        try Enrolled.with(finger: nil) { alice in
            let journal = try JournalListener()
            try alice.enroll(Enrolled.finger, byAdministrator: true)
            try journal.waitFor("event=management", "act=finger_enrolled", "by=administrator")
            #expect(try !alice.status().fingerprint.on)
            try alice.expectPINOnly("Your fingerprints are not switched on yet. Type your PIN")
            let activation = try alice.activate()
            #expect(try activation.finish() == 0, "\(activation.transcript)")
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch an activation by somebody else than the user.
    @Test func anAdministratorCannotActivate() throws {
        try Enrolled.with(finger: nil) { alice in
            try alice.enroll(Enrolled.finger, byAdministrator: true)
            let refused = try alice.signet("activate", byAdministrator: true)
            #expect(refused.code != 0)
            #expect(try !alice.status().fingerprint.on)
        }
    }

    // Would catch an activation without a finger, or with another one.
    @Test func activationNeedsPINAndFinger() throws {
        try Enrolled.with(finger: nil) { alice in
            try alice.enroll(Enrolled.finger, byAdministrator: true)
            let wrong = try alice.activate("someone-else")
            try wrong.waitFor("Not recognised. Touch again.")
            try wrong.press("c")
            #expect(try wrong.finish() == 130)
            #expect(try !alice.status().fingerprint.on)
            let noPIN = try alice.signetOnTerminal("activate")
            for _ in 1...3 {
                try noPIN.waitForSecretPrompt("PIN: ")
                try noPIN.type(line: "591357")
            }
            #expect(try noPIN.finish() == 1)
            #expect(try !alice.status().fingerprint.on)
        }
    }

    // Would catch a deleted finger that still gets in, and one deleted without the PIN.
    @Test func aDeletedFingerIsOut() throws {
        try Enrolled.with { alice in
            try alice.enroll("left", as: "left-index")
            let terminal = try alice.signetOnTerminal("delete", "right-index")
            try terminal.waitForSecretPrompt("PIN: ")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.finish() == 0, "\(terminal.transcript)")
            #expect(try alice.status().fingerprint.fingers.map(\.finger) == ["left index"])
            #expect(try !alice.acceptsFinger(Enrolled.finger))
            #expect(try alice.acceptsFinger("left"))
        }
    }
}
