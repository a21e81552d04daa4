import SignetPolicy
import Testing

@testable import SignetEngine

private let alice = Array("alice".utf8)
private let sudo = Array("sudo".utf8)

@Suite struct PromptTextTests {
    /// Catches a prompt whose words changed: sudo and scripts know "Password: " by its bytes.
    @Test(
        arguments: [
            (.pin(because: nil), "Type your PIN: "),
            (.pinBeforeTouch, "PIN: "),
            (.pinOrTouch, "PIN, or press Enter and touch the reader: "),
            (.password, "Password: "),
            (
                .recoveryCode,
                "Your PIN is disabled. Type your recovery code, or ask an administrator to run "
                    + "\"signet lockout reset --user alice\": "
            ),
            (.newPIN, "New PIN: "),
            (.newPINAgain, "New PIN again: "),
            (.currentPIN, "Current PIN: "),
            (.pin(because: .switchedOff), "Type your PIN: "),
            (.pin(because: .noTerminal), "Type your PIN: "),
            (.pin(because: .notEnrolled), "Type your PIN: "),
            (.pin(because: .remote), "Type your PIN (this session is remote): "),
            (.pin(because: .anotherSeat), "Type your PIN (this session is not at the machine's screen): "),
            (.pin(because: .lidClosed), "Type your PIN (the lid is closed): "),
            (.pin(because: .background), "Type your PIN (this is a background job): "),
            (
                .pin(because: .readerNotTrusted(.outside)),
                "The reader is at an outside port, which is not allowed here. Type your PIN: "
            ),
            (
                .pin(because: .readerNotTrusted(.moved)),
                "The reader is at another port than when you approved it. Type your PIN; "
                    + "then run \"sudo signet activate\": "
            ),
            (
                .pin(because: .readerNotTrusted(.unplaced)),
                "Where the reader is connected cannot be told, so it is not used. Type your PIN: "
            ),
            (
                .pin(because: .readerNotTrusted(.virtual)),
                "Your fingerprints are for a stand-in reader, and none is configured. Type your PIN: "
            ),
            (
                .pin(because: .readerNotTrusted(.chip)),
                "The reader compares by itself, which is not allowed here. Type your PIN: "
            ),
            (
                .pin(because: .foreignPrints(2)),
                "Foreign fingerprints were added to the reader's memory. Type your PIN; "
                    + "then run \"sudo signet activate\": "
            ),
            (.pin(because: .triesUsedUp), "Type your PIN: "),
            (
                .pin(because: .notApproved),
                "Your fingerprints are not switched on yet. Type your PIN; then run \"sudo signet activate\": "
            ),
            (
                .pin(because: .printsUnusable),
                "Your fingerprints cannot be read. Type your PIN; an administrator can look with \"signet doctor\": "
            ),
            (
                .pin(because: .enrollmentChanged(EnrollmentChange(added: 0, removed: 1, gone: 1))),
                "Your fingerprints were changed, or one is gone from the reader's memory. Type your PIN; "
                    + "then run \"sudo signet readers\": "
            ),
            (
                .pin(because: .enrollmentChanged(EnrollmentChange(added: 1, removed: 1, gone: 1))),
                "Your fingerprints were changed (1 added, 1 removed). Type your PIN; then run \"sudo signet activate\": "
            ),
            (
                .pin(because: .enrollmentChanged(EnrollmentChange(added: 1, removed: 0))),
                "Your fingerprints were changed (1 added). Type your PIN; then run \"sudo signet activate\": "
            ),
            (
                .pin(because: .enrollmentChanged(EnrollmentChange(added: 2, removed: 1))),
                "Your fingerprints were changed (2 added, 1 removed). Type your PIN; then run \"sudo signet activate\": "
            ),
            (
                .pin(because: .enrollmentChanged(EnrollmentChange(added: 0, removed: 3))),
                "Your fingerprints were changed (3 removed). Type your PIN; then run \"sudo signet activate\": "
            ),
            (
                .pin(because: .enrollmentChanged(EnrollmentChange(added: 0, removed: 0))),
                "Your fingerprints were changed. Type your PIN; then run \"sudo signet activate\": "
            ),
            (
                .pin(because: .biometryLockout(limit: 5)),
                "Fingerprint is off after 5 failed tries. Type your PIN to switch it on again: "
            ),
            (
                .pin(because: .biometryLockout(limit: 1)),
                "Fingerprint is off after 1 failed try. Type your PIN to switch it on again: "
            ),
            (.pin(because: .pinRequiredAfterBoot), "Type your PIN (first use since start-up): "),
            (.pin(because: .pinNeverUsed), "Type your PIN (first use of it): "),
            (.pin(because: .pinRequiredStale), "Type your PIN (first use for some time): "),
            (.pin(because: .readerNotAvailable(.noReader)), "No reader was found. Type your PIN: "),
            (.pin(because: .notTouched), "The reader was not touched in time. Type your PIN: "),
        ] as [(Prompt, String)]) func text(prompt: Prompt, text: String)
    {
        let prefix = prompt == .password ? "" : "[sudo: alice] "
        #expect(prompt.text(Asked(user: alice, service: sudo)) == prefix + text)
        #expect(prompt.text(user: alice, service: Array("signet".utf8)) == text)
        #expect(text.hasSuffix(": "))
    }

