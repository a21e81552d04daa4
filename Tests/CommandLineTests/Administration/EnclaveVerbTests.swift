import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import SignetPlatform
@testable import signet

struct EnclaveVerbTests {
    // Would catch: a store that is closed being told as one that works, or as no store, and a fault that loses its cause.
    @Test func `the platform's facts become a report`() {
        func report(_ kind: EnclaveKind?, _ fault: StoreError?, _ tpm: EnclaveProblem? = nil) -> EnclaveReport {
            var status = EnclaveStatus()
            status.kind = kind
            status.fault = fault
            status.problem = tpm
            status.description = tpm == nil ? EnclaveTextTests.facts() : nil
            return EnclaveReport(status) { "u\($0)" }
        }
        #expect(report(nil, nil, .noDevice).store == .none)
        #expect(report(nil, .fault(.store, .keyLost)).store == .unusable(.faulty(.store, .keyLost)))
        #expect(report(.file, nil, .noDevice).store == .file && !report(.file, nil, .noDevice).isClosed)
        #expect(report(.file, .fault(.store, .enclaveRequired)).store == .file)
        #expect(report(.tpm, nil).store == .tpm && !report(.tpm, nil).isClosed)
        // The TPM answers, and is another one.
        #expect(report(.tpm, .fault(.store, .enclaveForeign)).tpm == .problem(.foreign))
        #expect(report(.tpm, .fault(.store, .enclaveGone), .stalled).tpm == .problem(.stalled))
        #expect(report(.tpm, .fault(.store, .enclaveGone), .stalled).isClosed)
        #expect(report(.tpm, .fault(.store, .damaged)).store == .unusable(.faulty(.store, .damaged)))
        #expect(report(.tpm, .fault(.store, .damaged)).exit == .stateDamaged)
        #expect(report(.tpm, .busy).exit == .busy)
        #expect(report(.file, .system(errno: 5)).exit == .busy)
    }

    // Would catch: somebody without a PIN who is named as one whose PIN is not bound, and a person on the way to a file.
    @Test func `only people with records are told of`() {
        var status = EnclaveStatus()
        status.kind = .tpm
        status.description = EnclaveTextTests.facts()
        var with = EnclaveStatus.User(uid: 1)
        with.hasRecords = true
        status.users = [with, EnclaveStatus.User(uid: 2)]
        var report = EnclaveReport(status) { "u\($0)" }
        #expect(report.people.map(\.label) == ["u1"] && report.unbound.count == 1 && report.withoutCounter.count == 1)
        status.direction = .toFile
        report = EnclaveReport(status) { "u\($0)" }
        #expect(report.migration == .file && report.unbound.isEmpty && report.withoutCounter.isEmpty)
        status.direction = nil
        status.hasStrayKey = true
        #expect(EnclaveReport(status) { "u\($0)" }.leftovers == ["/var/lib/signet/key"])
    }

    // Would catch: a migration that is called done while something of it is left, and one that says nothing of what to do.
    @Test func `migrate says what remains`() {
        var outcome = MigrationOutcome(target: .tpm)
        outcome.isFinished = true
        outcome.movedUsers = 2
        let name: (UInt32) -> String = { "u\($0)" }
        #expect(
            MigrationText.page(outcome, name: name) == """
                The secrets are bound to the TPM, and the key file is destroyed.
                2 users' records were moved; each PIN is bound at its next right use.

                """)
        outcome = MigrationOutcome(target: .file)
        outcome.waitingForPIN = [7]
        outcome.unreadable = [MigrationOutcome.UnreadableUser(uid: 8, error: .fault(.identity, .damaged))]
        outcome.countersLeft = [EnclaveCounter(index: 0x180_5001, value: 3)]
        let text = MigrationText.page(outcome, name: name)
        for part in [
            "a half of u7's PIN", "records of u8 cannot be opened (identity damaged)", "tpm2_nvundefine -C o 0x1805001",
            "sudo signet enclave migrate --to file",
        ] { #expect(text.contains(part), "\(text)") }
        #expect(Output.json(MigrationAnswer(outcome)).contains("\"waiting_for_pin\":[7]"))
    }

