internal import SignetPolicy
package import SignetRecords

/// What a person does about a finding.
///
/// Each step is in the service's own file: a file that it includes is part of other services too, and an edit there would change
/// who gets into those. A step is named only where, by the same walk as the review's, nobody gets in by it whom Signet refuses.
package enum StackRemedy: Equatable, Sendable {
    /// The whole file anew, as `StackGuard` writes it.
    case guardService
    /// Signet's line in the service's own file, at this line, gets this control.
    case control(String, line: Int, now: PAMCode?)
    /// The finding's own line goes.
    case takeOut
    /// The finding is in a file that the service includes, and no single step helps.
    case openInclude
    /// What `StackFinding` says of its matter.
    case words
}

/// Finds the remedies for one service's findings.
struct StackAdvice {
    let service: [UInt8]
    let stack: AuthenticationStack
    /// Whether `StackGuard` can write the file anew.
    let canGuard: Bool

    private static let passing = "[success=ok default=die]"
    private static let jumping = "[success=1 default=die]"

    func remedy(for finding: StackFinding) -> StackRemedy {
        let isOwn = finding.file.isEmpty || isOwn(finding.file)
        switch finding.matter {
        case .systemPasswordGrants, .systemPasswordNeededToo, .passwordStillAsked, .signetNotReached:
            if canGuard { return .guardService }
            return control(finding) ?? (isOwn ? .words : .openInclude)
        case .grantsWithoutProof, .signetCannotGrant, .modulesSkipped:
            return control(finding) ?? (canGuard ? .guardService : isOwn ? .words : .openInclude)
        case .otherProofGrants(_, .afterRefusal), .unknownModuleGrants(_, .afterRefusal),
            .programGrants(_, .afterRefusal):
            return control(finding) ?? (isOwn ? .words : .openInclude)
        case .otherProofGrants, .unknownModuleGrants, .programGrants, .groupGrants, .rootGrants(isRisk: true),
            .failuresCountedElsewhere:
            return takeOut(finding) ?? (isOwn ? .words : .openInclude)
        case .unknownArgument, .asksForNothing, .modulePath, .opensWithoutTheLine:
            return isOwn ? .words : .openInclude
        case .unreadable, .notGuarded, .everybodyGetsIn, .nobodyGetsIn, .conditionGrants, .rootGrants,
            .otherProofNeededToo, .configurationMissing, .configurationUnusable,
            .copyIsOld, .partnerNotGuarded:
            return .words
        }
    }

    /// The service's own file, or that of the service which the same program uses otherwise.
    private func isOwn(_ file: [UInt8]) -> Bool { StackReview.isOwn(file, of: service) }

    /// The control that makes Signet's refusal refuse and its yes lead on, on the last of its lines.
    private func control(_ finding: StackFinding) -> StackRemedy? {
        guard let place = stack.modules.lastIndex(where: { $0.kind == .signet }) else { return nil }
        let module = stack.modules[place]
        guard isOwn(module.file) else { return nil }
        var now: PAMCode?
        switch finding.matter {
        case .grantsWithoutProof(_, .afterRefusal(let code)), .systemPasswordGrants(_, .afterRefusal(let code)),
            .otherProofGrants(_, .afterRefusal(let code)), .unknownModuleGrants(_, .afterRefusal(let code)),
            .programGrants(_, .afterRefusal(let code)):
            now = code
        default: break
        }
        for text in [StackAdvice.passing, StackAdvice.jumping] {
            guard let control = PAMControl(Array(text.utf8)), control != module.call.control else { continue }
            let call = PAMModuleLine(
                type: .auth, quiet: module.call.quiet, control: control, controlText: Array(text.utf8),
                module: module.call.module, arguments: module.call.arguments)
            var modules = stack.modules
            modules[place] = StackModule(
                call: call, file: module.file, line: module.line, level: module.level, kind: .signet)
            if holds(modules) { return .control(text, line: module.line, now: now) }
        }
        return nil
    }

    /// Only where no other copy of the line comes in by another include, and nothing else changes its meaning by it.
    private func takeOut(_ finding: StackFinding) -> StackRemedy? {
        guard isOwn(finding.file) else { return nil }
        let rest = stack.modules.filter { $0.file != finding.file || $0.line != finding.line }
        return holds(rest) ? .takeOut : nil
    }

