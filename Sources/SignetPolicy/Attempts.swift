/// Who stands behind an attempt, as far as shares of the PIN's limit go.
package enum CallerClass: UInt8, Equatable, Sendable, CaseIterable {
    /// The user, or somebody at the machine to whom no real uid belongs yet: `login`, a display manager.
    case person = 1
    /// A process of another person: `su alice` typed by bob.
    case anotherPerson = 2
    /// A remote caller to whom no real uid belongs yet: `sshd`.
    case remote = 3

    /// Who stands behind an attempt against the account `user` (nil: there is none), of a process with this real uid.
    ///
    /// Whoever is in a session of the user's is the user here, from wherever: a remote one can start processes outside
    /// itself (cron(8)), so that a smaller share would keep no attacker, and strangers at sshd's door could use it up. A program
    /// with the real uid 0 may say who asks (PAM_RUSER), as polkit's helper does from version 127; root asks for nobody.
    package init(realUID: UInt32, user: UInt32?, name: [UInt8], isRemote: Bool, asksFor requester: [UInt8]?) {
        guard realUID == 0 else {
            self = realUID == user ? .person : .anotherPerson
            return
        }
        let isForAnother = requester.map { !$0.elementsEqual(name) && !$0.elementsEqual("root".utf8) } ?? false
        self = isRemote ? .remote : isForAnother ? .anotherPerson : .person
    }
}

/// A waiting time on the boot clock.
package struct Wait: Equatable, Sendable {
    package let since: BootInstant
    /// Length in seconds, at most one hour.
    package let seconds: UInt32

    package init(since: BootInstant, seconds: UInt32) {
        self.since = since
        self.seconds = seconds
    }

    /// Seconds left at `now`, 0 when it is over.
    ///
    /// After a reboot the wait starts anew with the new boot's clock, so that a reboot never shortens it.
    package func remaining(at now: BootInstant) -> UInt64 {
        let length = UInt64(seconds)
        let passed = since.boot == now.boot ? (since.seconds(until: now) ?? 0) : now.seconds
        return passed >= length ? 0 : length - passed
    }
}

/// Failures against one secret (the PIN or the recovery code) since its last success, by who made them.
package struct SecretFailures: Equatable, Sendable {
    package var byPerson: UInt8 = 0
    package var byAnotherPerson: UInt8 = 0
    package var byRemote: UInt8 = 0
    /// The wait that a person's own failure started; it shuts every door.
    package var wait: Wait?
    /// Names the series of failures: it changes with each success and each reset, so that a late refund is void.
    package var epoch: UInt64 = 0

    package init() {}

    /// All failures together, at most 255.
    package var total: Int { Int(byPerson) + Int(byAnotherPerson) + Int(byRemote) }
}

/// Consecutive failures of fingers.
package struct FingerFailures: Equatable, Sendable {
    package var count: UInt8 = 0
    /// Names the series of failures, as for a secret.
    package var epoch: UInt64 = 0

    package init() {}
}

/// What changed in the enrollment set, in numbers a person is told.
package struct EnrollmentChange: Equatable, Sendable {
    package let added: UInt8
    package let removed: UInt8
    /// How many of those that were removed are enrolled still, and gone from their reader's memory alone.
    ///
    /// It is what a look at reader and records told; no record has it.
    package let gone: UInt8

    package init(added: UInt8, removed: UInt8, gone: UInt8 = 0) {
        self.added = added
        self.removed = removed
        self.gone = gone
    }

    /// The same without what no record has.
    package var recorded: EnrollmentChange { EnrollmentChange(added: added, removed: removed) }

    /// Whether nothing else happened: then deleting those prints mends it.
    package var isOfReadersAlone: Bool { gone > 0 && added == 0 && removed == gone }
}

/// All counters of one user, as they stand on disk.
package struct Attempts: Equatable, Sendable {
    package var pin = SecretFailures()
    package var recovery = SecretFailures()
    package var finger = FingerFailures()
    /// When the PIN was last right.
    package var lastPIN: BootInstant?
    /// The generation of the enrollment set that Signet's own commands wrote last.
    package var generation: UInt64 = 0
    /// The change that closed the finger path until re-activation, even if the set went back since.
    package var change: EnrollmentChange?
    /// How many more prints of others than the user approved were last seen in a reader's memory; that many or more where it
    /// is `foreignPrintsLimit`.
    package var foreignPrints: UInt8 = 0
    /// The TPM's counter that these are bound to; nil where the enclave has none for this user.
    package var counter: EnclaveCounter?
    /// Failures that the TPM counted; nil where there are none.
    package var enclaveFailures: EnclaveFailures?

    /// How far foreign prints are counted.
    package static let foreignPrintsLimit = Int(UInt8.max)

    package init() {}
}
