internal import CPlatform
internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords

// What status, lockout and doctor say, and the stable names that JSON has for the same.

extension FingerClosure {
    var code: String {
        switch self {
        case .switchedOff: "switched_off"
        case .noTerminal: "no_terminal"
        case .notEnrolled: "not_enrolled"
        case .notApproved: "not_approved"
        case .printsUnusable: "prints_unusable"
        case .printsUnavailable: "prints_unavailable"
        case .enrollmentChanged: "enrollment_changed"
        case .foreignPrints: "foreign_prints"
        case .biometryLockout: "locked_out"
        case .pinRequiredAfterBoot: "pin_required_after_boot"
        case .pinNeverUsed: "pin_never_used"
        case .pinRequiredStale: "pin_required_stale"
        case .remote: "remote"
        case .lidClosed: "lid_closed"
        case .background: "background"
        case .anotherSeat: "another_seat"
        case .readerNotTrusted(let distrust): distrust.code
        case .readerExchanged: ReaderExchange.code
        case .readerNotAvailable(let problem): problem.code
        case .triesUsedUp: "tries_used_up"
        case .notTouched: "not_touched"
        }
    }

    /// Why the fingerprint is off, for an administrator.
    var words: String {
        switch self {
        case .switchedOff: "switched off by the configuration"
        case .noTerminal: "there is no terminal"
        case .notEnrolled: "no finger is enrolled"
        case .notApproved: "not activated with the PIN"
        case .printsUnusable: "the prints cannot be read"
        case .printsUnavailable: "the prints cannot be read now: memory or files are short"
        case .enrollmentChanged(let change): "changed: \(change.words)"
        case .foreignPrints(let count): Attention.foreignPrints(Int(count)).words
        case .biometryLockout: "locked until the PIN is given"
        case .pinRequiredAfterBoot: "the PIN comes first after start-up"
        case .pinNeverUsed: "the PIN comes first, for it was never used"
        case .pinRequiredStale: "the PIN was given too long ago"
        case .remote: "the session is remote"
        case .lidClosed: "the lid is closed"
        case .background: "the program is in the background"
        case .anotherSeat: "the session is not at the machine's screen"
        case .readerNotTrusted(let distrust): distrust.words
        case .readerExchanged(let exchange): exchange.words
        case .readerNotAvailable(let problem): problem.words
        case .triesUsedUp: "the tries are used up"
        case .notTouched: "nobody touched the reader"
        }
    }
}

extension ReaderDistrust {
    var code: String {
        switch self {
        case .outside: "reader_outside"
        case .moved: "reader_moved"
        case .unplaced: "reader_unplaced"
        case .chip: "match_on_chip"
        case .virtual: "no_stand_in"
        case .approvedOutside: "reader_approved_outside"
        }
    }

    var words: String {
        switch self {
        case .outside: "the reader is at an outside port"
        case .moved: "the reader is at another port than when it was approved"
        case .unplaced: "where the reader is cannot be told"
        case .chip: "the reader's own chip compares, which the configuration refuses"
        case .virtual: "the prints are for a stand-in reader, and none is configured"
        case .approvedOutside: "the reader was approved at an outside port, which the configuration refuses"
        }
    }
}

extension EnrollmentChange {
    /// "1 added, 2 removed".
    var words: String {
        if isOfReadersAlone { return "\(gone) removed, or gone from the reader's memory" }
        var parts: [String] = []
        if added > 0 { parts.append("\(added) added") }
        if removed > 0 { parts.append("\(removed) removed") }
        return parts.isEmpty ? "not as approved" : parts.joined(separator: ", ")
    }
}

