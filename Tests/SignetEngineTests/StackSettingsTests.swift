import Testing

@testable import SignetEngine
@testable import SignetRecords

/// What Signet's own line says of how it is asked, where that shuts everybody out or is not what is in force.
struct StackSettingsTests {
    private static let file = Array("/etc/security/strict.conf".utf8)

    private func review(_ text: String, _ trouble: ConfigurationTrouble? = nil, common: String = "") -> [StackFinding] {
        StackReview.findings(
            for: Array("test".utf8), read: ServiceFiles.debian.with("test", text).with("common", common).read
        ) { $0 == Self.file ? trouble : nil }
    }

    // Would catch: a service that lets nobody in, and is called right.
    @Test(arguments: [
        "finger=no pin=no", "pin=no debug finger=no keypad=shuffled",
        // What is not known closes the finger path.
        "finger=off pin=no",
    ])
    func `a line that asks for nothing lets nobody in`(arguments: String) throws {
        let text = "auth [success=ok default=die] pam_signet.so \(arguments)\n"
        let failures = review(text).filter { $0.severity == .failure }
        #expect(failures.map(\.matter) == [.asksForNothing] && failures.map(\.line) == [1])
        #expect(failures[0].sentence.hasPrefix("nobody gets in: ") && failures[0].remedy.hasPrefix("take pin=no out"))
        #expect(StackReview.refusesEveryProof(Array("test".utf8), read: ServiceFiles.debian.with("test", text).read))
    }

    // Would catch: one useless line of two that is told as if nobody got in, or passed over.
    @Test func `another line may still let people in`() {
        let right = "auth sufficient pam_signet.so pin=no finger=no\nauth [success=ok default=die] pam_signet.so\n"
        #expect(review(right).map(\.matter) == [.asksForNothing] && review(right)[0].severity == .warning)
        #expect(review(right)[0].sentence.hasPrefix("this line lets nobody in"))
        let shut = "auth required pam_signet.so pin=no finger=no\nauth required pam_signet.so\n"
        #expect(review(shut).map(\.matter) == [.asksForNothing] && review(shut)[0].severity == .failure)
    }

    // Would catch: the remedy of a shared file's line that would have somebody edit that file.
    @Test func `a shared file stays as it is`() {
        let both = "auth [success=ok default=die] pam_signet.so finger=no pin=no conf=/etc/security/strict.conf\n"
        let missing = ConfigurationTrouble.path(PathProblem(path: Self.file, matter: .missing))
        let found = review("@include common\n", missing, common: both)
        #expect(found.count == 2 && found[0].remedy.hasPrefix("leave common as it is"))
        #expect(found[1].remedy.hasPrefix("put the file there") && !found[1].remedy.contains("that line"))
    }

    // Would catch: settings that somebody wrote for a service and that are not in force, with nobody told.
    @Test func `a configuration that is not there is told with what rules`() {
        let text = "auth [success=ok default=die] pam_signet.so conf=/etc/security/strict.conf\n"
        #expect(review(text).isEmpty)
        let missing = review(text, .path(PathProblem(path: Array("/etc/security".utf8), matter: .missing)))
        #expect(missing.map(\.matter) == [.configurationMissing(Self.file)] && missing[0].severity == .failure)
        #expect(
            missing[0].sentence.contains("no /etc/security/strict.conf") && missing[0].sentence.contains("defaults"))
        #expect(
            missing[0].remedy.contains("sudo install -D -m 644 /etc/security/signet.conf '/etc/security/strict.conf'"))
        #expect(missing[0].remedy.hasSuffix("or take conf=/etc/security/strict.conf out of that line"))
    }

    // Would catch: a file that closes the finger path in one service, and a review that sees the usual file alone.
    @Test func `a configuration that cannot be used is told`() {
        let text = "auth [success=ok default=die] pam_signet.so conf=/etc/security/strict.conf\n"
        let open = review(text, .path(PathProblem(path: Self.file, matter: .writableByOthers(mode: 0o666))))
        #expect(open.map(\.severity) == [.failure] && open[0].remedy == "sudo chmod go-w /etc/security/strict.conf")
        #expect(open[0].sentence.hasPrefix("fingers are off and the strictest limits rule"))
        let wrong = ConfigurationFile(Array("finger = maybe\n".utf8)).problems
        #expect(review(text, .text(wrong))[0].remedy.contains("signet config check /etc/security/strict.conf"))
    }

    // Would catch: a program's yes that is told as the system password's, and so mended in the wrong place.
    @Test func `a program is no password`() {
        let text = "auth sufficient pam_exec.so quiet /usr/local/bin/ask\nauth required pam_signet.so\n"
        let found = review(text)
        #expect(found.map(\.severity) == [.failure] && !found[0].sentence.contains("password"))
        #expect(found[0].sentence == "pam_exec.so grants without Signet when the program that it runs says so")
        #expect(found[0].step == .takeOut)
        let read = ServiceFiles.debian.with("test", text).read
        #expect(!StackReview.grantsForPassword(Array("test".utf8), read: read))
    }
}
