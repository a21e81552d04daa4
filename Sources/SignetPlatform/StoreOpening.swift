internal import CPlatform
package import SignetEngine
package import SignetPolicy
internal import SignetSecrets

/// The ledger of one user on this machine, as module and command line use it.
package typealias MachineLedger<Log: Journal & ~Copyable> = UserLedger<UserStore, SodiumVault, SystemClock, Log>

/// Opens the store of this machine.
package enum StoreOpening {
    /// The ledger for one account; `fault(.store, .missing)` where no store was ever made.
    ///
    /// The master key is open only within this call. Where memory cannot be locked the journal is told, once, and all goes
    /// on: a warning is better than a person shut out.
    package static func ledger<Log: Journal & ~Copyable>(
        root: [UInt8] = UserStore.standardRoot, uid: UInt32, userName: [UInt8], caller: CallerClass,
        configuration: Configuration, log: consuming Log
    ) throws(StoreError) -> MachineLedger<Log> {
        let key = try FileEnclave.read(root: root)
        var store = try UserStore(root: root, uid: uid, userName: userName, masterKey: key)
        if configuration.enrollmentSource == .fprintd { store.elsewhere = FprintdStore(userName: userName) }
        let vault = try SodiumVault(root: root, masterKey: key)
        var log = log
        if !key.isLocked() { log.record(.memoryNotLocked) }
        return UserLedger(
            store: store, vault: vault, time: SystemClock(), log: log, configuration: configuration, caller: caller)
    }
}
