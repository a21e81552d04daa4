internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Command {
    /// `signet readers`.
    static let readers = Command(
        "readers", "list the fingerprint readers that are there",
        options: [Option("--supported", "say which readers are supported"), .user, .json],
        details: """
            Says where each reader is, who compares, whose prints it has and who uses it now, and warns of readers whose \
            word goes less far. Exit status 0: there is a reader; 5: there is none, or it cannot be asked.
            """
    ) { (invocation) throws(Failure) in
        if invocation.has(Option("--supported", "")) {
            invocation.answer(SupportedAnswer(), text: SupportedAnswer.text(width: Sheet.width))
            return .yes
        }
        // The helper is started as root, as an authentication would start it.
        try TargetUser.requireRoot(.ofThisProcess)
        let configuration = Machine.configuration()
        let asker = try ReadersVerb.asker(invocation)
        let isStandIn = StandInReader.isConfigured(configuration)
        switch AdministratorLedger.readers(configuration) {
        case .present(let found):
            let reports = ReadersSurvey(configuration, for: asker).look(at: found)
            invocation.answer(
                ReadersReportAnswer(reports, isStandIn: isStandIn),
                text: ReadersText.table(reports, isStandIn: isStandIn, width: Sheet.width))
            return .yes
        case .problem(let problem):
            throw Failure(problem.exitCode, problem.words, hint: problem.remedy)
        }
    }
}

private enum ReadersVerb {
    /// Whose prints are "yours": nobody's, where root asks for nobody.
    static func asker(_ invocation: Invocation) throws(Failure) -> TargetUser? {
        if invocation.value(of: .user) != nil { return try Machine.target(invocation) }
        return try? Machine.target(invocation)
    }
}

enum ReadersText {
    /// A row for each reader, and below the table what there is to say against each.
    static func table(_ reports: [ReaderReport], isStandIn: Bool, width: Int) -> String {
        let rows = reports.map { report in
            [
                Output.text(report.description.name), report.description.place.words, report.description.matching,
                report.prints.words, report.holders.isEmpty ? "nobody" : report.holders.joined(separator: ", "),
            ]
        }
        var text = Sheet.table(["Name", "Where", "Compares", "Prints", "In use by"], rows, width: width)
        for report in reports {
            for remark in remarks(on: report) { text += "\n" + remark.text(width: width) }
        }
        for (index, report) in reports.enumerated()
        where reports[..<index].contains(where: { $0.description.identity == report.description.identity }) {
            text += "\n" + Sheet.hanging("", "\(report.description.label): \(ReaderReport.twin)", width: width)
        }
        if isStandIn {
            text +=
                "\n"
                + Sheet.hanging(
                    "", "This is a \(StandInReader.label): the configuration names its helper.", width: width)
        }
        return text
    }

    private struct Remark {
        let words: String
        let remedy: String?

        func text(width: Int) -> String {
            Sheet.hanging("", words, width: width)
                + (remedy.map { Sheet.remedy($0, indent: 2, width: width) } ?? "")
        }
    }

    private static func remarks(on report: ReaderReport) -> [Remark] {
        let label = report.description.label
        var remarks: [Remark] = []
        if let distrust = report.distrust {
            remarks.append(Remark(words: "\(label) is not used: \(distrust.words)", remedy: distrust.remedy))
        }
        let concern = report.concern
        remarks.append(
            Remark(
                words: "\(concern.isWarning ? "warning: " : "")\(label): \(concern.words)",
                remedy: concern.isWarning ? concern.remedy : nil))
        for gone in report.prints.gone {
            remarks.append(
                Remark(words: "\(label): a print is gone from its memory: \(gone.words)", remedy: gone.remedy))
        }
        if let leftOver = report.prints.leftOver, leftOver > 0 {
            remarks.append(Remark(words: "\(label): \(Leftovers.words(leftOver))", remedy: Leftovers.remedy))
        }
        let importable = report.prints.importable
        if importable > 0 {
            let what = importable == 1 ? "1 foreign print is kept" : "\(importable) foreign prints are kept"
            remarks.append(
                Remark(
                    words: "\(label): \(what) by fprintd for the same user, and can be taken over",
                    remedy: "sudo signet import\(report.prints.importOption)"))
        }
        if let foreign = report.prints.foreign, foreign > importable {
            remarks.append(
                Remark(
                    words: "\(label): foreign prints were enrolled by another system or program; they match for nobody",
                    remedy: "delete them with the system or program that enrolled them, for Signet never does"))
        }
        return remarks
    }
}

