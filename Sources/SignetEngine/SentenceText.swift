package import SignetPolicy

extension Prompt {
    /// What stands before the hidden field; it ends in a colon and a space.
    ///
    /// It begins with who asks for whose PIN, so that nobody gives bob's PIN to su who thinks of alice's and sudo.
    /// `password` does not, since a program without a terminal knows it by its text, nor does the command line.
    package func text(_ asked: Asked) -> String {
        switch self {
        case .password: words(asked)
        case .pinOrTouch: asked.prefix + asked.remark + words(asked)
        default: asked.prefix + words(asked)
        }
    }

    /// The same where nothing else is to be said of the reader.
    package func text(user: [UInt8], service: [UInt8]) -> String { text(Asked(user: user, service: service)) }

    private func words(_ asked: Asked) -> String {
        switch self {
        case .pin(because: nil): Prompt.typeYourPIN
        case .pin(because: .readerNotAvailable(.busy)): asked.busyReader + " " + Prompt.typeYourPIN
        case .pin(because: .some(let why)): Prompt.pinText(why)
        case .pinBeforeTouch: "PIN: "
        case .pinOrTouch: "PIN, or press Enter and touch the reader: "
        case .password: "Password: "
        case .recoveryCode:
            "Your PIN is disabled. Type your recovery code, or ask an administrator to run "
                + "\"signet lockout reset --user \(ShellWord.quoted(asked.user))\": "
        case .newPIN: "New PIN: "
        case .newPINAgain: "New PIN again: "
        case .currentPIN: "Current PIN: "
        }
    }

    private static let typeYourPIN = "Type your PIN: "

    /// The reason is said where there is one that the person did not choose.
    private static func pinText(_ why: FingerClosure) -> String {
        switch why {
        case .switchedOff, .noTerminal, .notEnrolled, .triesUsedUp: typeYourPIN
        case .remote: "Type your PIN (this session is remote): "
        case .anotherSeat: "Type your PIN (this session is not at the machine's screen): "
        case .lidClosed: "Type your PIN (the lid is closed): "
        case .background: "Type your PIN (this is a background job): "
        case .readerNotTrusted(let distrust) where distrust.isMendedByActivation:
            distrust.sentence + " Type your PIN; then run \"sudo signet activate\": "
        case .readerNotTrusted(let distrust): distrust.sentence + " " + typeYourPIN
        case .notApproved:
            "Your fingerprints are not switched on yet. Type your PIN; then run \"sudo signet activate\": "
        case .printsUnusable:
            SentenceParts.printsUnusable + " Type your PIN; an administrator can look with \"signet doctor\": "
        case .printsUnavailable: SentenceParts.printsUnavailable + " " + typeYourPIN
        case .enrollmentChanged(let change):
            SentenceParts.changed(change) + " Type your PIN; then run \"\(SentenceParts.remedy(change))\": "
        case .foreignPrints:
            SentenceParts.foreignPrints + " Type your PIN; then run \"sudo signet activate\": "
        case .biometryLockout(let limit):
            SentenceParts.locked(limit) + " Type your PIN to switch it on again: "
        case .pinRequiredAfterBoot: "Type your PIN (first use since start-up): "
        case .pinNeverUsed: "Type your PIN (first use of it): "
        case .pinRequiredStale: "Type your PIN (first use for some time): "
        case .readerExchanged(let exchange):
            exchange.sentence + " Type your PIN; then \(exchange.remedy): "
        case .readerNotAvailable(let problem): problem.sentence + " " + typeYourPIN
        case .notTouched: "The reader was not touched in time. " + typeYourPIN
        }
    }
}

extension Notice {
    /// What stands before an open field from now on; nil for a sentence that stands above it.
    ///
    /// `again` gives another form, for a field that has this label already: a person who touched must see that something
    /// came of it.
    package func label(_ asked: Asked, again: Bool = false) -> String? {
        let words: String
        switch self {
        case .touchTheReader: words = "Touch the reader or type your PIN: "
        case .readerWakes: words = "The reader is waking up. Type your PIN, or wait: "
        case .notRecognised: words = (again ? "Still not" : "Not") + " recognised. Touch again or type your PIN: "
        case .retry(let reason): words = reason.label(again: again)
        default: return nil
        }
        return asked.prefix + asked.remark + words
    }

