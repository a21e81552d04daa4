internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

// Whether a finger that counts would be asked for where `status` runs.

extension UserStatus {
    /// Looks whether somebody else has each reader that a prompt would open; none is opened or claimed for it.
    mutating func lookForHolders(
        _ holder: (ReaderDescription) -> ReaderUse = { ReadersSurvey.use(of: $0) }
    ) {
        guard closureHere == nil, !readersToAsk.isEmpty else { return }
        var first: [UInt8]?
        for reader in readersToAsk {
            guard case .used(let by) = holder(reader) else { return }
            first = first ?? by
        }
        closureHere = .readerNotAvailable(.busy)
        readerHolder = first
    }

    /// Why no finger is asked for here, though one counts; nil where one is.
    var wordsHere: String? {
        if let readerHolder { return Failure.inUse(by: Output.text(readerHolder)) }
        return closureHere?.words
    }
}

/// Whether a reader is somebody's just now.
enum ReaderUse: Equatable {
    case free
    /// Who has it, where that is known.
    case used(by: [UInt8]?)
}

extension ReadersSurvey {
    /// Looks at a prompt's claim, and, where the kernel says that a program drives the reader, for that program.
    static func use(of reader: ReaderDescription) -> ReaderUse {
        if case .held(let holder) = ReaderClaim.refusal(of: reader.identity, in: SensorClient.standardClaims) {
            return .used(by: holder)
        }
        let devices = DeviceHolders()
        guard devices.isDriven(reader.place) else { return .free }
        return .used(by: devices.names(of: reader.place, within: SensorClient.searchPatience).first)
    }
}
