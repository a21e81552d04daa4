package import SignetEngine
package import SignetPolicy
package import SignetRecords
internal import SignetSecrets

/// How a store is bound to its machine, for people and doctor.
package struct EnclaveStatus: Equatable, Sendable {
    /// What the store was set up with; nil where there is no store.
    package var kind: EnclaveKind?
    /// Which way the store moves, while it does.
    package var direction: EnclaveMigration.Direction?
    /// Why the store or its sealed values cannot be opened; nil where they can.
    package var fault: StoreError?
    /// What the machine's TPM says of itself, whether the store uses it or not.
    package var description: EnclaveDescription?
    /// Why no TPM answers.
    package var problem: EnclaveProblem?
    /// A file `key` lies beside a TPM's store and does not count: an old one that was put back, or what a migration that
    /// stopped just before its end left; migrating once more destroys it.
    package var hasStrayKey = false
    /// In the order of their uids; empty where the store cannot be opened.
    package var users: [User] = []

    package init() {}

    /// What one user has in the TPM.
    package struct User: Equatable, Sendable {
        package let uid: UInt32
        /// Whether there is an identity; a folder alone stays where a lock was taken before there was one.
        package var hasRecords = false
        /// Whether the PIN has a half in the TPM; a PIN that was set without one gets it when it is right the next time.
        package var hasHalf = false
        /// Whether the TPM's own limit counts wrong PINs of this user.
        package var countsFailures = false
        /// The user's counter; nil: the records can be rolled back by whoever writes to the disk.
        package var counter: EnclaveCounter?
        /// Why the records cannot be read.
        package var fault: StoreError?

        package init(uid: UInt32) { self.uid = uid }
    }
}

extension EnclaveAdministration {
    /// Looks at store and TPM; nothing is changed.
    package static func status(
        root: [UInt8] = UserStore.standardRoot, settings: EnclaveSettings, timing: EnclaveTiming = EnclaveTiming()
    ) -> EnclaveStatus {
        var status = EnclaveStatus()
        do throws(EnclaveProblem) {
            status.description = try look(settings, timing: timing)
        } catch {
            status.problem = error
        }
        do throws(StoreError) {
            let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root) }
            let isTPM = try inStore { () throws(FileFault) in try folder.exists(.keyTPM) }
            let hasKey = try inStore { () throws(FileFault) in try folder.exists(.key) }
            if isTPM || hasKey { status.kind = isTPM ? .tpm : .file }
            let keys = try StoreOpening.open(root: root, settings, timing: timing).takeKeys()
            _ = try StoreValues(root: root, keys: keys)
            status.direction = keys.direction
            status.hasStrayKey = isTPM && hasKey && keys.direction == nil
            let users = try UserStore.users(root: root)
            guard let first = users.first else { return status }
            var store = try UserStore(root: root, uid: first, userName: [], keys: keys)
            for uid in users {
                store.turn(to: uid, userName: [])
                status.users.append(user(uid, in: &store))
            }
        } catch {
            if error != .fault(.store, .missing) { status.fault = error }
        }
        // It answers, and gives no key to whoever cannot speak for its owner.
        if status.fault == .fault(.store, .enclaveGone), status.description?.hasOwnerAuthorization == true {
            status.problem = .ownerRefused
        }
        return status
    }

    /// What the machine's TPM says of itself.
    package static func look(
        _ settings: EnclaveSettings, timing: EnclaveTiming = EnclaveTiming()
    ) throws(EnclaveProblem) -> EnclaveDescription {
        var session = EnclaveSession(settings, primaryName: [], patience: timing.patience)
        return try session.lookAlone()
    }

    private static func user(_ uid: UInt32, in store: inout UserStore) -> EnclaveStatus.User {
        var user = EnclaveStatus.User(uid: uid)
        do throws(StoreError) {
            if let binding = try store.binding() {
                user.hasRecords = true
                user.hasHalf = binding.half != nil
                user.countsFailures = binding.half?.countsFailures ?? false
                user.counter = binding.counter
            }
        } catch {
            user.fault = error
        }
        return user
    }
}
