import Testing

@testable import SignetEngine
@testable import SignetRecords

@Suite struct StackReviewTests {
    private static let signet = "auth [success=ok default=die] pam_signet.so\n"

    private func review(_ text: String, service: String = "test", files: ServiceFiles = .debian) -> [StackFinding] {
        StackReview.findings(for: Array(service.utf8), read: files.with(service, text).read)
    }

    private func names(_ findings: [StackFinding], _ severity: StackFinding.Severity) -> [String] {
        findings.filter { $0.severity == severity }.map { name($0.matter) }
    }

    private func name(_ matter: StackFinding.Matter) -> String {
        switch matter {
        case .unreadable: "unreadable"
        case .notGuarded: "not guarded"
        case .everybodyGetsIn: "everybody"
        case .nobodyGetsIn: "nobody"
        case .opensWithoutTheLine: "open without the line"
        case .conditionGrants: "condition"
        case .grantsWithoutProof(_, .withoutAsking): "anyone, Signet not asked"
        case .grantsWithoutProof(_, .afterRefusal): "anyone, after a refusal"
        case .systemPasswordGrants(_, .withoutAsking): "password, Signet not asked"
        case .systemPasswordGrants(_, .afterRefusal): "password, after a refusal"
        case .otherProofGrants: "other proof"
        case .programGrants: "program"
        case .unknownModuleGrants: "unknown module"
        case .rootGrants(true): "root, at risk"
        case .rootGrants(false): "root"
        case .groupGrants: "group"
        case .signetNotReached: "not reached"
        case .signetCannotGrant: "cannot grant"
        case .systemPasswordNeededToo: "password too"
        case .otherProofNeededToo: "other proof too"
        case .passwordStillAsked: "password asked"
        case .modulesSkipped: "skipped"
        case .failuresCountedElsewhere: "counted elsewhere"
        case .copyIsOld: "copy"
        case .unknownArgument: "argument"
        case .asksForNothing: "asks for nothing"
        case .configurationMissing: "no configuration"
        case .configurationUnusable: "configuration"
        case .modulePath: "path"
        case .partnerNotGuarded: "partner"
        }
    }

    /// Would catch a stack that lets somebody past Signet and is called good.
    @Test(arguments: [
        // The password's line was left in, before or after.
        ("auth sufficient pam_unix.so\n" + signet, ["password, Signet not asked"]),
        ("@include common-auth\n" + signet, []),
        ("auth sufficient pam_signet.so\n@include common-auth\n", ["password, after a refusal"]),
        (
            "auth [success=done default=ignore] pam_signet.so\nauth required pam_unix.so\n",
            ["password, after a refusal"]
        ),
        (
            "auth [success=done authinfo_unavail=ignore default=die] pam_signet.so\nauth required pam_unix.so\n",
            ["password, after a refusal"]
        ),
        (
            "auth [success=done maxtries=ignore default=die] pam_signet.so\nauth required pam_sss.so\n",
            ["password, after a refusal"]
        ),
        // Nothing but Signet, and still anyone gets in: "unlocks with any finger".
        ("auth sufficient pam_signet.so\nauth required pam_permit.so\n", ["anyone, after a refusal"]),
        ("auth optional pam_signet.so\nauth required pam_permit.so\n", ["anyone, after a refusal"]),
        ("auth [default=ignore] pam_signet.so\nauth optional pam_permit.so\n", ["anyone, after a refusal"]),
        (
            "auth [success=ok auth_err=ignore default=die] pam_signet.so\nauth required pam_permit.so\n",
            ["anyone, after a refusal"]
        ),
        (
            "auth [success=ok module_unknown=ignore default=die] pam_signet.so\nauth required pam_permit.so\n",
            ["anyone, after a refusal"]
        ),
        ("auth [success=ok default=reset] pam_signet.so\nauth required pam_permit.so\n", ["anyone, after a refusal"]),
        ("auth sufficient pam_succeed_if.so user ingroup nopasswdlogin\n" + signet, ["anyone, Signet not asked"]),
        (
            "auth [success=1 default=ignore] pam_succeed_if.so uid >= 1000\n" + signet
                + "auth required pam_permit.so\n",
            ["anyone, Signet not asked"]
        ),
        // A program says yes, and nobody knows to what; it is not the password that does.
        ("auth sufficient pam_exec.so quiet /usr/local/bin/ask\n" + signet, ["program"]),
        ("auth optional pam_exec.so /usr/local/bin/note\n" + signet, []),
        ("auth sufficient pam_signet.so\nauth required pam_exec.so expose_authtok /bin/ask\n", ["program"]),
        // Root by the real user id, in a program that always runs as root.
        ("auth sufficient pam_rootok.so\n" + signet, ["root, at risk"]),
        // Jumps that land wrongly.
        (
            "auth [success=2 default=ignore] pam_unix.so\n" + signet + "auth required pam_permit.so\n",
            []
        ),
        (
            "auth [success=1 default=ignore] pam_unix.so\n" + signet + "auth required pam_permit.so\n",
            ["password, Signet not asked"]
        ),
        ("auth [default=1] pam_env.so\n" + signet, ["not reached"]),
        ("auth required pam_deny.so\n" + signet, ["cannot grant"]),
        ("auth requisite pam_deny.so\n" + signet, ["not reached"]),
        (signet + "auth requisite pam_deny.so\nauth required pam_permit.so\n", ["cannot grant"]),
        (signet + "auth [default=die] pam_faillock.so authfail\n", ["cannot grant"]),
        ("auth [success=1 default=die] pam_signet.so\n", ["cannot grant"]),
        // Signet's line was taken out, and the password is not back.
        ("auth optional pam_cap.so\n", ["everybody"]),
        ("auth sufficient pam_rootok.so\nauth optional pam_cap.so\n", ["everybody"]),
        ("auth required pam_succeed_if.so user != root\nauth optional pam_cap.so\n", ["everybody"]),
        ("auth required pam_permit.so\n", ["everybody"]),
        ("auth [sucess=ok default=die] pam_signet.so\n", ["unreadable"]),
        ("auth required pam_signet.so\n@include missing\n", ["unreadable"]),
    ])
    func findsFailures(_ text: String, expected: [String]) {
        #expect(names(review(text), .failure) == expected)
    }

