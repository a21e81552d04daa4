internal import CPlatform
package import SignetEngine
package import SignetPolicy
package import SignetRecords
package import SignetSecrets

/// What an administrator does with the enclave, each step by itself.
///
/// All of it needs root and nobody's PIN.
package enum EnclaveAdministration {
    /// Makes the store if there is none, and says what it is bound to.
    package static func setup(
        root: [UInt8] = UserStore.standardRoot, settings: EnclaveSettings, timing: EnclaveTiming = EnclaveTiming()
    ) throws(StoreError) -> MadeStore {
        let made = try StoreCreation.createStore(root: root, settings: settings, timing: timing)
        // One that was there may be closed: nobody is told that all is well then.
        if made.existed {
            let keys = try StoreOpening.open(root: root, settings, timing: timing).takeKeys()
            _ = try StoreValues(root: root, keys: keys)
        }
        return made
    }

    /// Moves the store, or goes on with a move that was interrupted.
    package static func migrate(
        root: [UInt8] = UserStore.standardRoot, to target: EnclaveKind, settings: EnclaveSettings,
        timing: EnclaveTiming = EnclaveTiming()
    ) throws(StoreError) -> MigrationOutcome {
        var migration = try StoreMigration(root: root, settings: settings, timing: timing)
        return try migration.run(to: target)
    }

    /// What `forget` removed.
    package struct Forgotten: Equatable, Sendable {
        package var users: [UInt32] = []
    }

    /// Removes what only a TPM that is gone could open: its key, the store's sealed values, all users' records.
    ///
    /// Fingers and PINs are set up anew afterwards; templates on a reader's chip and everything else on the machine stay.
    /// `fault(.store, .missing)` for a store that is not a TPM's. What this TPM may still hold of ours, `removeLeftovers`
    /// takes away once there is a store again.
    package static func forget(root: [UInt8] = UserStore.standardRoot) throws(StoreError) -> Forgotten {
        let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root) }
        guard try inStore({ () throws(FileFault) in try folder.exists(.keyTPM) }) else {
            throw .fault(.store, .missing)
        }
        var forgotten = Forgotten()
        guard let none = SecretBytes(count: FileEnclave.keyCount) else { throw .system(errno: ENOMEM) }
        for uid in try UserStore.users(root: root) {
            var user = try UserStore(root: root, uid: uid, userName: [], masterKey: none)
            try user.lock()
            try user.remove()
            user.unlock()
            forgotten.users.append(uid)
        }
        // The key comes last: a call that was interrupted is then done once more. A file `key` beside it, of a migration,
        // would be taken for the store's own afterwards.
        for name in [FileName.values, .chips, .enclave, .key, .keyTPM] {
            try inStore { () throws(FileFault) in try folder.destroy(name) }
        }
        return forgotten
    }

    /// What came of accepting older records.
    package enum Acceptance: Equatable, Sendable {
        /// The counters stand beside the identity that is there, and beside the TPM's counter where there is one.
        case accepted(EnclaveCounter?)
        /// The TPM's counter is gone: the records are accepted without one, and get another when the PIN is right.
        case withoutCounter
        /// The user has no records.
        case nothingThere
    }

    /// Accepts records that are older than the TPM's counter or the counters say, after a backup was put back.
    ///
    /// Whoever put them back may have taken back failures, a new PIN or a withdrawn approval with them: an administrator's
    /// decision, for one user.
    package static func acceptOlderRecords(
        root: [UInt8] = UserStore.standardRoot, uid: UInt32, settings: EnclaveSettings,
        timing: EnclaveTiming = EnclaveTiming()
    ) throws(StoreError) -> Acceptance {
        let opened = try StoreOpening.open(root: root, settings, timing: timing)
        let keys = opened.keys
        var enclave = opened.enclave
        var store = try UserStore(root: root, uid: uid, userName: [], keys: keys)
        guard store.hasIdentityFile() else { return .nothingThere }
        enclave.wake()
        try store.lock()
        guard let binding = try store.binding() else { return .nothingThere }
        guard var counter = binding.counter else {
            try store.accept(nil)
            return .accepted(nil)
        }
        do throws(EnclaveError) {
            counter.value = try enclave.value(of: counter, for: CounterOwner(uid: uid, instance: binding.instance))
        } catch {
            guard error == .problem(.noCounter) else { throw StoreError(error) }
            try store.accept(nil)
            return .withoutCounter
        }
        try store.accept(counter)
        return .accepted(counter)
    }

    /// Sets the TPM's lockoutAuth, which must be empty, and the limits that go with it.
    ///
    /// It belongs to the whole machine. The TPM forgets one failure in `healSeconds`, and asks for a wrong lockoutAuth
    /// no earlier again than after `recoverySeconds`. PINs that are set afterwards count for it where `limit` is 32 or more.
    package static func setLockout(
        _ settings: EnclaveSettings, authorization: borrowing SecretBytes, limit: UInt32, healSeconds: UInt32,
        recoverySeconds: UInt32, timing: EnclaveTiming = EnclaveTiming()
    ) throws(EnclaveProblem) {
        var session = EnclaveSession(settings, primaryName: [], patience: timing.patience)
        let reply = try authorization.withBytes { (bytes) throws(EnclaveProblem) in
            try session.ask(
                .setLockout(
                    authorization: 0..<bytes.count, limit: limit, healSeconds: healSeconds,
                    recoverySeconds: recoverySeconds),
                secrets: bytes
            ).reply
        }
        guard reply == .done else { throw session.refuse() }
    }

    /// Has the TPM forget its failures; false where lockoutAuth was wrong: to be asked of a person once, for the TPM
    /// refuses every further try for as long as `recoverySeconds` say.
    package static func resetLockout(
        _ settings: EnclaveSettings, authorization: borrowing SecretBytes, timing: EnclaveTiming = EnclaveTiming()
    ) throws(EnclaveProblem) -> Bool {
        var session = EnclaveSession(settings, primaryName: [], patience: timing.patience)
        let reply = try authorization.withBytes { (bytes) throws(EnclaveProblem) in
            try session.ask(.resetLockout(authorization: 0..<bytes.count), secrets: bytes).reply
        }
        switch reply {
        case .done: return true
        case .wrong: return false
        default: throw session.refuse()
        }
    }

    /// Takes away counters that no user's records name: of purged users, of a store that was forgotten, of a crash.
    ///
    /// Refused where any user's records cannot be read, since theirs would be among them. False, and nothing done, where
    /// the store is a file's. A counter that is made at this very moment is not named yet: `acceptOlderRecords` then helps.
    package static func removeLeftovers(
        root: [UInt8] = UserStore.standardRoot, settings: EnclaveSettings, timing: EnclaveTiming = EnclaveTiming()
    ) throws(StoreError) -> Bool {
        let opened = try StoreOpening.open(root: root, settings, timing: timing)
        let keys = opened.keys
        var enclave = opened.enclave
        guard enclave.kind == .tpm else { return false }
        var kept: [UInt32] = []
        for uid in try UserStore.users(root: root) {
            var store = try UserStore(root: root, uid: uid, userName: [], keys: keys)
            if let counter = try store.binding()?.counter { kept.append(counter.index) }
        }
        for index in EnclaveMessage.counterIndices where !kept.contains(index) {
            do throws(EnclaveError) { try enclave.remove(EnclaveCounter(index: index, value: 0)) } catch {
                throw StoreError(error)
            }
        }
        return true
    }
}
