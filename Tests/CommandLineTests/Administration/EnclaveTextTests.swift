import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

@testable import signet

struct EnclaveTextTests {
    static func facts(
        failures: UInt32 = 0, limit: UInt32 = 32, inLockout: Bool = false, lockoutAuth: Bool = true
    ) -> EnclaveDescription {
        EnclaveDescription(
            maker: Array("IFX".utf8) + [0], firmware: 0x0007_0055_11CB_0000,
            dictionaryAttack: DictionaryAttackState(
                failures: failures, limit: limit, healSeconds: 600, recoverySeconds: 86_400, inLockout: inLockout,
                hasLockoutAuthorization: lockoutAuth),
            hasOwnerAuthorization: false, countersLeft: 23)
    }

    private static let alice = EnclaveReport.Person(label: "alice", uid: 1000, isPINBound: true, hasCounter: true)
    private static let bob = EnclaveReport.Person(label: "bob", uid: 1001, isPINBound: false, hasCounter: false)

    static var bound: EnclaveReport {
        EnclaveReport(store: .tpm, tpm: .present(facts()), people: [alice])
    }

    // Would catch: a fact that is not shown, or shown under another name.
    @Test func `a page has all facts`() {
        #expect(
            EnclaveText.page(Self.bound, width: 160) == """
                  Secrets   TPM       sealed by this one alone; new stores: prefer
                  TPM       Infineon  firmware 7.85.4555.0, at /dev/tpmrm0
                  Failures  0 of 32   one is forgotten after 10 minutes of running time
                  Reset     guarded   lockoutAuth is set: only who knows it can clear the failures; a wrong one bars it for 24 hours; the TPM counts wrong PINs too
                  Counters  1 used    23 more can be made
                  PINs      1 of 1    bound to this TPM

                """)
    }

    // Would catch: output that breaks on a small terminal, and a command that is broken by it.
    @Test(arguments: [24, 40, 80]) func `it fits`(width: Int) {
        for report in Self.reports where width >= 40 {
            for line in EnclaveText.page(report, width: width).split(separator: "\n") {
                #expect(line.count <= width || line.hasPrefix("  → "), "\(line)")
            }
        }
        _ = Self.reports.map { EnclaveText.page($0, width: width) }
    }

    /// Each kind of state there is.
    static var reports: [EnclaveReport] {
        var reports = [bound]
        for problem in EnclaveProblem.allCases {
            reports.append(EnclaveReport(store: .tpm, tpm: .problem(problem), people: [alice, bob]))
            reports.append(EnclaveReport(store: .file, tpm: .problem(problem)))
        }
        for preference in EnclavePreference.allCases {
            reports.append(EnclaveReport(store: .file, preference: preference, tpm: .present(facts())))
            reports.append(EnclaveReport(store: .none, preference: preference, tpm: .present(facts())))
        }
        var odd = EnclaveReport(
            store: .tpm, isStandIn: true, tpm: .present(facts(lockoutAuth: false)), people: [alice, bob])
        odd.migration = .tpm
        odd.leftovers = ["/var/lib/signet/key"]
        reports.append(odd)
        reports.append(EnclaveReport(store: .tpm, tpm: .present(facts(failures: 32, inLockout: true))))
        reports.append(EnclaveReport(store: .tpm, tpm: .present(facts(failures: 16))))
        reports.append(EnclaveReport(store: .tpm, tpm: .present(facts(limit: 3))))
        reports.append(EnclaveReport(store: .unusable(.faulty(.store, .keyLost)), tpm: .problem(.noDevice)))
        return reports
    }

    // Would catch: an administrator without a TPM who is told to move the secrets into it.
    @Test func `a TPM that is required and not there has a remedy that works`() {
        for store in [EnclaveReport.Store.none, .file] {
            let report = EnclaveReport(store: store, preference: .require, tpm: .problem(.noDevice))
            let lines = DoctorEnclave.lines(report)
            #expect(lines.map(\.level) == [.fail])
            #expect(lines.first?.remedy?.hasPrefix("write \"enclave = prefer\" in /etc/security/signet.conf") == true)
        }
        let present = EnclaveReport(store: .file, preference: .require, tpm: .present(Self.facts()))
        #expect(DoctorEnclave.lines(present).map(\.remedy) == ["sudo signet enclave migrate --to tpm"])
    }

    // Would catch: a line that leaves an administrator without a way out, or in a report that nobody would call well.
    @Test func `every line has its remedy`() {
        for report in Self.reports {
            for line in DoctorEnclave.lines(report) {
                #expect(line.level == .ok || line.remedy?.isEmpty == false, "\(line)")
            }
        }
        #expect(DoctorEnclave.lines(Self.bound).map(\.level) == [.ok])
    }

    // Would catch: a TPM that is gone, another one or cleared being called anything but a failure, or told alike.
    @Test func `a store without its TPM is a failure`() {
        for problem in EnclaveProblem.allCases {
            let report = EnclaveReport(store: .tpm, tpm: .problem(problem))
            #expect(DoctorEnclave.lines(report).map(\.level) == [.fail], "\(problem)")
            #expect(report.exit != .yes)
            #expect(EnclaveText.summary(report).contains(problem.words))
        }
        #expect(Set(EnclaveProblem.allCases.map(\.words)).count == EnclaveProblem.allCases.count)
        #expect(Set(EnclaveProblem.allCases.map(\.code)).count == EnclaveProblem.allCases.count)
    }

    // Would catch: doctor being content with a key file where the configuration asks for a TPM, or scolding where it does not.
    @Test func `a key file is judged by the configuration`() {
        func levels(_ preference: EnclavePreference, _ tpm: EnclaveReport.TPM) -> [DoctorLine.Level] {
            DoctorEnclave.lines(EnclaveReport(store: .file, preference: preference, tpm: tpm)).map(\.level)
        }
        #expect(levels(.require, .present(Self.facts())) == [.fail])
        #expect(levels(.require, .problem(.noDevice)) == [.fail])
        #expect(levels(.prefer, .present(Self.facts())) == [.note])
        #expect(levels(.prefer, .problem(.noDevice)) == [.ok])
        #expect(levels(.file, .present(Self.facts())) == [.ok])
        #expect(EnclaveReport(store: .file, preference: .require, tpm: .problem(.noDevice)).exit == .stateDamaged)
        #expect(EnclaveReport(store: .file, tpm: .problem(.noDevice)).exit == .yes)
    }

    // Would catch: protection claimed that is none: a count that anybody may clear, or a limit that locks everybody.
    @Test func `what the lockout authority means is said`() {
        func reset(_ facts: EnclaveDescription) -> Sheet.Row { EnclaveText.reset(facts.dictionaryAttack) }
        #expect(reset(Self.facts(lockoutAuth: false)).details.contains("Signet alone does"))
        #expect(reset(Self.facts(limit: 31)).details.contains("Signet alone counts"))
        #expect(reset(Self.facts(limit: 32)).details.contains("the TPM counts wrong PINs too"))
        var report = Self.bound
        report.tpm = .present(Self.facts(lockoutAuth: false))
        #expect(
            DoctorEnclave.lines(report).map(\.remedy) == [nil, "sudo signet enclave setup --set-lockout-auth"])
        report.tpm = .present(Self.facts(limit: 3))
        #expect(DoctorEnclave.lines(report).map(\.level) == [.ok, .note])
    }

    // Would catch: a lockout that comes as a surprise, and a number on the border that is taken for the other side.
    @Test func `failures are told before they lock`() {
        func levels(_ facts: EnclaveDescription) -> [DoctorLine.Level] {
            DoctorEnclave.lines(EnclaveReport(store: .tpm, tpm: .present(facts))).map(\.level)
        }
        #expect(levels(Self.facts(failures: 15)) == [.ok])
        #expect(levels(Self.facts(failures: 16)) == [.ok, .warn])
        #expect(levels(Self.facts(failures: 32, inLockout: true)) == [.ok, .warn])
        let locked = EnclaveReport(store: .tpm, tpm: .present(Self.facts(failures: 32, inLockout: true)))
        #expect(locked.exit == .lockedOut)
    }

    // Would catch: somebody whose PIN still opens without the TPM, or whose old records pass, and nobody is told.
    @Test func `who is not bound yet is named`() {
        var report = Self.bound
        report.people.append(Self.bob)
        let page = EnclaveText.page(report, width: 120)
        #expect(page.contains("1 of 2") && page.contains("not yet: bob") && page.contains("none for bob"))
        #expect(DoctorEnclave.lines(report).map(\.level) == [.ok, .note, .note])
        report.store = .file
        #expect(report.unbound.isEmpty && report.withoutCounter.isEmpty)
        let many = (0..<12).map {
            EnclaveReport.Person(label: "u\($0)", uid: $0, isPINBound: false, hasCounter: true)
        }
        #expect(EnclaveText.names(many) == "u0, u1, u2, u3, u4, u5, u6, u7 and 4 more")
    }

    // Would catch: an unfinished migration or a planted key that looks like order.
    @Test func `what is unfinished or left comes first`() {
        var report = Self.bound
        report.migration = .file
        report.leftovers = ["/var/lib/signet/key"]
        let page = EnclaveText.page(report, width: 160).split(separator: "\n").map(String.init)
        #expect(page[0].hasSuffix("→ sudo signet enclave migrate --to file"))
        #expect(page[1].hasSuffix("→ sudo signet enclave migrate --to tpm"))
    }

    // Would catch: a software TPM that passes for the machine's own.
    @Test func `a stand-in is named in each form`() {
        var report = Self.bound
        report.isStandIn = true
        #expect(EnclaveText.page(report, width: 120).contains("stand-in TPM"))
        #expect(EnclaveText.summary(report).contains("stand-in TPM"))
        #expect(DoctorEnclave.lines(report).first?.text.contains("stand-in TPM") == true)
        #expect(Output.json(EnclaveAnswer(report)).contains("\"stand_in_tpm\":true"))
    }

    // Would catch: a renamed field, which would break the programs of others.
    @Test func `JSON has stable names`() {
        let json = Output.json(EnclaveAnswer(Self.bound))
        #expect(
            json == """
                {"leftovers":[],"needs":[],"place":"/dev/tpmrm0","preference":"prefer","schema_version":1,\
                "secrets":"tpm","stand_in_tpm":false,"tpm":{"counters_left":23,"counts_pins":true,"failure_limit":32,\
                "failures":0,"firmware":"7.85.4555.0","heal_seconds":600,"in_lockout":false,"lockout_auth_set":true,\
                "maker":"Infineon","owner_auth_set":false,"recovery_seconds":86400},\
                "users":[{"counter":true,"pin_bound":true,"user":"alice","user_id":1000}]}

                """)
        let gone = Output.json(
            EnclaveAnswer(EnclaveReport(store: .unusable(.faulty(.store, .enclaveForeign)), tpm: .problem(.foreign))))
        #expect(gone.contains("\"fault\":\"tpm_foreign\"") && gone.contains("\"tpm_problem\":\"tpm_foreign\""))
    }

    // Would catch: letters of a TPM that steer the terminal: they are the device's word.
    @Test func `a maker's letters cannot steer the terminal`() {
        func name(_ bytes: [UInt8]) -> String {
            EnclaveDescription(
                maker: bytes, firmware: 0, dictionaryAttack: Self.facts().dictionaryAttack,
                hasOwnerAuthorization: false, countersLeft: 0
            ).makerName
        }
        #expect(name([0x1B, 0x5B, 0x41, 0x80]) == "unknown maker")
        #expect(name(Array("STM ".utf8)) == "STMicroelectronics")
        #expect(name(Array("XYZ\0".utf8)) == "XYZ")
        #expect(name([]) == "unknown maker")
    }
}
