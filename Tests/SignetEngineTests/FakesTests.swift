import SignetEngine
import SignetPolicy
import Testing

/// The fakes themselves: a fake that lets everything pass would make every other test worthless.
@Suite struct FakesTests {
    /// Catches a setup that the engine does not take for a finished enrollment.
    @Test func theMachineIsSetUp() throws {
        let machine = Machine()
        try machine.setUp()
        let actor = machine.process()
        let verdict = actor.authenticate([.enter], touches: [.matched(index: 0)])
        guard case .granted = verdict else {
            Issue.record("\(verdict) after \(actor.person.met)")
            return
        }
        #expect(machine.disk.violations.isEmpty)
    }

    /// Catches a disk that takes writes without the lock, and counters that fall for nothing.
    @Test func theDiskComplains() throws {
        let machine = Machine()
        try machine.setUp()
        let actor = machine.process()
        var attempts = try #require(machine.disk.attempts)
        attempts.pin.byPerson = 2
        attempts.finger.epoch += 5
        try actor.store.save(attempts)
        #expect(machine.disk.violations.count == 3, "no lock, two charges at once, a cleared counter")
    }

    /// Catches a vault that opens with any secret, and one that compares what was not charged.
    @Test func theVaultTellsSecretsApart() throws {
        let machine = Machine()
        try machine.setUp()
        let identity = try #require(machine.disk.identity)
        let actor = machine.process()
        let right = try actor.vault.unwrap(
            identity.pin, with: try actor.conceal(Machine.pin), for: .pin, publicKey: identity.publicKey)
        let wrong = try actor.vault.unwrap(
            identity.pin, with: try actor.conceal(Machine.wrong), for: .pin, publicKey: identity.publicKey)
        let otherUse = try actor.vault.unwrap(
            identity.pin, with: try actor.conceal(Machine.pin), for: .recoveryCode, publicKey: identity.publicKey)
        let opened = [right != nil, wrong != nil, otherUse != nil]
        #expect(opened == [true, false, false])
        #expect(!machine.disk.violations.isEmpty)
    }

    /// Catches signatures that anybody could have made, over anything.
    @Test func signaturesAreTheKeys() throws {
        let machine = Machine()
        let vault = machine.process().vault
        let one = try vault.makeSigningKey()
        let other = try vault.makeSigningKey()
        let signature = try vault.sign([1, 2], with: one.secret)
        let valid = [
            vault.isValid(signature: signature, of: [1, 2], by: one.publicKey),
            vault.isValid(signature: signature, of: [1, 3], by: one.publicKey),
            vault.isValid(signature: signature, of: [1, 2], by: other.publicKey),
        ]
        #expect(valid == [true, false, false])
    }

    /// Catches a killed process that still writes or keeps its lock.
    @Test func aKilledProcessHasNoEffect() throws {
        let machine = Machine()
        try machine.setUp()
        let actor = machine.process()
        let before = machine.disk.attempts
        actor.process.killAt = 2
        try actor.store.lock()
        #expect(throws: StoreError.self) { try actor.store.save(Attempts()) }
        #expect(machine.disk.attempts == before)
        #expect(machine.disk.holder == nil)
    }
}
