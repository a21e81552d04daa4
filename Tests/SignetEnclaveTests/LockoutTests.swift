import Foundation
import SignetPolicy
import SignetRecords
import SoftwareTPM
import Testing

extension EnclaveTests {
    /// Wrong authorisations, and the TPM's protection against guessing.
    @Suite struct LockoutTests {
        private let right = secret(3)
        private let wrong = secret(4)

        /// Catches failures told as the other kind, and a lockout that reaches what is outside it or is told as a wrong PIN.
        ///
        /// swtpm locks after three.
        @Test func countedFailuresLock() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            let master = try helper.seal(secret(1))
            let counted = try helper.seal(secret(2), under: right, countsFailures: true)
            let free = try helper.seal(secret(5), under: right, countsFailures: false)
            guard case .counter(let counter) = try helper.ask(.makeCounter(authorization: 0..<32), secret(6)) else {
                Issue.record("no counter")
                return
            }
            let before = try helper.state()
            #expect(before.failures == 0 && before.limit == 3 && before.healSeconds == 1000 && !before.inLockout)
            #expect(before.recoverySeconds == 1000 && !before.hasLockoutAuthorization)
            #expect(try helper.ask(.load(counted)) == .done)
            #expect(try helper.attempt(wrong) == .wrong(counted: true))
            // The right one works after a wrong one, in the same session, and does not lower the count.
            #expect(try helper.unseal(.unsealUnder(authorization: 0..<32), right) == secret(2))
            #expect(try helper.state().failures == 1)
            #expect(try helper.attempt(wrong) == .wrong(counted: true))
            #expect(try helper.attempt(wrong) == .wrong(counted: true))
            let after = try helper.state()
            #expect(after.failures == 3 && after.inLockout)
            #expect(try helper.attempt(right) == .failed(.lockout))
            #expect(try helper.attempt(wrong) == .failed(.lockout))
            #expect(try helper.ask(.load(free)) == .done)
            #expect(try helper.attempt(wrong) == .wrong(counted: false))
            #expect(try helper.unseal(.unsealUnder(authorization: 0..<32), right) == secret(5))
            #expect(try helper.unseal(.unseal(master)) == secret(1))
            let bump = EnclaveRequest.bumpCounter(index: counter.index, authorization: 0..<32)
            #expect(
                try helper.ask(bump, secret(6))
                    == .counter(EnclaveCounter(index: counter.index, value: counter.value + 1)))
            // Without a lockoutAuth whoever reaches the TPM resets it.
            #expect(try helper.ask(.resetLockout(authorization: 0..<0)) == .done)
            #expect(try helper.ask(.load(counted)) == .done)
            #expect(try helper.unseal(.unsealUnder(authorization: 0..<32), right) == secret(2))
        }

        /// Catches failures that are counted although the object is outside: one user's typing would lock the machine.
        @Test func uncountedFailuresLockNothing() throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            let free = try helper.seal(secret(5), under: right, countsFailures: false)
            #expect(try helper.ask(.load(free)) == .done)
            for _ in 0..<6 { #expect(try helper.attempt(wrong) == .wrong(counted: false)) }
            #expect(try helper.state().failures == 0)
            #expect(try helper.unseal(.unsealUnder(authorization: 0..<32), right) == secret(5))
        }

        /// Catches a lockoutAuth that is not the one that was typed, that is set over another, or whose limits are lost;
        /// and that a wrong one is told as wrong and bars the right one.
        @Test(arguments: [8, 32])
        func lockoutAuthorization(length: Int) throws {
            let tpm = try SoftwareTPM()
            let helper = try Helper(tpm)
            try helper.open()
            let chosen = Array(secret(7).prefix(length))
            let set = EnclaveRequest.setLockout(
                authorization: 0..<length, limit: 32, healSeconds: 7200, recoverySeconds: 86_400)
            // Zeros alone would be no authorisation at all.
            #expect(try helper.ask(set, [UInt8](repeating: 0, count: length)) == .failed(.other))
            #expect(try helper.state().hasLockoutAuthorization == false)
            #expect(try helper.ask(set, chosen) == .done)
            let state = try helper.state()
            #expect(state.hasLockoutAuthorization && state.limit == 32)
            #expect(state.healSeconds == 7200 && state.recoverySeconds == 86_400)
            #expect(try helper.ask(set, secret(8)) == .failed(.lockoutAuthSet))
            let counted = try helper.seal(secret(2), under: right, countsFailures: true)
            #expect(try helper.ask(.load(counted)) == .done)
            #expect(try helper.attempt(wrong) == .wrong(counted: true))
            #expect(try helper.state().failures == 1)
            let reset = EnclaveRequest.resetLockout(authorization: 0..<length)
            #expect(try helper.ask(reset, chosen) == .done)
            #expect(try helper.state().failures == 0)
            #expect(try helper.ask(.resetLockout(authorization: 0..<0)) == .wrong(counted: true))
            #expect(try helper.ask(reset, chosen) == .failed(.lockout))
        }
    }
}