    /// The sentence that a person reads, without a line's end.
    ///
    /// `user` comes from outside and is shown as `UTF8Text.printable` makes it.
    package func text(user: [UInt8]) -> String { text(Asked(user: user)) }

    /// The same where something is to be said of the reader.
    package func text(_ asked: Asked) -> String {
        let user = asked.user
        return switch self {
        case .touchTheReader: "Touch the reader." + (asked.readerName.map { " (\($0))" } ?? "")
        case .readerWakes: "The machine was asleep. The reader is waking up."
        case .notRecognised: "Not recognised. Touch again."
        case .retry(let reason): reason.sentence
        case .wrongPIN(let left): "Wrong PIN." + SentenceParts.triesLeft(left)
        case .wrongRecoveryCode(let left): "Wrong recovery code." + SentenceParts.triesLeft(left)
        case .waiting(let seconds): "Too many wrong PINs. Try again in \(SentenceParts.duration(seconds))."
        case .pinDisabled(let codeHelps):
            "Your PIN is disabled. \(codeHelps ? "Try again with your recovery code, or ask" : "Ask") an administrator "
                + "to run \"signet lockout reset --user \(ShellWord.quoted(user))\"."
        case .shareUsedUp:
            "Too many wrong PINs were typed this way. It opens again when \(UTF8Text.printable(user)) next uses the PIN in "
                + "another way, or when an administrator runs \"signet lockout reset --user \(ShellWord.quoted(user))\"."
        case .pinNotSet:
            "\(UTF8Text.printable(user)) has no Signet PIN yet. "
                + "An administrator can set one with \"signet pin set --user \(ShellWord.quoted(user))\"."
        case .recordsGone:
            "Nothing is set up for \(UTF8Text.printable(user)) any more. "
                + "An administrator can set a PIN with \"signet pin set --user \(ShellWord.quoted(user))\"."
        case .recordUnusable:
            "Signet's record for \(UTF8Text.printable(user)) is damaged. "
                + "An administrator can look with \"signet doctor\"."
        case .troubled(let trouble): trouble.sentence(user: user)
        case .systemFault:
            "Signet cannot check this just now. Try again; an administrator can look with \"signet doctor\"."
        case .nothingTyped: "Nothing was typed."
        case .fingerPathClosed(.readerNotAvailable(.busy)): asked.busyReader
        case .fingerPathClosed(let why): Notice.closedText(why)
        case .backgroundJob: "A background job cannot ask for your PIN. Bring it to the foreground and run it again."
        case .pinSetByAdministrator:
            "An administrator set your PIN. Choose your own with \"sudo signet pin change\"."
        case .pinRefused(let weakness): weakness.sentence
        case .pinsDiffer: "The two PINs differ. Type them again."
        case .recoveryCodeUsedUp:
            "Your recovery code is used up. Make a new one with \"sudo signet recovery-code new\"."
        }
    }

    /// Where only a finger would do and none is accepted.
    private static func closedText(_ why: FingerClosure) -> String {
        switch why {
        case .switchedOff: "Fingerprints are switched off here."
        case .noTerminal: "There is no terminal on which to ask for a touch."
        case .notEnrolled: "No finger is enrolled. Enrol one with \"sudo signet enroll\"."
        case .notApproved: "Your fingerprints are not switched on yet. Run \"sudo signet activate\"."
        case .printsUnusable: SentenceParts.printsUnusable + " An administrator can look with \"signet doctor\"."
        case .printsUnavailable: SentenceParts.printsUnavailable + " Try again."
        case .enrollmentChanged(let change):
            SentenceParts.changed(change) + " Run \"\(SentenceParts.remedy(change))\"."
        case .foreignPrints: SentenceParts.foreignPrints + " Run \"sudo signet activate\"."
        case .biometryLockout(let limit): SentenceParts.locked(limit) + " Your PIN switches it on again."
        case .pinRequiredAfterBoot: "Your PIN is needed once after start-up. Then touch the reader."
        case .pinNeverUsed: "Your PIN is needed once, for somebody else set it. Then touch the reader."
        case .pinRequiredStale: "Your PIN is needed once, after some time without it. Then touch the reader."
        case .remote: "Fingerprints are for a person at the machine, and this session is remote."
        case .lidClosed: "The lid is closed over the reader. Open it and try again."
        case .background: "A background job cannot ask for a touch. Bring it to the foreground and try again."
        case .anotherSeat: "Fingerprints are for a person at the machine's screen, and this session is not there."
        case .readerNotTrusted(let distrust) where distrust.isMendedByActivation:
            distrust.sentence + " Run \"sudo signet activate\"."
        case .readerNotTrusted(let distrust): distrust.sentence
        case .readerExchanged(let exchange): exchange.sentence + " To use this one, \(exchange.remedy)."
        case .readerNotAvailable(let problem): problem.sentence
        case .triesUsedUp: "Not recognised."
        case .notTouched: "The reader was not touched in time."
        }
    }
}

