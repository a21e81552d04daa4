import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// What an administrator does with the enclave.
@Suite(.enabled(if: StandIn.obstacle == nil, Comment(rawValue: StandIn.obstacle ?? "")))
struct EnclaveAdministrationTests {
    let stage: StandIn

    init() throws { stage = try StandIn() }

    func create(_ counter: EnclaveCounter?, half: EnclaveObject? = nil) throws {
        var record = identity()
        let pin = record.pin
        record.pin = try #require(
            WrappedKey(cost: pin.cost, salt: pin.salt, nonce: pin.nonce, sealed: pin.sealed, half: half))
        var store = try stage.store()
        try store.lock()
        try store.create(record)
        var attempts = Attempts()
        attempts.counter = counter
        try store.save(attempts)
    }

    func makeCounter() throws -> EnclaveCounter {
        var vault = try stage.vault()
        let made = try vault.makeCounter(for: CounterOwner(uid: 1000, instance: identity().instance))
        return try #require(made)
    }

    func status() -> EnclaveStatus {
        EnclaveAdministration.status(root: stage.rootBytes, settings: stage.settings(), timing: stage.timing)
    }

    /// Catches a status that does not say who has no counter or no half, or that calls a missing store broken.
    @Test func statusTellsAll() throws {
        var nothing = status()
        #expect(nothing.kind == nil && nothing.fault == nil && nothing.description?.maker == Array("TEST".utf8))
        try stage.misbehave("look 1")
        nothing = status()
        #expect(nothing.description == nil && nothing.problem == .noDevice)
        try stage.misbehave()
        try stage.make(.require)
        let counter = try makeCounter()
        try create(counter, half: EnclaveObject(publicArea: [1], privateArea: [2], countsFailures: true))
        let full = status()
        #expect(full.kind == .tpm && full.direction == nil && full.fault == nil && !full.hasStrayKey)
        #expect(full.users.map(\.uid) == [1000])
        #expect(full.users.first?.counter == counter)
        #expect(full.users.first?.hasHalf == true && full.users.first?.countsFailures == true)
        stage.clear()
        let lost = status()
        #expect(lost.fault == .fault(.store, .enclaveForeign) && lost.kind == .tpm && lost.users == [])
        #expect(lost.description != nil)
    }

    /// Catches a store called usable whose sealed values are gone: nobody's PIN opens anything then.
    @Test func aStoreWithoutValuesIsTold() throws {
        try stage.make(.require)
        unlink("\(stage.root)/values")
        #expect(status().fault == .fault(.values, .missing))
    }

    /// Catches a store that is forgotten although it is a file's, and one that cannot be set up anew afterwards.
    @Test func forgetting() throws {
        try stage.make(.require)
        try create(nil)
        stage.clear()
        #expect(try EnclaveAdministration.forget(root: stage.rootBytes).users == [1000])
        #expect(stage.files == ["users"])
        #expect(names(in: stage.root + "/users") == [])
        #expect(try stage.make(.require).kind == .tpm)
        try create(nil)

        let file = try StandIn()
        try file.make(.file)
        #expect(storeError { _ = try EnclaveAdministration.forget(root: file.rootBytes) } == .fault(.store, .missing))
        #expect(file.files == ["key", "users", "values"])
    }

    /// Catches restored records that stay refused, or that are accepted with a counter the TPM does not have.
    @Test func acceptingOlderRecords() throws {
        try stage.make(.require)
        let counter = try makeCounter()
        try create(counter)
        let old = try read("\(stage.root)/users/1000/identity")
        var store = try stage.store()
        try store.lock()
        var changed = try #require(try store.loadIdentity())
        changed.pinChangedAt = 99
        try store.save(changed)
        store.unlock()
        var vault = try stage.vault()
        _ = try vault.bump(counter, for: CounterOwner(uid: 1000, instance: identity().instance))
        _ = consume vault
        try overwrite("\(stage.root)/users/1000/identity", old)
        #expect(storeError { _ = try store.loadAttempts() } == .fault(.identity, .rolledBack))
        func accept() throws -> EnclaveAdministration.Acceptance {
            try EnclaveAdministration.acceptOlderRecords(
                root: stage.rootBytes, uid: 1000, settings: stage.settings(), timing: stage.timing)
        }
        let bumped = EnclaveCounter(index: counter.index, value: counter.value + 1)
        #expect(try accept() == .accepted(bumped))
        #expect(try store.loadAttempts().counter == bumped)
        unlink("\(stage.tpm)/counter-\(counter.index)")
        #expect(try accept() == .withoutCounter)
        #expect(try store.loadAttempts().counter == nil)
        #expect(try accept() == .accepted(nil))
    }

    /// Catches a counter in use that is taken away with the leftovers, and leftovers that stay.
    @Test func leftovers() throws {
        try stage.make(.require)
        let counter = try makeCounter()
        _ = try makeCounter()
        try create(counter)
        #expect(
            try EnclaveAdministration.removeLeftovers(
                root: stage.rootBytes, settings: stage.settings(), timing: stage.timing))
        #expect(names(in: stage.tpm).filter { $0.hasPrefix("counter-") } == ["counter-\(counter.index)"])
        try overwrite("\(stage.root)/users/1000/attempts", [1])
        #expect(
            storeError {
                _ = try EnclaveAdministration.removeLeftovers(
                    root: stage.rootBytes, settings: stage.settings(), timing: stage.timing)
            } == .fault(.attempts, .damaged))
    }

    /// Catches a lockoutAuth that is set a second time.
    @Test func lockoutAuth() throws {
        func set() throws {
            try EnclaveAdministration.setLockout(
                stage.settings(), authorization: secret(bytes(20)), limit: 32, healSeconds: 600,
                recoverySeconds: 86400, timing: stage.timing)
        }
        try set()
        #expect(throws: EnclaveProblem.lockoutAuthSet) { try set() }
        let state = try EnclaveAdministration.look(stage.settings()).dictionaryAttack
        #expect(state.hasLockoutAuthorization && state.limit == 32)
        try stage.attack(failures: 9, limit: 32, lockoutAuth: true)
        let reset = try EnclaveAdministration.resetLockout(stage.settings(), authorization: secret(bytes(20)))
        #expect(reset)
        #expect(stage.failures == 0)
    }
}