    /// Would catch a good stack that is called bad: people then learn to pass over what doctor says.
    @Test(arguments: [
        signet,
        signet + "auth optional pam_cap.so\n",
        "auth required pam_signet.so\n",
        "auth requisite pam_signet.so debug conf=/etc/security/signet.conf\nauth required pam_permit.so\n",
        "auth optional pam_faildelay.so delay=3000000\nauth requisite pam_nologin.so\n" + signet
            + "auth optional pam_group.so\n",
        "auth [success=done default=ignore] pam_signet.so pin=no\nauth [success=ok default=die] pam_signet.so finger=no\n",
        "auth required pam_faillock.so preauth\n" + signet,
    ])
    func findsNothingAmiss(_ text: String) {
        #expect(names(review(text), .failure).isEmpty && names(review(text), .warning).isEmpty)
    }

    /// Would catch a stack that is one deleted line away from letting everybody in, and says nothing; or one that is
    /// not, and frightens.
    @Test(arguments: [
        (signet + "auth optional pam_cap.so\n", ["open without the line"]),
        ("auth sufficient pam_rootok.so\n" + signet + "auth optional pam_cap.so\n", ["open without the line"]),
        ("auth requisite pam_signet.so\nauth required pam_permit.so\n", ["open without the line"]),
        (StackGuard.block + "auth optional pam_cap.so\n", []),
        (signet, []),
        ("auth [success=2 default=die] pam_signet.so\n@include common-auth\n", []),
    ])
    func saysWhatADeletedLineLeaves(_ text: String, expected: [String]) {
        #expect(names(review(text, service: "su"), .note).filter { $0 != "root" } == expected)
    }

