import Glibc
import Testing

/// The recorded traffic of real readers under their real drivers: the way from enrolment to sudo is that of a real reader.
@Suite(
    .serialized, .inWorld, .withProduct,
    .enabled(if: RecordedReader.canReplay, "there are no recordings beside this repository, or no umockdev-run"))
struct RecordedFingerTests {
    /// A user with a PIN, and no finger.
    private func user() throws -> User {
        let user = try User.fresh()
        let result = try Command.run(
            ["signet", "pin", "set", "--stdin"], input: Enrolled.pin + "\n", environment: environment(of: user))
        guard result.code == 0 else { throw HarnessError("no PIN was set: \(result.error)") }
        return user
    }

    private func environment(of user: User) -> [String: String] {
        Child.environment.merging(["SUDO_UID": "\(user.uid)", "SUDO_USER": user.name]) { $1 }
    }

    /// The replay touches by itself, again and again.
    private func enroll(_ user: User, as finger: String) throws -> Int {
        let terminal = try Terminal(["signet", "enroll", finger], environment: environment(of: user))
        try terminal.waitForSecretPrompt("PIN: ")
        try terminal.type(line: Enrolled.pin)
        return try terminal.finish(within: 60)
    }

    private func touchThroughSudo(_ user: User) throws -> Terminal {
        let terminal = try Terminal(["sudo", "-k", "id", "-u"], as: user)
        try terminal.waitForSecretPrompt(Offer.touch)
        return terminal
    }

