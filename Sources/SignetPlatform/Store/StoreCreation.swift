internal import CPlatform
package import SignetEngine
package import SignetPolicy
package import SignetRecords
internal import SignetSecrets

/// What a store that was asked for is bound to.
package struct MadeStore: Equatable, Sendable {
    package let kind: EnclaveKind
    /// Whether it was there before.
    package let existed: Bool
    /// Why a new store got a file where a TPM was preferred.
    package let withoutTPM: EnclaveProblem?

    package init(kind: EnclaveKind, existed: Bool, withoutTPM: EnclaveProblem?) {
        self.kind = kind
        self.existed = existed
        self.withoutTPM = withoutTPM
    }
}

/// Making the store, which management does once and an authentication never.
package enum StoreCreation {
    /// Makes what is not there yet: the folder, the users' folder, the master key and the sealed values.
    ///
    /// A key or values that are there are never replaced, and a store keeps the enclave that it has. Where a key is
    /// missing although users have folders, it was lost, and a new one would only hide that: `fault(.store, .keyLost)` or
    /// `fault(.values, .missing)`. The parent of `root` must be there and safe.
    @discardableResult
    package static func createStore(
        root: [UInt8], settings: EnclaveSettings, timing: EnclaveTiming = EnclaveTiming()
    ) throws(StoreError) -> MadeStore {
        let folder = try inStore { () throws(FileFault) in try SecureFolder(path: root, creating: true) }
        let lock = try FileLock(.storeLock, in: folder)
        let made = try make(in: folder, root: root, settings, timing)
        // Held until here.
        _ = consume lock
        return made
    }

    private static func make(
        in folder: borrowing SecureFolder, root: [UInt8], _ settings: EnclaveSettings, _ timing: EnclaveTiming
    ) throws(StoreError) -> MadeStore {
        let users = try inStore { () throws(FileFault) in try folder.folder(.users, creating: true) }
        let isUsed = try !inStore { () throws(FileFault) in try users.numbers() }.isEmpty
        let isTPM = try inStore { () throws(FileFault) in try folder.exists(.keyTPM) }
        let hasKey = try inStore { () throws(FileFault) in try folder.exists(.key) }
        let isFile = hasKey && !isTPM
        let hasValues = try inStore { () throws(FileFault) in try folder.exists(.values) }
        if isTPM || isFile {
            if isFile, settings.preference == .require { throw .fault(.store, .enclaveRequired) }
            if !hasValues {
                guard !isUsed else { throw .fault(.values, .missing) }
                let opened = try StoreOpening.open(root: root, settings, timing: timing)
                try writeValues(under: opened.keys.current, in: folder)
            }
            return MadeStore(kind: isTPM ? .tpm : .file, existed: true, withoutTPM: nil)
        }
        guard !isUsed else { throw .fault(.store, .keyLost) }
        var withoutTPM: EnclaveProblem?
        if settings.preference != .file {
            switch SealedMasterKey.make(settings, timing) {
            case .made(let sealed):
                // The key comes last: with it the store is whole, and without it the next call begins anew.
                try writeValues(under: sealed.key, in: folder)
                try EnclaveFiles.write(nil, in: folder, under: sealed.key)
                try EnclaveFiles.write(sealed.record, in: folder)
                return MadeStore(kind: .tpm, existed: false, withoutTPM: nil)
            // A TPM that is busy now is one all the same: a file in its place would be a choice nobody made.
            case .failed(.problem(let problem)) where settings.preference == .prefer && problem.isLasting:
                withoutTPM = problem
            case .failed(let error): throw StoreError(error)
            }
        }
        guard let key = SecretBytes(randomCount: FileEnclave.keyCount) else { throw .system(errno: ENOMEM) }
        try writeValues(under: key, in: folder)
        try writeKey(key, in: folder)
        return MadeStore(kind: .file, existed: false, withoutTPM: withoutTPM)
    }

    /// Writes the file key.
    static func writeKey(_ key: borrowing SecretBytes, in folder: borrowing SecureFolder) throws(StoreError) {
        try inStore { () throws(FileFault) in
            try key.withBytes { (bytes) throws(FileFault) in try folder.replace(.key, with: bytes, mode: 0o400) }
        }
    }

    private static func writeValues(
        under key: borrowing SecretBytes, in folder: borrowing SecureFolder
    ) throws(StoreError) {
        let file = try StoreValues.makeFile(masterKey: key)
        try inStore { () throws(FileFault) in try folder.replace(.values, with: file.span) }
    }
}

extension EnclaveProblem {
    /// Whether another try a little later would end the same way: there is no TPM that could be used.
    var isLasting: Bool {
        switch self {
        case .noDevice, .helperFailed, .ownerRefused: true
        case .foreign, .lockout, .busy, .noRoom, .noCounter, .lockoutAuthSet, .other, .stalled: false
        }
    }
}

/// A fresh master key, sealed in the TPM and proven by unsealing it in a session of its own.
struct SealedMasterKey: ~Copyable {
    let key: SecretBytes
    let record: EnclaveKeyRecord

    enum Making: ~Copyable {
        case made(SealedMasterKey)
        case failed(EnclaveError)
    }

    /// The same, with the failure as a value.
    static func make(_ settings: EnclaveSettings, _ timing: EnclaveTiming) -> Making {
        do throws(EnclaveError) { return .made(try SealedMasterKey(settings, timing)) } catch { return .failed(error) }
    }

    init(_ settings: EnclaveSettings, _ timing: EnclaveTiming) throws(EnclaveError) {
        guard let key = SecretBytes(randomCount: FileEnclave.keyCount) else { throw .outOfMemory }
        let record: EnclaveKeyRecord
        do throws(EnclaveProblem) {
            var session = EnclaveSession(settings, primaryName: [], patience: timing.patience)
            let object = try session.seal(key)
            record = EnclaveKeyRecord(primaryName: session.primaryName, masterKey: object)
        } catch {
            throw .problem(error)
        }
        var again = EnclaveSession(settings, primaryName: record.primaryName, patience: timing.patience)
        guard try again.unseal(record.masterKey).isEqual(to: key) else { throw .problem(.helperFailed) }
        self.key = key
        self.record = record
    }
}
