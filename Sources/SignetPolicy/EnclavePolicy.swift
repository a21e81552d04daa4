/// How many wrong PINs Signet lets a TPM count: pure rules over what the TPM says and what a user's record says.
///
/// A TPM counts wrong authorisations of all its users together, a right one does not lower the count, and in lockout it
/// refuses everybody (TPM 2.0 Library, Part 1, "Dictionary Attack Protection"). So Signet stops well before the TPM
/// does, and one user's typing well before that. All of it concerns objects whose failures count, and no others.
package enum EnclavePolicy {
    /// The machine's door closes at this part of the TPM's limit; the rest is left to disk encryption and others.
    static let machineDivisor: UInt32 = 2
    /// One user's part of the TPM's limit: 8 of 32.
    static let shareDivisor: UInt32 = 4
    /// The longest wait a person is told, in seconds: a day, after which they look again.
    package static let longestWait: UInt64 = 86_400

    /// How many failures a user's typing may leave in the TPM.
    package static func share(of tpm: DictionaryAttackState) -> UInt32 { max(tpm.limit / shareDivisor, 1) }

    /// What is left of a user's failures at `now`; nil where none is.
    ///
    /// One heals for each `healSeconds` within a boot. After a reboot the new boot's clock alone counts: the time
    /// before is lost, which is the longer wait. (The TPM's own clock may stand still while the machine sleeps, where
    /// the boot clock does not; then the machine's door, which goes by the TPM's count, still stands before the
    /// lockout.)
    package static func standing(
        _ failures: EnclaveFailures?, _ tpm: DictionaryAttackState, at now: BootInstant
    ) -> EnclaveFailures? {
        guard var failures, tpm.healSeconds > 0 else { return nil }
        if failures.since.boot != now.boot {
            failures.since = BootInstant(boot: now.boot, seconds: 0)
        }
        let passed = failures.since.seconds(until: now) ?? 0
        let healed = passed / UInt64(tpm.healSeconds)
        guard healed < UInt64(failures.count) else { return nil }
        failures.count -= UInt8(healed)
        failures.since = BootInstant(
            boot: now.boot, seconds: failures.since.seconds + healed * UInt64(tpm.healSeconds))
        return failures
    }

    /// Seconds until a PIN may be typed, at least 1; nil where it may be typed now.
    ///
    /// Other people's processes and remote callers may use up half of the user's share: they cannot shut the user out.
    package static func wait(
        _ failures: EnclaveFailures?, _ tpm: DictionaryAttackState, for caller: CallerClass, at now: BootInstant
    ) -> UInt64? {
        let machine = machineWait(tpm)
        let user = shareWait(failures, tpm, for: caller, at: now)
        guard machine != nil || user != nil else { return nil }
        return min(max(machine ?? 1, user ?? 1, 1), longestWait)
    }

    /// The user's failures with one more, to be written before the comparison.
    ///
    /// Taken back by writing what was there before, where the PIN was right or nothing was compared: the TPM did not
    /// count then. Nothing else lowers it but time: neither a success nor an administrator's reset of Signet's own
    /// lockout lowers what the TPM counted.
    package static func charge(
        _ failures: EnclaveFailures?, _ tpm: DictionaryAttackState, at now: BootInstant
    ) -> EnclaveFailures {
        let before = standing(failures, tpm, at: now)?.count ?? 0
        // The TPM restarts its healing with each failure.
        return EnclaveFailures(count: before < .max ? before + 1 : before, since: now)
    }

    /// Seconds until the TPM as a whole may be asked again; nil where it may.
    package static func machineWait(_ tpm: DictionaryAttackState) -> UInt64? {
        let room = max(tpm.limit / machineDivisor, 1)
        // An interval of 0 switches the protection off, and a lockout is one that no time ends.
        guard tpm.healSeconds > 0 else { return tpm.inLockout ? longestWait : nil }
        guard tpm.failures >= room else { return tpm.inLockout ? UInt64(tpm.healSeconds) : nil }
        return min((UInt64(tpm.failures - room) + 1) * UInt64(tpm.healSeconds), longestWait)
    }

    private static func shareWait(
        _ failures: EnclaveFailures?, _ tpm: DictionaryAttackState, for caller: CallerClass, at now: BootInstant
    ) -> UInt64? {
        guard let standing = standing(failures, tpm, at: now) else { return nil }
        let share = share(of: tpm)
        let allowed = UInt64(caller == .person ? share : max(share / 2, 1))
        guard UInt64(standing.count) >= allowed else { return nil }
        let healing = standing.since.seconds(until: now) ?? 0
        return (UInt64(standing.count) - allowed + 1) * UInt64(tpm.healSeconds) - healing
    }
}