    /// Whether Signet's refusal refuses with these modules, its yes lets in, and nobody gets in by a proof that did not
    /// do before.
    private func holds(_ modules: [StackModule]) -> Bool {
        // What a line's arguments forbid is a finding of its own.
        let before = StackReview(service: service, stack: stack.withoutSignetsArguments)
        let after = StackReview(
            service: service, stack: AuthenticationStack(modules: modules).withoutSignetsArguments)
        guard after.walk(trusting: { _ in false }).success == nil else { return false }
        guard after.walk(signet: [.success], trusting: { _ in false }).success != nil else { return false }
        for kind in [StackModuleKind.password, .program, .otherProof, .root, .membership, .unknown]
        where after.walk(trusting: { $0.kind == kind }).success != nil {
            if before.walk(trusting: { $0.kind == kind }).success == nil { return false }
        }
        return true
    }
}

extension StackFinding {
    /// What to do about it.
    package var remedy: String {
        let name = String(decoding: service, as: UTF8.self)
        switch step {
        case .guardService:
            return
                "run scripts/install with --service \(name): it puts what \"signet pam guard \(name)\" prints into that file"
        case .control(let text, _, let now?): return "write \(text) before pam_signet.so: now \(now.name) passes"
        case .control(let text, _, nil): return "write \(text) before pam_signet.so"
        case .takeOut:
            if case .failuresCountedElsewhere = matter {
                return "take the line with \"authfail\" out; Signet counts for itself"
            }
            return "take that line out, unless it is meant"
        case .openInclude:
            let shared = String(decoding: file, as: UTF8.self)
            return
                "leave \(shared) as it is, which is part of other services too: put its lines in the place of its include in \(name), and mend them there"
        case .words: return words
        }
    }

    private var words: String {
        let name = String(decoding: service, as: UTF8.self)
        switch matter {
        case .unreadable: return "mend the file; \"man 5 pam.conf\" has the form of a line"
        case .notGuarded: return "run scripts/install with --service \(name), or leave it as it is"
        case .everybodyGetsIn:
            if file == service {
                return
                    "put a line that asks for a proof back: \"@include common-auth\", or the copy in /var/backups/signet"
            }
            if file.startsWith("common-") { return "\"pam-auth-update --force\" writes that file anew" }
            return
                "put \"@include common-auth\" in the place of the include of \(String(decoding: file, as: UTF8.self)) in \(name)"
        case .nobodyGetsIn:
            if file != service { return "nothing, where that is meant" }
            return
                "nothing, where that is meant; where Signet's line was deleted, put \"@include common-auth\" in the place of the lines with pam_deny.so and pam_permit.so"
        case .conditionGrants, .rootGrants(isRisk: false): return "nothing, where that is meant"
        case .otherProofNeededToo: return "nothing, where two proofs are meant"
        case .signetNotReached: return "look at the jumps and at \"sufficient\" before Signet's line"
        case .copyIsOld: return "add its line after Signet's, if it is wanted here"
        case .opensWithoutTheLine:
            return
                "write [success=1 default=die] before pam_signet.so, and below it the lines \"auth requisite pam_deny.so\" and \"auth required pam_permit.so\""
        case .unknownArgument: return "known are \(ModuleArguments.known)"
        case .asksForNothing: return "take pin=no out of that line: the PIN then lets in"
        case .configurationMissing(let path):
            let word = ShellWord.quoted(path)
            let copy = "sudo install -D -m 644 /etc/security/signet.conf \(word)"
            // An odd path is not to be pasted.
            let put = word == "USER" ? "put the file there" : "put the file there, as \"\(copy)\" does"
            // A line of a shared file stays as it is.
            guard StackReview.isOwn(file, of: service) else { return put }
            return "\(put), or take conf=\(String(decoding: path, as: UTF8.self)) out of that line"
        case .configurationUnusable(let path, let trouble): return trouble.remedy(for: path)
        case .modulePath: return "write pam_signet.so alone, so that libpam looks in its own folder"
        case .partnerNotGuarded(let partner):
            return "run scripts/install with --service \(String(decoding: partner, as: UTF8.self))"
        case .grantsWithoutProof, .systemPasswordGrants, .otherProofGrants, .unknownModuleGrants, .programGrants,
            .groupGrants, .rootGrants(isRisk: true), .signetCannotGrant, .systemPasswordNeededToo, .passwordStillAsked,
            .modulesSkipped, .failuresCountedElsewhere:
            return
                "write the service's lines anew by hand; \"man 8 pam_signet\" has those that belong in the password's place"
        }
    }
}
