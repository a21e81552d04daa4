import CPlatform
import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import signet

/// A folder that goes away with the test, with files in it.
private final class Scratch {
    let path: String
    private var files: [String] = []

    init() {
        path = "/tmp/signet-command-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        unsafe mkdir(path, 0o700)
    }

    func file(_ name: String, _ text: String) -> String {
        let file = "\(path)/\(name)"
        let raw = unsafe signet_openat(AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        unsafe text.utf8CString.withUnsafeBytes { _ = unsafe write(raw, $0.baseAddress, $0.count - 1) }
        close(raw)
        files.append(file)
        return file
    }

    deinit {
        for file in files { unsafe unlink(file) }
        unsafe rmdir(path)
    }
}

struct ConfigCheckTests {
    // Would catch: a check that stops at the first problem, or that says another place than the parser means.
    @Test func `all problems are told, with their places`() throws {
        let scratch = Scratch()
        let file = scratch.file("a.conf", "finger = maybe\n\npin_limit = 99\nnonsense\n")
        let report = try ConfigReport(file: file)
        #expect(report.problems.map(\.line) == [1, 3, 4])
        #expect(report.problems.map(\.column) == [10, 13, 1])
        #expect(report.text.split(separator: "\n").allSatisfy { $0.hasPrefix("\(file): line ") })
        #expect(Output.json(report).contains("\"column\":10,\"line\":1"))
    }

    // Would catch: a good draft that is refused for where it lies, and a missing one that passes.
    @Test func `a draft may lie anywhere, but must be there`() throws {
        let scratch = Scratch()
        let report = try ConfigReport(file: scratch.file("a.conf", "finger = no\n"))
        #expect(report.problems.isEmpty && report.text.hasSuffix(": no problems.\n"))
        #expect(throws: Failure.self) { try ConfigReport(file: "\(scratch.path)/none.conf") }
        #expect(throws: Failure.self) { try ConfigReport(file: scratch.path) }
    }
}

struct PAMVerbTests {
    private func report(_ text: String, service: String = "signet-test-service") -> PAMReport {
        let scratch = Scratch()
        _ = scratch.file(service, text)
        return PAMReport(services: [PAMReport.Service(service, folders: [scratch.path])])
    }

    // Would catch: a stack that lets the system password in and is called right, and the reverse.
    @Test func `the answer is yes only where nothing but Signet's yes lets in`() {
        let right = report("auth [success=ok default=die] pam_signet.so\n")
        #expect(right.isRight && right.services[0].guarded && !right.services[0].systemPasswordGrants)
        let open = report("auth sufficient pam_unix.so\nauth [success=ok default=die] pam_signet.so\n")
        #expect(!open.isRight && open.services[0].systemPasswordGrants)
        #expect(open.text(width: 80).contains("fail  pam signet-test-service"))
        let unguarded = report("auth required pam_unix.so\n")
        #expect(!unguarded.isRight && !unguarded.services[0].guarded)
    }

    // Would catch: names that the installer reads being changed.
    @Test func `JSON has the names that scripts look for`() {
        let json = Output.json(report("auth required pam_unix.so\n"))
        for part in [
            "\"system_password_grants\":true", "\"opens_without_proof\":false",
            "\"refuses_every_proof\":false", "\"guarded\":false",
            "\"severity\":\"warning\"",
            "\"line\":0",
        ] {
            #expect(json.contains(part), "\(part) is not in \(json)")
        }
    }

    // Would catch: a mistyped name that is answered for the service `other`, or a system password asked for it.
    @Test(arguments: [Command.pamCheck, .pamTry, .pamGuard])
    func `a service without a file is no service`(command: Command) {
        let invocation = Invocation(command: command, options: [], operands: ["signet-no-such-service"])
        let failure = #expect(throws: Failure.self) { try command.run(invocation) }
        #expect(failure?.message == "there is no service signet-no-such-service")
    }

