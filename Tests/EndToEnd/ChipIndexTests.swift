import Foundation
import Testing

/// Several users on one chip, and the index by which their prints are told from foreign ones.
@Suite(.serialized, .inWorld, .withProduct) struct ChipIndexTests {
    private static let index = "/var/lib/signet/chips"
    private static let bobs = "bobs"
    private static let told = "list of prints in readers' memories"

    /// Two users of one chip, and what it holds.
    private func withTwo(lines: [String] = [], _ body: (Enrolled, Enrolled, [String]) throws -> Void) throws {
        try Enrolled.with(.storage, lines: lines) { alice in
            try alice.forgetOthers()
            let bob = try alice.another(finger: nil)
            try bob.enroll(ChipIndexTests.bobs, chip: [Enrolled.finger])
            try body(alice, bob, [Enrolled.finger, ChipIndexTests.bobs])
        }
    }

    // Would catch another user's enrolment that closes a finger path or is told as a foreign print, and a foreign print that is
    // not told beside it.
    @Test func anotherUsersPrintIsNotForeign() throws {
        try withTwo(lines: ["foreign_prints = close"]) { alice, bob, chip in
            let journal = try JournalListener()
            #expect(try alice.acceptsFinger(chip: chip))
            #expect(try bob.acceptsFinger(ChipIndexTests.bobs, chip: chip))
            #expect(try !alice.acceptsFinger(ChipIndexTests.bobs, chip: chip))
            #expect(!journal.lines.contains { $0.contains("foreign_prints") }, "\(journal.lines)")
            let terminal = try alice.sudo()
            try terminal.waitForSecretPrompt(Offer.begun)
            try alice.fill(chip: chip + ["stranger"])
            try terminal.waitForSecretPrompt("activate\": ")
            try terminal.type(line: Enrolled.pin)
            #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            try journal.waitFor("event=foreign_prints", "count=1")
            #expect(try bob.acceptsFinger(ChipIndexTests.bobs, chip: chip))
        }
    }

    // Would catch a table that opens the reader once more for each user, or reads each user's prints wrongly.
    @Test func theTableOpensTheReaderOnce() throws {
        try withTwo { alice, bob, chip in
            let carol = try alice.another(finger: nil)
            try carol.enroll("carols", chip: chip)
            let starts = alice.reader.folder + "/starts"
            let wrapper = try File.read(alice.reader.folder + "/sensor")
            try File.write(
                wrapper.replacingOccurrences(of: "\nexec", with: "\necho start >> \(starts)\nexec"),
                to: alice.reader.folder + "/sensor", mode: 0o755)
            alice.reader.forget()
            let table = try Terminal(["signet", "readers"], environment: bob.asUser)
            try alice.fill(chip: chip + ["carols", "stranger"])
            #expect(try table.finish(within: 20) == 0)
            #expect(table.transcript.contains("1 yours, 2 other users', 1 foreign"), "\(table.transcript)")
            // One that lists the readers, and one that opens the chip.
            #expect(try File.read(starts) == "start\nstart\n")
        }
    }

    // Would catch an index that is gone, spoilt or put back from a copy and shuts somebody out, that doctor does not name, or
    // that its remedy does not mend.
    @Test(arguments: ["gone", "spoilt", "older"]) func anIndexThatIsNotWhatItShouldBe(_ state: String) throws {
        try Enrolled.with(.storage) { alice in
            try alice.forgetOthers()
            try Command.must("signet", "delete", "--leftovers")
            try Command.must("cp", "-p", ChipIndexTests.index, alice.reader.folder + "/older")
            let bob = try alice.another(finger: nil)
            try bob.enroll(ChipIndexTests.bobs, chip: [Enrolled.finger])
            let chip = [Enrolled.finger, ChipIndexTests.bobs]
            switch state {
            case "gone": unlink(ChipIndexTests.index)
            case "spoilt":
                try Command.must("sh", "-c", "printf x | dd of=\(ChipIndexTests.index) bs=1 seek=90 conv=notrunc")
            default: try Command.must("cp", "-p", alice.reader.folder + "/older", ChipIndexTests.index)
            }
            #expect(try alice.acceptsFinger(chip: chip))
            #expect(try bob.acceptsFinger(ChipIndexTests.bobs, chip: chip))
            let doctor = try Command.run(["signet", "doctor"])
            #expect(doctor.output.contains(ChipIndexTests.told), "\(doctor.output)")
            #expect(try Command.run(["signet", "delete", "--leftovers"]).code == 0)
            #expect(try !Command.run(["signet", "doctor"]).output.contains(ChipIndexTests.told))
            #expect(try bob.acceptsFinger(ChipIndexTests.bobs, chip: chip))
        }
    }