    /// Catches a stand-in reader that passes for a real one where a touch is asked for, and one that is spoken of where
    /// none is.
    @Test func tellsTheStandIn() {
        let asked = Asked(user: alice, service: sudo, readerName: "stand-in reader")
        #expect(
            Prompt.pinOrTouch.text(asked)
                == "[sudo: alice] (stand-in reader) PIN, or press Enter and touch the reader: ")
        #expect(Prompt.pinBeforeTouch.text(asked) == "[sudo: alice] PIN: ")
        #expect(Notice.touchTheReader.text(asked) == "Touch the reader. (stand-in reader)")
        #expect(
            Notice.touchTheReader.label(asked)
                == "[sudo: alice] (stand-in reader) Touch the reader or type your PIN: ")
    }

    /// Catches a busy reader whose holder is not named, or is named where something else is the matter.
    @Test func namesTheHolder() {
        let held = Asked(user: alice, service: sudo, holder: Array("sudo on pts/3".utf8))
        #expect(
            Prompt.pin(because: .readerNotAvailable(.busy)).text(held)
                == "[sudo: alice] The reader is in use by sudo on pts/3. Type your PIN: ")
        #expect(
            Prompt.pin(because: .readerNotAvailable(.removed)).text(held)
                == "[sudo: alice] The reader was unplugged. Type your PIN: ")
        #expect(
            Notice.fingerPathClosed(.readerNotAvailable(.busy)).text(held)
                == "The reader is in use by sudo on pts/3.")
    }

    /// Catches a prompt that a long or missing name pushes off the line, or leaves without one.
    @Test(arguments: [
        ("sudo-i", "alice", "[sudo-i: alice] "), ("", "alice", "[alice] "), ("su", "", "[su: ] "),
        (String(repeating: "s", count: 17), "bob", "[ssssssssssssssss...: bob] "),
        ("su", String(repeating: "u", count: 33), "[su: \(String(repeating: "u", count: 32))...] "),
        ("s\u{1B}[2J", "a\nb", "[s?[2J: a?b] "),
    ]) func prefix(service: String, user: String, prefix: String) {
        let asked = Asked(user: Array(user.utf8), service: Array(service.utf8))
        #expect(Prompt.pinBeforeTouch.text(asked) == prefix + "PIN: ")
        #expect(Prompt.password.text(asked) == "Password: ")
    }
}

