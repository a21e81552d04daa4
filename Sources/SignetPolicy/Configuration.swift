/// What an administrator may set, every number within hard bounds.
///
/// The defaults are those of a missing file. `strictest` is what rules when the file cannot be used: the finger path is
/// closed and each limit stands at its strictest bound, but the PIN still works, so that nobody is shut out by a typo.
package struct Configuration: Equatable, Sendable {
    /// Whether fingers are accepted at all.
    package var finger = true
    /// Finger tries in one prompt, 1–3.
    package var fingerTries: UInt8 = 3
    /// Consecutive finger failures until only the PIN helps, 1–5 (NIST SP 800-63B-4 §3.2.3 allows 5 without
    /// presentation attack detection).
    package var fingerLimit: UInt8 = 5
    /// Seconds for which a touch is awaited, 5–60.
    package var fingerTimeout: UInt8 = 20
    /// Seconds that a reader may take to open, 1–15.
    package var readerTimeout: UInt8 = 5
    /// Consecutive PIN failures until it is disabled, 5–10 (NIST SP 800-63B-4 §3.2.10 allows 10).
    package var pinLimit: UInt8 = 10
    /// Shortest PIN in characters, 4–64 (NIST SP 800-63B-4 §3.2.10: at least 4, better 6).
    package var pinMinimumLength: UInt8 = 6
    /// Longest PIN in characters, `pinMinimumLength`–64.
    package var pinMaximumLength: UInt8 = 64
    /// Hours after which the PIN is asked once before fingers count again, 1–72.
    package var pinFreshHours: UInt8 = 72
    /// Argon2id passes for new PINs, 3–8.
    package var argon2Passes: UInt8 = 3
    /// Argon2id memory for new PINs in MiB, 64–512.
    package var argon2MemoryMiB: UInt16 = 64
    /// The sign that each typed character shows on a terminal, one printable ASCII character; nil: nothing is shown.
    package var pinMask: UInt8? = 0x2A
    /// Which readers may be used.
    package var readers: AllowedReaders = .inside
    /// Whether a reader counts whose chip keeps the prints and compares.
    package var matchOnChip = MatchOnChip.allow
    /// What new prints of others in a reader's memory do.
    package var foreignPrints = ForeignPrintRule.report
    /// Where the prints are kept that may be approved.
    package var enrollmentSource = EnrollmentSource.signet
    /// Absolute path of the reader helper in place of the shipped one; while it is set everything says "stand-in reader".
    package var sensorHelper: [UInt8]?
    /// What the store's master key is to be bound to.
    package var enclave = EnclavePreference.prefer
    /// How the TPM is reached, as tpm2-tss writes it.
    package var tpm = EnclaveSettings.standardTCTI
    /// Absolute path of the TPM helper in place of the shipped one.
    package var enclaveHelper: [UInt8]?

    package init() {}

    /// The part of it that the enclave needs.
    package var enclaveSettings: EnclaveSettings {
        EnclaveSettings(preference: enclave, tcti: tpm, helper: enclaveHelper)
    }

    /// What rules when the file cannot be used.
    package static var strictest: Configuration {
        var strict = Configuration()
        strict.finger = false
        strict.fingerTries = 1
        strict.fingerLimit = 1
        strict.pinLimit = 5
        strict.pinFreshHours = 1
        strict.matchOnChip = .refuse
        strict.foreignPrints = .close
        // Whoever chose to show nothing must not have it undone by a slip elsewhere in the file.
        strict.pinMask = nil
        return strict
    }

    /// What rules when this file cannot be used, as far as it could be read.
    ///
    /// Where the master key lives is a fact of the machine and no limit that could be stricter: with another TPM, or with
    /// `require` over a key file, the right PIN would open nothing, and with `file` a new store would be weaker. So the lines
    /// about it count if they are right themselves; a store that is there keeps to what it was set up with anyway.
    package var madeStrictest: Configuration {
        var strict = Configuration.strictest
        strict.enclave = enclave
        strict.tpm = tpm
        strict.enclaveHelper = enclaveHelper
        return strict
    }
}
