internal import SignetEngine
internal import SignetRecords

// `signet pam`: what the service files do, what they would be with Signet in them, and whether a service lets somebody in.

extension Option {
    /// Given several times, the folders are looked into in turn.
    fileprivate static let folder = Option(
        "--dir", value: "DIR", repeats: true, "look here before /etc/pam.d and /usr/lib/pam.d")
}

extension Command {
    /// `signet pam check`.
    static let pamCheck = Command(
        "pam check", "say who gets in without Signet's yes", operands: "SERVICE...", operandLimit: 64,
        options: [.folder, .json],
        details: """
            Walks through all that libpam could answer, whatever each module says. Needs no root. Exit status 0: nothing \
            but Signet's yes lets anybody in; 1: something does, or nobody gets in, or Signet is not asked, or not as a configuration says that a line names.
            """
    ) { (invocation) throws(Failure) in
        let names = try services(invocation)
        for name in names { try mustExist(name, folders: invocation.folders) }
        let report = PAMReport(services: names.map { PAMReport.Service($0, folders: invocation.folders) })
        invocation.answer(report, text: report.text(width: Sheet.width))
        return report.isRight ? .yes : .no
    }

    /// `signet pam guard`.
    static let pamGuard = Command(
        "pam guard", "print a service's file with Signet in it", operands: "SERVICE", operandLimit: 1,
        options: [.folder],
        details:
            "Signet takes the password's place. Changes nothing. Exit status 1: it has to be done by hand, and the reason is told."
    ) { (invocation) throws(Failure) in
        let service = try services(invocation)[0]
        // It is in every service at once; and its block is pam-auth-update's to write.
        guard !service.hasPrefix("common-") else {
            throw Failure(
                .no, "\(Output.text(Array(service.utf8))) is no service, but a part of nearly every service",
                hint: "for all services at once: \"pam-auth-update --enable signet\"")
        }
        let bytes: [UInt8]
        do throws(StackGuardFault) {
            let folders = invocation.folders
            bytes = try StackGuard.guarded(Array(service.utf8)) { ServiceFiles.read($0, extra: folders) }
        } catch {
            if error == .noFile { try mustExist(service, folders: invocation.folders) }
            throw Failure(.no, error.words(service), hint: "\"man 8 pam_signet\" has the line to write")
        }
        Output.data(String(decoding: bytes, as: UTF8.self))
        return .yes
    }

    /// `signet pam try`.
    static let pamTry = Command(
        "pam try", "authenticate through a service, and start nothing", operands: "SERVICE", operandLimit: 1,
        options: [.user, .json],
        details: """
            Proves a service's stack before anybody depends on it: asks what the service would ask, with the user's own \
            real uid. Exit status 0: the service lets the user in; 1: it does not.
            """
    ) { (invocation) throws(Failure) in
        let service = try services(invocation)[0]
        try mustExist(service, folders: [])
        let target = try Machine.target(invocation)
        let trial = try PAMTrial(service: service, user: target)
        let words =
            trial.granted
            ? "\(trial.service) lets \(trial.user) in"
            : "\(trial.service) does not let \(trial.user) in: \(trial.message)"
        invocation.answer(trial, text: words + "\n")
        return trial.granted ? .yes : .no
    }

    /// Refuses a service that has no file: libpam would take `other`, and a mistyped name would be answered for that.
    private static func mustExist(_ service: String, folders: [String]) throws(Failure) {
        guard !ServiceFiles.exists(service, extra: folders) else { return }
        throw Failure(
            .no, "there is no service \(Output.text(Array(service.utf8)))", hint: "services are the files of /etc/pam.d"
        )
    }