    // Would catch prints of a purged user that stay on the chip as foreign ones for ever; and a signal that cuts their deletion
    // off before anybody is told.
    @Test func whatAPurgedUserLeavesIsDeleted() throws {
        try withTwo { alice, bob, chip in
            let purged = try Command.run(["signet", "user", "purge", "--yes", "--user", bob.user.name])
            #expect(purged.output.contains("sudo signet delete --leftovers"), "\(purged.output)\(purged.error)")
            alice.reader.forget()
            let deleting = try Terminal(["signet", "delete", "--leftovers"])
            for finger in chip { try alice.reader.insert(finger) }
            // The reader is open, and the list waits.
            deleting.signal(SIGTERM)
            try alice.reader.proceed()
            #expect(try deleting.finish(within: 20) == 128 + Int(SIGTERM))
            #expect(
                deleting.transcript.contains("Deleted from the reader's memory: 1 print."), "\(deleting.transcript)")
            #expect(try alice.acceptsFinger())
        }
    }

    /// Makes the index one that Signet may not replace, or cannot; answers how it is put right again.
    private func hold(_ state: String) throws -> [String] {
        let index = ChipIndexTests.index
        switch state {
        case "immutable":
            try Command.must("chattr", "+i", index)
            return ["chattr", "-i", index]
        case "mounted":
            try Command.must("mount", "--bind", index, index)
            return ["umount", index]
        default:
            // The version of the seal comes after its name and kind; what follows the header is in a form of its own.
            let version = "printf '\\377' | dd of=\(index) bs=1 seek=5 conv=notrunc"
            try Command.must("cp", "-p", index, index + ".good")
            try Command.must("sh", "-c", "\(version); printf later | dd of=\(index) bs=1 seek=90 conv=notrunc")
            return ["mv", index + ".good", index]
        }
    }

    // Would catch an index of a later Signet, or one that cannot be replaced, that a deletion goes past, so that nobody would
    // know of the print on the chip again; a command that hangs on it, or does not say what is to be done; and a person who
    // cannot get in because of it.
    @Test(arguments: ["later", "immutable", "mounted"]) func anIndexThatStays(_ state: String) throws {
        try Enrolled.with(.storage) { alice in
            try alice.forgetOthers()
            try Command.must("signet", "delete", "--leftovers")
            let remedy = try hold(state)
            defer { _ = try? Command.run(remedy) }
            let before = try Command.must("sha256sum", ChipIndexTests.index)
            let hint = state == "later" ? "install the later version" : "lsattr"
            for words in [
                ["delete", "right-index", "--user", alice.user.name],
                ["user", "purge", "--yes", "--user", alice.user.name],
            ] {
                let answer = try Command.run(["signet"] + words)
                #expect(answer.code == 4 && answer.error.contains(hint), "\(words): \(answer)")
                guard state == "immutable" else { continue }
                let told = try #require(answer.error.firstMatch(of: /"(sudo [^"]*)"/)?.1)
                // Pasted by somebody who may not look into the folder; sudo is an account of root's here.
                let seen = try Command.run(["sh", "-c", String(told.dropFirst("sudo ".count))]).output
                #expect(seen.contains(/--i-+ \/var\/lib\/signet\/chips\n/), "\(told): \(seen)")
            }
            // Nobody is asked for a PIN first.
            let enrolling = try alice.signetOnTerminal("enroll", "left-index")
            #expect(try enrolling.finish() == 4)
            let said = enrolling.transcript
            #expect(said.contains(hint) && !said.contains("PIN"), "\(said)")
            #expect(try Command.must("sha256sum", ChipIndexTests.index) == before)
            #expect(try alice.status().fingerprint.fingers.count == 1)
            #expect(try alice.acceptsFinger())
            try alice.provePIN()
            #expect(try Command.run(remedy).code == 0)
            let purged = try Command.run(["signet", "user", "purge", "--yes", "--user", alice.user.name])
            #expect(purged.code == 0 && purged.output.contains("sudo signet delete --leftovers"), "\(purged)")
        }
    }
}
