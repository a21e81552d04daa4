internal import SignetRecords

/// Reviews a service's authentication stack: not by its looks, but by what libpam would answer.
///
/// Each question is a person with certain proofs: nobody's, the system password, one other proof, root. Every module may
/// answer all that it could answer to that person, and the walk says whether the service can then succeed.
package struct StackReview: Sendable {
    private let service: [UInt8]
    private let stack: AuthenticationStack
    private var findings: [StackFinding] = []

    /// What Signet answers when it does not say yes: the module's own codes, and libpam's where the file is missing.
    private static let refusals: [PAMCode] = [
        .authenticationError, .authenticationInformationUnavailable, .maximumTries, .userUnknown, .serviceError,
        .moduleUnknown,
    ]

    /// All that is to be said about one service, and what to do about it; `read` gives a service file's bytes by its name.
    ///
    /// `configurationTrouble` says what is the matter with the configuration file that a line names; nil where nothing is.
    package static func findings(
        for service: [UInt8], read: ([UInt8]) -> [UInt8]?,
        configurationTrouble: ([UInt8]) -> ConfigurationTrouble? = { _ in nil }
    ) -> [StackFinding] {
        var findings = findingsAlone(for: service, read: read)
        guard let stack = try? AuthenticationStack(service: service, read: read) else { return findings }
        findings += stack.settingsFindings(for: service, trouble: configurationTrouble)
        let anew = try? StackGuard.guarded(service, read: read)
        let advice = StackAdvice(service: service, stack: stack, canGuard: anew != nil && anew != read(service))
        for index in findings.indices { findings[index].step = advice.remedy(for: findings[index]) }
        return findings
    }

    /// The findings, without having looked for steps that would mend them.
    static func findingsAlone(for service: [UInt8], read: ([UInt8]) -> [UInt8]?) -> [StackFinding] {
        let stack: AuthenticationStack
        do { stack = try AuthenticationStack(service: service, read: read) } catch {
            return [
                StackFinding(severity: .failure, matter: .unreadable(error), service: service, file: service, line: 0)
            ]
        }
        var review = StackReview(service: service, stack: stack)
        guard let signet = stack.firstSignet else {
            review.lookAtOpenDoor()
            return review.findings
        }
        review.look(from: signet)
        review.lookAtCopies(read: read)
        review.lookAtPartner(read: read)
        return review.findings
    }

    /// Whether Signet is asked in this service.
    package static func isGuarded(_ service: [UInt8], read: ([UInt8]) -> [UInt8]?) -> Bool {
        guard let stack = try? AuthenticationStack(service: service, read: read) else { return false }
        return stack.firstSignet != nil
    }

    /// Whether somebody who has the system password alone is let in; true where the stack is not understood.
    package static func grantsForPassword(_ service: [UInt8], read: ([UInt8]) -> [UInt8]?) -> Bool {
        guard let stack = try? AuthenticationStack(service: service, read: read) else { return true }
        let review = StackReview(service: service, stack: stack)
        // Where nobody is asked for anything it is not the password that grants.
        return review.openDoor == nil && review.walk { $0.kind == .password }.success != nil
    }

    /// Whether everybody is let in without any proof; false where the stack is not understood, which libpam refuses.
    package static func opensWithoutProof(_ service: [UInt8], read: ([UInt8]) -> [UInt8]?) -> Bool {
        guard let stack = try? AuthenticationStack(service: service, read: read) else { return false }
        return StackReview(service: service, stack: stack).openDoor != nil
    }

    /// Whether every proof is refused, as where Signet's line alone was taken out of its block.
    ///
    /// True where the stack is not understood, which libpam refuses. Root, and members of a trusted group, may still get in.
    package static func refusesEveryProof(_ service: [UInt8], read: ([UInt8]) -> [UInt8]?) -> Bool {
        guard let stack = try? AuthenticationStack(service: service, read: read) else { return true }
        return StackReview(service: service, stack: stack).refusesEveryProof
    }

    init(service: [UInt8], stack: AuthenticationStack) {
        self.service = service
        self.stack = stack
    }

    private mutating func look(from signet: Int) {
        let nobody = walk { _ in false }
        if let way = nobody.success {
            // Whoever has a proof gets in as well; one finding says it all.
            add(.failure, .grantsWithoutProof(module: lastName(of: way), self.way(way)), at: lastPlace(of: way))
        } else {
            lookForBypasses()
        }
        lookForYes(from: signet)
        lookForAskedPassword(visited: nobody.visited)
        for (place, module) in stack.modules.enumerated() where module.kind == .signet {
            lookAtLine(module, at: place)
        }
        lookWithoutLine(at: signet)
    }

    /// What stays where somebody deletes Signet's lines and nothing else.
    private mutating func lookWithoutLine(at signet: Int) {
        if findings.contains(where: { $0.severity == .failure }) { return }
        let rest = AuthenticationStack(modules: stack.modules.filter { $0.kind != .signet })
        guard StackReview(service: service, stack: rest).openDoor != nil else { return }
        add(.note, .opensWithoutTheLine, at: signet)
    }

    private var refusesEveryProof: Bool {
        walk(signet: [.success]) { $0.kind != .root && $0.kind != .membership }.success == nil
    }

    /// A way in for somebody who has no proof and meets no condition that would end the stack; nil: there is none.
    private var openDoor: [StackStep]? {
        StackExploration(stack) { place in
            let module = stack.modules[place]
            let codes = answers(of: module, signet: StackReview.refusals, proven: false)
            guard StackModuleKind.isCondition(module.call) else { return codes }
            switch module.call.control[.success] {
            case .done, .jump: return codes.filter { $0 != .success }
            case .ignore, .ok, .bad, .die, .reset: return codes
            }
        }.success
    }

    /// What is to be said of a service that does not ask Signet.
    private mutating func lookAtOpenDoor() {
        if let way = openDoor {
            add(.failure, .everybodyGetsIn(module: lastName(of: way)), at: lastPlace(of: way))
            return
        }
        if refusesEveryProof, let place = stack.modules.firstIndex(where: { $0.kind == .deny }) {
            add(.warning, .nobodyGetsIn(module: Array(stack.modules[place].call.name)), at: place)
            return
        }
        findings.append(StackFinding(severity: .warning, matter: .notGuarded, service: service, file: service, line: 0))
        if let way = walk(trusting: { _ in false }).success {
            add(.warning, .conditionGrants(module: lastName(of: way)), at: lastPlace(of: way))
        }
    }

    /// Who gets in without Signet's yes.
    private mutating func lookForBypasses() {
        var passwordFound = false
        for (place, module) in stack.modules.enumerated() {
            switch module.kind {
            case .signet, .permit, .deny, .failureCount, .gate, .substack: continue
            case .password, .program, .otherProof, .root, .membership, .unknown: break
            }
            guard let steps = walk(trusting: place).success else { continue }
            let name = Array(module.call.name)
            switch module.kind {
            case .password:
                passwordFound = true
                add(.failure, .systemPasswordGrants(module: name, way(steps)), at: place)
            case .otherProof: add(.warning, .otherProofGrants(module: name, way(steps)), at: place)
            case .unknown: add(.warning, .unknownModuleGrants(module: name, way(steps)), at: place)
            case .program: add(.failure, .programGrants(module: name, way(steps)), at: place)
            case .membership: add(.warning, .groupGrants, at: place)
            default:
                let isRisk = !StackReview.runsAsCaller(service)
                add(isRisk ? .failure : .note, .rootGrants(isRisk: isRisk), at: place)
            }
        }
        if !passwordFound, let steps = walk(trusting: { $0.kind == .password }).success {
            let place = lastPlace(of: steps)
            add(.failure, .systemPasswordGrants(module: lastName(of: steps), way(steps)), at: place)
        }
    }

    /// Where the password neither helps nor is needed, asking for it is a trap for people.
    private mutating func lookForAskedPassword(visited: [Bool]) {
        if findings.contains(where: { $0.severity == .failure || $0.matter == .systemPasswordNeededToo }) { return }
        for (place, module) in stack.modules.enumerated() where module.kind == .password && visited[place] {
            add(.warning, .passwordStillAsked(module: Array(module.call.name)), at: place)
        }
    }

    /// Whether Signet's yes is enough, and what comes after it.
    private mutating func lookForYes(from signet: Int) {
        let alone = walk(signet: [.success]) { _ in false }
        let isShutByArguments =
            alone.success == nil && stack.modules.contains { $0.asksForNothing }
            && StackReview(service: service, stack: stack.withoutSignetsArguments).walk(signet: [.success]) { _ in
                false
            }.success != nil
        for (place, module) in stack.modules.enumerated() where module.asksForNothing {
            add(isShutByArguments ? .failure : .warning, .asksForNothing, at: place)
        }
        if alone.success == nil, !isShutByArguments {
            if walk(signet: [.success], trusting: { $0.kind == .password }).success != nil {
                add(.warning, .systemPasswordNeededToo, at: signet)
            } else if let place = stack.modules.indices.first(where: { place in
                walk(signet: [.success], trusting: { $0 == stack.modules[place] }).success != nil
            }) {
                add(.note, .otherProofNeededToo(module: Array(stack.modules[place].call.name)), at: place)
            } else if !alone.visited[signet] {
                add(.failure, .signetNotReached, at: signet)
            } else {
                let refusing = stack.modules.indices.first { place in
                    let kind = stack.modules[place].kind
                    return place > signet && (kind == .deny || kind == .failureCount) && alone.visited[place]
                }
                add(
                    .failure, .signetCannotGrant(module: refusing.map { Array(stack.modules[$0].call.name) }),
                    at: refusing ?? signet)
            }
        }
        let anyone = walk(signet: StackReview.refusals + [.success]) { _ in false }
        for (place, module) in stack.modules.enumerated() where place > signet && anyone.visited[place] {
            if module.kind == .failureCount { add(.warning, .failuresCountedElsewhere, at: place) }
        }
    }

    private mutating func lookAtLine(_ module: StackModule, at place: Int) {
        if module.call.module.contains(UInt8(ascii: "/")) {
            add(.warning, .modulePath(module.call.module), at: place)
        }
        for argument in ModuleArguments(module.call.arguments).unknown {
            add(.warning, .unknownArgument(argument), at: place)
        }
        guard module.call.control[.success] == .done else { return }
        let rest = stack.modules[(place + 1)...].prefix { $0.level >= module.level }
        let skipped = rest.first {
            switch $0.kind {
            case .deny, .permit, .substack, .signet, .password, .failureCount: false
            case .program, .otherProof, .root, .membership, .gate, .unknown: true
            }
        }
        if let skipped { add(.warning, .modulesSkipped(first: Array(skipped.call.name)), at: place) }
    }

    /// Where the installer put an include's lines in its place, what that file has got since is missing here.
    private mutating func lookAtCopies(read: ([UInt8]) -> [UInt8]?) {
        guard let bytes = read(service), let file = try? PAMFile(parsing: bytes) else { return }
        for statement in file.statements where statement.text.startsWith(StackGuard.mark) {
            let name = Array(
                statement.text.dropFirst(StackGuard.mark.utf8.count).prefix { $0 != UInt8(ascii: "\"") })
            guard let original = try? AuthenticationStack(included: name, read: read) else { continue }
            for module in original.modules where StackGuard.keeps(module.call) {
                let isHere = stack.modules.contains { Array($0.call.name) == Array(module.call.name) }
                let matter = StackFinding.Matter.copyIsOld(include: name, module: Array(module.call.name))
                if !isHere {
                    findings.append(
                        StackFinding(
                            severity: .note, matter: matter, service: service, file: service, line: statement.line))
                }
            }
        }
    }

    private mutating func lookAtPartner(read: ([UInt8]) -> [UInt8]?) {
        guard let partner = StackReview.partner(of: service) else { return }
        if StackReview.isGuarded(partner, read: read) { return }
        findings.append(
            StackFinding(
                severity: .failure, matter: .partnerNotGuarded(partner), service: service, file: service, line: 0))
    }

    /// The service that the same program uses for a login shell, or the one it uses otherwise.
    package static func partner(of service: [UInt8]) -> [UInt8]? {
        if service.isText("sudo") { return Array("sudo-i".utf8) }
        if service.isText("sudo-i") { return Array("sudo".utf8) }
        if service.isText("su") { return Array("su-l".utf8) }
        if service.isText("su-l") { return Array("su".utf8) }
        return nil
    }

    /// Programs that keep the caller's real user id, so that pam_rootok asks about the caller.
    private static func runsAsCaller(_ service: [UInt8]) -> Bool {
        ["su", "su-l", "sudo", "sudo-i", "runuser", "runuser-l", "chsh", "chfn", "passwd", "chpasswd", "newusers"]
            .contains { service.isText($0) }
    }

    // MARK: Walks

    func walk(
        signet: [PAMCode] = StackReview.refusals, trusting: (StackModule) -> Bool
    ) -> StackExploration {
        StackExploration(stack) { answers(of: stack.modules[$0], signet: signet, proven: trusting(stack.modules[$0])) }
    }

    private func walk(trusting place: Int) -> StackExploration {
        StackExploration(stack) {
            answers(of: stack.modules[$0], signet: StackReview.refusals, proven: $0 == place)
        }
    }

    private func answers(of module: StackModule, signet: [PAMCode], proven: Bool) -> [PAMCode] {
        let no: [PAMCode] = [
            .authenticationError, .userUnknown, .authenticationInformationUnavailable, .maximumTries,
            .permissionDenied, .moduleUnknown,
        ]
        switch module.kind {
        case .signet: return module.asksForNothing ? StackReview.refusals : signet
        case .password, .otherProof: return proven ? [.success] + no : no
        case .root, .membership: return proven ? [.success] : [.authenticationError, .ignore]
        case .permit, .substack: return [.success]
        case .deny: return [.authenticationError]
        case .failureCount: return [.authenticationError, .ignore]
        case .gate: return [.success, .ignore] + no
        case .unknown, .program: return proven ? [.success, .ignore] + no : [.ignore] + no
        }
    }

    // MARK: Words

    private func way(_ steps: [StackStep]) -> StackFinding.Way {
        for step in steps where stack.modules[step.module].kind == .signet { return .afterRefusal(step.code) }
        return .withoutAsking
    }

    /// The last module that said yes on a way.
    private func lastPlace(of steps: [StackStep]) -> Int {
        (steps.last { $0.code == .success } ?? steps.last)?.module ?? 0
    }

    private func lastName(of steps: [StackStep]) -> [UInt8] {
        let place = lastPlace(of: steps)
        return place < stack.modules.count ? Array(stack.modules[place].call.name) : []
    }

    private mutating func add(_ severity: StackFinding.Severity, _ matter: StackFinding.Matter, at place: Int) {
        guard place < stack.modules.count else { return }
        let module = stack.modules[place]
        let finding = StackFinding(
            severity: severity, matter: matter, service: service, file: module.file, line: module.line)
        if !findings.contains(finding) { findings.append(finding) }
    }
}
