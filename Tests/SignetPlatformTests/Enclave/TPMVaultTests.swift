import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// PINs whose key is half the TPM's, and the TPM's counters.
@Suite(.enabled(if: StandIn.obstacle == nil, Comment(rawValue: StandIn.obstacle ?? "")))
struct TPMVaultTests: VaultTrial {
    let stage: StandIn
    let owner = CounterOwner(uid: 1000, instance: bytes(16))

    init() throws {
        stage = try StandIn()
        try stage.make(.require)
    }

    /// Catches a PIN that opens without the TPM's half, a wrong one that opens, and a recovery code bound to the TPM.
    @Test func aPINHasAHalf() throws {
        var vault = try stage.vault()
        let halves = vault.hasHalves
        #expect(halves)
        let wrapped = try wrap(&vault, "384756")
        #expect(wrapped.0.half != nil)
        #expect(try opens(&vault, wrapped, "384756"))
        #expect(try !opens(&vault, wrapped, "384757"))
        let without = try #require(
            WrappedKey(
                cost: .floor, salt: wrapped.0.salt, nonce: wrapped.0.nonce, sealed: wrapped.0.sealed, half: nil))
        #expect(try !opens(&vault, (without, wrapped.1), "384756"))
        let pair = try vault.makeSigningKey()
        let image = try vault.conceal(typed("a recovery code"), for: .recoveryCode)
        let recovery = try vault.wrap(pair.secret, under: image, for: .recoveryCode, cost: .floor)
        #expect(recovery.half == nil)
        let opened = try vault.unwrap(recovery, with: image, for: .recoveryCode, publicKey: pair.publicKey) != nil
        #expect(opened)
    }

    /// Catches a PIN of a file's store that a TPM's no longer opens, which every user would have after a migration.
    @Test func aPINWithoutAHalfStillOpens() throws {
        let file = try StandIn()
        try file.make(.file)
        var vault = try file.vault()
        let wrapped = try wrap(&vault, "384756")
        _ = consume vault
        #expect(wrapped.0.half == nil)
        #expect(try file.migrate(.tpm).isFinished)
        var moved = try file.vault()
        #expect(try opens(&moved, wrapped, "384756"))
        let halves = moved.hasHalves
        #expect(halves)
    }

    /// Catches a store that leaves its TPM while a PIN needs it: that user would be shut out.
    @Test func aHalfKeepsTheTPM() throws {
        var vault = try stage.vault()
        let wrapped = try wrap(&vault, "384756")
        _ = consume vault
        var record = identity()
        record.publicKey = wrapped.1
        record.pin = wrapped.0
        var store = try stage.store()
        try store.lock()
        try store.create(record)
        store.unlock()
        let outcome = try stage.migrate(.file)
        #expect(!outcome.isFinished && outcome.waitingForPIN == [1000])
        #expect(stage.files.contains("key.tpm"))
        var between = try stage.vault()
        let halves = between.hasHalves
        #expect(!halves)
        #expect(try opens(&between, wrapped, "384756"))
        let again = try wrap(&between, "384756")
        #expect(again.0.half == nil)
        _ = consume between
        record.pin = again.0
        record.publicKey = again.1
        var renewed = try stage.store()
        try renewed.lock()
        try renewed.save(record)
        renewed.unlock()
        #expect(try stage.migrate(.file).isFinished)
        #expect(stage.files == ["key", "users", "values"])
        var left = try stage.vault()
        #expect(try opens(&left, again, "384756"))
        #expect(vaultError { _ = try opens(&left, wrapped, "384756") } == .enclave(.noDevice))
    }

    /// Catches an object that counts where nobody set lockoutAuth, or the limit is too low for all who use the TPM.
    @Test(arguments: [(32, true, true), (32, false, false), (31, true, false), (5, true, false)])
    func whatCounts(limit: UInt8, lockoutAuth: Bool, counts: Bool) throws {
        try stage.attack(failures: 0, limit: limit, lockoutAuth: lockoutAuth)
        var vault = try stage.vault()
        let wrapped = try wrap(&vault, "384756")
        #expect(wrapped.0.half?.countsFailures == counts)
        #expect(try !opens(&vault, wrapped, "000000"))
        #expect(stage.failures == (counts ? 1 : 0))
        let state = try vault.dictionaryAttack()
        #expect(state?.failures == (counts ? 1 : 0) && state?.limit == UInt32(limit))
    }

    /// Catches a TPM in lockout, a dead helper or a cleared TPM that reads as a wrong PIN, and a request that is asked
    /// twice although the TPM may have counted it.
    @Test func problemsAreNotWrongPINs() throws {
        var vault = try stage.vault()
        let wrapped = try wrap(&vault, "384756")
        for (fault, problem) in [
            ("unsealUnder 3", EnclaveProblem.lockout), ("unsealUnder die", .helperFailed),
            ("unsealUnder nonsense", .helperFailed), ("load 2", .foreign), ("load die", .helperFailed),
        ] {
            try stage.misbehave(fault)
            _ = stage.requests()
            #expect(vaultError { _ = try opens(&vault, wrapped, "384756") } == .enclave(problem), "\(fault)")
            #expect(stage.requests().filter { $0 == "unsealUnder" }.count <= 1)
        }
        try stage.misbehave()
        #expect(try opens(&vault, wrapped, "384756"))
        stage.clear()
        _ = consume vault
    }

    /// Catches work that is left for when the PIN has come, or an answer to it that is taken for another's.
    @Test func preparedWhileTyping() throws {
        var vault = try stage.vault()
        let wrapped = try wrap(&vault, "384756")
        _ = consume vault
        var typing = try stage.vault()
        typing.prepare(wrapped.0)
        _ = try typing.dictionaryAttack()
        #expect(stage.requests().suffix(2) == ["load", "look"])
        #expect(try opens(&typing, wrapped, "384756"))
        #expect(stage.requests() == ["unsealUnder"])
        #expect(try !opens(&typing, wrapped, "384750"))
        #expect(stage.requests() == ["unsealUnder"])
    }

    /// Catches a helper that died while the person typed, and shuts him out; and one that is kept without a slot.
    @Test func helpersThatGoOrMayNotStay() throws {
        var vault = try stage.vault()
        let wrapped = try wrap(&vault, "384756")
        try stage.misbehave("load die")
        vault.prepare(try wrap(other: wrapped.0))
        while !stage.requests().contains("died") { usleep(1000) }
        try stage.misbehave()
        #expect(try opens(&vault, wrapped, "384756"))
        _ = consume vault

        // Four prompts of one user keep the TPM; the fifth lets go of it and comes back.
        let prompts = try (0..<4).map { _ in Holder(try stage.vault()) }
        _ = stage.requests()
        var fifth = try stage.vault()
        _ = stage.requests()
        // Woken for a hold, it goes again before the person types.
        fifth.wake()
        _ = try fifth.dictionaryAttack()
        fifth.prepare(wrapped.0)
        #expect(try opens(&fifth, wrapped, "384756"))
        let requests = stage.requests()
        #expect(requests.filter { $0 == "load" }.count == 1)
        #expect(requests.filter { $0 == "open" }.count == 2)
        // Under a lock it stays, whatever was compared, and goes once that was given back.
        _ = try fifth.dictionaryAttack()
        #expect(!stage.requests().contains("open"))
        fifth.rest()
        _ = try fifth.dictionaryAttack()
        #expect(stage.requests().contains("open"))
        #expect(prompts.count == 4)
    }

    final class Holder {
        let vault: SodiumVault
        init(_ vault: consuming SodiumVault) { self.vault = vault }
    }

    /// The same key with another object: what was prepared is not what is asked for.
    func wrap(other wrapped: WrappedKey) throws -> WrappedKey {
        try #require(
            WrappedKey(
                cost: .floor, salt: wrapped.salt, nonce: wrapped.nonce, sealed: wrapped.sealed,
                half: EnclaveObject(publicArea: [1], privateArea: bytes(16), countsFailures: false)))
    }

    /// Catches a prompt for nobody that asks the TPM less than one for somebody, or lets it count.
    @Test func nobodyTakesAsLong() throws {
        var vault = try stage.vault()
        _ = stage.requests()
        let image = try vault.conceal(typed("384756"), for: .pin)
        vault.spendTime(of: .floor, on: image)
        #expect(stage.requests().suffix(2) == ["load", "unsealUnder"])
        #expect(stage.failures == 0)
    }

    /// Catches counters that go back, that others' programs count or read, or that are made where there is no room.
    @Test func counters() throws {
        var vault = try stage.vault()
        let made = try vault.makeCounter(for: owner)
        let counter = try #require(made)
        #expect(try vault.value(of: counter, for: owner) == counter.value)
        #expect(try vault.bump(counter, for: owner) == counter.value + 1)
        let stranger = CounterOwner(uid: 1001, instance: bytes(16))
        #expect(vaultError { _ = try vault.bump(counter, for: stranger) } == .enclave(.noCounter))
        #expect(vaultError { _ = try vault.value(of: counter, for: stranger) } == .enclave(.noCounter))
        #expect(try vault.value(of: counter, for: owner) == counter.value + 1)
        try vault.remove(counter)
        try vault.remove(counter)
        #expect(vaultError { _ = try vault.value(of: counter, for: owner) } == .enclave(.noCounter))
        let next = try vault.makeCounter(for: owner)
        #expect(try #require(next).value > counter.value + 1)
        try Data([1]).write(to: URL(fileURLWithPath: stage.tpm + "/room"))
        let none = try vault.makeCounter(for: stranger)
        #expect(none == nil)
    }
}
