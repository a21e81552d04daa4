/// Where a user's enrollment set is kept.
package enum EnrollmentSource: UInt8, CaseIterable, Equatable, Sendable {
    /// In Signet's own sealed record; `signet enroll` and `signet delete` change it.
    case signet = 1
    /// In fprintd's store, which the settings of GNOME and KDE change; Signet only reads it.
    case fprintd = 2

    /// As it is written in the configuration.
    package var word: String {
        switch self {
        case .signet: "signet"
        case .fprintd: "fprintd"
        }
    }
}
