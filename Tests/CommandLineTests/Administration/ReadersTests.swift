import SignetPolicy
import Testing

@testable import SignetEngine
@testable import signet

struct ReadersTests {
    private func report(
        _ driver: String = "elanmoc", _ name: String = "Elan MOC Sensors", at place: ReaderPlace = ReadersTests.inside,
        keepsPrints: Bool = true, lists: Bool = true, distrust: ReaderDistrust? = nil, holders: [String] = [],
        prints: ReaderPrints = ReaderPrints(yours: 2, others: 1, foreign: 3, missing: 0)
    ) -> ReaderReport {
        let description = ReaderDescription(
            identity: ReaderIdentity(driver: Array(driver.utf8), device: [0x30]), place: place, name: Array(name.utf8),
            stages: 9, swipes: false, identifies: true, storesPrints: keepsPrints, listsPrints: keepsPrints && lists)
        return ReaderReport(description: description, distrust: distrust, holders: holders, prints: prints)
    }

    private static let inside = ReaderPlace(
        bus: .usb, attachment: .fixed, path: Array("pci0000:00/0000:00:14.0/usb2/9".utf8))
    private static let socket = ReaderPlace(
        bus: .usb, attachment: .removable, path: Array("pci0000:00/0000:00:14.0/usb2/1.4".utf8))

    // Would catch: a column that is lost, and a table that a person cannot read at a glance.
    @Test func `the table says where, who compares, whose prints and who uses it`() {
        let reports = [
            report(),
            report(
                "uru4000", "Digital Persona U.are.U", at: ReadersTests.socket, keepsPrints: false, distrust: .outside,
                holders: ["fprintd"], prints: ReaderPrints(yours: 0)),
        ]
        let text = ReadersText.table(reports, isStandIn: false, width: 120)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(
            lines[0].split(whereSeparator: { $0 == " " }).joined(separator: " ")
                == "Name Where Compares Prints In use by")
        #expect(lines[1].hasPrefix("Elan MOC Sensors         built in           chip, lists  2 yours, 1 another us"))
        #expect(lines[2].hasPrefix("Digital Persona U.are.U  outside, port 1.4  host         none  "))
        #expect(lines[1].hasSuffix("nobody") && lines[2].hasSuffix("fprintd"))
        #expect(text.contains("warning: Elan MOC Sensors (elanmoc): the chip itself says"))
        #expect(text.contains("Digital Persona U.are.U (uru4000) is not used: the reader is at an outside port"))
        #expect(text.contains("readers = any"))
        #expect(!text.contains("warning: Digital"))
    }

    // Would catch: a full memory with the wrong numbers, or advice to delete what is not one's own.
    @Test func `a full memory is told with whose prints fill it`() {
        let alice = TargetUser(uid: 1000, name: Array("alice".utf8), byAdministrator: false, caller: .person)
        let fingers = Array(Finger.all.prefix(2))
        func full(_ prints: ReaderPrints?, _ own: [Finger] = []) -> Failure { .full(of: prints, own: own, alice) }
        let mine = full(ReaderPrints(yours: 2, others: 1, foreign: 3), fingers)
        #expect(mine.message == "the reader's memory is full: 2 yours, 1 another user's, 3 foreign")
        // The person knows which; a command that can be pasted would take that choice away.
        #expect(mine.hint?.hasSuffix("\"sudo signet delete …\" (left-thumb, left-index)") == true, "\(mine)")
        #expect(full(ReaderPrints(yours: 1), [fingers[0]]).hint?.hasSuffix("\"sudo signet delete left-thumb\"") == true)
        #expect(full(ReaderPrints(yours: 0, others: 1)).hint?.contains("signet status --all") == true)
        #expect(full(ReaderPrints(yours: 0, foreign: 9)).hint?.contains("no foreign print") == true)
        #expect(full(nil).message == "the reader's memory is full" && full(nil).hint?.contains("readers") == true)
        #expect(full(nil, [fingers[0]]).hint?.hasSuffix("delete left-thumb\"") == true)
        #expect(full(ReaderPrints(yours: 0, foreign: nil)).message == "the reader's memory is full")
    }

    // Would catch: another reader's memory that is told as the full one.
    @Test func `the full memory is the one that was open`() {
        let other = report("aes3500", "AuthenTec AES3500", keepsPrints: false).description
        let first = report("synaptics").description
        let full = report().description
        #expect(FullMemory.reader(among: [other, first, full], opened: full.identity) == full)
        #expect(FullMemory.reader(among: [other, first], opened: full.identity) == nil)
        #expect(FullMemory.reader(among: [other, first, full], opened: nil) == nil)
    }

