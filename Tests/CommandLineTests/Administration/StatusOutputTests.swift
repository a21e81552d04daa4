import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import signet

struct StatusOutputTests {
    private let now: Int64 = 1_796_040_000
    private let reader = ReaderDescription(
        identity: ReaderIdentity(driver: Array("elanmoc".utf8), device: Array("0".utf8)), place: .nowhere,
        name: Array("Elan match-on-chip".utf8), stages: 8, swipes: false, identifies: true, storesPrints: true,
        listsPrints: true)

    private var usable: UserStatus {
        var status = UserStatus(
            uid: 1000, userName: Array("alice".utf8), record: .usable, readers: .present([reader]))
        status.fingers = [7, 1].compactMap { Finger(number: $0) }.map {
            FingerFact(finger: $0, reader: reader.identity, onReader: true, enrolledAt: now)
        }
        status.pin = PINFact(changedAt: now, lastUse: .never, setByAdministrator: false)
        status.lockout = LockoutFact(
            fingerFailures: 0, fingerLimit: 5, pinFailures: 0, pinLimit: 10, pin: nil, closedTo: [])
        status.recovery = .ready(madeAt: now, lockout: nil)
        return status
    }

    private var machine: StatusText.Machine {
        StatusText.Machine(secrets: "key file, root's alone", services: ["sudo", "sudo-i"])
    }

