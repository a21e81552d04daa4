/// Whether a reader counts whose prints lie in its own memory, so that its chip compares and only says how it ended.
package enum MatchOnChip: UInt8, CaseIterable, Equatable, Sendable {
    case allow = 1
    case refuse = 2

    /// As it is written in the configuration.
    package var word: String {
        switch self {
        case .allow: "allow"
        case .refuse: "refuse"
        }
    }
}

/// What a print in a reader's memory does that is not the user's and was not there when the user approved.
///
/// It matches for nobody either way: what a reader is asked for are the user's prints alone.
package enum ForeignPrintRule: UInt8, CaseIterable, Equatable, Sendable {
    /// The journal and `status` tell it.
    case report = 1
    /// It closes the finger path until the user activates it again.
    case close = 2

    /// As it is written in the configuration.
    package var word: String {
        switch self {
        case .report: "report"
        case .close: "close"
        }
    }
}