    // Would catch: prints of Signet's other users under the name of foreign ones, or without a number.
    @Test func `whose prints there are`() {
        #expect(ReaderPrints(yours: 1, others: 2, foreign: 1).words == "1 yours, 2 other users', 1 foreign")
        #expect(ReaderPrints(yours: nil, others: 2, foreign: 0).words == "2 of Signet's users")
        #expect(ReaderPrints(yours: 0, others: 0, foreign: 0).words == "none")
        #expect(ReaderPrints(yours: 1, foreign: 0, missing: 1).words == "1 yours, 1 gone")
        #expect(ReaderPrints(yours: 1, foreign: 255, hasMore: true).words == "1 yours, at least 255 foreign")
    }

    // Would catch: advice to delete with fprintd's programs what an import takes over, and a cause that nobody knows.
    @Test func `what fprintd keeps is told apart, and what is left over has no cause`() {
        func text(_ prints: ReaderPrints) -> String {
            ReadersText.table([report(prints: prints)], isStandIn: false, width: 200)
        }
        let delete = "delete them with the system or program"
        let all = text(ReaderPrints(foreign: 1, importable: 1, importOption: " --user alice"))
        #expect(all.contains("→ sudo signet import --user alice") && !all.contains(delete), "\(all)")
        let both = text(ReaderPrints(foreign: 3, importable: 1))
        #expect(both.contains("→ sudo signet import\n") && both.contains(delete), "\(both)")
        let left = text(ReaderPrints(leftOver: 1))
        #expect(left.contains("1 print is left over in its memory") && !left.contains("cut off"), "\(left)")
    }

    // Would catch: a print that is gone and nobody can say whose, or how it is cleaned up.
    @Test func `a print that is gone is told with the command`() {
        let finger = Finger(number: 7)
        let gone = report(
            prints: ReaderPrints(
                yours: 2, missing: 3,
                gone: [
                    GonePrint(user: "alice", finger: finger, keeper: .signet),
                    GonePrint(user: "bob", finger: nil, keeper: .fprintd),
                    GonePrint(user: "carol", finger: finger, keeper: .signetBefore),
                ]))
        let text = ReadersText.table([gone], isStandIn: false, width: 200)
        #expect(text.contains("a print is gone from its memory: alice's right index"), "\(text)")
        #expect(text.contains("→ sudo signet delete right-index --user alice"), "\(text)")
        #expect(text.contains("one of bob's") && text.contains("fprintd-delete"), "\(text)")
        // No settings of the desktop know of it, and no command changes it before the configuration does.
        let before = "with \"enrollment_source = signet\", sudo signet delete right-index --user carol"
        #expect(text.contains(before), "\(text)")
        #expect(GonePrint.Keeper(.signet, now: .fprintd) == .signetBefore)
        #expect(GonePrint.Keeper(.fprintd, now: .fprintd) == .fprintd)
        #expect(GonePrint.Keeper(.signet, now: .signet) == .signet)
        #expect(Doctor.lines([gone]).map(\.level) == [.note, .warn, .warn, .warn])
        #expect(Doctor.lines([gone])[1].remedy == "sudo signet delete right-index --user alice")
    }

