import Foundation
import Testing

@testable import SignetEngine
@testable import SignetRecords

/// What "pam check" tells people to do, done word for word, on the walk and on the machine's own libpam.
@Suite struct StackRemedyTests {
    private static let common = "/common"
    private static let commonAuth = ServiceFiles.debian.files["common-auth"] ?? ""

    private static let stacks = [
        "auth sufficient pam_signet.so\n@include /common\n",
        "auth sufficient pam_signet.so debug\nauth include /common\nauth optional pam_group.so\n",
        "@include /common\nauth [success=ok default=die] pam_signet.so\n",
        "auth [success=ok default=die] pam_signet.so\n@include /common\n",
        "auth optional pam_signet.so\n@include /common\n",
        "auth [success=done default=ignore] pam_signet.so pin=no\n@include /common\n",
        "auth sufficient pam_unix.so\nauth [success=ok default=die] pam_signet.so\n",
        "auth sufficient pam_signet.so\nauth required pam_permit.so\n",
        "auth sufficient pam_signet.so\nauth requisite pam_deny.so\nauth optional pam_cap.so\n",
        "auth [success=ok default=die] pam_signet.so\nauth requisite pam_deny.so\nauth required pam_permit.so\n",
        "auth [success=done default=die] pam_signet.so\nauth optional pam_cap.so\n",
        "auth [default=ignore] pam_signet.so\nauth optional pam_permit.so\n",
        "auth sufficient pam_homemade.so\nauth [success=ok default=die] pam_signet.so\n",
        "auth [success=1 default=ignore] pam_succeed_if.so uid = 0\nauth sufficient pam_homemade.so\n"
            + "auth [success=ok default=die] pam_signet.so\nauth optional pam_cap.so\n",
        "auth [success=2 default=die] pam_u2f.so\nauth sufficient pam_signet.so\nauth required pam_permit.so\n",
        "auth sufficient pam_rootok.so\nauth [success=ok default=die] pam_signet.so\n",
        "auth required pam_signet.so\nauth [default=ignore] pam_faillock.so authfail\nauth optional pam_permit.so\n",
        "auth sufficient pam_signet.so\nauth substack /common\n",
        "auth sufficient pam_signet.so finger=no pin=no\nauth required pam_permit.so\n",
        "auth sufficient pam_exec.so /usr/local/bin/ask\nauth [success=ok default=die] pam_signet.so\n",
        "auth sufficient pam_signet.so\nauth sufficient pam_exec.so /usr/local/bin/ask\nauth required pam_deny.so\n",
    ]