    // Would catch: a fact that is not shown, or shown under another name.
    @Test func `a page has all facts`() {
        let day = Output.day(now)
        let page = StatusText.page(usable, machine, now: now, width: 100)
        #expect(
            page == """
                alice (1000)
                  Fingerprint  on     right index (\(day)), left thumb (\(day))
                  PIN          set    changed \(day), never used
                  Lockout      none   finger 0 of 5, PIN 0 of 10
                  Recovery     ready  made \(day)
                  Reader       Elan match-on-chip
                  Secrets      key file, root's alone
                  Services     sudo, sudo-i

                """)
    }

    // Would catch: a finger that stands there twice, and nobody can tell which of the two is meant.
    @Test func `a finger on two readers is told with each`() {
        func reader(_ driver: String, _ device: String, _ name: String) -> ReaderDescription {
            ReaderDescription(
                identity: ReaderIdentity(driver: Array(driver.utf8), device: Array(device.utf8)), place: .nowhere,
                name: Array(name.utf8), stages: 5, swipes: false, identifies: true, storesPrints: false,
                listsPrints: false)
        }
        func told(_ enrolled: [ReaderDescription], there: [ReaderDescription]) -> (text: String, json: String) {
            var status = usable
            status.fingers = enrolled.compactMap { reader in
                Finger(number: 7).map {
                    FingerFact(finger: $0, reader: reader.identity, onReader: false, enrolledAt: now)
                }
            }
            status.readers = .present(there)
            let page = StatusText.page(status, machine, now: now, width: 200)
            let row = page.split(separator: "\n").first { $0.contains("Fingerprint") } ?? ""
            return (
                String(row.replacing(Output.day(now), with: "D")), Output.json(StatusAnswer(status, isStandIn: false))
            )
        }
        let elan = reader("elanmoc", "0", "Elan MOC Sensors")
        let upek = reader("upektc", "0", "UPEK Eikon")
        let both = told([elan, upek], there: [elan, upek])
        #expect(both.text.hasSuffix("right index (D, Elan MOC Sensors), right index (D, UPEK Eikon)"), "\(both.text)")
        #expect(both.json.contains("\"reader\":\"UPEK Eikon\""), "\(both.json)")
        // One that is not there is known by its driver alone.
        let undocked = told([elan, upek], there: [elan])
        #expect(undocked.text.hasSuffix("right index (D, Elan MOC Sensors), right index (D, upektc)"))
        #expect(undocked.json.contains("\"reader\":\"upektc\""))
        let second = reader("elanmoc", "1", "Elan MOC Sensors")
        let twins = told([elan, second], there: [elan, second])
        #expect(twins.text.contains("(D, Elan MOC Sensors (elanmoc:0)), right index (D, Elan MOC Sensors (elanmoc:1))"))
        #expect(told([elan, second], there: []).text.hasSuffix("(D, elanmoc:0), right index (D, elanmoc:1)"))
        #expect(told([elan], there: [elan]).text.hasSuffix("right index (D)"), "one reader needs no name")
    }

    // Would catch: "on" where this session is asked for no finger, without the reason, in either form.
    @Test func `a finger that is not asked for here says why`() {
        var status = usable
        status.closureHere = .remote
        let day = Output.day(now)
        let page = StatusText.page(status, machine, now: now, width: 140)
        #expect(
            page.contains(
                "  Fingerprint  on,    but not asked for here: the session is remote; right index (\(day)), left thumb"),
            "\(page)")
        let json = Output.json(StatusAnswer(status, isStandIn: false))
        #expect(json.contains("\"not_asked_here\":\"remote\",\"on\":true") && !json.contains("in_use_by"), "\(json)")
        #expect(!Output.json(StatusAnswer(usable, isStandIn: false)).contains("not_asked_here"))
    }

    // Would catch: a busy reader that is not told, one that is told though another one is free, or a look at readers that
    // nobody would be asked at.
    @Test func `a reader that somebody has is told with who has it`() {
        var status = usable
        status.readersToAsk = [reader, reader]
        var free = status
        var looks = 0
        free.lookForHolders { _ in
            looks += 1
            return looks == 2 ? .free : .used(by: Array("fprintd".utf8))
        }
        #expect(free.closureHere == nil && free.wordsHere == nil && free.readerHolder == nil)
        var busy = status
        busy.lookForHolders { _ in .used(by: Array("sudo on pts/3".utf8)) }
        #expect(busy.wordsHere == "the reader is in use by sudo on pts/3")
        let json = Output.json(StatusAnswer(busy, isStandIn: false))
        #expect(json.contains("\"in_use_by\":\"sudo on pts/3\",") && json.contains("\"reader_busy\""), "\(json)")
        var nameless = status
        nameless.lookForHolders { _ in .used(by: nil) }
        #expect(nameless.wordsHere == "the reader is in use by another program")
        status.closureHere = .lidClosed
        status.lookForHolders { _ in
            Issue.record("nobody is asked to touch, so nobody's reader is looked at")
            return .free
        }
        #expect(status.wordsHere == "the lid is closed")
    }

    // Would catch: a stand-in reader that is shown as if it were a real one.
    @Test func `a stand-in reader is named in each form`() {
        var machine = machine
        machine.isStandIn = true
        #expect(StatusText.page(usable, machine, now: now, width: 80).contains("stand-in reader"))
        #expect(Output.json(StatusAnswer(usable, isStandIn: true)).contains("\"stand_in_reader\":true"))
        let report = ReaderReport(description: reader, distrust: nil, holders: [], prints: ReaderPrints())
        #expect(ReadersText.table([report], isStandIn: true, width: 80).contains("stand-in reader"))
        #expect(!ReadersText.table([report], isStandIn: false, width: 80).contains("stand-in"))
    }

    // Would catch: what needs somebody standing below the fold, without its command, or with somebody else's name in it.
    @Test func `what needs somebody comes first`() {
        var status = usable
        status.fingerClosure = .enrollmentChanged(EnrollmentChange(added: 1, removed: 0))
        status.lockout = LockoutFact(
            fingerFailures: 0, fingerLimit: 5, pinFailures: 10, pinLimit: 10, pin: .disabled, closedTo: [.remote])
        let lines = StatusText.page(status, machine, now: now, width: 100).split(separator: "\n").map(String.init)
        #expect(lines[0] == "alice: the PIN is disabled → sudo signet lockout reset --pin --user alice")
        #expect(
            lines[1] == "alice: the fingerprints were changed (1 added) → sudo signet activate --user alice")
        #expect(lines.contains { $0.contains("closed to remote callers") })
        #expect(lines.contains { $0.contains("off") && $0.contains("changed: 1 added") })
    }

    // Would catch: a reader whose memory nobody can look at, and that is told as any other.
    @Test func `a reader that cannot list is told`() {
        var status = usable
        let silent = ReaderDescription(
            identity: reader.identity, place: .nowhere, name: reader.name, stages: 8, swipes: false, identifies: true,
            storesPrints: true, listsPrints: false)
        status.readers = .present([silent])
        let page = StatusText.page(status, machine, now: now, width: 100)
        #expect(page.contains("Elan match-on-chip, cannot list its prints\n"), "\(page)")
        #expect(Output.json(StatusAnswer(status, isStandIn: false)).contains("\"lists_prints\":false"))
        #expect(!StatusText.page(usable, machine, now: now, width: 100).contains("cannot list"))
    }

    // Would catch: foreign prints under another name than elsewhere, and a good print that is to be deleted.
    @Test func `prints that came and prints that went`() {
        let came = Attention.foreignPrints(1)
        #expect(came.words == "1 foreign print came into the reader's memory since the last activation")
        // The counter ends there, and nobody knows how many more there are.
        #expect(Attention.foreignPrints(254).words.hasPrefix("254 foreign prints came"))
        #expect(Attention.foreignPrints(255).words.hasPrefix("at least 255 foreign prints came"))
        #expect(FingerClosure.foreignPrints(255).words.hasPrefix("at least 255 foreign prints came"))
        #expect(ForeignPrints.text(255, atLeast: false).contains("also holds 255 foreign prints;"))
        #expect(ForeignPrints.text(200, atLeast: true).contains("also holds at least 200 foreign prints;"))
        #expect(ForeignPrints.text(1, atLeast: false).contains("a foreign print;"))
        #expect(ForeignPrints.text(0, atLeast: true).isEmpty)
        let gone = Attention.printsGone(1, Finger(number: 7))
        #expect(gone.words == "the fingerprints were changed, or the right index is gone from the reader's memory")
        // An older record that was put in place and taken away again looks the same: nothing good must be deleted for it.
        #expect(!gone.remedy(for: "alice").contains("delete"))
        #expect(gone.command(for: "alice") == "sudo signet readers --user alice")
        #expect(gone.remedy(for: "alice").hasPrefix("sudo signet readers --user alice; "))
        #expect(gone.remedy(for: "alice").hasSuffix("sudo signet activate --user alice"))
        let several = Attention.printsGone(2, nil)
        #expect(several.words == "the fingerprints were changed, or 2 are gone from the reader's memory")
        let change = EnrollmentChange(added: 0, removed: 1, gone: 1)
        #expect(FingerClosure.enrollmentChanged(change).words == "changed: 1 removed, or gone from the reader's memory")
    }

    // Would catch: output that breaks on a small terminal, and a command that is broken by it.
    @Test func `it fits forty columns`() {
        var status = usable
        status.fingerClosure = .notApproved
        status.recovery = .none
        let page = StatusText.page(status, machine, now: now, width: 40)
        for line in page.split(separator: "\n") { #expect(line.count <= 40 || line.hasPrefix("  → sudo "), "\(line)") }
        let table = StatusVerb.table([(status, false), (usable, false)], width: 40)
        for line in table.split(separator: "\n") { #expect(line.count <= 40 || line.hasPrefix("  → sudo "), "\(line)") }
    }

    // Would catch: a damaged record shown with facts of somebody's imagination, or as "not set up".
    @Test func `a record that cannot be read shows no facts`() {
        let damaged = UserStatus(
            uid: 1000, userName: Array("alice".utf8), record: .faulty(.identity, .foreign), readers: .present([reader]))
        let page = StatusText.page(damaged, machine, now: now, width: 100)
        #expect(page.hasPrefix("alice: the record \"identity\" is from another machine"))
        #expect(!page.contains("PIN  ") && !page.contains("Lockout"))
        #expect(StatusVerb.exit(damaged) == .stateDamaged)
    }

    // Would catch: an orphan that is offered adoption, or that hides in the table.
    @Test func `an orphan is offered purging by its uid`() {
        let orphan = UserStatus(
            uid: 1007, userName: [], record: .faulty(.identity, .renamed), readers: .problem(.noReader))
        let table = StatusVerb.table([(usable, false), (orphan, true)], width: 100)
        #expect(table.hasPrefix("1007: no account has this uid any more → sudo signet user purge --user 1007\n"))
        #expect(table.contains("no account"))
        let answer = StatusAnswer(orphan, isOrphan: true, isStandIn: false)
        #expect(answer.record == "orphan" && answer.needs.map(\.what) == ["orphan"])
    }

    // Would catch: a renamed field, which would break the programs of others.
    @Test func `JSON has stable names`() {
        let json = Output.json(StatusAnswer(usable, isStandIn: false))
        let expected = [
            "\"schema_version\":1", "\"user\":\"alice\"", "\"user_id\":1000", "\"record\":\"usable\"", "\"needs\":[]",
            "\"fingerprint\":{\"fingers\":[{\"device\":\"0\",\"driver\":\"elanmoc\",\"enrolled_at\":\(now),"
                + "\"finger\":\"right index\",\"on_reader\":true,\"reader\":\"Elan match-on-chip\"}",
            "\"pin\":{\"changed_at\":\(now),\"is_set\":true,\"last_use\":\"never\",\"set_by_administrator\":false}",
            "\"lockout\":{\"closed_to\":[],\"finger_failures\":0,\"finger_limit\":5,\"finger_locked_out\":false,"
                + "\"pin_failures\":0,\"pin_limit\":10,\"pin_state\":\"open\",\"wait_seconds\":0}",
            "\"recovery\":{\"made_at\":\(now),\"ready\":true}",
            "\"kind\":\"press\"", "\"prints\":\"reader\"", "\"is_virtual\":false", "\"stand_in_reader\":false",
        ]
        for part in expected { #expect(json.contains(part), "\(part) is not in \(json)") }
        #expect(json.split(separator: "\n").count == 1)
    }

    // Would catch: a name from the password database or a reader that steers the terminal.
    @Test func `foreign names cannot steer the terminal`() {
        let hostile = Array("al\u{1B}[2Jice\n".utf8)
        var status = UserStatus(uid: 1, userName: hostile, record: .usable, readers: .present([]))
        status.pin = PINFact(changedAt: now, lastUse: .beforeStartUp, setByAdministrator: true)
        let page =
            StatusText.page(status, machine, now: now, width: 80) + StatusVerb.table([(status, false)], width: 80)
        #expect(!page.utf8.contains(0x1B) && page.contains("al?[2Jice?"))
    }

    // Would catch: exit codes other than documented; the installer asks by them whether a PIN works.
    @Test func `exit codes`() {
        var status = usable
        #expect(StatusVerb.exit(status) == .yes)
        status.lockout = LockoutFact(
            fingerFailures: 5, fingerLimit: 5, pinFailures: 5, pinLimit: 10, pin: .waiting(seconds: 60), closedTo: [])
        #expect(StatusVerb.exit(status) == .lockedOut)
        status.record = .notSetUp
        #expect(StatusVerb.exit(status) == .no)
        status.record = .busy
        #expect(StatusVerb.exit(status) == .busy)
    }
}
