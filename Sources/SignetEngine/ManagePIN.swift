internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// What came of setting a PIN.
package struct PINSet: Equatable, Sendable {
    /// What went with a PIN in whose place an administrator put another.
    package struct Replaced: Equatable, Sendable {
        /// There are fingers, which wait for their activation.
        package let fingers: Bool
        /// There was a recovery code, which does not work any more.
        package let recoveryCode: Bool
    }

    /// Nil where there was no PIN.
    package let replaced: Replaced?
    /// Whether a recovery code was made and shown.
    package let recoveryCodeShown: Bool
}

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Sets the first PIN, and shows the recovery code that goes with it.
    ///
    /// An administrator may replace one that is lost.
    package mutating func setPIN<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) -> PINSet {
        try task(on: &screen) { (management, screen) throws(ManagementRefusal) in
            let replaces = try management.requireSettable()
            let first = try management.setFirstPIN(on: &screen)
            _ = consume first
            return PINSet(
                replaced: replaces,
                recoveryCodeShown: !management.request.byAdministrator && screen.canShowRecoveryCode)
        }
    }

    /// What goes with the PIN that an administrator is about to replace; nil where there is none.
    private mutating func requireSettable() throws(ManagementRefusal) -> PINSet.Replaced? {
        var recoveryCode = false
        do throws(LedgerFailure) {
            guard let state = try ledger.load() else { return nil }
            recoveryCode = state.identity.recovery != nil
        } catch {
            // Of a record that cannot be used nothing is lost when an administrator replaces it.
            guard request.byAdministrator, error.isOfRecords else { throw .ledger(error) }
        }
        guard request.byAdministrator else { throw .pinAlreadySet }
        // Prints that cannot be read now may be there again.
        guard let prints = ledger.readablePrints() else {
            return PINSet.Replaced(fingers: true, recoveryCode: recoveryCode)
        }
        return PINSet.Replaced(fingers: !prints.entries.isEmpty, recoveryCode: recoveryCode)
    }

    /// Makes the user's identity with a new PIN, and a recovery code where it can be shown; answers the signing key.
    mutating func setFirstPIN<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) -> SecretBytes {
        let pin = try askNewPIN()
        let request = request
        let key = try onLedger { (ledger) throws(LedgerFailure) in
            try ledger.makeIdentity(
                uid: request.uid, userName: request.userName, pin: pin, byAdministrator: request.byAdministrator)
        }
        pinWasSet = true
        done(.pinSet)
        // The code is the user's secret; an administrator has no need of it, since root can set a PIN anyway.
        if !request.byAdministrator, screen.canShowRecoveryCode { try makeRecoveryCode(key, on: &screen) }
        return key
    }

    /// Changes the PIN; approvals and recovery code stay.
    package mutating func changePIN<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) {
        try task(on: &screen) { (management, _) throws(ManagementRefusal) in
            let key = try management.provePIN()
            let pin = try management.askNewPIN()
            try management.onLedger { (ledger) throws(LedgerFailure) in
                try ledger.replacePIN(pin, key: key, after: .pin)
            }
            management.done(.pinChanged)
        }
    }

    /// Removes all that is kept of the user, once no print is left that would lie in a reader's memory unknown.
    package mutating func removePIN<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) {
        try task(on: &screen) { (management, _) throws(ManagementRefusal) in
            if !management.request.byAdministrator { _ = try management.state() }
            try management.requireNoPrints()
            if !management.request.byAdministrator { _ = try management.provePIN() }
            try management.onLedger { (ledger) throws(LedgerFailure) in try ledger.removeRecords() }
            management.done(.pinRemoved)
        }
    }

    private mutating func requireNoPrints() throws(ManagementRefusal) {
        // Prints that Signet does not keep are none of those that would lie somewhere unknown.
        if request.configuration.enrollmentSource != .signet { return }
        let set = try prints()
        if !set.entries.isEmpty { throw .printsLeft(set.entries.count) }
    }

    // MARK: The recovery code

    /// Makes a new recovery code in place of any older one, and shows it once.
    package mutating func renewRecoveryCode<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) {
        try task(on: &screen) { (management, screen) throws(ManagementRefusal) in
            guard screen.canShowRecoveryCode else { throw .nowhereToShow }
            let key = try management.provePIN()
            try management.makeRecoveryCode(key, on: &screen)
        }
    }

    private mutating func makeRecoveryCode<Screen: ManagementScreen & ~Copyable>(
        _ key: borrowing SecretBytes, on screen: inout Screen
    ) throws(ManagementRefusal) {
        let code: SecretBytes
        do throws(LedgerFailure) { code = try ledger.makeRecoveryCode(key: key) } catch { throw .ledger(error) }
        done(.recoveryCodeMade)
        screen.show(recoveryCode: code)
    }

    /// Sets a new PIN by the recovery code, which is used up then.
    package mutating func useRecoveryCode<Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen
    ) throws(ManagementRefusal) {
        try task(on: &screen) { (management, _) throws(ManagementRefusal) in
            guard try management.state().identity.recovery != nil else { throw .noRecoveryCode }
            let key = try management.prove(.recoveryCode)
            let pin = try management.askNewPIN()
            try management.onLedger { (ledger) throws(LedgerFailure) in
                try ledger.replacePIN(pin, key: key, after: .recoveryCode)
            }
            management.done(.recoveryCodeUsed)
        }
    }
}