extension ReaderReport {
    /// What is said of a second reader of one identity.
    static let twin = "a second reader that looks the same is there; only the one at the approved port is asked"
}

/// What `readers --json` answers.
struct ReadersReportAnswer: Encodable, Equatable {
    struct Reader: Encodable, Equatable {
        let name: String
        let driver: String
        let device: String
        /// "press" or "swipe".
        let kind: String
        let stages: Int
        /// Where prints live: "host" or "reader".
        let prints: String
        let listsPrints: Bool
        let isVirtual: Bool
        let isStandIn: Bool
        let place: Place
        /// Why it is not used for where it is.
        let refused: String?
        let inUseBy: [String]
        let yourPrints: Int?
        let othersPrints: Int
        /// What is in no record any more.
        let leftPrints: Int?
        /// The command that deletes them; null where there are none.
        let leftPrintsRemedy: String?
        let foreignPrints: Int?
        /// Whether there may be more of them than the reader lists.
        let foreignPrintsAtLeast: Bool
        let missingPrints: Int?
        let gonePrints: [Gone]
        let concern: String
        let warning: Bool
        let text: String
    }

    /// A print that is enrolled and gone from the reader's memory.
    struct Gone: Encodable, Equatable {
        /// The user's name, or the uid where there is no account.
        let owner: String
        /// Null where the print does not say.
        let finger: String?
        /// Null where no command of Signet's deletes it, or where nobody knows by what name.
        let command: String?
        /// The same, or in words what to do.
        let remedy: String
    }

    struct Place: Encodable, Equatable {
        /// "usb", "spi", "virtual" or "unknown".
        let bus: String
        /// "fixed", "removable" or "unknown".
        let port: String
        let path: String
    }

    let readers: [Reader]
    let standInReader: Bool

    init(_ reports: [ReaderReport], isStandIn: Bool) {
        standInReader = isStandIn
        readers = reports.map { report in
            let reader = ReaderAnswer(report.description, isStandIn: isStandIn)
            let place = report.description.place
            return Reader(
                name: reader.name, driver: reader.driver, device: reader.device, kind: reader.kind,
                stages: reader.stages, prints: reader.prints, listsPrints: report.description.listsPrints,
                isVirtual: reader.isVirtual, isStandIn: isStandIn,
                place: Place(bus: place.bus.code, port: place.attachment.code, path: Output.text(place.path)),
                refused: report.distrust?.code, inUseBy: report.holders, yourPrints: report.prints.yours,
                othersPrints: report.prints.others, leftPrints: report.prints.leftOver,
                leftPrintsRemedy: (report.prints.leftOver ?? 0) > 0 ? Leftovers.remedy : nil,
                foreignPrints: report.prints.foreign, foreignPrintsAtLeast: report.prints.hasMore,
                missingPrints: report.prints.missing,
                gonePrints: report.prints.gone.map {
                    Gone(
                        owner: $0.user, finger: $0.finger?.name,
                        command: $0.keeper == .signet && $0.finger != nil ? $0.remedy : nil, remedy: $0.remedy)
                },
                concern: report.concern.code,
                warning: report.concern.isWarning, text: report.concern.words)
        }
    }
}

/// Where the list of supported readers is; Signet has no list of its own that could grow old.
private struct SupportedAnswer: Encodable {
    let supportedBy = "libfprint"
    let list = "https://fprint.freedesktop.org/supported-devices.html"

    static func text(width: Int) -> String {
        let answer = SupportedAnswer()
        return Sheet.hanging(
            "", "Signet works with every reader that \(answer.supportedBy) drives, save its virtual ones:", width: width
        )
            + "\(answer.list)\n"
            + Sheet.hanging("", "Look there for the USB id that \"lsusb\" shows for yours.", width: width)
    }
}