    /// The service's own file after a step; nil where the step is words alone.
    private func after(_ finding: StackFinding, _ text: String, _ files: ServiceFiles) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        switch finding.step {
        case .guardService:
            guard let bytes = try? StackGuard.guarded(Array("s".utf8), read: files.read) else {
                Issue.record("told to guard what cannot be guarded")
                return nil
            }
            return String(decoding: bytes, as: UTF8.self)
        case .control(let control, let line, _):
            var lines = lines
            guard lines[line - 1].contains("pam_signet.so"), let module = lines[line - 1].range(of: "pam_signet.so")
            else {
                Issue.record("not Signet's line")
                return nil
            }
            lines[line - 1] = "auth \(control) " + lines[line - 1][module.lowerBound...]
            return lines.joined(separator: "\n")
        case .takeOut:
            var lines = lines
            lines.remove(at: finding.line - 1)
            return lines.joined(separator: "\n")
        case .openInclude, .words: return nil
        }
    }

    /// Every file that following remedies in any order can come to, the first one included.
    private func followed(_ text: String) -> [(text: String, told: String)] {
        var all = [(text: text, told: "as it was")]
        var next = 0
        while next < all.count, all.count < 30 {
            let text = all[next].text
            let files = ServiceFiles.debian.with("s", text).with(Self.common, Self.commonAuth)
            for finding in StackReview.findings(for: Array("s".utf8), read: files.read) {
                #expect(!finding.remedy.isEmpty)
                if finding.file != Array("s".utf8) {
                    // The remedy may name the shared file only to say that it stays.
                    #expect(
                        [.guardService, .openInclude].contains(finding.step) || finding.isControl, "\(finding.remedy)")
                }
                guard let after = after(finding, text, files) else { continue }
                if !all.contains(where: { $0.text == after }) { all.append((after, finding.remedy)) }
            }
            next += 1
        }
        return all
    }

    /// Would catch advice at whose end, or on whose way, somebody gets in whom Signet refuses.
    @Test(arguments: stacks)
    func noStepOpensTheService(_ text: String) {
        for (text, told) in followed(text).dropFirst() {
            let read = ServiceFiles.debian.with("s", text).with(Self.common, Self.commonAuth).read
            let failures = StackReview.findings(for: Array("s".utf8), read: read).filter { $0.severity == .failure }
            let opens = failures.contains {
                if case .grantsWithoutProof = $0.matter { return true }
                if case .everybodyGetsIn = $0.matter { return true }
                return false
            }
            #expect(!opens && !StackReview.opensWithoutProof(Array("s".utf8), read: read), "\(told)\n\(text)")
        }
    }

    /// Would catch the same where the walk itself is mistaken: real libpam, where Signet refuses and nobody has a proof.
    @Test(
        .enabled(if: StackAgainstLibpamTests.isPossible, "needs pamtester, libpam-wrapper and pam_debug.so"),
        arguments: stacks)
    func libpamRefusesAfterEachStep(_ text: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("remedies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(acted(Self.commonAuth, folder).utf8).write(to: folder.appendingPathComponent("common"))
        try Data("auth required pam_deny.so\n".utf8).write(to: folder.appendingPathComponent("other"))
        // What is open before must be seen to be open, else the refusals below say nothing.
        let opens =
            text.hasSuffix("pam_permit.so\n") && !text.contains("die]") && !text.contains("required pam_signet.so")
        try Data(acted(text, folder).utf8).write(to: folder.appendingPathComponent("s"))
        #expect(try StackAgainstLibpamTests.libpamGrants(in: folder) == opens, "\(text)")
        for (text, told) in followed(text).dropFirst() {
            try Data(acted(text, folder).utf8).write(to: folder.appendingPathComponent("s"))
            #expect(try !StackAgainstLibpamTests.libpamGrants(in: folder), "\(told)\n\(text)")
        }
    }

    /// The stack with each module played by pam_debug.so: proofs are not had, and what asks for nothing succeeds.
    private func acted(_ text: String, _ folder: URL) -> String {
        text.split(separator: "\n").map { line in
            guard let module = line.range(of: #"pam_[a-z0-9]+\.so"#, options: .regularExpression),
                line.hasPrefix("auth")
            else {
                return line.replacingOccurrences(of: " \(Self.common)", with: " \(folder.path)/common")
            }
            let succeeds = ["pam_permit.so", "pam_cap.so", "pam_group.so", "pam_succeed_if.so"].contains(
                String(line[module]))
            return line[..<module.lowerBound] + "pam_debug.so auth=\(succeeds ? "success" : "auth_err")"
        }.joined(separator: "\n") + "\n"
    }

    /// Would catch advice that leads nowhere: a person who left the password's lines where they were and follows it ends well.
    @Test(arguments: stacks.prefix(5))
    func theStepsLeadToARightService(_ text: String) {
        let ends = followed(text).filter { entry in
            let read = ServiceFiles.debian.with("s", entry.text).with(Self.common, Self.commonAuth).read
            return StackReview.findings(for: Array("s".utf8), read: read).isEmpty
        }
        #expect(!ends.isEmpty)
        #expect(ends.allSatisfy { $0.text.contains(StackGuard.block) || $0.text.contains("pam_signet.so debug\n") })
    }
}

extension StackFinding {
    fileprivate var isControl: Bool {
        if case .control = step { return true }
        return false
    }
}