    // Would catch: an empty lockoutAuth that nobody is told of, one that is told though it is set, and a wrong reason.
    @Test func `setup says what it did`() {
        let new = MadeStore(kind: .tpm, existed: false, withoutTPM: nil)
        let open = EnclaveSetupText.page(new, EnclaveTextTests.facts(lockoutAuth: false), setsLockout: false)
        #expect(open.contains("bound to the TPM (Infineon)") && open.contains("--set-lockout-auth"))
        #expect(
            !EnclaveSetupText.page(new, EnclaveTextTests.facts(), setsLockout: false).contains("--set-lockout-auth"))
        let without = MadeStore(kind: .file, existed: false, withoutTPM: .noDevice)
        #expect(EnclaveSetupText.page(without, nil, setsLockout: false).contains(EnclaveProblem.noDevice.words))
        let file = MadeStore(kind: .file, existed: true, withoutTPM: nil)
        #expect(EnclaveSetupText.page(file, nil, setsLockout: false).contains("migrate --to tpm"))
        let set = EnclaveSetupText.page(new, EnclaveTextTests.facts(), setsLockout: true)
        #expect(set.contains("24 hours") && set.contains("sudo signet enclave reset"))
        #expect(
            Output.json(EnclaveSetupAnswer(without, nil))
                == "{\"made\":true,\"schema_version\":1,\"secrets\":\"file\",\"without_tpm\":\"tpm_no_device\"}\n")
    }

    // Would catch: what is lost not being named, before and after, and no way to go on.
    @Test func `forget names what is lost`() {
        for text in [ForgetText.before(["alice", "1007"]), ForgetText.after(["alice", "1007"])] {
            #expect(text.contains("  alice: PIN, recovery code, fingerprints") && text.contains("  1007: "))
        }
        #expect(ForgetText.after(["alice"]).contains("sudo signet pin set --user alice"))
        #expect(ForgetText.before([]).contains("nobody had a PIN"))
    }

    // Would catch: words that are taken for others, and commands that begin something without being told what.
    @Test(arguments: [
        ["enclave", "migrate"], ["enclave", "migrate", "--to", "TPM"], ["enclave", "migrate", "--to", "files"],
        ["enclave", "setup", "--stdin"], ["enclave", "accept"], ["enclave", "accept", "--all", "--user", "root"],
        ["enclave", "forget", "now"], ["enclave"],
    ]) func `what is not understood does nothing`(arguments: [String]) {
        #expect([.usage, .notPermitted].contains(Main.run(arguments)))
    }

    // Would catch: a remedy that deletes what an administrator could accept, or that leads in circles.
    @Test func `older and foreign records have their own way out`() {
        func command(_ kind: RecordKind, _ fault: RecordFault) -> String? {
            Attention.recordFaulty(kind, fault).command(for: "alice")
        }
        #expect(command(.attempts, .rolledBack) == "sudo signet enclave accept --user alice")
        #expect(command(.identity, .rolledBack) == "sudo signet enclave accept --user alice")
        #expect(command(.attempts, .enclaveForeign) == "sudo signet enclave accept --user alice")
        #expect(command(.store, .enclaveForeign) == "sudo signet enclave forget")
        #expect(command(.store, .enclaveRequired) == "sudo signet enclave migrate --to tpm")
        #expect(command(.store, .enclaveGone) == "sudo signet enclave status")
    }

    // Would catch: "/dev/" and the kind of connection shown as one word that nobody can look at.
    @Test func `the place is a path`() {
        #expect(EnclaveReport.place(of: EnclaveSettings()) == "/dev/tpmrm0")
        #expect(EnclaveReport.place(of: EnclaveSettings(tcti: Array("swtpm:path=/run/s".utf8))) == "/run/s")
    }
}
