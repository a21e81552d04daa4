import Glibc
import Testing

/// What else lies in a reader's memory: prints of others, what a cut deletion leaves, and what fills it.
@Suite(.serialized, .inWorld, .withProduct) struct ChipMemoryTests {
    private static let left = "left-index"
    private static let others = "Foreign fingerprints were added to the reader's memory."

    // Would catch a finger that another system enrolled on the chip and that lets its owner in, beside the user's own or in
    // the place of it, and a rise that is told at each prompt.
    @Test func aForeignPrintNeverLetsAnybodyIn() throws {
        try Enrolled.with(.storage) { alice in
            let journal = try JournalListener()
            let memory = [Enrolled.finger, "stranger"]
            #expect(try !alice.acceptsFinger("stranger", chip: memory))
            try journal.waitFor("event=foreign_prints", "count=1")
            let told = journal.lines.count { $0.contains("event=foreign_prints") }
            #expect(try alice.acceptsFinger(chip: memory))
            #expect(journal.lines.count { $0.contains("event=foreign_prints") } == told)
            let status = try alice.signet("status").output
            #expect(status.contains("1 foreign print came into the reader's memory"), "\(status)")
        }
    }

    // Would catch a path that stays open, or opens again when the print is taken off the chip, or not with PIN and touch.
    @Test func whereItShallAForeignPrintCloses() throws {
        try Enrolled.with(.storage, lines: ["foreign_prints = close"]) { alice in
            #expect(try alice.acceptsFinger())
            let terminal = try alice.sudo()
            try terminal.waitForSecretPrompt(Offer.begun)
            try alice.fill(chip: [Enrolled.finger, "stranger"])
            try terminal.waitForSecretPrompt("activate\": ")
            #expect(terminal.transcript.contains(ChipMemoryTests.others), "\(terminal.transcript)")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")

            try alice.expectPINOnly(ChipMemoryTests.others)
            #expect(try alice.status().fingerprint.reason == "foreign_prints")
            let activation = try alice.activate(chip: [Enrolled.finger, "stranger"])
            #expect(try activation.finish() == 0)
            #expect(activation.transcript.contains("also holds a foreign print"), "\(activation.transcript)")
            #expect(try alice.acceptsFinger(chip: [Enrolled.finger, "stranger"]))
        }
    }

    // Would catch a chip that counts where the administrator refuses it, and an enrollment on it that asks for the PIN first.
    @Test func aRefusedChipDoesNotCount() throws {
        try Enrolled.with(.storage) { alice in
            try alice.reader.configured("match_on_chip = refuse") {
                try alice.expectPINOnly("The reader compares by itself, which is not allowed here.")
                #expect(try alice.status().fingerprint.reason == "match_on_chip")
                let enrolling = try alice.signetOnTerminal("enroll", ChipMemoryTests.left)
                #expect(try enrolling.finish() == 5, "\(enrolling.transcript)")
                #expect(!enrolling.transcript.contains("PIN"), "\(enrolling.transcript)")
                #expect(enrolling.transcript.contains("match_on_chip = allow"), "\(enrolling.transcript)")
                let table = try Command.run(["signet", "readers"], environment: alice.asUser)
                #expect(table.output.contains("is not used: the reader's own chip compares"), "\(table.output)")
            }
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a deletion whose print still lets in when it is killed before the chip has forgotten it, and that
    // nobody is told of.
    @Test func aDeletionThatIsKilledLeavesNothingThatMatches() throws {
        try Enrolled.with(.storage) { alice in
            // Other users' records have this finger too, whom earlier tests have left.
            try alice.forgetOthers()
            try alice.enroll(ChipMemoryTests.left, as: ChipMemoryTests.left, chip: [Enrolled.finger])
            let both = [Enrolled.finger, ChipMemoryTests.left]
            alice.reader.forget()
            let deleting = try alice.signetOnTerminal("delete", "right-index")
            try deleting.waitForSecretPrompt("PIN: ")
            try deleting.type(line: Enrolled.pin)
            // The reader is open, and waits half a second in its list and again in the deletion.
            for finger in both { try alice.reader.insert(finger) }
            deleting.signal(SIGKILL)
            #expect(try deleting.finish() != 0)
            #expect(!deleting.transcript.contains("Deleted"), "\(deleting.transcript)")

            let status = try alice.status()
            #expect(status.fingerprint.fingers.map(\.finger) == ["left index"] && status.fingerprint.on, "\(status)")
            #expect(try !alice.acceptsFinger(Enrolled.finger, chip: both))
            #expect(try alice.acceptsFinger(ChipMemoryTests.left, chip: both))
            let chip = both + ["stranger"]
            alice.reader.forget()
            let table = try Terminal(["signet", "readers"], environment: alice.asUser)
            try alice.fill(chip: chip)
            #expect(try table.finish(within: 20) == 0)
            #expect(table.transcript.contains("1 yours, 1 left over, 1 foreign"), "\(table.transcript)")
            #expect(table.transcript.contains("sudo signet delete --leftovers"), "\(table.transcript)")
            alice.reader.forget()
            let doctor = try Command.run(["signet", "doctor"])
            #expect(
                doctor.output.contains("1 print is left over in readers' memories, and in no record"),
                "\(doctor.output)")

            #expect(
                try ChipMemoryTests.deleteLeftovers(alice, chip: chip).contains(
                    "Deleted from the reader's memory: 1 print."))
            let again = try Command.run(["signet", "delete", "--leftovers"])
            #expect(again.output == "Nothing is left over in a reader's memory.\n")
            alice.reader.forget()
            let after = try Terminal(["signet", "readers"], environment: alice.asUser)
            try alice.fill(chip: [ChipMemoryTests.left, "stranger"])
            #expect(try after.finish(within: 20) == 0)
            #expect(after.transcript.contains("1 yours, 1 foreign"), "\(after.transcript)")
        }
    }

