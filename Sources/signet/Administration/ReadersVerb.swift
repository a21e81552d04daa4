internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Command {
    /// `signet readers`.
    static let readers = Command(
        "readers", "list the fingerprint readers that are there",
        options: [Option("--supported", "say which readers are supported"), .json],
        details: "Exit status 0: there is a reader; 5: there is none, or it cannot be asked."
    ) { (invocation) throws(Failure) in
        if invocation.has(Option("--supported", "")) {
            invocation.answer(SupportedAnswer(), text: SupportedAnswer.text(width: Sheet.width))
            return .yes
        }
        // The helper is started as root, as an authentication would start it.
        try TargetUser.requireRoot(.ofThisProcess)
        let configuration = Machine.configuration()
        let presence = AdministratorLedger.readers(configuration)
        let isStandIn = StandInReader.isConfigured(configuration)
        switch presence {
        case .present(let found):
            invocation.answer(
                ReadersAnswer(presence, isStandIn: isStandIn),
                text: ReadersText.table(found, isStandIn: isStandIn, width: Sheet.width))
            return .yes
        case .problem(let problem):
            throw Failure(.readerNotAvailable, problem.words, hint: problem.remedy)
        }
    }
}

enum ReadersText {
    static func table(_ readers: [ReaderDescription], isStandIn: Bool, width: Int) -> String {
        let rows = readers.map { reader in
            [
                Output.text(reader.name), Output.text(reader.identity.driver), reader.swipes ? "swipe" : "press",
                "\(reader.stages)", reader.storesPrints ? "reader" : "host", reader.identity.isVirtual ? "virtual" : "",
            ]
        }
        let table = Sheet.table(["Name", "Driver", "Touch", "Stages", "Prints on", "Note"], rows, width: width)
        guard isStandIn else { return table }
        return table
            + Sheet.hanging("", "This is a \(StandInReader.label): the configuration names its helper.", width: width)
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
