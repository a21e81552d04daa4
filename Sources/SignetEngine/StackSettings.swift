internal import SignetPolicy
internal import SignetRecords

// What Signet's own lines in a stack say of how it is asked: their arguments, and the configuration that they name.

extension StackModule {
    /// Whether it is a line of Signet's that can never say yes, since it lets neither a finger nor a PIN count.
    var asksForNothing: Bool {
        guard kind == .signet else { return false }
        let arguments = ModuleArguments(call.arguments)
        // An argument that is not known closes the finger path.
        return !arguments.pinAllowed && (!arguments.fingerAllowed || !arguments.unknown.isEmpty)
    }
}

extension AuthenticationStack {
    /// The same stack, with what the arguments of Signet's lines forbid allowed.
    var withoutSignetsArguments: AuthenticationStack {
        AuthenticationStack(
            modules: modules.map { module in
                guard module.kind == .signet else { return module }
                let call = PAMModuleLine(
                    type: module.call.type, quiet: module.call.quiet, control: module.call.control,
                    controlText: module.call.controlText, module: module.call.module, arguments: [])
                return StackModule(
                    call: call, file: module.file, line: module.line, level: module.level, kind: .signet)
            })
    }

    /// The configuration files that Signet's lines name and that are not in force, each at its line.
    func settingsFindings(
        for service: [UInt8], trouble: ([UInt8]) -> ConfigurationTrouble?
    ) -> [StackFinding] {
        var findings: [StackFinding] = []
        for module in modules where module.kind == .signet {
            guard let path = ModuleArguments(module.call.arguments).configuration, let trouble = trouble(path) else {
                continue
            }
            var matter = StackFinding.Matter.configurationUnusable(path, trouble)
            if case .path(let problem) = trouble, problem.matter == .missing { matter = .configurationMissing(path) }
            let finding = StackFinding(
                severity: .failure, matter: matter, service: service, file: module.file, line: module.line)
            if !findings.contains(finding) { findings.append(finding) }
        }
        return findings
    }
}

extension StackReview {
    /// Whether the file is the service's own, or that of the service which the same program uses otherwise.
    static func isOwn(_ file: [UInt8], of service: [UInt8]) -> Bool { file == service || file == partner(of: service) }
}

extension ConfigurationTrouble {
    /// What to do about it, for the file at `path`.
    func remedy(for path: [UInt8]) -> String {
        switch self {
        case .path(let problem): problem.remedy ?? "look at it with \"ls -ld \(UTF8Text.printable(problem.path))\""
        case .text: "\"signet config check \(UTF8Text.printable(path))\" says where"
        }
    }
}