    // Would catch: an answer for programs that says of a gone or left-over print that there is one, and nothing more.
    @Test func `gone and left-over prints for programs`() {
        let prints = ReaderPrints(
            yours: 1, leftOver: 2, foreign: 255, hasMore: true, missing: 2,
            gone: [
                GonePrint(user: "alice", finger: Finger(number: 7), keeper: .signet),
                GonePrint(user: "bob", finger: nil, keeper: .fprintd),
            ])
        let json = Output.json(ReadersReportAnswer([report(prints: prints)], isStandIn: false))
        for part in [
            "\"owner\":\"alice\"", "\"finger\":\"right index\"",
            "\"command\":\"sudo signet delete right-index --user alice\"", "\"owner\":\"bob\"",
            "\"left_prints_remedy\":\"sudo signet delete --leftovers\"", "\"foreign_prints_at_least\":true",
        ] { #expect(json.contains(part), "\(part) in \(json)") }
    }

    // Would catch: lines that a terminal breaks.
    @Test(arguments: [40, 60, 80]) func `it fits`(width: Int) {
        let text = ReadersText.table([report(), report(holders: ["sudo on pts/3"])], isStandIn: true, width: width)
        for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
        #expect(text.contains("stand-in reader"))
    }

    // Would catch: two readers that look the same and nobody is told.
    @Test func `a second reader of one identity is told`() {
        let twins = [report(), report(at: ReadersTests.socket, distrust: .outside)]
        #expect(ReadersText.table(twins, isStandIn: false, width: 200).contains(ReaderReport.twin))
        #expect(Doctor.lines(twins).contains { $0.level == .warn && $0.text.contains(ReaderReport.twin) })
        let others = [report(), report("aes3500", "AuthenTec AES3500", keepsPrints: false)]
        #expect(!ReadersText.table(others, isStandIn: false, width: 200).contains(ReaderReport.twin))
        #expect(Doctor.lines(others).contains { $0.level == .note && $0.text.contains("another reader beside") })
    }

    // Would catch: a place that is told as another, and an unknown port that is called built in.
    @Test func `places in words`() {
        #expect(ReaderPlace.virtual.words == "virtual" && ReaderPlace.nowhere.words == "unknown")
        #expect(ReadersTests.inside.words == "built in" && ReadersTests.socket.words == "outside, port 1.4")
        let desktop = ReaderPlace(bus: .usb, attachment: .unknown, path: Array("pci/usb2/3".utf8))
        #expect(desktop.words == "port 3")
        #expect(ReaderPlace(bus: .spi, attachment: .fixed, path: Array("a/b".utf8)).words == "built in")
        #expect(ReaderPlace(bus: .spi, attachment: .removable, path: Array("a/b".utf8)).words == "outside")
    }

    // Would catch: names that programs rely on and that change or are missing.
    @Test func `the answer for programs`() {
        let json = Output.json(
            ReadersReportAnswer([report(at: ReadersTests.socket, distrust: .moved)], isStandIn: false))
        for part in [
            "\"driver\":\"elanmoc\"", "\"bus\":\"usb\"", "\"port\":\"removable\"",
            "\"path\":\"pci0000:00/0000:00:14.0/usb2/1.4\"", "\"refused\":\"reader_moved\"", "\"your_prints\":2",
            "\"others_prints\":1", "\"foreign_prints\":3", "\"missing_prints\":0", "\"in_use_by\":[]",
            "\"concern\":\"unauthenticated_chip\"", "\"warning\":true", "\"lists_prints\":true",
        ] { #expect(json.contains(part), "\(part) in \(json)") }
    }

    // Would catch: a weak driver, an outside port or a rival that doctor passes over, and a warning for what is usual.
    @Test func `doctor warns of weak drivers, outside ports and whoever holds the reader`() {
        func levels(_ report: ReaderReport) -> [DoctorLine.Level] { Doctor.lines([report]).map(\.level) }
        #expect(levels(report()) == [.note])
        #expect(levels(report("aes3500", keepsPrints: false)) == [.warn])
        #expect(levels(report("uru4000", keepsPrints: false)) == [.ok])
        #expect(levels(report("uru4000", at: ReadersTests.socket, keepsPrints: false)) == [.ok, .warn])
        #expect(levels(report(at: ReadersTests.socket, distrust: .outside)) == [.warn, .warn])
        #expect(levels(report(holders: ["qemu"])) == [.note, .note])
        #expect(levels(report(holders: ["fprintd"])) == [.note], "fprintd has a line of its own")
        #expect(levels(report(holders: ["fprintd", "qemu"])) == [.note, .note])
        #expect(Doctor.fprintd(isInstalled: true, isRunning: true, holds: true).map(\.level) == [.warn])
        #expect(Doctor.fprintd(isInstalled: true, isRunning: false, holds: false).map(\.level) == [.note])
        #expect(Doctor.fprintd(isInstalled: false, isRunning: false, holds: false).isEmpty)
    }

    // Would catch: pam_fprintd in Signet's stack, which takes the reader first, told as any other module.
    @Test func `doctor sees pam_fprintd beside Signet`() {
        func finding(_ module: String) -> StackFinding {
            StackFinding(
                severity: .warning, matter: .otherProofNeededToo(module: Array(module.utf8)),
                service: Array("sudo".utf8), file: Array("sudo".utf8),
                line: 3)
        }
        let rival = Doctor.lines("sudo", [finding("pam_fprintd.so")])
        #expect(rival.count == 2 && rival[0].text.contains("want the same reader"))
        #expect(Doctor.lines("sudo", [finding("pam_u2f.so")]).count == 1)
    }
}