extension RecordFault {
    var code: String {
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

    var words: String {
        switch self {
        case .damaged: "damaged"
        case .foreign: "from another machine, or made under another key"
        case .otherUser: "another user's"
        case .renamed: "made under another name"
        case .newer: "written by a later version of Signet"
        case .missing: "missing"
        case .unsafe: "open to others than root, or a link"
        case .unsafeAbove: "not used, for a folder above it can be changed by others than root, or is a link"
        case .stuck: "immutable, or a mount point"
        case .keyLost: "useless, for the key is lost"
        case .rolledBack: "older than what was written last"
        case .enclaveGone: "closed, for the TPM does not answer"
        case .enclaveForeign: "useless here, for the TPM is another one or was cleared"
        case .enclaveRequired: "not used, for the configuration asks for a TPM"
        }
    }
}

extension RecordKind {
    var words: String {
        switch self {
        case .identity: "identity"
        case .prints: "prints"
        case .attempts: "counters"
        case .values: "store values"
        case .store: "store"
        case .chips: "prints on chips"
        }
    }
}

extension RecordCondition {
    var code: String {
        switch self {
        case .usable: "usable"
        case .notSetUp: "not_set_up"
        case .faulty(_, let fault): fault.code
        case .busy: "busy"
        case .refused: "unreadable"
        case .clockUnreadable: "clock_unreadable"
        }
    }

    var words: String {
        switch self {
        case .usable: "usable"
        case .notSetUp: "not set up"
        case .faulty(let kind, let fault): "\(kind.words) \(fault.words)"
        case .busy: "in use by another program"
        case .refused(let number): RecordCondition.words(errno: number)
        case .clockUnreadable: "the clock cannot be read"
        }
    }
}

extension RecordCondition {
    /// What the file system's refusal means.
    private static func words(errno number: Int32) -> String {
        switch number {
        case ENOSPC, EDQUOT: "no space is left on the file system of /var/lib/signet"
        case EROFS: "the file system of /var/lib/signet is read-only"
        case EMFILE, ENFILE: "cannot be read now: too many files are open"
        case ENOMEM: "cannot be read now: memory is short"
        case EIO: "cannot be read: the disk failed"
        default: "cannot be read now (errno \(number))"
        }
    }
}

extension Attention {
    var code: String {
        switch self {
        case .recordFaulty(_, let fault): "record_\(fault.code)"
        case .renamed: "renamed"
        case .notSetUp: "not_set_up"
        case .pinDisabled: "pin_disabled"
        case .enrollmentChanged: "enrollment_changed"
        case .printsGone: "prints_gone"
        case .foreignPrints: "foreign_prints"
        case .notApproved: "not_approved"
        case .readerNotTrusted(let distrust): distrust.code
        case .readerExchanged: ReaderExchange.code
        case .readerRefused: "reader_refused"
        case .fprintdUnusable(let fault): "fprintd_\(fault.code)"
        case .fingerLockedOut: "finger_locked_out"
        case .pinSetByAdministrator: "pin_set_by_administrator"
        case .noRecoveryCode: "no_recovery_code"
        case .pinToBeRenewed: "pin_to_be_renewed"
        case .noCounter: "no_counter"
        }
    }

    /// What is the matter; it follows the user's name.
    var words: String {
        switch self {
        case .recordFaulty(let kind, let fault):
            "the record \"\(kind.words)\" is \(fault.words)" + Attention.consequence(kind, fault)
        case .renamed: "the records were made under another name"
        case .notSetUp: "no PIN is set"
        case .pinDisabled: "the PIN is disabled"
        case .enrollmentChanged(let change): "the fingerprints were changed (\(change.words))"
        case .printsGone(1, .some(let finger)):
            "the fingerprints were changed, or the \(finger.name) is gone from the reader's memory"
        case .printsGone(let count, _):
            "the fingerprints were changed, or \(count) \(count == 1 ? "is" : "are") gone from the reader's memory"
        case .foreignPrints(let count):
            "\(ForeignPrints.words(counted: count)) came into the reader's memory since the last activation"
        case .notApproved: "the fingerprints are not activated with the PIN"
        case .readerNotTrusted(let distrust): distrust.words
        case .readerExchanged(let exchange): exchange.words
        case .readerRefused(let distrust): "no finger is asked for: \(distrust.words)"
        case .fprintdUnusable(let fault): "the fingerprints that fprintd keeps are \(fault.words); the PIN still works"
        case .fingerLockedOut(let failures): "fingerprints are off after \(failures) failed tries"
        case .pinSetByAdministrator: "an administrator set the PIN"
        case .noRecoveryCode: "there is no recovery code"
        case .pinToBeRenewed: "the PIN has to be typed once, so that the TPM's part of it joins or leaves"
        case .noCounter: "the TPM has no room for a counter: older records that are put back would not be noticed"
        }
    }

