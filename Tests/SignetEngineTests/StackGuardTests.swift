import Testing

@testable import SignetEngine
@testable import SignetRecords

@Suite struct StackGuardTests {
    private func guarded(_ service: String, _ files: ServiceFiles = .debian) throws -> String {
        String(decoding: try StackGuard.guarded(Array(service.utf8), read: files.read), as: UTF8.self)
    }

    private func authLines(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("auth") }.map {
            $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
        }
    }

    private static let block = [
        "auth [success=1 default=die] pam_signet.so", "auth requisite pam_deny.so", "auth required pam_permit.so",
    ]

    /// Would catch a module of Debian's own that is lost, moved or doubled when Signet takes the password's place.
    @Test(arguments: [
        ("sudo", block + ["auth optional pam_cap.so"]),
        ("sudo-i", block + ["auth optional pam_cap.so"]),
        ("su", ["auth sufficient pam_rootok.so"] + block + ["auth optional pam_cap.so"]),
        (
            "login",
            ["auth optional pam_faildelay.so delay=3000000", "auth requisite pam_nologin.so"] + block
                + ["auth optional pam_cap.so", "auth optional pam_group.so"]
        ),
    ])
    func putsSignetInThePasswordsPlace(_ service: String, expected: [String]) throws {
        for files in [ServiceFiles.debian, .debianWithFprintd] {
            let text = try guarded(service, files)
            #expect(authLines(text) == expected)
            // All that is not authentication stays byte for byte.
            let others = { (file: String) in
                file.split(separator: "\n").filter {
                    !$0.hasPrefix("auth") && !$0.contains("common-auth") && !$0.contains("# In place")
                }
            }
            #expect(others(text) == others(files.files[service] ?? ""))
        }
    }

    /// Would catch a second Signet line, or a file changed that needs no change.
    @Test func changesNothingTwice() throws {
        let once = try guarded("su")
        let files = ServiceFiles.debian.with("su", once)
        #expect(try guarded("su", files) == once)
        #expect(try guarded("su-l", files) == ServiceFiles.debian.files["su-l"])
    }

    /// Would catch a rewritten line whose meaning changed.
    @Test func keepsArgumentsInBrackets() throws {
        let files = ServiceFiles.debian.with(
            "common-auth",
            "-auth optional pam_exec2.so [a b\\]c] d\nauth sufficient pam_unix.so\nauth required pam_deny.so\n")
        #expect(try guarded("sudo", files).contains("-auth\toptional\tpam_exec2.so [a b\\]c] d\n"))
    }

    /// Would catch the account lines lost where an "@include" brought more than authentication.
    @Test func keepsTheOtherTypesOfAnInclude() throws {
        let files = ServiceFiles.debian.with(
            "common-auth", "auth required pam_unix.so\naccount required pam_unix.so\nsession optional pam_umask.so\n")
        let text = try guarded("sudo", files)
        #expect(text.contains("account\tinclude\tcommon-auth\n") && text.contains("session\tinclude\tcommon-auth\n"))
        #expect(!text.contains("password\tinclude"))
    }

    /// Would catch a faillock line that refuses after Signet's yes, or counts Signet's no.
    @Test func takesThePasswordsCountersAway() throws {
        let files = ServiceFiles.debian.with(
            "common-auth",
            """
            auth required pam_faillock.so preauth
            auth [success=1 default=bad] pam_unix.so
            auth [default=die] pam_faillock.so authfail
            auth sufficient pam_faillock.so authsucc
            auth required pam_deny.so
            auth optional pam_cap.so

            """)
        #expect(
            authLines(try guarded("sudo", files))
                == ["auth required pam_faillock.so preauth"] + Self.block + ["auth optional pam_cap.so"])
    }

    /// Would catch a rewrite where a jump then lands somewhere else: such a file is a person's to change.
    @Test func leavesWhatItCannotKeep() {
        func fault(_ text: String) -> StackGuardFault? {
            do {
                _ = try StackGuard.guarded(Array("s".utf8), read: ServiceFiles.debian.with("s", text).read)
                return nil
            } catch { return error }
        }
        let name = Array("s".utf8)
        #expect(
            fault(
                "auth [success=1 default=ignore] pam_succeed_if.so uid = 0\nauth required pam_unix.so\nauth optional pam_cap.so\n"
            )
                == .lineInTheWay(file: name, line: 1))
        #expect(fault("auth substack common-auth\n") == .lineInTheWay(file: name, line: 1))
        #expect(fault("auth required pam_permit.so\n") == .noPasswordLine)
        #expect(
            fault("auth sometimes pam_unix.so\n")
                == .stack(.malformed(file: name, PAMFileFault(reason: .unknownControl, line: 1))))
        guard case .wouldNotHold = fault("auth sufficient pam_succeed_if.so user = bob\nauth required pam_unix.so\n")
        else {
            Issue.record("a line that lets bob in without a proof was kept")
            return
        }
    }

    /// Would catch a stack that somebody opens to everybody by deleting Signet's line, or any other one of its block.
    @Test(arguments: ["sudo", "sudo-i", "login", "su"])
    func failsClosedWhereALineIsDeleted(service: String) throws {
        let text = try guarded(service)
        let name = Array(service.utf8)
        for module in ["pam_signet.so", "pam_deny.so", "pam_permit.so"] {
            let rest = text.split(separator: "\n").filter { !$0.hasPrefix("auth") || !$0.contains(module) }
            let read = ServiceFiles.debian.with(service, rest.joined(separator: "\n") + "\n").read
            #expect(
                !StackReview.opensWithoutProof(name, read: read) && !StackReview.grantsForPassword(name, read: read))
            #expect(StackReview.refusesEveryProof(name, read: read) == (module == "pam_signet.so"))
        }
    }

    /// Would catch a ready-made file that is not what the installer makes of Debian's own.
    @Test func isWhatTheReviewCallsGood() throws {
        for service in ["sudo", "sudo-i", "login", "su"] {
            let files = ServiceFiles.debian.with(service, try guarded(service))
            for finding in StackReview.findings(for: Array(service.utf8), read: files.read)
            where finding.severity == .failure {
                #expect(finding.matter == .partnerNotGuarded(StackReview.partner(of: Array(service.utf8)) ?? []))
            }
        }
    }
}
