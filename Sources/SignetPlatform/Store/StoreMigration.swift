internal import CPlatform
package import SignetEngine
package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// How far a store came on its way from one master key to another.
package struct MigrationOutcome: Equatable, Sendable {
    /// What the store is bound to now; while it is on its way, what it will be.
    package let target: EnclaveKind
    /// The old key is gone.
    package var isFinished = false
    /// How many users' records are under the new key.
    package var movedUsers = 0
    /// Whose PIN still has its half in the TPM: the store stays on its way until each was right once, or was set anew.
    package var waitingForPIN: [UInt32] = []
    /// Whose records could not be opened; the store stays on its way until they are mended or purged.
    package var unreadable: [UnreadableUser] = []
    /// Counters that the TPM did not give back.
    package var countersLeft: [EnclaveCounter] = []

    package struct UnreadableUser: Equatable, Sendable {
        package let uid: UInt32
        package let error: StoreError

        package init(uid: UInt32, error: StoreError) {
            self.uid = uid
            self.error = error
        }
    }

    package init(target: EnclaveKind) { self.target = target }
}

/// Moves a store between TPM and file: all records are sealed anew under a new master key, then the old one is destroyed.
///
/// Pepper and digest key stay, and with them PINs, approvals and recovery codes. Whatever crashes between two steps leaves
/// a store that opens, and the next call goes on from there.
package struct StoreMigration: ~Copyable {
    /// Each is durable before the next begins.
    package enum Step: Equatable, Sendable {
        /// A new key is written that nothing rests on yet: the note that names both, or the file.
        case keyPrepared
        /// From now on everything is written under the new key.
        case committed
        case valuesMoved
        case userMoved(UInt32)
        /// Nothing is left under the old key.
        case verified
        /// The old key is not accepted any more.
        case oldKeyDropped
        case oldKeyDestroyed
    }

    private let root: [UInt8]
    private let settings: EnclaveSettings
    private let timing: EnclaveTiming
    private let folder: SecureFolder
    /// Two migrations at once would undo each other.
    private let lock: FileLock
    private let reached: (Step) throws(StoreError) -> Void

    /// Takes the store at `root`; `.busy` where another migration is under way.
    ///
    /// `reached` hears of each step.
    package init(
        root: [UInt8], settings: EnclaveSettings, timing: EnclaveTiming = EnclaveTiming(),
        reached: @escaping (Step) throws(StoreError) -> Void = { (_) throws(StoreError) in }
    ) throws(StoreError) {
        self.root = root
        self.settings = settings
        self.timing = timing
        self.reached = reached
        let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root) }
        // Never killed for its length: it ends with its process, and a second one need not wait.
        var patience = LockTiming()
        patience.holdLimit = .max
        patience.waitLimit = 1000
        lock = try FileLock(.migrationLock, in: folder, timing: patience)
        self.folder = folder
    }

    /// Moves the store to `target`, or goes on with it; harmless where it is there.
    package mutating func run(to target: EnclaveKind) throws(StoreError) -> MigrationOutcome {
        let isTPM = try inStore { () throws(FileFault) in try folder.exists(.keyTPM) }
        switch (isTPM, target) {
        case (false, .file):
            // What a migration that did not get as far as `key.tpm`, or one that finished, may have left.
            _ = try fileKey()
            try destroy(.keyTPM)
            try destroy(.enclave)
            return finished(.file)
        case (false, .tpm):
            let id = try fileKey()
            try requireMovableIndex(under: try FileEnclave.read(root: root))
            try bindToTPM(from: id)
        case (true, .file): try turn(.toFile)
        case (true, .tpm): try turn(.toTPM)
        }
        return try moveAll(to: target)
    }

    private func finished(_ target: EnclaveKind) -> MigrationOutcome {
        var outcome = MigrationOutcome(target: target)
        outcome.isFinished = true
        return outcome
    }

    /// From a file: the TPM gets a key, and with `key.tpm` it rules.
    private func bindToTPM(from id: [UInt8]) throws(StoreError) {
        let sealed: SealedMasterKey
        do throws(EnclaveError) { sealed = try SealedMasterKey(settings, timing) } catch { throw StoreError(error) }
        try EnclaveFiles.write(EnclaveMigration.FileKey(id: id, direction: .toTPM), in: folder, under: sealed.key)
        try reached(.keyPrepared)
        try EnclaveFiles.write(sealed.record, in: folder)
        try reached(.committed)
    }

    /// The id of the key in the file; refuses one that the records are not sealed under, before anything is written.
    ///
    /// Whoever lost `key.tpm` and put some `key` in its place would lose the way back, too.
    private func fileKey() throws(StoreError) -> [UInt8] {
        let key = try FileEnclave.read(root: root)
        guard let id = RecordSealer.keyID(of: key) else { throw .system(errno: ENOMEM) }
        guard try recordIDs().allSatisfy({ $0 == id }) else { throw .fault(.store, .foreign) }
        return id
    }

    /// Refuses what `moveAll` would refuse of the index of prints in readers' memories, while there is one key still.
    private func requireMovableIndex(under key: borrowing SecretBytes) throws(StoreError) {
        guard let sealer = RecordSealer(masterKey: key) else { throw .system(errno: ENOMEM) }
        try ChipIndexFile.reseal(in: folder, sealer)
    }

    /// In a store of the TPM: has the records go where they are to go.
    private func turn(_ direction: EnclaveMigration.Direction) throws(StoreError) {
        let key = try masterKey()
        if let fileKey = try EnclaveFiles.readMigration(in: folder, under: key) {
            guard fileKey.direction != direction else { return }
            try EnclaveFiles.write(
                EnclaveMigration.FileKey(id: fileKey.id, direction: direction), in: folder, under: key)
            try reached(.committed)
            return
        }
        guard let id = RecordSealer.keyID(of: key) else { throw .system(errno: ENOMEM) }
        guard direction == .toFile else { return }
        // A file key that nobody names is about to be replaced: nothing may rest on it.
        guard try recordIDs().allSatisfy({ $0 == id }) else { throw .fault(.store, .foreign) }
        try requireMovableIndex(under: key)
        guard let fresh = SecretBytes(randomCount: FileEnclave.keyCount), let freshID = RecordSealer.keyID(of: fresh)
        else { throw .system(errno: ENOMEM) }
        try destroy(.key)
        try StoreCreation.writeKey(fresh, in: folder)
        try reached(.keyPrepared)
        try EnclaveFiles.write(
            EnclaveMigration.FileKey(id: freshID, direction: .toFile), in: folder, under: key)
        try reached(.committed)
    }

    private func masterKey() throws(StoreError) -> SecretBytes {
        var tpm = TPMEnclave(try EnclaveFiles.readKey(in: folder), settings, timing: timing)
        do throws(EnclaveError) { return try tpm.masterKey() } catch { throw StoreError(error) }
    }

    /// How often all users are gone through: who made records under the old key meanwhile held a lock that was waited for.
    private static let rounds = 3

    private func moveAll(to target: EnclaveKind) throws(StoreError) -> MigrationOutcome {
        var outcome = MigrationOutcome(target: target)
        let opened = try open()
        let keys = opened.keys
        var enclave = opened.enclave
        guard let sealer = RecordSealer(keys) else { throw .system(errno: ENOMEM) }
        try StoreValues.reseal(root: root, sealer)
        try ChipIndexFile.reseal(in: folder, sealer)
        try reached(.valuesMoved)
        for _ in 0..<StoreMigration.rounds {
            let countersLeft = outcome.countersLeft
            outcome = MigrationOutcome(target: target)
            outcome.countersLeft = countersLeft
            try moveUsers(&outcome, keys, &enclave)
            guard outcome.unreadable.isEmpty, outcome.waitingForPIN.isEmpty else { return outcome }
            if try recordIDs().allSatisfy({ $0 == sealer.keyID }) {
                try reached(.verified)
                try finish(target, keys.current)
                outcome.isFinished = true
                return outcome
            }
        }
        return outcome
    }

    private func moveUsers(
        _ outcome: inout MigrationOutcome, _ keys: borrowing StoreKeys, _ enclave: inout MachineEnclave
    ) throws(StoreError) {
        for uid in try UserStore.users(root: root) {
            do throws(StoreError) {
                var user = try UserStore(root: root, uid: uid, userName: [], keys: keys)
                try user.lock()
                let moved = try user.reseal(leavingTPM: outcome.target == .file)
                user.unlock()
                if outcome.target == .file {
                    if moved.hasHalf { outcome.waitingForPIN.append(uid) }
                    if let counter = moved.counter { remove(counter, &outcome, &enclave) }
                }
                outcome.movedUsers += 1
            } catch {
                guard case .fault = error else { throw error }
                outcome.unreadable.append(MigrationOutcome.UnreadableUser(uid: uid, error: error))
                continue
            }
            try reached(.userMoved(uid))
        }
    }

    private func remove(_ counter: EnclaveCounter, _ outcome: inout MigrationOutcome, _ enclave: inout MachineEnclave) {
        do throws(EnclaveError) { try enclave.remove(counter) } catch { outcome.countersLeft.append(counter) }
    }

    private func open() throws(StoreError) -> OpenedStore {
        var accepting = settings
        accepting.preference = .prefer
        return try StoreOpening.open(root: root, accepting, timing: timing)
    }

    private func finish(_ target: EnclaveKind, _ masterKey: borrowing SecretBytes) throws(StoreError) {
        switch target {
        case .tpm:
            try EnclaveFiles.write(nil, in: folder, under: masterKey)
            try reached(.oldKeyDropped)
            try destroy(.key)
        case .file:
            // Without `key.tpm` the file rules, and `enclave` means nothing.
            try destroy(.keyTPM)
            try reached(.oldKeyDropped)
            try destroy(.enclave)
        }
        try reached(.oldKeyDestroyed)
    }

    private func destroy(_ name: FileName) throws(StoreError) {
        try inStore { () throws(FileFault) in try folder.destroy(name) }
    }

    /// The ids of all master keys under which anything of the store lies.
    private func recordIDs() throws(StoreError) -> [[UInt8]] {
        var ids: [[UInt8]] = []
        if let values = try inStore({ () throws(FileFault) in
            try folder.exists(.values) ? folder.read(.values, limit: 4096) : nil
        }), let id = SealedHeader.claimedKeyID(in: values.span) {
            ids.append(id)
        }
        guard let none = SecretBytes(count: FileEnclave.keyCount) else { throw .system(errno: ENOMEM) }
        for uid in try UserStore.users(root: root) {
            let user = try UserStore(root: root, uid: uid, userName: [], masterKey: none)
            for kind in [RecordKind.identity, .prints, .attempts] { ids += try user.keyIDs(of: kind) }
        }
        return ids
    }
}
