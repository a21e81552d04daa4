import Glibc
import Testing

/// Fingers through real sudo on a terminal: taken, refused, counted, locked out, and what ends a wait.
@Suite(.serialized, .inWorld, .withProduct) struct FingerTests {
    // Would catch a finger that is not let in, one that is charged although it matched, and a journal that lies about the factor.
    @Test func anEnrolledFingerIsLetIn() throws {
        try Enrolled.with { alice in
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 0)
            let line = try journal.waitFor("event=authentication", "user=\(alice.user.name)")
            #expect(line.contains("outcome=granted factor=finger"), "\(line)")
            #expect(line.contains("service=sudo "), "\(line)")
            #expect(line.contains("ruid=\(alice.user.uid) "), "\(line)")
        }
    }

    // Would catch a charge that is not on the disk before its finger is compared, and one that goes over its slot while
    // the other slot, cleared by the touch before, may still be on its way to the disk: a power cut could tear both. Or
    // a touch that waits for the disk.
    @Test func eachChargeIsOnTheDiskAndNoSlotIsWrittenOverUnsyncedOnes() throws {
        try Enrolled.with { alice in
            let records = "/var/lib/signet/users/\(alice.user.uid)/attempts"
            for round in 0..<2 {
                let calls = alice.reader.folder + "/calls-\(round)"
                alice.reader.forget()
                let terminal = try Terminal([
                    "strace", "-u", alice.user.name, "-f", "--seccomp-bpf", "-qqq", "-P", records, "-o", calls, "-e",
                    "signal=none", "-e", "trace=pwrite64,fdatasync", "/usr/bin/sudo", "-k", "id", "-u",
                ])
                try alice.arm(terminal)
                // Until the finger: what the touch before left is synced, then the charge is written and synced.
                let charged = try names(of: calls)
                #expect(charged == ["fdatasync", "pwrite64", "fdatasync"])
                try alice.reader.scan(Enrolled.finger)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                // Its success clears the charge, and nobody waits for that.
                #expect(try names(of: calls) == charged + ["pwrite64"])
            }
        }
    }

    /// The names of the calls that strace noted: "1234  fdatasync(5) = 0".
    private func names(of file: String) throws -> [String] {
        try File.read(file).split(separator: "\n").compactMap { line in
            line.drop { $0.isNumber || $0 == " " }.split(separator: "(").first.map(String.init)
        }
    }

    // Would catch a PIN that stands on the screen in clear because it was typed where a touch is awaited, one that lands in the
    // shell afterwards, and a terminal that keeps its echo off.
    @Test func whatIsTypedInsteadOfTouchingIsNotShown() throws {
        try Enrolled.with { alice in
            let terminal = try Terminal(["su", alice.user.name, "-c", "stty -a; cat"], as: try User.fresh())
            try terminal.waitFor(Offer.touch)
            try terminal.type("83629174")
            try alice.reader.scan(Enrolled.finger)
            let modes = try terminal.waitFor("-extproc")
            #expect(modes.contains(" echo ") && modes.contains("icanon"), "\(modes)")
            try terminal.type(line: "end")
            try terminal.waitFor("end\r\nend")
            try terminal.press("d")
            #expect(try terminal.finish() == 0)
            #expect(!terminal.transcript.contains("83629174"), "\(terminal.transcript)")
        }
    }

    // Would catch another finger that gets in, and a failure that a later match does not clear.
    @Test func aWrongFingerIsRefusedAndTheRightOneAfterItIsLetIn() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try alice.reader.scan("someone-else")
            try terminal.waitFor(Offer.refused)
            #expect(try alice.fingerFailures() == 2, "one has failed and one is charged while it is awaited")
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            #expect(try alice.fingerFailures() == 0)
        }
    }

    // Would catch a fourth try in one prompt, a sixth in all, a lockout that a finger opens, and one that the PIN does not open.
    @Test func threeWrongFingersAskForThePINAndFiveInAllLockUntilThePIN() throws {
        try Enrolled.with { alice in
            let first = try alice.sudo()
            try alice.arm(first)
            try wrongFinger(alice, first, refused: true)
            try wrongFinger(alice, first, refused: true)
            try wrongFinger(alice, first, refused: false)
            try first.waitForSecretPrompt(Offer.pin)
            // The reader is closed; the kernel takes the helper's memory back in its own time.
            try SensorProcess.waitForNone(within: 1)
            try first.press("c")
            #expect(try first.ended().isRefused)
            #expect(try alice.fingerFailures() == 3)

            let second = try alice.sudo()
            try alice.arm(second)
            try wrongFinger(alice, second, refused: true)
            try wrongFinger(alice, second, refused: false)
            try second.waitFor("Fingerprint is off after 5 failed tries. Type your PIN to switch it on again: ")
            try second.press("c")
            #expect(try second.ended().isRefused)
            #expect(try alice.status().lockout.fingerLockedOut)

            try alice.expectPINOnly("Fingerprint is off after 5 failed tries.")
            #expect(try alice.fingerFailures() == 0)
            #expect(try alice.acceptsFinger())
        }
    }

    private func wrongFinger(_ alice: Enrolled, _ terminal: Terminal, refused: Bool) throws {
        try alice.reader.scan("someone-else")
        if refused { try terminal.waitFor(Offer.refused) }
    }

    // Would catch a wait without an end, and a try that counts though nobody was there.
    @Test func withoutATouchThePINIsAskedForAndNothingCounts() throws {
        try Enrolled.with(lines: ["finger_timeout = 5"]) { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try terminal.waitFor("The reader was not touched in time. ", within: 8)
            #expect(try alice.fingerFailures() == 0)
            try alice.typePIN(terminal)
        }
    }

    // Would catch a Ctrl-C that counts as a failure, is lost, or lets sudo ask again.
    @Test func controlCWithoutAFingerIsRefunded() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            #expect(try alice.fingerFailures() == 1, "the try is charged while it is awaited")
            try terminal.press("c")
            #expect(try terminal.ended(within: 5).isRefused)
            #expect(try alice.fingerFailures() == 0)
            try SensorProcess.waitForNone()
        }
    }

    // Would catch a free guess: whoever sees that his finger is not taken presses Ctrl-C and has lost nothing.
    @Test func controlCWithAFingerOnTheReaderStaysCharged() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try alice.reader.lay(finger: true)
            try terminal.press("c")
            #expect(try terminal.ended(within: 5).isRefused)
            #expect(try alice.fingerFailures() == 1)
        }
    }

    // Would catch a PIN prompt after fingers at which Ctrl-C does nothing, since the signals are still held back. su, other than
    // sudo, has no handler of its own.
    @Test func controlCWorksAtThePINPromptAfterFingers() throws {
        try Enrolled.with(lines: ["finger_tries = 1"]) { alice in
            let mallory = try User.fresh()
            let terminal = try Terminal(["su", alice.user.name, "-c", "id -u"], as: mallory)
            try alice.arm(terminal)
            try alice.reader.scan("someone-else")
            try terminal.waitForSecretPrompt(Offer.pin)
            try terminal.press("c")
            #expect(try terminal.finish(within: 3) != 0)
        }
    }

    // Would catch a try that costs somebody something who gives up before the reader is asked for it.
    @Test func controlCRightAfterAWrongFingerCostsNoSecondTry() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try alice.reader.scan("someone-else")
            try terminal.waitFor(Offer.refused)
            try terminal.press("c")
            #expect(try terminal.ended().isRefused)
            #expect(try alice.fingerFailures() == 1)
        }
    }

    // Would catch a signal that is lost, or that ends the program before its try is settled.
    @Test func aTerminationEndsTheWait() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try Command.must("kill", "-TERM", "\(terminal.process)")
            #expect(try terminal.ended(within: 5).isRefused)
            #expect(try alice.fingerFailures() == 0)
            try SensorProcess.waitForNone()
        }
    }

    // Would catch a pulled reader that hangs, that ends the whole call, or whose try is given back.
    @Test func anUnpluggedReaderLeavesThePIN() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try alice.reader.unplug()
            try terminal.waitFor("The reader was unplugged. ")
            try alice.typePIN(terminal)
            // Plugged in again, it is found by the next prompt.
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a reader's error that is taken for an answer.
    @Test(arguments: [
        (4, "The reader is in use by another program. "), (5, "The reader reported a fault. "),
        (257, "The reader is too hot"),
    ])
    func aReadersErrorLeavesThePIN(_ number: Int, _ sentence: String) throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try alice.reader.fail(error: number)
            try terminal.waitFor(sentence)
            #expect(try alice.fingerFailures() == 1, "an error after arming is no proof that no finger lay there")
            try alice.typePIN(terminal)
        }
    }

    // Would catch a machine without its reader that nobody can use.
    @Test func withoutAReaderThePINIsAskedFor() throws {
        try Enrolled.with { alice in
            try File.replaced(
                alice.reader.folder + "/sensor", with: "#!/bin/sh\nexec \(SensorProcess.program) \"$@\"\n", mode: 0o755
            ) {
                let terminal = try alice.sudo()
                try terminal.waitFor("No reader was found. ")
                #expect(try alice.fingerFailures() == 0)
                try alice.typePIN(terminal)
            }
        }
    }

    // Would catch a bad touch that counts as a wrong finger, or more than once, and a reason that is not told.
    @Test func whatTheReaderAsksToRepeatIsToldAndCountsOnce() throws {
        try Enrolled.with { alice in
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            let reasons: [(VirtualReader.Retry, String)] = [
                (.general, "That touch could not be read."), (.tooShort, "Swipe a little further"),
                (.centreFinger, "Centre your finger"), (.removeFinger, "Lift your finger"),
            ]
            for (reason, sentence) in reasons {
                try alice.reader.retry(reason)
                try terminal.waitFor(sentence)
            }
            #expect(try alice.fingerFailures() == 1)
            try alice.reader.scan("someone-else")
            try terminal.waitFor(Offer.refused)
            #expect(try alice.fingerFailures() == 2)
            try alice.reader.scan(Enrolled.finger)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
        }
    }

    // Would catch a PIN that does not work at the prompt that offers a touch as well.
    @Test func thePINWorksAtThePromptThatOffersATouch() throws {
        try Enrolled.with { alice in
            try alice.typePIN(try alice.sudo(), at: Offer.touch)
            try SensorProcess.waitForNone(within: 1)
        }
    }

    // Would catch a reader that does not open and takes the PIN with it, and a charge for a reader that was never armed.
    @Test func aReaderThatDoesNotOpenLeavesThePIN() throws {
        try Enrolled.with { alice in
            let nowhere =
                "#!/bin/sh\nexport FP_VIRTUAL_DEVICE=/nowhere/reader\nexec \(SensorProcess.program) --allow-virtual\n"
            try File.replaced(alice.reader.folder + "/sensor", with: nowhere, mode: 0o755) {
                let terminal = try alice.sudo()
                try terminal.waitFor("The reader ")
                #expect(try alice.fingerFailures() == 0)
                try alice.typePIN(terminal)
            }
        }
    }

    // Would catch a refund that takes back more than its own charge: another program's success has cleared the series of
    // failures that the try belonged to.
    @Test func aRefundAfterASuccessInBetweenIsVoid() throws {
        try Enrolled.with { alice in
            let first = try alice.sudo()
            try alice.arm(first)
            try alice.provePIN()
            #expect(try alice.fingerFailures() == 0)
            try first.press("c")
            #expect(try first.ended().isRefused)
            #expect(try alice.fingerFailures() == 0)
            let second = try alice.sudo()
            try alice.arm(second)
            try alice.reader.lay(finger: true)
            try second.press("c")
            #expect(try second.ended().isRefused)
            #expect(try alice.fingerFailures() == 1)
        }
    }
}