@Suite struct FieldLabelTests {
    /// Catches a label that does not say that the PIN may still be typed, or a sentence that takes the prompt's place.
    @Test(
        arguments: [
            (.touchTheReader, "[sudo: alice] Touch the reader or type your PIN: "),
            (.notRecognised, "[sudo: alice] Not recognised. Touch again or type your PIN: "),
            (.retry(.general), "[sudo: alice] That touch could not be read. Touch again or type your PIN: "),
            (.retry(.tooShort), "[sudo: alice] Swipe a little further, or type your PIN: "),
            (.retry(.centreFinger), "[sudo: alice] Centre your finger and touch again, or type your PIN: "),
            (.retry(.removeFinger), "[sudo: alice] Lift your finger and touch again, or type your PIN: "),
            (.retry(.tooFast), "[sudo: alice] Swipe more slowly, or type your PIN: "),
            (.nothingTyped, nil), (.systemFault, nil), (.wrongPIN(triesLeft: 1), nil), (.pinSetByAdministrator, nil),
        ] as [(Notice, String?)]) func label(notice: Notice, label: String?)
    {
        #expect(notice.label(Asked(user: alice, service: sudo)) == label)
        // No label fills more than a line of 80 columns.
        #expect((label?.utf8.count ?? 0) <= 80)
    }

    /// Catches a second touch after which nothing changes on the screen.
    @Test(
        arguments: [
            (.notRecognised, "[sudo: alice] Still not recognised. Touch again or type your PIN: "),
            (.retry(.general), "[sudo: alice] That touch could not be read either. Touch again or type your PIN: "),
            (.retry(.tooShort), "[sudo: alice] Swipe still further, or type your PIN: "),
            (.retry(.centreFinger), "[sudo: alice] Centre your finger more and touch again, or type your PIN: "),
            (.retry(.removeFinger), "[sudo: alice] Lift your finger fully and touch again, or type your PIN: "),
            (.retry(.tooFast), "[sudo: alice] Swipe still more slowly, or type your PIN: "),
        ] as [(Notice, String)]) func labelAgain(notice: Notice, label: String)
    {
        let asked = Asked(user: alice, service: sudo)
        #expect(notice.label(asked, again: true) == label)
        #expect(notice.label(asked) != label)
    }
}