    // Would catch a finger that is told as left over, and as good for nobody, because its deletion was begun and refused.
    @Test func aRefusedDeletionLeavesNothingOver() throws {
        try Enrolled.with(.storage) { alice in
            try alice.forgetOthers()
            try Command.must("chattr", "+i", alice.printsFile)
            defer { _ = try? Command.run(["chattr", "-i", alice.printsFile]) }
            let deleting = try Command.run(["signet", "delete", "right-index", "--user", alice.user.name])
            #expect(deleting.code != 0, "\(deleting)")
            alice.reader.forget()
            let table = try Terminal(["signet", "readers"], environment: alice.asUser)
            try alice.fill(chip: [Enrolled.finger])
            #expect(try table.finish(within: 20) == 0)
            #expect(table.transcript.contains("1 yours"), "\(table.transcript)")
            #expect(!table.transcript.contains("left over"), "\(table.transcript)")
            #expect(try alice.acceptsFinger(chip: [Enrolled.finger]))
        }
    }

    /// Runs `signet delete --leftovers` as root with nobody named, and looks that the chip lost nothing else.
    private static func deleteLeftovers(_ alice: Enrolled, chip: [String]) throws -> String {
        alice.reader.forget()
        let deleting = try Terminal(["signet", "delete", "--leftovers"])
        try alice.fill(chip: chip)
        // In the half second before the deletion, and in the one before the reader closes.
        let end = monotonicMilliseconds() + 5000
        var held = chip
        while held.count == chip.count, monotonicMilliseconds() < end { held = (try? alice.reader.list()) ?? [] }
        #expect(try deleting.finish(within: 20) == 0, "\(deleting.transcript)")
        #expect(held.isEmpty || Set(held) == Set(chip).subtracting([Enrolled.finger]), "\(held)")
        return deleting.transcript
    }

    // Would catch a person who is told that the memory is full, and neither of what nor who can make room.
    @Test func aFullMemoryIsToldWithWhatIsInIt() throws {
        try Enrolled.with(.storage) { alice in
            try alice.forgetOthers()
            let enrolling = try alice.beginEnrolling(as: ChipMemoryTests.left, chip: [Enrolled.finger, "stranger"])
            // FP_DEVICE_ERROR_DATA_FULL of libfprint's fp-device.h
            try alice.reader.fail(error: 8)
            alice.reader.forget()
            try alice.fill(chip: [Enrolled.finger, "stranger"])
            #expect(try enrolling.finish(within: 20) == 5, "\(enrolling.transcript)")
            let said = enrolling.transcript
            #expect(said.contains("the reader's memory is full: 1 yours, 1 foreign"), "\(said)")
            #expect(said.contains("\"sudo signet delete right-index\""), "\(said)")
        }
    }
}