    /// What is lost with a record, and that a backup is the better way.
    private static func consequence(_ kind: RecordKind, _ fault: RecordFault) -> String {
        switch (kind, fault) {
        case (_, .unsafe), (_, .stuck), (_, .keyLost), (_, .newer), (.store, _), (.values, _): ""
        case (_, .rolledBack), (_, .enclaveForeign): "; if a backup was put back, an administrator can accept it"
        case (.prints, _): "; the PIN still works: restore it from a backup, or delete the fingers and enrol anew"
        case (.identity, .missing): "; restore it from a backup, or set a new PIN, and then activate the fingers"
        default: "; restore it from a backup, or delete everything, and set a new PIN then"
        }
    }

    /// What to do about it: the command, and the rest in words; `user` is the name as a shell's word.
    func remedy(for user: String) -> String {
        [command(for: user), advice(for: user)].compactMap { $0 }.joined(separator: "; ")
    }

    /// What no command does alone, or which other one may be the right one; nil where the command is all.
    private func advice(for user: String) -> String? {
        switch self {
        case .recordFaulty(_, .newer): "install the later version of Signet again"
        case .readerExchanged(let exchange): exchange.remedy(" --user \(user)")
        case .readerRefused(let distrust): distrust.remedy
        case .renamed: "where that was somebody else, sudo signet user purge --yes --user \(user)"
        case .printsGone: "where none is gone, sudo signet activate --user \(user)"
        default: nil
        }
    }

    /// The command that mends it, to be pasted as it is; nil where there is none, or where it depends.
    func command(for user: String) -> String? {
        switch self {
        case .recordFaulty(.store, .enclaveForeign): "sudo signet enclave forget"
        case .recordFaulty(.store, .enclaveRequired): "sudo signet enclave migrate --to tpm"
        case .recordFaulty(.store, .enclaveGone): "sudo signet enclave status"
        case .recordFaulty(_, .rolledBack), .recordFaulty(_, .enclaveForeign):
            "sudo signet enclave accept --user \(user)"
        case .recordFaulty(_, .unsafe), .recordFaulty(_, .stuck), .recordFaulty(_, .keyLost), .recordFaulty(.store, _),
            .recordFaulty(.values, _):
            "sudo signet doctor"
        case .recordFaulty(_, .newer), .readerExchanged, .readerRefused: nil
        case .recordFaulty(.prints, _): "sudo signet delete --all --user \(user)"
        case .recordFaulty(.identity, .missing): "sudo signet pin set --user \(user)"
        case .recordFaulty: "sudo signet user purge --yes --user \(user)"
        // Right for one person under two names only: whoever made the records keeps the PIN. So the advice is the other way.
        case .renamed: "sudo signet user adopt --user \(user)"
        case .notSetUp: "sudo signet pin set --user \(user)"
        case .fprintdUnusable: "sudo signet doctor"
        case .pinDisabled: "sudo signet lockout reset --pin --user \(user)"
        // Nobody looked at the reader for this: `readers` does, and names the command where a print is really gone.
        case .printsGone: "sudo signet readers --user \(user)"
        case .enrollmentChanged, .foreignPrints, .notApproved, .readerNotTrusted: "sudo signet activate --user \(user)"
        case .fingerLockedOut: "sudo signet verify --user \(user)"
        case .pinSetByAdministrator: "sudo signet pin change --user \(user)"
        case .noRecoveryCode: "sudo signet recovery-code new --user \(user)"
        case .pinToBeRenewed: "sudo signet verify --user \(user)"
        case .noCounter: "sudo signet enclave status"
        }
    }
}

extension CallerClass {
    var code: String {
        switch self {
        case .person: "person"
        case .anotherPerson: "another_person"
        case .remote: "remote"
        }
    }

    var words: String {
        switch self {
        case .person: "people at the machine"
        case .anotherPerson: "other people's processes"
        case .remote: "remote callers"
        }
    }
}
