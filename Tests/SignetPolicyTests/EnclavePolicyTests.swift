import SignetPolicy
import Testing

@Suite struct EnclavePolicyTests {
    static let boot = BootIdentity(high: 1, low: 2)
    static let later = BootIdentity(high: 3, low: 4)

    private func at(_ seconds: UInt64, _ boot: BootIdentity = boot) -> BootInstant {
        BootInstant(boot: boot, seconds: seconds)
    }

    private func tpm(
        failures: UInt32 = 0, limit: UInt32 = 32, heal: UInt32 = 7200, inLockout: Bool? = nil
    ) -> DictionaryAttackState {
        DictionaryAttackState(
            failures: failures, limit: limit, healSeconds: heal, recoverySeconds: 86_400,
            inLockout: inLockout ?? (failures >= limit), hasLockoutAuthorization: true)
    }

    private func failed(_ count: UInt8, since seconds: UInt64 = 1000, _ boot: BootIdentity = boot) -> EnclaveFailures {
        EnclaveFailures(count: count, since: at(seconds, boot))
    }

    /// Catches a machine whose shared budget Signet uses up, and a wait that is too short, endless, or none in lockout.
    @Test(arguments: [
        (failures: UInt32(0), limit: UInt32(32), heal: UInt32(7200), locked: false, wait: UInt64?.none),
        (15, 32, 7200, false, nil),
        (16, 32, 7200, false, 7200),
        (18, 32, 7200, false, 21_600),
        // 17 heals would be more than a day.
        (32, 32, 7200, true, 86_400),
        (32, 32, 600, true, 10_200),
        // A lockout that its count does not show, as after a wrong lockoutAuth on some makes.
        (2, 32, 600, true, 600),
        // A TPM as swtpm makes it: one failure is half of it.
        (0, 3, 1000, false, nil), (1, 3, 1000, false, 1000), (3, 3, 1000, true, 3000),
        // Limits that leave no half.
        (0, 1, 1000, false, nil), (1, 1, 1000, true, 1000), (0, 0, 1000, true, 1000),
        // Protection that is switched off, and one that no time ends.
        (40, 32, 0, false, nil), (32, 32, 0, true, 86_400),
        (.max, .max, .max, true, 86_400),
    ])
    func theMachinesDoor(failures: UInt32, limit: UInt32, heal: UInt32, locked: Bool, wait: UInt64?) {
        let tpm = tpm(failures: failures, limit: limit, heal: heal, inLockout: locked)
        #expect(EnclavePolicy.machineWait(tpm) == wait)
        for caller in CallerClass.allCases {
            #expect(EnclavePolicy.wait(nil, tpm, for: caller, at: at(5)) == wait)
        }
    }

    /// Catches a user who locks everybody by typing, one whom others lock out, and a share that never comes back.
    @Test(arguments: [
        (count: UInt8(7), caller: CallerClass.person, passed: UInt64(0), wait: UInt64?.none),
        (8, .person, 0, 7200),
        (8, .person, 7199, 1),
        (8, .person, 7200, nil),
        (10, .person, 100, 21_500),
        (3, .anotherPerson, 0, nil),
        (4, .anotherPerson, 0, 7200),
        (4, .remote, 7000, 200),
        (255, .person, 0, 86_400),
    ])
    func aUsersShare(count: UInt8, caller: CallerClass, passed: UInt64, wait: UInt64?) {
        #expect(EnclavePolicy.wait(failed(count), tpm(), for: caller, at: at(1000 + passed)) == wait)
        #expect(EnclavePolicy.share(of: tpm()) == 8)
    }

    /// Catches healing by the time before a reboot, which the TPM may not have had, or by a clock that runs backwards.
    @Test func rebootsHealNothing() {
        let failures = failed(8, since: 1_000_000)
        #expect(EnclavePolicy.standing(failures, tpm(), at: at(0, Self.later)) == failed(8, since: 0, Self.later))
        #expect(EnclavePolicy.wait(failures, tpm(), for: .person, at: at(200, Self.later)) == 7000)
        #expect(EnclavePolicy.standing(failures, tpm(), at: at(7300, Self.later)) == failed(7, since: 7200, Self.later))
        #expect(EnclavePolicy.standing(failures, tpm(), at: at(10)) == failures)
        #expect(EnclavePolicy.wait(failures, tpm(), for: .person, at: at(10)) == 7200)
    }

    /// Catches time that is healed twice, or lost, when the failures are looked at in between.
    @Test func healingIsTheSameInOneStepOrMany() {
        var stepwise: EnclaveFailures? = failed(6)
        for second in stride(from: UInt64(1000), through: 60_000, by: 777) {
            stepwise = EnclavePolicy.standing(stepwise, tpm(), at: at(second))
            #expect(stepwise == EnclavePolicy.standing(failed(6), tpm(), at: at(second)), "\(second)")
        }
        #expect(stepwise == nil)
    }

    /// Catches a charge that forgets older failures, overflows, or keeps the healing that the TPM starts anew.
    @Test func chargingAddsOneAndRestartsTheHealing() {
        #expect(EnclavePolicy.charge(nil, tpm(), at: at(50)) == failed(1, since: 50))
        #expect(EnclavePolicy.charge(failed(3), tpm(), at: at(1000 + 7300)) == failed(3, since: 8300))
        #expect(EnclavePolicy.charge(failed(255), tpm(), at: at(1000)) == failed(255))
    }

    /// Catches a reading of the two counts that lets an older copy in, or that a crash between them locks out.
    @Test(arguments: [
        (written: UInt64(7), counted: UInt64(7), standing: CounterStanding.inForce), (8, 7, .notCountedYet),
        (9, 7, .foreign), (6, 7, .rolledBack), (0, .max, .rolledBack), (.max, .max, .inForce), (.max, 0, .foreign),
    ])
    func theCount(written: UInt64, counted: UInt64, standing: CounterStanding) {
        #expect(CounterPolicy.standing(written: written, counted: counted) == standing)
    }

    /// Catches a plain success that wears the flash, and a second guess that costs nothing.
    @Test func aChargeCountsOnTopOfFailures() {
        var attempts = Attempts()
        #expect(!CounterPolicy.countsCharge(onTopOf: attempts))
        attempts.finger.count = 3
        #expect(!CounterPolicy.countsCharge(onTopOf: attempts))
        attempts.pin.byRemote = 1
        #expect(CounterPolicy.countsCharge(onTopOf: attempts))
        attempts = Attempts()
        attempts.recovery.byPerson = 1
        #expect(CounterPolicy.countsCharge(onTopOf: attempts))
    }
}
