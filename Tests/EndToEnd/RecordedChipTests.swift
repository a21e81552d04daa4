import Foundation
import Testing

/// Match on chip as a person meets it: enrolled with `signet`, asked for by sudo in another process, deleted again, on the
/// recorded traffic of real chips and in the user's own name.
@Suite(
    .serialized, .inWorld, .withProduct,
    .enabled(
        if: RecordedChip.canReplay, "there are no recordings beside this repository, or no umockdev-run or python3"))
struct RecordedChipEndTests {
    // Would catch a print whose metadata a chip refuses, one that is looked for under another name, a touch in another
    // process that does not match, and a deletion that leaves the print on the chip or in the records.
    @Test(arguments: [("elanmoc", "chipaa"), ("synaptics", "chipbb")])
    func aChipEnrolsLetsInAndForgets(_ name: String, _ userName: String) throws {
        try wholeLife(name, userName)
    }

    // Would catch the same for chips whose recordings Debian's source package of libfprint carries.
    @Test(
        .enabled(if: RecordedChip.hasFetched, "libfprint's recordings are not there; run scripts/fetch-recordings"),
        arguments: [("fpcmoc", "chipcc"), ("goodixmoc", "chipdd")])
    func aFetchedChipEnrolsLetsInAndForgets(_ name: String, _ userName: String) throws {
        try wholeLife(name, userName)
    }

    private func wholeLife(_ name: String, _ userName: String) throws {
        let alice = try User.fresh(named: userName)
        let environment = Child.environment.merging(["SUDO_UID": "\(alice.uid)", "SUDO_USER": alice.name]) { $1 }
        let chip = try RecordedChip(name, user: userName, steps: ["enroll", "enroll", "touch", "touch", "delete"])
        try chip.configured {
            try Guarded.services(["sudo"]) {
                let set = try Command.run(
                    ["signet", "pin", "set", "--stdin"], input: Enrolled.pin + "\n", environment: environment)
                #expect(set.code == 0, "\(set.error)")

                let enrolling = try Terminal(["signet", "enroll", "right-index"], environment: environment)
                try enrolling.waitForSecretPrompt("PIN: ")
                try enrolling.type(line: Enrolled.pin)
                #expect(try enrolling.finish(within: 30) == 0, "\(enrolling.transcript)")
                // The first looks for readers only; the last awaits the confirming touch.
                #expect(try chip.started == 3)

                let sudo = try Terminal(["sudo", "-k", "id", "-u"], as: alice)
                #expect(try sudo.ended().isGranted, "\(sudo.transcript)")
                #expect(try chip.started == 4)

                let deleting = try Terminal(["signet", "delete", "right-index"], environment: environment)
                try deleting.waitForSecretPrompt("PIN: ")
                try deleting.type(line: Enrolled.pin)
                #expect(try deleting.finish(within: 30) == 0, "\(deleting.transcript)")
                let status = try Command.run(["signet", "status", "--user", alice.name, "--json"])
                #expect(
                    status.output.contains("\"fingers\": []") || status.output.contains("\"fingers\":[]"),
                    "\(status.output)")
            }
        }
    }
}

/// Programs that ask again and again by themselves.
@Suite(.serialized, .inWorld, .withProduct) struct RetryingReaderTests {
    // Would catch somebody who runs `su alice` in a loop and so closes the finger path of alice's own screen lock.
    @Test func nobodyMakesAnotherPersonsReaderRest() throws {
        try Enrolled.with { alice in
            let mallory = try User.fresh()
            let rests = { (name: String) in access("/run/signet/rest-\(name)", F_OK) == 0 }
            try File.replaced(alice.reader.folder + "/sensor", with: "#!/bin/sh\nexit 1\n", mode: 0o755) {
                try Guarded.services(["su"], arguments: "prompt=conversation") {
                    let terminal = try Terminal(
                        ["sh", "-c", "echo | su \(alice.user.name) -c id; echo over"], as: mallory)
                    try terminal.waitFor("over\r\n")
                    _ = try terminal.finish()
                    #expect(rests("by-\(mallory.uid)"), "\(terminal.transcript)")
                    #expect(!rests("\(alice.user.uid)"))
                    let own = try Terminal(
                        ["sh", "-c", "echo | su \(alice.user.name) -c id; echo over"], as: alice.user)
                    try own.waitFor("over\r\n")
                    _ = try own.finish()
                    #expect(rests("\(alice.user.uid)"), "\(own.transcript)")
                }
            }
        }
    }

    // Would catch a program in a loop that starts a helper and writes a line to the journal each time, or that locks a
    // finger out.
    @Test func aLoopBurnsNeitherReaderNorJournalNorCounters() throws {
        try Enrolled.with { alice in
            let starts = alice.reader.folder + "/starts"
            let broken = "#!/bin/sh\necho x >> \(starts)\nexit 1\n"
            try File.replaced(alice.reader.folder + "/sensor", with: broken, mode: 0o755) {
                try Guarded.services(["sudo"], arguments: "prompt=conversation") {
                    let journal = try JournalListener()
                    let host = PAMHost.command("sudo", alice.user.name, options: ["--rounds", "10"]).joined(
                        separator: " ")
                    // Each round gets one empty answer: "touch the reader"; the rest of the conversation fails.
                    let terminal = try Terminal([
                        "sh", "-c",
                        "for n in 1 2 3 4 5 6 7 8 9 10; do echo | \(host.replacingOccurrences(of: "--rounds 10", with: "--rounds 1")); done; echo over",
                    ])
                    try terminal.waitFor("over\r\n")
                    _ = try terminal.finish()
                    let count = try File.read(starts).split(separator: "\n").count
                    #expect(
                        (1...6).contains(count), "\(count) helpers were started for ten rounds:\n\(terminal.transcript)"
                    )
                    let lines = journal.lines.filter { $0.contains("event=authentication") }
                    #expect(lines.count <= 4, "\(lines)")
                    #expect(try alice.fingerFailures() == 0)
                }
            }
            // A person's own prompt does not rest.
            #expect(try alice.acceptsFinger())
        }
    }
}
