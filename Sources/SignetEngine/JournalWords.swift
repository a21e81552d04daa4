internal import SignetPolicy
package import SignetRecords

extension JournalLine {
    /// What happened, as pairs.
    mutating func add(_ event: JournalEvent) {
        switch event {
        case .authentication(let verdict, let attempts):
            add("event", "authentication")
            add(verdict)
            if let attempts { add(attempts) }
        case .failure(let factor, let attempts):
            add("event", "failure")
            add("factor", factor.word)
            add(attempts)
        case .fingerPathClosed(let why):
            add("event", "finger_closed")
            add("reason", why)
        case .recordFault(let kind, let fault):
            add("event", "record_fault")
            add("record", kind.word)
            add("fault", fault.word)
        case .storeRefused(let errno):
            add("event", "store_refused")
            add("errno", number: Int(errno))
        case .storeBusy: add("event", "store_busy")
        case .attemptsTorn: add("event", "attempts_torn")
        case .vaultFailed(let error):
            add("event", "vault_failed")
            add("error", error.word)
        case .noCounter: add("event", "tpm_no_counter")
        case .countMadeGood: add("event", "tpm_count_made_good")
        case .enclaveWaits(let failures, let limit):
            add("event", "tpm_waits")
            add("tpm_failures", number: Int(clamping: failures))
            add("tpm_limit", number: Int(clamping: limit))
        case .clockUnreadable: add("event", "clock_unreadable")
        case .memoryNotLocked: add("event", "memory_not_locked")
        case .configurationUnusable(let trouble):
            add("event", "configuration_unusable")
            add("cause", value: Array(trouble.sentence.utf8))
        case .argumentUnknown(let word):
            add("event", "argument_unknown")
            add("argument", value: word)
        case .readerRefused(let distrust):
            add("event", "reader_refused")
            add("reason", distrust.word)
        case .readerTrouble(let problem):
            add("event", "reader_trouble")
            add("problem", problem.described.journal)
        case .foreignPrints(let count):
            add("event", "foreign_prints")
            add("count", number: count)
        case .printLeft: add("event", "print_left")
        case .management(let act, let byAdministrator):
            add("event", "management")
            add(act)
            add("by", byAdministrator ? "administrator" : "user")
        }
    }

    private mutating func add(_ verdict: Verdict) {
        switch verdict {
        case .granted(let proof):
            add("outcome", "granted")
            add("factor", proof.factor.word)
        case .refused(let refusal):
            add("outcome", "refused")
            switch refusal {
            case .authenticationFailed: add("reason", "authentication_failed")
            case .pinNotSet: add("reason", "pin_not_set")
            case .pinLockout(.waiting(let seconds)):
                add("reason", "pin_waiting")
                add("seconds", number: Int(clamping: seconds))
            case .pinLockout(.disabled): add("reason", "pin_disabled")
            case .pinLockout(.shareUsedUp): add("reason", "share_used_up")
            case .cancelled: add("reason", "cancelled")
            case .timedOut: add("reason", "timed_out")
            case .unknownUser: add("reason", "unknown_user")
            case .recordUnusable: add("reason", "record_unusable")
            case .fingerPathClosed(let why): add("reason", why)
            case .background: add("reason", "background_job")
            }
        }
    }

    private mutating func add(_ key: StaticString, _ why: FingerClosure) {
        switch why {
        case .switchedOff: add(key, "switched_off")
        case .noTerminal: add(key, "no_terminal")
        case .notEnrolled: add(key, "not_enrolled")
        case .notApproved: add(key, "not_approved")
        case .printsUnusable: add(key, "prints_unusable")
        case .printsUnavailable: add(key, "prints_unavailable")
        case .enrollmentChanged(let change):
            add(key, "enrollment_changed")
            add("added", number: Int(change.added))
            add("removed", number: Int(change.removed))
        case .foreignPrints(let count):
            add(key, "foreign_prints")
            add("count", number: Int(count))
        case .biometryLockout(let limit):
            add(key, "biometry_lockout")
            add("limit", number: Int(limit))
        case .pinRequiredAfterBoot: add(key, "pin_required_after_boot")
        case .pinNeverUsed: add(key, "pin_never_used")
        case .pinRequiredStale: add(key, "pin_required_stale")
        case .remote: add(key, "remote")
        case .lidClosed: add(key, "lid_closed")
        case .background: add(key, "background")
        case .anotherSeat: add(key, "another_seat")
        case .readerNotTrusted(let distrust): add(key, distrust.word)
        case .readerExchanged: add(key, "reader_exchanged")
        case .readerNotAvailable(let problem):
            add(key, "reader_not_available")
            add("problem", problem.described.journal)
        case .triesUsedUp: add(key, "tries_used_up")
        case .notTouched: add(key, "not_touched")
        }
    }

