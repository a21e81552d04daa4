import CPlatform
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetEngine
@testable import signet

struct DoctorTests {
    private let lines: [DoctorLine] = [
        .ok("store", "/var/lib/signet is root's alone"),
        DoctorLine(.note, "fprintd", "is installed too", remedy: "sudo systemctl mask fprintd"),
        DoctorLine(
            .fail, "pam sudo", "the system password still works: pam_unix.so grants without Signet",
            remedy: "sudo signet pam check sudo"),
    ]

    // Would catch: a failure that is not counted, or that a script does not see.
    @Test func `counts and exit status`() {
        let report = DoctorReport(lines)
        #expect(report.counts == "1 ok, 1 note, 1 failure" && report.exit == .no)
        #expect(DoctorReport(Array(lines.dropLast())).exit == .yes)
        #expect(Output.json(report).contains("\"failures\":1"))
        #expect(Output.json(report).contains("\"level\":\"fail\",\"remedy\":\"sudo signet pam check sudo\""))
    }

    // Would catch: lines that a terminal breaks, and a command that cannot be copied since it was broken.
    @Test(arguments: [24, 40])
    func `a long command is neither broken nor at the margin`(width: Int) {
        let command = "sudo chown root:root /var/lib/signet/users/1000 && sudo chmod 700 /var/lib/signet/users/1000"
        let text = DoctorReport([DoctorLine(.fail, "user alice", "is open", remedy: command)]).text(width: width)
        #expect(text.contains("\n  → \(command)\n"))
    }

    // Would catch: lines that a terminal breaks, and a command that cannot be copied since it was broken.
    @Test(arguments: [40, 80, 120])
    func `it fits, and commands stay whole`(width: Int) {
        let text = DoctorReport(lines).text(width: width)
        for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
        #expect(text.contains("→ sudo signet pam check sudo\n"))
        #expect(text.hasSuffix("1 ok, 1 note, 1 failure\n"))
    }

    // Would catch: findings of the stack's review that lose their weight, and a clean service that is not told.
    @Test func `findings keep their severity`() {
        let findings = [StackFinding.Severity.failure, .warning, .note].map {
            StackFinding(
                severity: $0, matter: .notGuarded, service: Array("sudo".utf8), file: Array("sudo".utf8), line: 3)
        }
        #expect(Doctor.lines("sudo", findings).map(\.level) == [.fail, .warn, .note])
        #expect(Doctor.lines("sudo", []).map(\.level) == [.ok])
    }

