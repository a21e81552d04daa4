package import SignetRecords

/// What a review of a service's stack found.
package struct StackFinding: Equatable, Sendable {
    package enum Severity: UInt8, Equatable, Sendable {
        /// The service does not do what Signet promises, or nobody gets in.
        case failure
        case warning
        /// Right as it is, but a person should know.
        case note
    }

    /// How somebody gets past Signet.
    package enum Way: Equatable, Sendable {
        /// Before Signet is asked, or without its being asked at all.
        case withoutAsking
        /// After Signet refused, with this answer, which the control lets pass.
        case afterRefusal(PAMCode)
    }

    package enum Matter: Equatable, Sendable {
        case unreadable(StackFault)
        case notGuarded
        /// Signet is not asked, and neither is anything else.
        case everybodyGetsIn(module: [UInt8])
        /// Signet is not asked, and no proof helps: its line was deleted, or the service is closed.
        case nobodyGetsIn(module: [UInt8])
        /// Signet is not asked, and who meets a module's condition needs no proof.
        case conditionGrants(module: [UInt8])
        /// Anyone succeeds; the module named is the one that made it so.
        case grantsWithoutProof(module: [UInt8], Way)
        case systemPasswordGrants(module: [UInt8], Way)
        case otherProofGrants(module: [UInt8], Way)
        case unknownModuleGrants(module: [UInt8], Way)
        case programGrants(module: [UInt8], Way)
        case rootGrants(isRisk: Bool)
        case groupGrants
        case signetNotReached
        /// Signet's success does not lead to success.
        case signetCannotGrant(module: [UInt8]?)
        case systemPasswordNeededToo
        case otherProofNeededToo(module: [UInt8])
        /// The password cannot help, and is asked for all the same.
        case passwordStillAsked(module: [UInt8])
        /// Success ends the stack before these modules.
        case modulesSkipped(first: [UInt8])
        case failuresCountedElsewhere
        /// Who deletes Signet's line and nothing else leaves a stack that asks nobody.
        case opensWithoutTheLine
        /// A file whose lines were copied here has got another module since.
        case copyIsOld(include: [UInt8], module: [UInt8])
        case unknownArgument([UInt8])
        /// The line's arguments leave neither the finger nor the PIN.
        case asksForNothing
        /// There is nothing at the path that the line names by `conf=`.
        case configurationMissing([UInt8])
        /// What the line names by `conf=` is not in force.
        case configurationUnusable([UInt8], ConfigurationTrouble)
        case modulePath([UInt8])
        /// The service that the same program uses for a login shell is not guarded.
        case partnerNotGuarded([UInt8])
    }

    package let severity: Severity
    package let matter: Matter
    package let service: [UInt8]
    /// Where it stands; an empty name where no one place does.
    package let file: [UInt8]
    /// From 1; 0 where no one line does.
    package let line: Int
    package internal(set) var step = StackRemedy.words

    package init(severity: Severity, matter: Matter, service: [UInt8], file: [UInt8], line: Int) {
        self.severity = severity
        self.matter = matter
        self.service = service
        self.file = file
        self.line = line
    }

    /// One sentence for a person.
    package var sentence: String {
        switch matter {
        case .unreadable(let fault): fault.sentence
        case .notGuarded: "Signet is not asked"
        case .everybodyGetsIn(let module):
            "everybody gets in without any proof: \(StackFinding.text(module)) is enough"
        case .nobodyGetsIn(let module): "nobody gets in: \(StackFinding.text(module)) refuses every proof"
        case .conditionGrants(let module):
            "whoever meets the condition of \(StackFinding.text(module)) gets in without any proof"
        case .grantsWithoutProof(let module, let way):
            "\(StackFinding.text(module)) lets anyone in \(StackFinding.text(way))"
        case .systemPasswordGrants(let module, let way):
            "the system password still works: \(StackFinding.text(module)) grants \(StackFinding.text(way))"
        case .otherProofGrants(let module, let way):
            "\(StackFinding.text(module)) grants \(StackFinding.text(way))"
        case .unknownModuleGrants(let module, let way):
            "\(StackFinding.text(module)), which Signet does not know, may grant \(StackFinding.text(way))"
        case .programGrants(let module, let way):
            "\(StackFinding.text(module)) grants \(StackFinding.text(way)) when the program that it runs says so"
        case .rootGrants(let isRisk):
            isRisk
                ? "pam_rootok lets in whoever reaches a program that runs as root" : "root is let in without a proof"
        case .groupGrants: "pam_wheel with \"trust\" lets in a whole group without a proof"
        case .signetNotReached: "Signet's line is never reached"
        case .signetCannotGrant(let module):
            if let module {
                "nobody gets in: \(StackFinding.text(module)) refuses even after Signet's yes"
            } else {
                "nobody gets in: Signet's yes does not lead to a yes of the service"
            }
        case .systemPasswordNeededToo: "the system password is needed as well as Signet"
        case .otherProofNeededToo(let module): "\(StackFinding.text(module)) is needed as well as Signet"
        case .passwordStillAsked(let module):
            "\(StackFinding.text(module)) still asks for the system password, though it decides nothing"
        case .modulesSkipped(let first): "Signet's yes ends the stack, so \(StackFinding.text(first)) is never run"
        case .failuresCountedElsewhere: "pam_faillock counts Signet's refusals against the system password"
        case .opensWithoutTheLine: "if Signet's line is ever deleted alone, everybody gets in without any proof"
        case .copyIsOld(let include, let module):
            "\(StackFinding.text(include)) now has \(StackFinding.text(module)), which this service does not run"
        case .unknownArgument(let argument): "Signet has no argument \"\(StackFinding.text(argument))\""
        case .asksForNothing:
            "\(severity == .failure ? "nobody gets in" : "this line lets nobody in"): "
                + "with pin=no, and fingers off, Signet has nothing to ask for"
        case .configurationMissing(let path):
            "there is no \(StackFinding.text(path)), so what it should say is not in force: the defaults rule"
        case .configurationUnusable(_, let trouble):
            "fingers are off and the strictest limits rule here: \(trouble.sentence)"
        case .modulePath(let path): "Signet is loaded by a path, \(StackFinding.text(path))"
        case .partnerNotGuarded(let partner):
            "\(StackFinding.text(partner)) is not guarded, and the same program uses it"
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func text(_ way: Way) -> String {
        switch way {
        case .withoutAsking: "without Signet"
        case .afterRefusal: "after Signet refused"
        }
    }
}

extension StackFault {
    /// One sentence for a person.
    package var sentence: String {
        switch self {
        case .unreadable(let file): "\(String(decoding: file, as: UTF8.self)) cannot be read"
        case .malformed(let file, let fault):
            "\(String(decoding: file, as: UTF8.self)) is not understood at line \(fault.line)"
        case .tooDeep(let file): "\(String(decoding: file, as: UTF8.self)) includes too deep, perhaps itself"
        case .tooLong(let file): "\(String(decoding: file, as: UTF8.self)) has too many lines to be reviewed"
        }
    }
}