    private mutating func add(_ attempts: Attempts) {
        add("finger_failures", number: Int(attempts.finger.count))
        add("pin_failures", number: attempts.pin.total)
        add("pin_by_others", number: Int(attempts.pin.byAnotherPerson))
        add("pin_by_remote", number: Int(attempts.pin.byRemote))
        add("recovery_failures", number: attempts.recovery.total)
    }

    private mutating func add(_ act: ManagementAct) {
        switch act {
        case .pinSet: add("act", "pin_set")
        case .pinChanged: add("act", "pin_changed")
        case .pinRemoved: add("act", "pin_removed")
        case .recoveryCodeMade: add("act", "recovery_code_made")
        case .recoveryCodeUsed: add("act", "recovery_code_used")
        case .fingerEnrolled(let finger):
            add("act", "finger_enrolled")
            add("finger", value: Array(finger.name.utf8))
        case .fingerDeleted(let finger):
            add("act", "finger_deleted")
            add("finger", value: Array(finger.name.utf8))
        case .fingersImported(let prints):
            add("act", "fingers_imported")
            add("prints", number: prints)
        case .approved(let prints):
            add("act", "approved")
            add("prints", number: prints)
        case .deactivated: add("act", "deactivated")
        case .printsDiscarded: add("act", "prints_discarded")
        case .lockoutReset(let finger, let pin):
            add("act", "lockout_reset")
            add("finger", finger ? "yes" : "no")
            add("pin", pin ? "yes" : "no")
        case .adopted: add("act", "adopted")
        case .olderRecordsAccepted: add("act", "older_records_accepted")
        case .purged: add("act", "purged")
        case .leftoversDeleted(let prints):
            add("act", "leftovers_deleted")
            add("prints", number: prints)
        }
    }
}

extension Factor {
    fileprivate var word: StaticString {
        switch self {
        case .finger: "finger"
        case .pin: "pin"
        case .recoveryCode: "recovery_code"
        }
    }
}

extension RecordKind {
    fileprivate var word: StaticString {
        switch self {
        case .identity: "identity"
        case .prints: "prints"
        case .attempts: "attempts"
        case .values: "values"
        case .store: "store"
        case .chips: "chips"
        }
    }
}

extension RecordFault {
    fileprivate var word: StaticString {
        switch self {
        case .damaged: "damaged"
        case .foreign: "foreign"
        case .otherUser: "other_user"
        case .renamed: "renamed"
        case .newer: "newer"
        case .missing: "missing"
        case .unsafe: "unsafe"
        case .unsafeAbove: "unsafe_above"
        case .stuck: "stuck"
        case .keyLost: "key_lost"
        case .rolledBack: "rolled_back"
        case .enclaveGone: "tpm_gone"
        case .enclaveForeign: "tpm_foreign"
        case .enclaveRequired: "tpm_required"
        }
    }
}

extension VaultError {
    fileprivate var word: StaticString {
        switch self {
        case .outOfMemory: "out_of_memory"
        case .keyLost: "key_lost"
        case .enclave(let problem): problem.word
        }
    }
}

extension EnclaveProblem {
    /// The journal's word for it.
    package var word: StaticString {
        switch self {
        case .noDevice: "tpm_no_device"
        case .foreign: "tpm_foreign"
        case .lockout: "tpm_lockout"
        case .busy: "tpm_busy"
        case .noRoom: "tpm_no_room"
        case .noCounter: "tpm_no_counter"
        case .ownerRefused: "tpm_owner_refused"
        case .lockoutAuthSet: "tpm_lockout_auth_set"
        case .other: "tpm_error"
        case .helperFailed: "tpm_helper_failed"
        case .stalled: "tpm_stalled"
        }
    }
}

extension ReaderDistrust {
    fileprivate var word: StaticString {
        switch self {
        case .outside: "reader_outside"
        case .moved: "reader_moved"
        case .unplaced: "reader_unplaced"
        case .chip: "match_on_chip"
        case .virtual: "no_stand_in"
        case .approvedOutside: "reader_approved_outside"
        }
    }
}
