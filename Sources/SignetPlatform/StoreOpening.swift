internal import CPlatform
package import SignetEngine
package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// The ledger of one user on this machine, as module and command line use it.
package typealias MachineLedger<Log: Journal & ~Copyable> = UserLedger<UserStore, SodiumVault, SystemClock, Log>

/// An opened store: the keys of its records, and the enclave that gave them.
package struct OpenedStore: ~Copyable {
    package let keys: StoreKeys
    package let enclave: MachineEnclave

    init(keys: consuming StoreKeys, enclave: consuming MachineEnclave) {
        self.keys = keys
        self.enclave = enclave
    }
}

/// Opens the store of this machine.
package enum StoreOpening {
    /// The ledger for one account; `fault(.store, .missing)` where no store was ever made.
    ///
    /// The configuration says how the TPM is reached, and whether a store without one is accepted. The master key is open
    /// only within this call. Where memory cannot be locked the journal is told, once, and all goes on: a warning is
    /// better than a person shut out.
    package static func ledger<Log: Journal & ~Copyable>(
        root: [UInt8] = UserStore.standardRoot, uid: UInt32, userName: [UInt8], caller: CallerClass,
        configuration: Configuration, log: consuming Log, timing: EnclaveTiming = EnclaveTiming()
    ) throws(StoreError) -> MachineLedger<Log> {
        // One way to the store for all of it.
        let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root) }
        let opened = try open(folder, root: root, configuration.enclaveSettings, timing)
        var store = try UserStore(in: folder, uid: uid, userName: userName, keys: opened.keys)
        if configuration.enrollmentSource == .fprintd { store.elsewhere = FprintdStore(userName: userName) }
        if caller == .anotherPerson { store.lane = CallerLane() }
        let values = try store.values()
        var log = log
        if !opened.keys.current.isLocked() { log.record(.memoryNotLocked) }
        var vault = SodiumVault(root: root, values: values, enclave: opened.takeEnclave())
        // So that a prompt for nobody takes as long as any: the TPM works while the person types.
        if !store.hasIdentityFile() { vault.prepareForNobody() }
        return UserLedger(
            store: store, vault: vault, time: SystemClock(), log: log, configuration: configuration, caller: caller)
    }

    /// The keys of a store, from where it was set up to have them.
    ///
    /// Without `key.tpm` the file `key` alone counts. With it the TPM's key rules, and the file `key` counts only while
    /// the sealed `enclave` names it: so nobody weakens a TPM's store by putting an old `key` beside it. What that does
    /// not stop is an image of the whole disk, taken in the midst of a migration and put back; the users' counters in the
    /// TPM do.
    package static func open(
        root: [UInt8], _ settings: EnclaveSettings, timing: EnclaveTiming = EnclaveTiming()
    ) throws(StoreError) -> OpenedStore {
        let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root) }
        return try open(folder, root: root, settings, timing)
    }

    private static func open(
        _ folder: borrowing SecureFolder, root: [UInt8], _ settings: EnclaveSettings, _ timing: EnclaveTiming
    ) throws(StoreError) -> OpenedStore {
        // Before the keys are read: what changes meanwhile is then seen.
        let stamp = try inStore { () throws(FileFault) in try StoreStamp(folder) }
        let isTPM = try inStore { () throws(FileFault) in try folder.exists(.keyTPM) }
        guard isTPM else {
            let key = try FileEnclave.readOrTell(in: folder)
            guard settings.preference != .require else { throw .fault(.store, .enclaveRequired) }
            return OpenedStore(
                keys: StoreKeys(current: key, stamp: stamp), enclave: MachineEnclave(FileEnclave(root: root)))
        }
        var tpm = TPMEnclave(try EnclaveFiles.readKey(in: folder), settings, timing: timing)
        let key = try unsealed(&tpm)
        guard let fileKey = try EnclaveFiles.readMigration(in: folder, under: key) else {
            return OpenedStore(
                keys: StoreKeys(current: key, stamp: stamp), enclave: MachineEnclave(tpm, root: root, direction: nil))
        }
        let other = try inStore { () throws(FileFault) in try FileEnclave.read(in: folder) }
        guard RecordSealer.keyID(of: other) == fileKey.id else { throw .fault(.store, .keyLost) }
        let enclave = MachineEnclave(tpm, root: root, direction: fileKey.direction)
        switch fileKey.direction {
        case .toFile:
            let keys = StoreKeys(current: other, former: key, direction: .toFile, stamp: stamp)
            return OpenedStore(keys: keys, enclave: enclave)
        case .toTPM:
            let keys = StoreKeys(current: key, former: other, direction: .toTPM, stamp: stamp)
            return OpenedStore(keys: keys, enclave: enclave)
        }
    }

    private static func unsealed(_ tpm: inout TPMEnclave) throws(StoreError) -> SecretBytes {
        do throws(EnclaveError) { return try tpm.masterKey() } catch { throw StoreError(error) }
    }
}

extension OpenedStore {
    /// Gives up the rest for the enclave.
    package consuming func takeEnclave() -> MachineEnclave { enclave }

    /// Gives up the rest for the keys; the enclave's helper ends.
    package consuming func takeKeys() -> StoreKeys { keys }
}

extension StoreError {
    /// What it means for a store that its enclave does not give the master key.
    init(_ error: EnclaveError) {
        switch error {
        case .outOfMemory: self = .system(errno: ENOMEM)
        case .keyLost: self = .fault(.store, .keyLost)
        case .problem(.foreign): self = .fault(.store, .enclaveForeign)
        case .problem(.busy), .problem(.noRoom): self = .busy
        case .problem: self = .fault(.store, .enclaveGone)
        }
    }
}
