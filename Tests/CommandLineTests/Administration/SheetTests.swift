import SignetEngine
import SignetPolicy
import Testing

@testable import signet

struct SheetTests {
    private let rows = [
        Sheet.Row(
            label: "Fingerprint", state: "on",
            details:
                "right index (2026-11-30), left thumb (2026-11-30), right middle (2026-11-30), left index (2026-12-01)"),
        Sheet.Row(label: "PIN", state: "set", details: "changed 2026-11-30, last used today 09:12"),
        Sheet.Row(
            label: "Services", state: "sudo, sudo-i, su, su-l, login, polkit-1, sshd, gdm-password, lightdm, cups"),
    ]

    // Would catch: lines that a terminal breaks in the middle of a word, and facts that get lost where they are broken.
    @Test(arguments: [24, 40, 59, 60, 80, 200])
    func `facts fit and nothing is lost`(width: Int) {
        let text = Sheet.facts(rows, width: width)
        for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
        let words = text.split(whereSeparator: \.isWhitespace)
        let expected = rows.flatMap { row in
            [row.label, row.state, row.details].flatMap { $0.split(whereSeparator: \.isWhitespace) }
        }
        #expect(words == expected)
    }

    // Would catch: columns that do not stand below each other, and a table that is wider than the terminal.
    @Test func `a table turns into a list where it is narrow`() {
        let heading = ["User", "Finger", "Record"]
        let rows = [["alice", "on", "usable"], ["bartholomew", "off", "damaged"]]
        let wide = Sheet.table(heading, rows, width: 80)
        #expect(
            wide == """
                User         Finger  Record
                alice        on      usable
                bartholomew  off     damaged

                """)
        let narrow = Sheet.table(heading, rows, width: 24)
        #expect(
            narrow == """
                alice
                  finger: on
                  record: usable
                bartholomew
                  finger: off
                  record: damaged

                """)
    }

    // Would catch: a sentence that the terminal breaks in the middle of a word, a word or a line's end that is lost, and a
    // command that is broken though it fits.
    @Test(arguments: [20, 40, 80])
    func `sentences are folded between words`(width: Int) {
        let alice = TargetUser(uid: 1000, name: Array("alice".utf8), byAdministrator: false, caller: .person)
        let closures: [FingerClosure] = [
            .remote, .lidClosed, .anotherSeat, .biometryLockout(limit: 5), .notApproved, .readerNotTrusted(.moved),
            .readerNotAvailable(.busy), .printsUnusable,
        ]
        var texts = closures.map { Notice.fingerPathClosed($0).text(Asked(user: alice.name)) }
        texts += [ManagementRefusal.notEnrolled, .nothingToImport, .readersOfPrintsMissing, .activateFirst(.remote)].map
        {
            let failure = Failure($0, alice)
            return "signet: \(failure.message)\nhint: \(failure.hint ?? "")\n"
        }
        texts.append("  left thumb   2026-11-30  elanmoc:0, is no longer on the reader\n\nnext\n")
        for text in texts {
            let folded = Sheet.folded(text, width: width)
            for line in folded.split(separator: "\n") {
                #expect(line.count <= width || !line.drop { $0 == " " }.contains(" "), "\(line)")
            }
            #expect(folded.split(whereSeparator: \.isWhitespace) == text.split(whereSeparator: \.isWhitespace))
            #expect(folded.hasSuffix("\n") == text.hasSuffix("\n") && folded.contains("\n\n") == text.contains("\n\n"))
            #expect(Sheet.folded(text, width: nil) == text, "nobody reads a pipe")
            for command in ["\"sudo signet enroll\"", "\"sudo signet activate\""]
            where text.contains(command) && command.count < width {
                #expect(folded.contains(command), "\(folded)")
            }
        }
        let command = "  → sudo signet enclave accept --user alice"
        #expect(Sheet.folded(command, width: 20) == command, "it is there to be pasted")
    }

    // Would catch: waits that are told too short, so that people try too early.
    @Test(
        arguments: [
            (1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (61, "2 minutes"), (240, "4 minutes"),
            (3600, "60 minutes"),
        ] as [(UInt64, String)])
    func `durations are rounded up`(seconds: UInt64, text: String) { #expect(Output.duration(seconds) == text) }
}