    // Would catch a helper whose confinement, threads or environment keep a real driver from working.
    @Test func aRecordedImageReaderEnrolsAndLetsIn() throws {
        try RecordedReader("aes3500").configured("readers = any") {
            try Guarded.services(["sudo"]) {
                let alice = try user()
                #expect(try enroll(alice, as: "right-index") == 0)
                for _ in 1...2 {
                    let terminal = try touchThroughSudo(alice)
                    #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                }
            }
        }
    }

    // Would catch a deleted finger that still opens, that leaves its template in the record, or whose reader is armed
    // all the same; and one that cannot be enrolled again.
    @Test(arguments: ["aes3500", "nb1010"]) func aRecordedImageReaderForgets(_ name: String) throws {
        try wholeLife(name)
    }

    // Would catch the same for readers whose recordings Debian's source package of libfprint carries.
    @Test(
        .enabled(
            if: RecordedReader.hasFetched("elan"), "libfprint's recordings are not there; run scripts/fetch-recordings"),
        arguments: ["elan", "vfs301", "vfs7552"])
    func aFetchedImageReaderForgets(_ name: String) throws { try wholeLife(name) }

    private func wholeLife(_ name: String) throws {
        try RecordedReader(name).configured("readers = any") {
            try Guarded.services(["sudo"]) {
                let alice = try user()
                func size() -> Int {
                    var about = Glibc.stat()
                    return lstat("/var/lib/signet/users/\(alice.uid)/prints", &about) == 0 ? Int(about.st_size) : 0
                }
                #expect(try enroll(alice, as: "right-index") == 0)
                let terminal = try touchThroughSudo(alice)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                let before = size()

                let deleting = try Terminal(["signet", "delete", "right-index"], environment: environment(of: alice))
                try deleting.waitForSecretPrompt("PIN: ")
                try deleting.type(line: Enrolled.pin)
                #expect(try deleting.finish(within: 30) == 0, "\(deleting.transcript)")
                // Of this reader nothing is said; of a chip's left-over prints from before it may be.
                #expect(!deleting.transcript.contains("could not be deleted"), "\(deleting.transcript)")
                let status = try Command.must("signet", "status", "--user", alice.name, "--json")
                #expect(status.contains("\"fingers\": []") || status.contains("\"fingers\":[]"), "\(status)")
                // A template of this reader has 900 bytes and more.
                #expect(size() < before - 800, "\(before)")

                // The replay would touch at once.
                let sudo = try Terminal(["sudo", "-k", "id", "-u"], as: alice)
                try sudo.waitForSecretPrompt(Offer.pin)
                #expect(SensorProcess.all().isEmpty)
                try sudo.type(line: Enrolled.pin)
                #expect(try sudo.ended().isGranted, "\(sudo.transcript)")
                #expect(!sudo.transcript.contains(Offer.touch), "\(sudo.transcript)")

                #expect(try enroll(alice, as: "left-index") == 0)
                let again = try touchThroughSudo(alice)
                #expect(try again.ended().isGranted, "\(again.transcript)")
            }
        }
    }

    // Would catch a print of another reader that is compared after all: libfprint's image drivers would say "match" for it.
    @Test func aPrintOfAnotherReaderIsNotAsked() throws {
        let alice = try user()
        try Guarded.services(["sudo"]) {
            try RecordedReader("nb1010").configured {
                #expect(try enroll(alice, as: "right-index") == 0)
                let terminal = try touchThroughSudo(alice)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
            }
            try RecordedReader("aes3500").configured("readers = any") {
                let terminal = try Terminal(["sudo", "-k", "id", "-u"], as: alice)
                try terminal.waitForSecretPrompt("enroll\": ")
                #expect(terminal.transcript.contains("for another reader than this one (AuthenTec AES3500)."))
                try terminal.type(line: Enrolled.pin)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                // Both are named to whoever came that far, before the PIN is asked for.
                let variables = Child.environment.merging(["SUDO_UID": "\(alice.uid)", "SUDO_USER": alice.name]) { $1 }
                let activation = try Terminal(["signet", "activate"], environment: variables)
                #expect(try activation.finish() == 5)
                let said = activation.transcript
                #expect(said.contains("nb1010") && said.contains("AES3500") && !said.contains("PIN"), "\(said)")
            }
        }
    }

    // Would catch a device at an outside port that may be enrolled on, a refusal that does not say what would allow it,
    // and a reader that is believed at another port than the one where the PIN approved it.
    @Test func whereTheReaderIsCounts() throws {
        let alice = try user()
        func unmarked(_ text: String) -> String { text.replacing("removable=removable", with: "removable=unknown") }
        func moved(_ text: String) -> String { unmarked(text).replacing("3-1.1.3", with: "3-1.1.2") }
        try Guarded.services(["sudo"]) {
            try RecordedReader("aes3500").configured {
                let refused = try Terminal(["signet", "enroll", "right-index"], environment: environment(of: alice))
                #expect(try refused.finish() == 5)
                let said = refused.transcript
                #expect(said.contains("the reader is at an outside port") && said.contains("readers = any"), "\(said)")
                #expect(!said.contains("PIN"))
                let readers = try Command.must("signet", "readers")
                #expect(readers.contains("outside, port 1.1.3") && readers.contains("is not used"), "\(readers)")
            }
            try RecordedReader("aes3500", edited: unmarked).configured {
                #expect(try enroll(alice, as: "right-index") == 0)
                let terminal = try touchThroughSudo(alice)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                let readers = try Command.run(["signet", "readers"], environment: environment(of: alice)).output
                #expect(readers.contains("port 1.1.3") && readers.contains("1 yours"), "\(readers)")
                #expect(readers.contains("warning: AuthenTec AES3500 (aes3500): its driver takes a score of 9"))
                #expect(try Command.run(["signet", "doctor"]).output.contains("a score of 9"))
            }
            try RecordedReader("aes3500", edited: moved).configured {
                let journal = try JournalListener()
                let terminal = try Terminal(["sudo", "-k", "id", "-u"], as: alice)
                try terminal.waitFor("The reader is at another port than when you approved it.")
                try terminal.type(line: Enrolled.pin)
                #expect(try terminal.ended().isGranted, "\(terminal.transcript)")
                try journal.waitFor("event=reader_refused", "reason=reader_moved")

                let activation = try Terminal(["signet", "activate"], environment: environment(of: alice))
                try activation.waitForSecretPrompt("PIN: ")
                try activation.type(line: Enrolled.pin)
                #expect(try activation.finish(within: 60) == 0, "\(activation.transcript)")
                let again = try touchThroughSudo(alice)
                #expect(try again.ended().isGranted, "\(again.transcript)")
            }
        }
    }

    // Would catch the same finger under two names, and one user's finger that another user may enrol but not use for him.
    @Test func theSameFingerAgainIsADuplicate() throws {
        try RecordedReader("aes3500").configured("readers = any") {
            let alice = try user()
            #expect(try enroll(alice, as: "right-index") == 0)
            #expect(try enroll(alice, as: "left-index") == 1)
        }
    }
}

/// More than one reader at the machine.
@Suite(.serialized, .inWorld, .withProduct) struct SeveralReadersTests {
    // Would catch an authentication that opens the first reader instead of the one that holds the user's prints.
    @Test(arguments: [VirtualReader.Kind.plain, .storage])
    func theReaderWithTheUsersPrintsIsAsked(_ kind: VirtualReader.Kind) throws {
        try Enrolled.with(kind) { alice in
            let other = try VirtualReader(kind == .plain ? .storage : .plain)
            let both = (alice.reader.variables + other.variables).map { "export \($0.name)='\($0.value)'\n" }.joined()
            let script = "#!/bin/sh\n\(both)exec \(SensorProcess.program) --allow-virtual\n"
            try File.replaced(alice.reader.folder + "/sensor", with: script, mode: 0o755) {
                let readers = try Command.must("signet", "readers", "--json")
                #expect(
                    readers.contains("virtual_device\"") && readers.contains("virtual_device_storage\""), "\(readers)")
                // The list opened it to count what is in its memory.
                other.forget()
                let accepted = try alice.acceptsFinger()
                #expect(accepted)
                #expect(access(other.socket, F_OK) != 0, "the other reader was opened")
            }
        }
    }
}