    /// Would catch a warning or a note that is lost, or said of a stack it does not fit.
    @Test(arguments: [
        ("@include common-auth\n" + signet, ["password too"]),
        (signet + "auth required pam_unix.so\n", ["password too"]),
        ("auth required pam_signet.so\nauth [success=ok default=ignore] pam_unix.so\n", ["password asked"]),
        (
            "auth [success=2 default=ignore] pam_fprintd.so\n" + signet
                + "auth requisite pam_deny.so\nauth required pam_permit.so\n",
            ["other proof"]
        ),
        ("auth sufficient pam_homemade.so\n" + signet, ["unknown module"]),
        ("auth sufficient pam_wheel.so trust\n" + signet, ["group"]),
        ("auth [success=done default=die] pam_signet.so\nauth optional pam_cap.so\n", ["skipped"]),
        ("auth required pam_signet.so\nauth [default=ignore] pam_faillock.so authfail\n", ["counted elsewhere"]),
        ("auth [success=ok default=die] pam_signet.so finger=off conf=relative\n", ["argument", "argument"]),
        ("auth [success=ok default=die] /opt/pam_signet.so\n", ["path"]),
        ("@include common-auth\n", ["not guarded"]),
        ("auth requisite pam_deny.so\nauth required pam_permit.so\nauth optional pam_cap.so\n", ["nobody"]),
        ("auth sufficient pam_rootok.so\nauth requisite pam_deny.so\n", ["nobody"]),
        ("account required pam_permit.so\n", ["not guarded"]),
        ("auth sufficient pam_rootok.so\n@include common-auth\n", ["not guarded"]),
        (
            "auth sufficient pam_succeed_if.so user ingroup nopasswdlogin\n@include common-auth\n",
            ["not guarded", "condition"]
        ),
    ])
    func findsWarnings(_ text: String, expected: [String]) { #expect(names(review(text), .warning) == expected) }

    /// Would catch `sudo -i` or `su -` left open beside a guarded `sudo` or `su`, also where the file is missing altogether.
    @Test func wantsBothServicesOfAProgram() {
        #expect(names(review(Self.signet, service: "sudo"), .failure) == ["partner"])
        var without = ServiceFiles.debian
        without.files["sudo-i"] = nil
        #expect(names(review(Self.signet, service: "sudo", files: without), .failure) == ["partner"])
        let both = ServiceFiles.debian.with("sudo-i", Self.signet)
        #expect(review(Self.signet, service: "sudo", files: both).isEmpty)
        // su-l includes su in Debian 12, so guarding su guards both.
        let su = "auth sufficient pam_rootok.so\n" + Self.signet
        #expect(names(review(su, service: "su"), .failure) == [])
        #expect(names(review(su, service: "su"), .note) == ["root"])
    }

    /// Would catch a module that a package adds to common-auth later and that a guarded service silently goes without.
    @Test func saysWhatACopyLacks() throws {
        let login = try StackGuard.guarded(Array("login".utf8), read: ServiceFiles.debian.read)
        let files = ServiceFiles.debian.with("login", String(decoding: login, as: UTF8.self))
        #expect(StackReview.findings(for: Array("login".utf8), read: files.read).isEmpty)
        let common = (files.files["common-auth"] ?? "") + "auth optional pam_mount.so\n"
        let later = StackReview.findings(for: Array("login".utf8), read: files.with("common-auth", common).read)
        #expect(names(later, .note) == ["copy"] && later.count == 1)
    }

    /// Would catch a stock service that is listed as closed to the system password, or a guarded one as open.
    @Test func saysWhereThePasswordStillWorks() {
        for service in ["sudo", "sudo-i", "su", "su-l", "login", "nowhere"] {
            #expect(StackReview.grantsForPassword(Array(service.utf8), read: ServiceFiles.debian.read))
        }
        let guarded = ServiceFiles.debian.with("sudo", Self.signet)
        #expect(!StackReview.grantsForPassword(Array("sudo".utf8), read: guarded.read))
        #expect(!StackReview.opensWithoutProof(Array("sudo".utf8), read: guarded.read))
        // Nobody is asked for a password where nobody is asked at all.
        let open = ServiceFiles.debian.with("sudo", "auth optional pam_cap.so\n")
        #expect(!StackReview.grantsForPassword(Array("sudo".utf8), read: open.read))
        #expect(StackReview.opensWithoutProof(Array("sudo".utf8), read: open.read))
    }

    /// Would catch a finding without a word on what to do.
    @Test func everyFindingHasASentenceAndARemedy() {
        let stacks = [
            "auth sufficient pam_unix.so\n" + Self.signet, "auth optional pam_signet.so\nauth required pam_permit.so\n",
            "auth must pam_signet.so\n", "auth required pam_deny.so\n" + Self.signet,
            "account required pam_permit.so\n", "auth optional pam_cap.so\n",
            "auth sufficient pam_succeed_if.so uid = 0\n@include common-auth\n",
        ]
        for finding in stacks.flatMap({ review($0) }) {
            #expect(!finding.sentence.isEmpty && !finding.remedy.isEmpty)
            #expect(!finding.sentence.hasSuffix("."))
        }
    }
}
