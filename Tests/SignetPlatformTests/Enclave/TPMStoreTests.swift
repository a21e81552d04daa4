import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// A store whose master key is a TPM's.
@Suite(.enabled(if: StandIn.obstacle == nil, Comment(rawValue: StandIn.obstacle ?? ""))) struct TPMStoreTests {
    let stage: StandIn

    init() throws { stage = try StandIn() }

    /// Catches a choice that is not the configuration's, and one that is made again later.
    @Test func theChoiceIsMadeOnce() throws {
        #expect(try stage.make() == MadeStore(kind: .tpm, existed: false, withoutTPM: nil))
        #expect(stage.files == ["enclave", "key.tpm", "users", "values"])
        #expect(try stage.make(.file) == MadeStore(kind: .tpm, existed: true, withoutTPM: nil))
        #expect(stage.fault(.file) == nil)
        #expect(stage.fault(.require) == nil)

        let file = try StandIn()
        #expect(try file.make(.file) == MadeStore(kind: .file, existed: false, withoutTPM: nil))
        #expect(file.files == ["key", "users", "values"])
        #expect(file.requests() == [])
        #expect(try file.make(.prefer) == MadeStore(kind: .file, existed: true, withoutTPM: nil))
        #expect(file.fault(.require) == .fault(.store, .enclaveRequired))
        #expect(storeError { try file.make(.require) } == .fault(.store, .enclaveRequired))
    }

    /// Catches a file key that is made although a TPM is there and only cannot answer now, or is required.
    @Test func whatIsNoReasonForAFile() throws {
        for (problem, isLasting) in [
            (EnclaveProblem.noDevice, true), (.ownerRefused, true), (.busy, false), (.noRoom, false), (.other, false),
        ] {
            let stage = try StandIn()
            try stage.misbehave("open \(problem.rawValue)")
            #expect(storeError { try stage.make(.require) } != nil)
            if isLasting {
                #expect(try stage.make() == MadeStore(kind: .file, existed: false, withoutTPM: problem))
            } else {
                #expect(storeError { try stage.make() } != nil)
                #expect(!stage.files.contains("key") && !stage.files.contains("key.tpm"))
            }
        }
    }

    /// Catches a sealed key that was never proven, or a helper that dies or raves meanwhile and leaves half a store.
    @Test(arguments: ["seal", "unseal"], ["die", "nonsense", "9"])
    func makingFailsWhole(_ request: String, _ fault: String) throws {
        try stage.misbehave("\(request) \(fault)")
        #expect(storeError { try stage.make(.require) } == .fault(.store, .enclaveGone))
        #expect(stage.files == ["users"])
        try stage.misbehave()
        #expect(try stage.make(.require).kind == .tpm)
    }

    /// Catches a store that opens without its TPM, falls back to a file, or does not say which of both it is.
    @Test func withoutItsTPM() throws {
        try stage.make()
        try writeKey(bytes(32))
        for (fault, expected) in [
            ("open 1", StoreError.fault(.store, .enclaveGone)), ("open die", .fault(.store, .enclaveGone)),
            ("unseal nonsense", .fault(.store, .enclaveGone)), ("unseal 2", .fault(.store, .enclaveForeign)),
            ("open 4", .busy),
        ] {
            try stage.misbehave(fault)
            #expect(stage.fault() == expected, "\(fault)")
            #expect(stage.fault(.file) == expected, "\(fault)")
        }
        try stage.misbehave()
        #expect(stage.fault() == nil)
        stage.clear()
        #expect(stage.fault() == .fault(.store, .enclaveForeign))
    }

    /// Catches a wait without end for a TPM that does not answer.
    @Test func aFrozenTPM() throws {
        try stage.make()
        try stage.misbehave("unseal stall")
        var timing = stage.timing
        timing.patience = 200
        let start = ContinuousClock.now
        #expect(
            storeError { _ = try StoreOpening.open(root: stage.rootBytes, stage.settings(), timing: timing) }
                == .fault(.store, .enclaveGone))
        #expect(ContinuousClock.now - start < .seconds(3))
    }

    /// Catches a changed byte of `key.tpm` or `enclave` that is not noticed, or traps.
    @Test(arguments: ["key.tpm", "enclave"]) func changedFiles(_ name: String) throws {
        try stage.make()
        let path = "\(stage.root)/\(name)"
        let valid = try read(path)
        for index in stride(from: 0, to: valid.count, by: name == "enclave" ? 5 : 1) {
            var changed = valid
            changed[index] ^= 0x10
            try overwrite(path, changed)
            // The public area is the stand-in's to look at; it does not.
            let isIgnored = name == "key.tpm" && index == valid.count - 20
            #expect(isIgnored || stage.fault() != nil, "byte \(index)")
        }
        for count in [0, 1, valid.count - 1] {
            try overwrite(path, Array(valid[..<count]))
            #expect(stage.fault() == .fault(.store, .damaged), "length \(count)")
        }
        try overwrite(path, valid)
        #expect(stage.fault() == nil)
    }

    /// Catches an old `key` whose records are accepted in a TPM's store.
    @Test func aPlantedKeyDoesNotCount() throws {
        try stage.make()
        try writeKey(bytes(32))
        mkdir("\(stage.root)/users/1000", 0o700)
        var planted = try UserStore(root: stage.rootBytes, uid: 1000, userName: alice, masterKey: masterKey())
        try planted.create(identity())
        var store = try stage.store()
        #expect(storeError { _ = try store.loadIdentity() } == .fault(.identity, .foreign))
        #expect(EnclaveAdministration.status(root: stage.rootBytes, settings: stage.settings()).hasStrayKey)
        // Nor does a note count that the planted key sealed itself.
        let key = masterKey()
        guard let sealer = RecordSealer(masterKey: key) else { throw POSIXError(.ENOMEM) }
        let note = try EnclaveMigration(.init(id: sealer.keyID, direction: .toTPM)).encoded()
        let header = sealer.header(.store, uid: 0, userName: [])
        try overwrite("\(stage.root)/enclave", sealer.seal(note.span, header: header) ?? [])
        #expect(stage.fault() == .fault(.store, .foreign))
    }

    func writeKey(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(stage.root)/key"))
        chmod("\(stage.root)/key", 0o400)
    }
}