@Suite struct NoticeTextTests {
    /// Catches a sentence whose words, numbers or plural are wrong.
    @Test(
        arguments: [
            (.touchTheReader, "Touch the reader."),
            (.notRecognised, "Not recognised. Touch again."),
            (.wrongPIN(triesLeft: nil), "Wrong PIN."),
            (.wrongPIN(triesLeft: 2), "Wrong PIN. 2 tries left."),
            (.wrongPIN(triesLeft: 1), "Wrong PIN. 1 try left."),
            (.wrongPIN(triesLeft: 0), "Wrong PIN."),
            (.wrongPIN(triesLeft: -1), "Wrong PIN."),
            (.wrongRecoveryCode(triesLeft: nil), "Wrong recovery code."),
            (.wrongRecoveryCode(triesLeft: 1), "Wrong recovery code. 1 try left."),
            (.waiting(seconds: 0), "Too many wrong PINs. Try again in 0 seconds."),
            (.waiting(seconds: 1), "Too many wrong PINs. Try again in 1 second."),
            (.waiting(seconds: 59), "Too many wrong PINs. Try again in 59 seconds."),
            (.waiting(seconds: 60), "Too many wrong PINs. Try again in 1 minute."),
            (.waiting(seconds: 61), "Too many wrong PINs. Try again in 2 minutes."),
            (.waiting(seconds: 240), "Too many wrong PINs. Try again in 4 minutes."),
            (.waiting(seconds: 3600), "Too many wrong PINs. Try again in 60 minutes."),
            (.waiting(seconds: 10_740), "Too many wrong PINs. Try again in 179 minutes."),
            (.waiting(seconds: 10_800), "Too many wrong PINs. Try again in 3 hours."),
            (.waiting(seconds: 10_801), "Too many wrong PINs. Try again in 4 hours."),
            (.waiting(seconds: 86_400), "Too many wrong PINs. Try again in 24 hours."),
            (
                .troubled(.rolledBack),
                "Signet's record for alice is not the one that was written last: a copy was put back. "
                    + "An administrator can look with \"signet doctor\"."
            ),
            (
                .troubled(.renamed),
                "What Signet keeps of alice was made under another user name. An administrator gives it to the same person "
                    + "with \"signet user adopt --user alice\", or deletes it with \"signet user purge --user alice\"."
            ),
            (
                .troubled(.enclaveGone),
                "This machine's security chip (TPM) does not answer, so that nobody can be verified. "
                    + "An administrator can look with \"signet doctor\"."
            ),
            (
                .troubled(.enclaveForeign),
                "This machine's security chip (TPM) was cleared or replaced, so that Signet's records cannot be opened. "
                    + "An administrator has to set Signet up anew; \"signet doctor\" says how."
            ),
            (
                .troubled(.enclaveRequired),
                "Signet has to use this machine's security chip (TPM), and was set up without it. "
                    + "An administrator can look with \"signet doctor\"."
            ),
            (
                .troubled(.folderAbove),
                "A folder above Signet's own can be changed by others than root, or is a link. "
                    + "An administrator can look with \"signet doctor\"."
            ),
            (.waiting(seconds: .max), "Too many wrong PINs. Try again in 5124095576030432 hours."),
            (
                .pinDisabled(codeHelps: true),
                "Your PIN is disabled. Try again with your recovery code, or ask an administrator to run "
                    + "\"signet lockout reset --user alice\"."
            ),
            (
                .pinDisabled(codeHelps: false),
                "Your PIN is disabled. Ask an administrator to run \"signet lockout reset --user alice\"."
            ),
            (
                .shareUsedUp,
                "Too many wrong PINs were typed this way. It opens again when alice next uses the PIN in another way, or when "
                    + "an administrator runs \"signet lockout reset --user alice\"."
            ),
            (
                .pinNotSet,
                "alice has no Signet PIN yet. An administrator can set one with \"signet pin set --user alice\"."
            ),
            (
                .recordsGone,
                "Nothing is set up for alice any more. An administrator can set a PIN with "
                    + "\"signet pin set --user alice\"."
            ),
            (
                .recordUnusable,
                "Signet's record for alice is damaged. An administrator can look with \"signet doctor\"."
            ),
            (
                .systemFault,
                "Signet cannot check this just now. Try again; an administrator can look with \"signet doctor\"."
            ),
            (.nothingTyped, "Nothing was typed."),
            (
                .backgroundJob,
                "A background job cannot ask for your PIN. Bring it to the foreground and run it again."
            ),
            (.pinSetByAdministrator, "An administrator set your PIN. Choose your own with \"sudo signet pin change\"."),
            (.pinsDiffer, "The two PINs differ. Type them again."),
            (
                .recoveryCodeUsedUp,
                "Your recovery code is used up. Make a new one with \"sudo signet recovery-code new\"."
            ),
            (.retry(.general), "That touch could not be read. Touch again."),
            (.retry(.tooShort), "Swipe a little further and try again."),
            (.retry(.centreFinger), "Centre your finger and touch again."),
            (.retry(.removeFinger), "Lift your finger and touch again."),
            (.retry(.tooFast), "Swipe more slowly and try again."),
        ] as [(Notice, String)]) func text(notice: Notice, text: String)
    { #expect(notice.text(user: alice) == text) }

    /// Catches a reason why only the PIN would do that is told wrongly to who may not give it.
    @Test(
        arguments: [
            (.switchedOff, "Fingerprints are switched off here."),
            (.noTerminal, "There is no terminal on which to ask for a touch."),
            (.notEnrolled, "No finger is enrolled. Enrol one with \"sudo signet enroll\"."),
            (.notApproved, "Your fingerprints are not switched on yet. Run \"sudo signet activate\"."),
            (
                .printsUnusable,
                "Your fingerprints cannot be read. An administrator can look with \"signet doctor\"."
            ),
            (.printsUnavailable, "Your fingerprints cannot be checked just now. Try again."),
            (
                .enrollmentChanged(EnrollmentChange(added: 0, removed: 2, gone: 2)),
                "Your fingerprints were changed, or 2 are gone from the reader's memory. Run \"sudo signet readers\"."
            ),
            (
                .enrollmentChanged(EnrollmentChange(added: 1, removed: 0)),
                "Your fingerprints were changed (1 added). Run \"sudo signet activate\"."
            ),
            (.biometryLockout(limit: 5), "Fingerprint is off after 5 failed tries. Your PIN switches it on again."),
            (.pinRequiredAfterBoot, "Your PIN is needed once after start-up. Then touch the reader."),
            (.pinNeverUsed, "Your PIN is needed once, for somebody else set it. Then touch the reader."),
            (.pinRequiredStale, "Your PIN is needed once, after some time without it. Then touch the reader."),
            (.remote, "Fingerprints are for a person at the machine, and this session is remote."),
            (.lidClosed, "The lid is closed over the reader. Open it and try again."),
            (.background, "A background job cannot ask for a touch. Bring it to the foreground and try again."),
            (
                .anotherSeat,
                "Fingerprints are for a person at the machine's screen, and this session is not there."
            ),
            (.readerNotTrusted(.outside), "The reader is at an outside port, which is not allowed here."),
            (
                .readerNotTrusted(.moved),
                "The reader is at another port than when you approved it. Run \"sudo signet activate\"."
            ),
            (.readerNotTrusted(.chip), "The reader compares by itself, which is not allowed here."),
            (
                .foreignPrints(1),
                "Foreign fingerprints were added to the reader's memory. Run \"sudo signet activate\"."
            ),
            (.readerNotAvailable(.busy), "The reader is in use by another program."),
            (.triesUsedUp, "Not recognised."),
            (.notTouched, "The reader was not touched in time."),
        ] as [(FingerClosure, String)]) func closed(why: FingerClosure, text: String)
    {
        #expect(Notice.fingerPathClosed(why).text(user: alice) == text)
    }

    @Test(
        arguments: [
            (.tooShort(minimum: 6), "That PIN is too short. Use at least 6 characters."),
            (.tooLong(maximum: 64), "That PIN is too long. Use at most 64 characters."),
            (.notPrintableASCII, "Use only digits, letters without accents, spaces and common signs."),
            (.repeated, "That PIN repeats itself. Choose one that is harder to guess."),
            (.run, "That PIN is a run of neighbouring characters. Choose one that is harder to guess."),
            (.keypadWalk, "That PIN follows the keys. Choose one that is harder to guess."),
            (.date, "That PIN reads as a date. Choose one that is harder to guess."),
            (.containsUserName, "That PIN holds a part of the user name. Choose one that is harder to guess."),
            (.common, "That PIN is among the most common. Choose one that is harder to guess."),
        ] as [(PINWeakness, String)]) func weakness(weakness: PINWeakness, text: String)
    {
        #expect(Notice.pinRefused(weakness).text(user: alice) == text)
    }

    @Test(
        arguments: [
            (.noReader, "No reader was found."), (.busy, "The reader is in use by another program."),
            (.removed, "The reader was unplugged."), (.tooHot, "The reader is too hot and needs a few minutes."),
            (.notPermitted, "The reader may not be used."), (.timedOut, "The reader did not answer."),
            (.faulty, "The reader reported a fault."), (.helperFailed, "The program that drives the reader failed."),
            (.storageFull, "The reader's memory is full."), (.duplicate, "The reader knows this finger already."),
            (.unsupported, "The reader cannot do this."),
            (.printNotFound, "The reader no longer has this fingerprint."),
            (.virtualRefused, "Only a virtual reader was found, and those are refused."),
            (.slept, "The reader was lost while the machine slept."), (.stalled, "The reader stopped answering."),
            (.cancelIgnored, "The reader was not touched in time, and did not stop waiting."),
            (.ghost, "The reader is listed and no longer there. Plug it in again."),
        ] as [(ReaderProblem, String)]) func problem(problem: ReaderProblem, text: String)
    { #expect(problem.sentence == text) }
}
