import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import SoftwareTPM
import Testing

/// The store, the vault and their helper with swtpm, a TPM for each test.
@Suite(.serialized, .enabled(if: StandIn.realObstacle == nil, Comment(rawValue: StandIn.realObstacle ?? "")))
struct SoftwareTPMTests: VaultTrial {
    let software: SoftwareTPM
    let stage: StandIn

    init() throws {
        software = try SoftwareTPM()
        stage = try StandIn(software)
    }

    /// Catches a PIN that a real TPM does not tell right from wrong, in one process or in the next.
    @Test func aPIN() throws {
        #expect(try stage.make(.require).kind == .tpm)
        var vault = try stage.vault()
        let wrapped = try wrap(&vault, "384756")
        #expect(wrapped.0.half?.countsFailures == false)
        #expect(try opens(&vault, wrapped, "384756"))
        #expect(try !opens(&vault, wrapped, "384757"))
        _ = consume vault
        software.cutPower()
        try software.start()
        var later = try stage.vault()
        later.prepare(wrapped.0)
        #expect(try !opens(&later, wrapped, "000000"))
        #expect(try opens(&later, wrapped, "384756"))
        let state = try later.dictionaryAttack()
        #expect(state?.failures == 0 && state?.inLockout == false)
        // For nobody it is refused like a wrong PIN, and counts nothing.
        let image = try later.conceal(typed("384756"), for: .pin)
        later.spendTime(of: .floor, on: image)
        #expect(try later.dictionaryAttack()?.failures == 0)
        #expect(try opens(&later, wrapped, "384756"))
    }

    /// Catches counters that go back with the power or with a new one, or that a stranger moves.
    @Test func counters() throws {
        try stage.make(.require)
        let owner = CounterOwner(uid: 1000, instance: bytes(16))
        var vault = try stage.vault()
        let made = try vault.makeCounter(for: owner)
        let counter = try #require(made)
        #expect(try vault.bump(counter, for: owner) == counter.value + 1)
        let stranger = CounterOwner(uid: 1001, instance: bytes(16))
        #expect(vaultError { _ = try vault.bump(counter, for: stranger) } == .enclave(.noCounter))
        _ = consume vault
        software.cutPower()
        try software.start()
        var later = try stage.vault()
        #expect(try later.value(of: counter, for: owner) == counter.value + 1)
        try later.remove(counter)
        #expect(vaultError { _ = try later.value(of: counter, for: owner) } == .enclave(.noCounter))
        let next = try later.makeCounter(for: owner)
        #expect(try #require(next).value > counter.value + 1)
    }