    // Would catch: everybody let in, and called merely unguarded.
    @Test func `a stack that asks for nothing is a failure`() {
        let open = report("auth optional pam_cap.so\n")
        #expect(open.services[0].opensWithoutProof && !open.services[0].systemPasswordGrants)
        #expect(open.text(width: 80).contains("fail  pam signet-test-service  everybody gets in"))
    }

    // Would catch: a configuration that a line names and that is not there, or is anybody's, passed over where it is
    // really looked at.
    @Test func `the configuration that a line names is looked at`() {
        let line = "auth [success=ok default=die] pam_signet.so"
        let missing = report("\(line) conf=/signet-no-such-file.conf\n")
        #expect(!missing.isRight && missing.services[0].findings.map(\.severity) == ["failure"])
        #expect(missing.text(width: 200).contains("there is no /signet-no-such-file.conf"))
        let scratch = Scratch()
        let open = report("\(line) conf=\(scratch.file("a.conf", "finger = yes\n"))\n")
        #expect(open.services[0].findings.map(\.text).allSatisfy { $0.contains("can be changed by others") })
        #expect(open.services[0].findings.count == 1)
    }

    // Would catch: a service's name that leads to a file elsewhere.
    @Test(arguments: ["../passwd", "/etc/passwd", "", ".hidden"])
    func `only names of services are taken`(name: String) {
        let invocation = Invocation(command: .pamCheck, options: [], operands: [name])
        #expect(throws: Failure.self) { try Command.pamCheck.run(invocation) }
        #expect(throws: Failure.self) { try Command.pamGuard.run(invocation) }
    }
}

struct AdministratorVerbTests {
    // Would catch: two verbs with one name, of which one is never run, and help that breaks on a terminal of 80 columns.
    @Test func `the table of verbs is sound`() {
        let names = AdministratorVerbs.all.map(\.name)
        #expect(Set(names).count == names.count)
        for command in AdministratorVerbs.all {
            // The list of all verbs has a column of 20 for "pam check SERVICE...".
            #expect(command.summary.count <= 56, "\(command.name)")
            let help = Help.command(command.name).text(AdministratorVerbs.all) ?? ""
            for line in help.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    // Would catch: two states of a record or closures of a finger that programs could not tell apart.
    @Test func `codes are told apart and are snake case`() {
        let closures: [FingerClosure] = [
            .switchedOff, .noTerminal, .notEnrolled, .notApproved, .printsUnusable, .printsUnavailable,
            .enrollmentChanged(EnrollmentChange(added: 0, removed: 0)), .biometryLockout(limit: 5),
            .pinRequiredAfterBoot, .pinNeverUsed,
            .pinRequiredStale, .remote, .lidClosed, .background, .triesUsedUp, .notTouched,
            .anotherSeat, .readerNotTrusted(.outside), .readerNotTrusted(.moved), .readerNotTrusted(.unplaced),
            .readerNotTrusted(.virtual), .readerNotTrusted(.chip), .foreignPrints(1),
            .readerNotTrusted(.approvedOutside),
            .readerExchanged(
                ReaderExchange(
                    present: Array("A".utf8), enrolled: Array("b".utf8), isSameKind: false, isKeptElsewhere: false)),
        ]
        let problems = (1...13).compactMap { ReaderProblem(rawValue: $0) }
        let faults: [RecordFault] = [.damaged, .foreign, .otherUser, .renamed, .newer, .missing, .unsafe, .keyLost]
        for codes in [closures.map(\.code), problems.map(\.code), faults.map(\.code)] {
            #expect(Set(codes).count == codes.count)
            #expect(codes.allSatisfy { $0.allSatisfy { $0 == "_" || ($0.isLowercase && $0.isASCII) } })
        }
        #expect(problems.count == 13 && problems.allSatisfy { !$0.remedy.isEmpty && !$0.words.isEmpty })
    }
}
