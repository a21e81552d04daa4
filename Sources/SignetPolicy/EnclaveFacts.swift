/// Where the master key lives.
package enum EnclaveKind: UInt8, Equatable, Sendable {
    /// A file that only root can read: for machines without a TPM.
    case file = 1
    /// A TPM 2.0.
    case tpm = 2
}

/// What the administrator wants the store's master key to be bound to.
///
/// It rules over new stores; one that is there keeps what it was set up with until it is migrated.
package enum EnclavePreference: UInt8, Equatable, Sendable, CaseIterable {
    /// A TPM; a store whose key is a file is refused.
    case require = 1
    /// A TPM where there is one, else a file.
    case prefer = 2
    /// A file.
    case file = 3
}

/// How the enclave is reached, from the root-owned configuration.
package struct EnclaveSettings: Equatable, Sendable {
    package var preference: EnclavePreference
    /// The TPM's transmission interface as tpm2-tss writes it; never an empty one, which would stand for a search.
    package var tcti: [UInt8]
    /// Absolute path of the TPM helper in place of the shipped one.
    package var helper: [UInt8]?

    /// The kernel's resource manager.
    package static var standardTCTI: [UInt8] { Array("device:/dev/tpmrm0".utf8) }

    package init(
        preference: EnclavePreference = .prefer, tcti: [UInt8] = EnclaveSettings.standardTCTI, helper: [UInt8]? = nil
    ) {
        self.preference = preference
        self.tcti = tcti
        self.helper = helper
    }
}

/// A counter in the TPM that only rises: what is written beside its value cannot be rolled back unseen.
package struct EnclaveCounter: Equatable, Sendable {
    /// The NV index, in the owner's range (TCG Registry of Reserved TPM 2.0 Handles: 0x01800000–0x01BFFFFF).
    package let index: UInt32
    /// What the TPM counts to once everything that was written is in force.
    package var value: UInt64

    package init(index: UInt32, value: UInt64) {
        self.index = index
        self.value = value
    }
}

/// One user's failures that the TPM counted.
///
/// A right PIN does not lower the TPM's own counter, so that success does not clear these: they heal with time alone.
package struct EnclaveFailures: Equatable, Sendable {
    package var count: UInt8
    /// When the last of them was counted or healed.
    package var since: BootInstant

    package init(count: UInt8, since: BootInstant) {
        self.count = count
        self.since = since
    }
}

/// How the TPM's protection against guessing stands (TPM 2.0 Library, Part 1, "Dictionary Attack Protection").
///
/// It belongs to the whole machine: disk encryption that asks for a PIN uses it too.
package struct DictionaryAttackState: Equatable, Sendable {
    /// TPM2_PT_LOCKOUT_COUNTER.
    package let failures: UInt32
    /// TPM2_PT_MAX_AUTH_FAIL: as many failures lock the TPM.
    package let limit: UInt32
    /// TPM2_PT_LOCKOUT_INTERVAL: seconds of powered time after which one failure is forgotten.
    package let healSeconds: UInt32
    /// TPM2_PT_LOCKOUT_RECOVERY: seconds for which a wrong lockoutAuth locks the reset.
    package let recoverySeconds: UInt32
    package let inLockout: Bool
    /// Whether a reset needs a secret; without it whoever reaches the TPM resets the protection.
    package let hasLockoutAuthorization: Bool

    package init(
        failures: UInt32, limit: UInt32, healSeconds: UInt32, recoverySeconds: UInt32, inLockout: Bool,
        hasLockoutAuthorization: Bool
    ) {
        self.failures = failures
        self.limit = limit
        self.healSeconds = healSeconds
        self.recoverySeconds = recoverySeconds
        self.inLockout = inLockout
        self.hasLockoutAuthorization = hasLockoutAuthorization
    }
}
