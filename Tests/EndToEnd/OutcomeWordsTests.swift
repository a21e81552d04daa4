import Foundation
import Testing

/// What the command line says of what happened, where something else than the question was in the way.
@Suite(.serialized, .inWorld, .withProduct) struct OutcomeWordsTests {
    /// What stands above `verify --finger`'s own word, with its exit code.
    private func verify(_ alice: Enrolled, says sentence: String, code: Int, closure: String) throws {
        let terminal = try alice.signetOnTerminal("verify", "--finger")
        #expect(try terminal.finish() == code, "\(terminal.transcript)")
        #expect(terminal.transcript.contains(sentence), "\(terminal.transcript)")
        #expect(terminal.transcript.contains("No finger was compared."), "\(terminal.transcript)")
        #expect(!terminal.transcript.contains("recognised"), "\(terminal.transcript)")
        let json = try alice.signetOnTerminal("verify", "--finger", "--json")
        #expect(try json.finish() == code, "\(json.transcript)")
        #expect(json.transcript.contains("\"finger_closure\":\"\(closure)\""), "\(json.transcript)")
    }

    // Would catch a try from afar that takes a finger where sudo would not, since sudo gave it another environment; or one
    // that only says "not recognised".
    @Test func fromAfarNoFingerIsTried() throws {
        try Enrolled.with { alice in
            let sudo = try alice.sudoSignet(
                "verify", "--finger", environment: ["SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"])
            try sudo.waitForSecretPrompt(Offer.pinRemote)
            try sudo.type(line: Enrolled.pin)
            try sudo.waitFor("this session is remote.\r\nNo finger was compared.")
            #expect(try sudo.finish() == 8, "\(sudo.transcript)")
            let both = try alice.sudoSignet("verify", environment: ["SSH_TTY": "/dev/pts/0"])
            // sudo's own question, and then this command's.
            for _ in 1...2 {
                try both.waitForSecretPrompt(Offer.pinRemote)
                try both.type(line: Enrolled.pin)
            }
            try both.waitFor("PIN recognised.")
            #expect(try both.finish() == 0, "\(both.transcript)")
            let near = try alice.sudoSignet("verify", "--finger")
            try alice.typePINFirst(near)
            try near.waitFor(Offer.fingerOnly)
            try alice.reader.scan(Enrolled.finger)
            try near.waitFor("Finger recognised.")
            #expect(try near.finish() == 0, "\(near.transcript)")
        }
    }

    // Would catch a touch that is asked for under a closed lid by a command that says it goes sudo's way.
    @Test(.enabled(if: access("/proc/acpi", F_OK) == 0, "this kernel has no /proc/acpi to put a lid into"))
    func underALidNoFingerIsTried() throws {
        try Enrolled.with { alice in
            try Command.must("mount", "-t", "tmpfs", "lid", "/proc/acpi")
            defer { _ = try? Command.must("umount", "/proc/acpi") }
            for folder in ["button", "button/lid", "button/lid/LID0"] { mkdir("/proc/acpi/" + folder, 0o755) }
            try File.write("state:      closed\n", to: "/proc/acpi/button/lid/LID0/state", mode: 0o644)
            try verify(alice, says: "The lid is closed over the reader.", code: 8, closure: "lid_closed")
        }
    }

    // Would catch "not recognised" for somebody who could not touch, since sudo has the reader.
    @Test func aReaderThatSomebodyHasIsToldWithWho() throws {
        try Enrolled.with { alice in
            let waiting = try alice.sudo()
            try alice.arm(waiting)
            try verify(alice, says: "The reader is in use by sudo", code: 7, closure: "reader_busy")
            let json = try alice.signetOnTerminal("verify", "--finger", "--json")
            #expect(try json.finish() == 7)
            #expect(json.transcript.contains("\"in_use_by\":\"sudo"), "\(json.transcript)")
            try waiting.press("c")
            _ = try waiting.finish()
        }
    }

    // Would catch records that an administrator deleted, and that the person at the prompt is told to have repaired; and
    // anybody who is let in without any.
    @Test(arguments: [true, false]) func recordsThatAreDeletedAtThePromptAreToldAsGone(_ touches: Bool) throws {
        try Enrolled.with { alice in
            let journal = try JournalListener()
            let terminal = try alice.sudo()
            try alice.arm(terminal)
            try Signet.must(["user", "purge", "--user", alice.user.name, "--yes"])
            if touches { try alice.reader.scan(Enrolled.finger) } else { try terminal.type(line: Enrolled.pin) }
            try terminal.waitFor("Nothing is set up for \(alice.user.name) any more.")
            let ended = try terminal.ended()
            #expect(ended.isRefused && !ended.shown.contains("damaged"), "\(ended.shown)")
            try journal.waitFor("event=authentication", "outcome=refused", "reason=pin_not_set")
            #expect(!journal.lines.contains { $0.contains("record_fault") }, "\(journal.lines)")
            let list = try alice.signet("list")
            #expect(list.output.contains("has no enrolled finger"), "\(list)")
            // The lock that was taken for the charge has made a folder.
            let all = try Command.run(["signet", "status", "--all"])
            #expect(!all.output.contains(alice.user.name), "\(all.output)")
        }
    }