    /// The services that are named; at least one.
    ///
    /// libpam takes the last part of a path, which is not what a person means.
    private static func services(_ invocation: Invocation) throws(Failure) -> [String] {
        guard !invocation.operands.isEmpty else {
            throw Failure(
                .usage, "it is not clear which service is meant",
                hint: "name it: \"signet \(invocation.command.name) sudo\"")
        }
        for name in invocation.operands where name.isEmpty || name.contains("/") || name.hasPrefix(".") {
            let text = Output.text(Array(name.utf8))
            throw Failure(
                .usage, "\"\(text)\" is no service's name", hint: "name a file of /etc/pam.d, without its folder")
        }
        return invocation.operands
    }
}

extension Invocation {
    fileprivate var folders: [String] { options.filter { $0.name == Option.folder.name }.map(\.value) }
}

/// What `pam check` answers.
struct PAMReport: Encodable, Equatable {
    struct Finding: Encodable, Equatable {
        /// "failure", "warning" or "note".
        let severity: String
        let file: String
        /// 0 where it is about no one line.
        let line: Int
        let text: String
        let remedy: String
    }

    struct Service: Encodable, Equatable {
        let service: String
        let guarded: Bool
        let systemPasswordGrants: Bool
        /// Whether everybody gets in without any proof.
        let opensWithoutProof: Bool
        /// Whether no proof at all lets anybody in.
        let refusesEveryProof: Bool
        let findings: [Finding]

        init(_ service: String, folders: [String]) {
            let name = Array(service.utf8)
            let read: ([UInt8]) -> [UInt8]? = { ServiceFiles.read($0, extra: folders) }
            self.init(
                service: service, guarded: StackReview.isGuarded(name, read: read),
                systemPasswordGrants: StackReview.grantsForPassword(name, read: read),
                opensWithoutProof: StackReview.opensWithoutProof(name, read: read),
                refusesEveryProof: StackReview.refusesEveryProof(name, read: read),
                findings: ServiceFiles.findings(for: service, extra: folders).map(Finding.init))
        }

        init(
            service: String, guarded: Bool, systemPasswordGrants: Bool, opensWithoutProof: Bool,
            refusesEveryProof: Bool,
            findings: [Finding]
        ) {
            self.service = Output.text(Array(service.utf8))
            self.guarded = guarded
            self.systemPasswordGrants = systemPasswordGrants
            self.opensWithoutProof = opensWithoutProof
            self.refusesEveryProof = refusesEveryProof
            self.findings = findings
        }

        var isRight: Bool { guarded && !findings.contains { $0.severity == "failure" } }
    }

    let services: [Service]

    var isRight: Bool { services.allSatisfy(\.isRight) }

    func text(width: Int) -> String {
        var text = ""
        for service in services {
            if service.findings.isEmpty { text += "ok    pam \(service.service)  only Signet's yes lets anybody in\n" }
            for finding in service.findings {
                let label = finding.severity == "failure" ? "fail" : finding.severity == "warning" ? "warn" : "note"
                let place = finding.line > 0 ? " (\(finding.file), line \(finding.line))" : ""
                text += Sheet.hanging("\(label)  pam \(service.service)  ", finding.text + place, width: width)
                text += Sheet.hanging("      → ", finding.remedy, width: width)
            }
        }
        return text
    }
}

extension PAMReport.Finding {
    init(_ finding: StackFinding) {
        severity =
            switch finding.severity {
            case .failure: "failure"
            case .warning: "warning"
            case .note: "note"
            }
        file = Output.text(finding.file)
        line = finding.line
        text = Output.text(Array(finding.sentence.utf8))
        remedy = Output.text(Array(finding.remedy.utf8))
    }
}

extension StackGuardFault {
    /// Why a service's file was not rewritten.
    func words(_ service: String) -> String {
        switch self {
        case .stack(let fault): fault.sentence
        case .noFile: "there is no service \(service)"
        case .noPasswordLine: "\(service) has no password line whose place Signet could take"
        case .lineInTheWay(let file, let line):
            "line \(line) of \(Output.text(file)) cannot stay as it is beside Signet's"
        case .wouldNotHold(let finding): "\(service) would not be safe: \(finding.sentence)"
        }
    }
}