    /// Catches a TPM's lockout that reads as a wrong PIN, or that shuts the store.
    @Test func lockout() throws {
        try stage.make(.require)
        try EnclaveAdministration.setLockout(
            stage.settings(), authorization: secret(bytes(20)), limit: 32, healSeconds: 3600, recoverySeconds: 86400)
        #expect(throws: EnclaveProblem.lockoutAuthSet) {
            try EnclaveAdministration.setLockout(
                stage.settings(), authorization: secret(bytes(20)), limit: 32, healSeconds: 3600,
                recoverySeconds: 86400)
        }
        var vault = try stage.vault()
        let wrapped = try wrap(&vault, "384756")
        let object = try #require(wrapped.0.half)
        #expect(object.countsFailures)
        #expect(try !opens(&vault, wrapped, "000000"))
        #expect(try vault.dictionaryAttack()?.failures == 1)
        _ = consume vault
        var enclave = try stage.open().takeEnclave()
        for _ in 0..<31 { _ = try enclave.openHalf(object, authorization: secret(bytes(32))) }
        _ = consume enclave
        var locked = try stage.vault()
        #expect(try locked.dictionaryAttack()?.inLockout == true)
        #expect(vaultError { _ = try opens(&locked, wrapped, "384756") } == .enclave(.lockout))
        _ = consume locked
        #expect(stage.fault() == nil)
        #expect(try EnclaveAdministration.resetLockout(stage.settings(), authorization: secret(bytes(20))))
        var again = try stage.vault()
        #expect(try opens(&again, wrapped, "384756"))
    }

    /// Catches another TPM, none, or a frozen one that is taken for the store's, or waited for without end.
    @Test func aTPMThatIsNotThere() throws {
        try stage.make(.require)
        software.freeze()
        var timing = stage.timing
        timing.patience = 500
        let start = ContinuousClock.now
        #expect(
            storeError { _ = try StoreOpening.open(root: stage.rootBytes, stage.settings(), timing: timing) }
                == .fault(.store, .enclaveGone))
        #expect(ContinuousClock.now - start < .seconds(5))
        software.thaw()
        #expect(stage.fault() == nil)
        software.cutPower()
        #expect(stage.fault() == .fault(.store, .enclaveGone))
        #expect(stage.fault(.file) == .fault(.store, .enclaveGone))
        try software.start()
        #expect(stage.fault() == nil)
        try software.replace()
        #expect(stage.fault() == .fault(.store, .enclaveForeign))
        #expect(try EnclaveAdministration.forget(root: stage.rootBytes).users == [])
        #expect(try stage.make(.require).kind == .tpm)
        #expect(stage.fault() == nil)
    }

    /// Catches a bit of `key.tpm` that nothing depends on.
    @Test func everyFlippedBitOfTheKey() throws {
        try stage.make(.require)
        let path = "\(stage.root)/key.tpm"
        let valid = try read(path)
        // The size that begins TPM2B_PUBLIC (after header, Name and length) says what the record's own length says;
        // tpm2-tss does not look at it and writes it anew.
        let repeated = 6 + 2 + 34 + 2
        for index in valid.indices where index != repeated + 1 {
            var changed = valid
            changed[index] ^= 1 << UInt8(index % 8)
            try overwrite(path, changed)
            #expect(stage.fault() != nil, "byte \(index)")
        }
        try overwrite(path, valid)
        #expect(stage.fault() == nil)
    }

    /// Catches steps of a migration that hold with the stand-in alone.
    @Test func migration() throws {
        try Migrating.toTheTPM { try StandIn(software) }
        try Migrating.toAFile { try StandIn(software) }
    }

    /// Catches a PIN that is lost on the way to the TPM, and one that keeps its half on the way back.
    @Test func thePINComesAlong() throws {
        try stage.make(.file)
        var vault = try stage.vault()
        let wrapped = try wrap(&vault, "384756")
        _ = consume vault
        var record = identity()
        record.pin = wrapped.0
        record.publicKey = wrapped.1
        var store = try stage.store()
        try store.lock()
        try store.create(record)
        store.unlock()
        #expect(try stage.migrate(.tpm).isFinished)
        var bound = try stage.vault()
        #expect(try opens(&bound, wrapped, "384756"))
        let withHalf = try wrap(&bound, "384756")
        #expect(try opens(&bound, withHalf, "384756"))
        _ = consume bound
        record.pin = withHalf.0
        record.publicKey = withHalf.1
        var renewed = try stage.store()
        try renewed.lock()
        try renewed.save(record)
        renewed.unlock()
        let outcome = try stage.migrate(.file)
        #expect(!outcome.isFinished && outcome.waitingForPIN == [1000])
        var between = try stage.vault()
        #expect(try opens(&between, withHalf, "384756"))
        let free = try wrap(&between, "384756")
        #expect(free.0.half == nil)
    }

    /// Catches a status that does not know a real TPM.
    @Test func status() throws {
        try stage.make(.require)
        let status = EnclaveAdministration.status(
            root: stage.rootBytes, settings: stage.settings(), timing: stage.timing)
        #expect(status.kind == .tpm && status.fault == nil && status.problem == nil)
        #expect(status.description?.maker == Array("IBM".utf8))
        #expect(status.description?.dictionaryAttack.hasLockoutAuthorization == false)
    }
}