    // Would catch a person who does not know that the PIN is set, or what to do then, when the finger did not come to pass.
    @Test(arguments: ["another finger", "Ctrl-C", "unplugged"]) func aSetupThatEndsAfterThePINSaysSo(_ end: String)
        throws
    {
        let reader = try VirtualReader()
        try reader.configured("") {
            let alice = Enrolled(user: try User.fresh(), reader: reader, kind: .plain)
            let terminal = try alice.signetOnTerminal("setup", environment: ["TERM": "dumb"])
            for _ in 1...2 {
                try terminal.waitForSecretPrompt("New PIN")
                try terminal.type(line: Enrolled.pin)
            }
            try terminal.waitFor("over the reader, again and again.")
            switch end {
            case "Ctrl-C": try terminal.press("c")
            case "unplugged": try reader.unplug()
            default:
                try reader.enrol(Enrolled.finger)
                try alice.confirm(terminal, "someone-else", chip: [])
                for _ in 1...2 {
                    try terminal.waitFor("Not recognised. Touch again.")
                    try reader.scan("someone-else")
                }
            }
            let code = try terminal.finish()
            let said = terminal.transcript.lowercased()
            #expect(code == (end == "Ctrl-C" ? 130 : end == "unplugged" ? 0 : 1), "\(said)")
            #expect(said.contains("pin is set"), "\(said)")
            #expect(said.contains("\"sudo signet enroll\""), "\(said)")
            #expect(!said.contains("nothing was changed"), "\(said)")
        }
    }

    // Would catch a finger of two readers that can only be deleted from both, and a told command that does not do it.
    @Test func aFingerOfTwoReadersIsDeletedFromOne() throws {
        try Enrolled.with { alice in
            let chip = try VirtualReader(.storage)
            let there = Enrolled(user: alice.user, reader: chip, kind: .storage)
            try chip.configured("") { try there.enroll("chip-finger") }
            let refused = try alice.signet("delete", "right-index", byAdministrator: true)
            #expect(refused.code == 1, "\(refused)")
            for driver in ["virtual_device", "virtual_device_storage"] {
                #expect(
                    refused.error.contains(
                        "\"sudo signet delete right-index --reader \(driver) --user \(alice.user.name)\""),
                    "\(refused.error)")
            }
            let wrong = try alice.signet("delete", "right-index", "--reader", "elanmoc", byAdministrator: true)
            #expect(wrong.code == 1 && wrong.error.contains("\"--reader virtual_device\""), "\(wrong.error)")
            let deleting = try alice.signetOnTerminal("delete", "right-index", "--reader", "virtual_device_storage")
            try deleting.waitForSecretPrompt("PIN: ")
            try deleting.type(line: Enrolled.pin)
            try deleting.waitFor("Deleted: right index. 1 finger remains.")
            #expect(try deleting.finish(within: 20) == 0, "\(deleting.transcript)")
            #expect(try alice.status().fingerprint.on)
            #expect(try alice.acceptsFinger())
        }
    }

    // Would catch a configuration that closes somebody's fingers, and a status that says so and nothing more.
    @Test func aRefusedChipIsToldWithWhatCanBeDone() throws {
        try Enrolled.with(.storage) { alice in
            try alice.reader.configured("match_on_chip = refuse") {
                let page = try alice.signet("status")
                #expect(
                    page.output.contains("no finger is asked for: the reader's own chip compares"), "\(page.output)")
                let words = page.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(words.contains("let an administrator write \"match_on_chip = allow\""), "\(page.output)")
                let json = try alice.signet("status", "--json").output
                #expect(json.contains("\"what\":\"reader_refused\"") && !json.contains("\"command\":\"use"), "\(json)")
            }
        }
    }
}

extension Enrolled {
    /// Runs `signet` as the user does, through a sudo that has Signet in the password's place.
    fileprivate func sudoSignet(_ arguments: String..., environment: [String: String] = [:]) throws -> Terminal {
        reader.forget()
        return try Terminal(
            ["sudo", "-k", "signet"] + arguments, as: user,
            environment: Child.environment.merging(environment) { $1 })
    }

    /// Gives sudo the PIN beside its armed reader; the next opening of the reader is another one's.
    fileprivate func typePINFirst(_ terminal: Terminal) throws {
        try arm(terminal)
        reader.forget()
        try terminal.type(line: Enrolled.pin)
    }
}