extension RecordTrouble {
    /// What is the matter and who can mend it.
    func sentence(user: [UInt8]) -> String {
        switch self {
        case .rolledBack:
            "Signet's record for \(UTF8Text.printable(user)) is not the one that was written last: a copy was put back. "
                + RecordTrouble.whoLooks
        case .renamed:
            "What Signet keeps of \(UTF8Text.printable(user)) was made under another user name. An administrator gives it to the "
                + "same person with \"signet user adopt --user \(ShellWord.quoted(user))\", or deletes it with "
                + "\"signet user purge --user \(ShellWord.quoted(user))\"."
        case .enclaveGone:
            "This machine's security chip (TPM) does not answer, so that nobody can be verified. "
                + RecordTrouble.whoLooks
        case .enclaveForeign:
            "This machine's security chip (TPM) was cleared or replaced, so that Signet's records cannot be opened. "
                + "An administrator has to set Signet up anew; \"signet doctor\" says how."
        case .enclaveRequired:
            "Signet has to use this machine's security chip (TPM), and was set up without it. "
                + RecordTrouble.whoLooks
        case .folderAbove:
            "A folder above Signet's own can be changed by others than root, or is a link. " + RecordTrouble.whoLooks
        }
    }

    private static let whoLooks = "An administrator can look with \"signet doctor\"."
}

/// Parts that several sentences share.
private enum SentenceParts {
    /// The sentence of a change: "Your fingerprints were changed (1 added, 2 removed)".
    static func changed(_ change: EnrollmentChange) -> String {
        // A record that was changed and put back looks the same: only a look at the reader tells.
        if change.isOfReadersAlone {
            return "Your fingerprints were changed, or \(change.gone == 1 ? "one is" : "\(change.gone) are") gone from "
                + "the reader's memory."
        }
        var counts = ""
        if change.added > 0 { counts = "\(change.added) added" }
        if change.removed > 0 { counts += (change.added > 0 ? ", " : "") + "\(change.removed) removed" }
        return change.added == 0 && change.removed == 0
            ? "Your fingerprints were changed." : "Your fingerprints were changed (\(counts))."
    }

    /// The command that mends a change, or tells which it is: what is not really gone must not be deleted.
    static func remedy(_ change: EnrollmentChange) -> String {
        change.isOfReadersAlone ? "sudo signet readers" : "sudo signet activate"
    }

    static let printsUnusable = "Your fingerprints cannot be read."
    static let printsUnavailable = "Your fingerprints cannot be checked just now."
    static let foreignPrints = "Foreign fingerprints were added to the reader's memory."

    static func locked(_ limit: UInt8) -> String {
        "Fingerprint is off after \(limit) failed \(limit == 1 ? "try" : "tries")."
    }

    /// " 2 tries left.", or nothing where the number is not to be told.
    static func triesLeft(_ left: Int?) -> String {
        guard let left, left > 0 else { return "" }
        return " \(left) \(left == 1 ? "try" : "tries") left."
    }

    /// Minutes, rounded up, so that nobody comes too early; seconds below one minute, hours from three on.
    static func duration(_ seconds: UInt64) -> String {
        if seconds < 60 { return seconds == 1 ? "1 second" : "\(seconds) seconds" }
        let minutes = seconds / 60 + (seconds % 60 == 0 ? 0 : 1)
        if minutes >= 180 { return "\(minutes / 60 + (minutes % 60 == 0 ? 0 : 1)) hours" }
        return minutes == 1 ? "1 minute" : "\(minutes) minutes"
    }
}
