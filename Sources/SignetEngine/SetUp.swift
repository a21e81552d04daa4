internal import SignetPolicy

/// What came of setting a user up.
package enum SetUp: Equatable, Sendable {
    case enrolled(Enrolled)
    /// The PIN is set; the reader, or the list of what it keeps, is why there is no finger.
    case pinAlone(ManagementRefusal)
}

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Enrolls a finger and sets the PIN on the way; where the reader does not serve, whatever the reason, the PIN alone.
    ///
    /// Who has a PIN already is refused as in any enrollment, but for a machine without a reader.
    package mutating func setUp<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) -> SetUp {
        do throws(ManagementRefusal) { return .enrolled(try enroll(nil, on: &screen)) } catch {
            guard error.isOfReader else { throw error }
            // It may have been refused before the PIN, or later, when that was set.
            let hasPIN = try onLedger { (ledger) throws(LedgerFailure) in try ledger.load() } != nil
            if !hasPIN { _ = try setPIN(on: &screen) }
            guard pinWasSet || error == .reader(.noReader) else { throw error }
            return .pinAlone(error)
        }
    }
}

extension ManagementRefusal {
    /// Whether no reader served, or the one that was chosen failed, or nobody could have listed what it keeps.
    fileprivate var isOfReader: Bool {
        switch self {
        case .reader, .readerNotTrusted, .ledger(.indexUnusable): true
        default: false
        }
    }
}