    // Would catch: records of nobody, or of somebody else's key, that doctor takes for healthy.
    @Test func `records need the right thing`() {
        let alice = RecordOwner.user(uid: 1000, name: Array("alice".utf8))
        func status(_ record: RecordCondition) -> UserStatus {
            UserStatus(uid: 1000, userName: Array("alice".utf8), record: record, readers: .problem(.noReader))
        }
        #expect(Doctor.lines(alice, status(.notSetUp)).isEmpty)
        #expect(Doctor.lines(.orphan(uid: 7), status(.usable)).map(\.remedy) == ["sudo signet user purge --user 7"])
        #expect(Doctor.lines(.unknown(uid: 7), status(.usable)).map(\.level) == [.warn])
        let renamed = Doctor.lines(alice, status(.faulty(.identity, .renamed)))
        #expect(
            renamed.map(\.level) == [.fail]
                && renamed[0].remedy
                    == "sudo signet user adopt --user alice; where that was somebody else, "
                    + "sudo signet user purge --yes --user alice"
        )
        for fault in [RecordFault.damaged, .foreign, .otherUser, .newer, .missing, .unsafe, .keyLost] {
            #expect(Doctor.lines(alice, status(.faulty(.prints, fault))).map(\.level) == [.fail])
        }
    }

    // Would catch: a remedy that leads back to doctor, one without what it takes, and one that takes the PIN for a print.
    @Test func `damaged records have a way out`() {
        func line(_ kind: RecordKind, _ fault: RecordFault, leak: StoreLeak? = nil) -> DoctorLine? {
            let status = UserStatus(
                uid: 1000, userName: Array("alice".utf8), record: .faulty(kind, fault), readers: .problem(.noReader))
            return Doctor.lines(.user(uid: 1000, name: status.userName), status, leak: leak).first
        }
        let folder = StoreLeak(path: Array("/s/users/1000".utf8), isFolder: true, matter: .openMode)
        #expect(line(.identity, .unsafe, leak: folder)?.remedy == "sudo chmod 700 /s/users/1000")
        let file = StoreLeak(path: Array("/s/users/1000/prints".utf8), isFolder: false, matter: .foreignOwner)
        #expect(
            line(.prints, .unsafe, leak: file)?.remedy.map { $0.hasPrefix("sudo chown root:root /s/users") } == true)
        #expect(line(.prints, .damaged)?.remedy == "sudo signet delete --all --user alice")
        #expect(line(.identity, .missing)?.remedy == "sudo signet pin set --user alice")
        #expect(line(.attempts, .damaged)?.remedy == "sudo signet user purge --yes --user alice")
        for kind in [RecordKind.identity, .prints, .attempts] {
            #expect(line(kind, .damaged)?.text.contains("restore it from a backup") == true)
        }
    }

    // Would catch: a doctor that sends people to itself, and so leaves them where they were.
    @Test func `no remedy is doctor`() {
        var remedies: [String] = []
        let kinds: [RecordKind] = [.store, .values, .identity, .prints, .attempts]
        let faults: [RecordFault] = [
            .damaged, .foreign, .otherUser, .renamed, .newer, .missing, .unsafe, .stuck, .keyLost, .rolledBack,
            .enclaveGone, .enclaveForeign, .enclaveRequired,
        ]
        var records: [RecordCondition] = [.busy, .clockUnreadable]
        records += [ENOSPC, EROFS, EMFILE, EIO, EPERM].map { .refused(errno: $0) }
        for kind in kinds { records += faults.map { .faulty(kind, $0) } }
        let alice = RecordOwner.user(uid: 1000, name: Array("alice".utf8))
        for record in records {
            let status = UserStatus(
                uid: 1000, userName: Array("alice".utf8), record: record, readers: .problem(.noReader))
            let lines = Doctor.lines(alice, status)
            #expect(!lines.isEmpty, "\(record)")
            remedies += lines.map { $0.remedy ?? "" }
        }
        for fault in faults { remedies.append(Doctor.remedy(for: .fprintdUnusable(fault), uid: 1000, user: "alice")) }
        for report in EnclaveTextTests.reports { remedies += DoctorEnclave.lines(report).map { $0.remedy ?? "-" } }
        for remedy in remedies { #expect(!remedy.isEmpty && !remedy.contains("signet doctor"), "\(remedy)") }
    }

    // Would catch: a folder that is open still, or closed to the wrong mode, after what doctor says is done; and words
    // for a thing of another kind that change its mode.
    @Test func `the store's folders are mended at once`() {
        let root = Array("/var/lib/signet".utf8)
        let open = Doctor.storeLine(
            PathProblem(path: root, matter: .writableByOthers(mode: 0o777)),
            StoreLeak(path: root, isFolder: true, matter: .openMode))
        #expect(open.remedy == "sudo chmod 700 /var/lib/signet" && open.text.contains("mode 0777"))
        let foreign = Doctor.storeLine(
            PathProblem(path: root, matter: .notRoots(owner: 1000)),
            StoreLeak(path: root, isFolder: true, matter: .foreignOwner))
        #expect(foreign.remedy == "sudo chown root:root /var/lib/signet && sudo chmod 700 /var/lib/signet")
        // A folder above is not the store's alone.
        let above = PathProblem(path: Array("/var".utf8), matter: .writableByOthers(mode: 0o777))
        #expect(Doctor.storeLine(above, nil).remedy == "sudo chmod go-w /var")
        let users = root + Array("/users".utf8)
        let plain = Doctor.usersLine(StoreLeak(path: users, isFolder: true, matter: .wrongKind))
        #expect(plain.remedy == "sudo mv /var/lib/signet/users /root/" && plain.text.contains("no folder"))
        #expect(Doctor.usersLine(nil).remedy?.hasSuffix("sudo chmod 700 /var/lib/signet/users") == true)
    }

    // Would catch: a folder that is called open to others, where a file belongs; a list that is, and is called a folder.
    @Test func `a folder in the list's place is called one`() {
        let chips = Array("/s/chips".utf8)
        let folder = StoreLeak(path: chips, isFolder: false, matter: .folder)
        func survey(_ fault: RecordFault) -> ChipSurvey {
            ChipSurvey(fault: fault, fits: false, index: ChipIndex(), leftovers: [])
        }
        let words = "/s/chips is a folder, and must be a file"
        #expect(Doctor.lines(survey(.unsafe), leak: folder).first?.text.hasPrefix(words) == true)
        #expect(Doctor.line(.unsafe, leak: folder).text.hasPrefix(words))
        let open = StoreLeak(path: chips, isFolder: false, matter: .openMode)
        #expect(Doctor.lines(survey(.unsafe), leak: open).first?.text.contains("is open to others than root") == true)
        #expect(Doctor.lines(survey(.damaged), leak: folder).first?.text.contains("is damaged") == true)
    }

    // Would catch: a command that takes away something else than what it names, or that no shell takes.
    @Test func `what is none of Signet's has a command`() {
        func remedy(_ name: String, _ matter: StoreStray.Matter) -> String {
            StoreStray(path: Array("/s/users/\(name)".utf8), matter: matter).remedy
        }
        #expect(remedy("1000/identity.bak", .file) == "sudo rm /s/users/1000/identity.bak")
        #expect(remedy("1000/old prints", .folder) == "sudo rm -r /s/users/1000/'old prints'")
        #expect(remedy("1000.old", .leftover) == "sudo rm -r /s/users/1000.old")
        #expect(remedy("-f", .unknown) == "sudo rm -r /s/users/'./-f'")
        // Their names cannot be typed.
        for name in ["a\nb", "a\u{1B}[2J", String(repeating: "a", count: 100)] {
            #expect(remedy(name, .unknown) == "sudo ls -lab /s/users/")
        }
        #expect(remedy("USER", .unknown) == "sudo rm -r /s/users/USER")
    }

    // Would catch: a full or read-only store that is called healthy, or one with room that is not.
    @Test func `the store needs room`() {
        #expect(Doctor.lines(.some, "/s").isEmpty && Doctor.lines(.unknown, "/s").isEmpty)
        #expect(Doctor.lines(.none, "/s").map(\.level) == [.fail])
        #expect(Doctor.lines(.readOnly, "/s").first?.text.contains("read-only") == true)
    }

    // Would catch: helpers that others can end, which nobody is told; and a user that is called the helpers' alone and is not.
    @Test func `helpers need a user of their own`() {
        let name = Array("signet".utf8)
        #expect(Doctor.helperUserLine(SIGNET_USER_OWN, user: 998, names: (name, name)).level == .ok)
        let shared = Doctor.helperUserLine(SIGNET_USER_OWN, user: 998, names: (Array("mail".utf8), name))
        #expect(shared.level == .warn && shared.text.hasPrefix("mail has the uid 998"))
        let disk = Doctor.helperUserLine(SIGNET_USER_OWN, user: 998, names: (name, Array("disk".utf8)))
        #expect(disk.level == .warn && disk.text.contains("the group disk"))
        let missing = Doctor.helperUserLine(SIGNET_USER_MISSING, user: 65_534, names: (Array("nobody".utf8), nil))
        #expect(missing.level == .warn && missing.remedy?.hasPrefix("sudo useradd --system ") == true)
        let person = Doctor.helperUserLine(SIGNET_USER_UNFIT, user: 65_534, names: (Array("nobody".utf8), nil))
        #expect(person.level == .warn && person.text.contains("run as nobody"))
    }

    // Would catch: a check that crashes, or that leaves somebody without a way out, on the machine as it is.
    @Test(.enabled(if: geteuid() == 0, "the store belongs to root"))
    func `every line on this machine has its remedy`() {
        let lines = Doctor().lines()
        #expect(lines.contains { $0.subject == "clock" } && lines.contains { $0.subject == "configuration" })
        for line in lines { #expect(line.level == .ok || line.remedy?.isEmpty == false, "\(line)") }
    }
}

struct ELFNeedsTests {
    private var library: [UInt8]? {
        ModuleFile.folders().lazy.compactMap { PlainFile.read("\($0)/pam_permit.so", limit: 1 << 20) }.first
    }

    // Would catch: a module that needs a library which is not there being called healthy.
    @Test func `the libraries of a real module`() throws {
        let bytes = try #require(library)
        let needed = try #require(ELFNeeds.libraries(of: bytes))
        #expect(needed.contains("libc.so.6") && needed.contains { $0.hasPrefix("libpam.so") })
    }

    // Would catch: a trap on a file that is cut short or forged; doctor runs as root on whatever lies there.
    @Test func `cut and changed files do no harm`() throws {
        let bytes = try #require(library)
        #expect(ELFNeeds.libraries(of: []) == nil)
        #expect(ELFNeeds.libraries(of: Array("#!/bin/sh\n".utf8)) == nil)
        for length in stride(from: 0, to: bytes.count, by: 97) {
            _ = ELFNeeds.libraries(of: Array(bytes.prefix(length)))
        }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var forged = bytes
            for _ in 0..<4 {
                // The headers, and the places that they lead to.
                let place = Int.random(in: 16..<min(1024, bytes.count), using: &generator)
                forged[place] = UInt8.random(in: 0...255, using: &generator)
            }
            _ = ELFNeeds.libraries(of: forged)
        }
        // The table of program headers, far behind the end, and at the largest number there is.
        for byte: UInt8 in [0x7F, 0xFF] {
            var forged = bytes
            for index in 32..<40 { forged[index] = byte }
            #expect(ELFNeeds.libraries(of: forged) == nil)
        }
    }
}
