import SignetPolicy
import Testing

@testable import SignetEngine

private let context = JournalContext(
    service: Array("sudo".utf8), user: Array("alice".utf8), terminal: Array("/dev/pts/3".utf8), remoteHost: [],
    realUID: 1000)
private let who = " service=sudo user=alice ruid=1000 tty=/dev/pts/3 rhost=\"\""

private func rendered(_ event: JournalEvent, context: JournalContext) -> String {
    String(decoding: JournalLine.render(event, context: context), as: UTF8.self)
}

private func attempts(finger: UInt8 = 0, pin: UInt8 = 0, others: UInt8 = 0, remote: UInt8 = 0) -> Attempts {
    var attempts = Attempts()
    attempts.finger.count = finger
    attempts.pin.byPerson = pin
    attempts.pin.byAnotherPerson = others
    attempts.pin.byRemote = remote
    attempts.recovery.byPerson = 1
    return attempts
}

/// A grant can only come from the deciding machine.
private func granted() -> Verdict? {
    var machine = AuthenticationMachine(pinAllowed: true, fingerTries: 3, terminal: true)
    var step = machine.handle(
        .facts(
            AuthenticationMachine.Facts(record: .usable, pin: .open(triesLeft: 10), recovery: nil, finger: .notEnrolled)
        ))
    for event in [.answered, .charged, .matched, .settled] as [AuthenticationEvent] { step = machine.handle(event) }
    guard case .end(let verdict) = step.action else { return nil }
    return verdict
}

private func closed(_ why: FingerClosure) -> JournalEvent { .fingerPathClosed(why) }
private func refused(_ refusal: Refusal) -> JournalEvent { .authentication(verdict: .refused(refusal), attempts: nil) }
private func managed(_ act: ManagementAct) -> JournalEvent { .management(act, byAdministrator: false) }

@Suite struct JournalLineTests {
    /// Catches a password that was typed in the name's place and stands in a line about something else: a bad argument,
    /// a configuration that cannot be used, a store that refuses.
    @Test(arguments: [JournalEvent.argumentUnknown(Array("x".utf8)), .storeRefused(errno: 5), .storeBusy])
    func aNameOfNobodyIsNeverWritten(event: JournalEvent) {
        var unknown = context
        unknown.user = Array("hunter2".utf8)
        unknown.userIsKnown = false
        let line = rendered(event, context: unknown)
        #expect(line.hasSuffix(" service=sudo user=unknown ruid=1000 tty=/dev/pts/3 rhost=\"\""))
    }

    /// Catches a key or word that changed: administrators and log watchers search for them.
    @Test(
        arguments: [
            (
                .authentication(verdict: .refused(.authenticationFailed), attempts: attempts(finger: 2, pin: 3)),
                "event=authentication outcome=refused reason=authentication_failed finger_failures=2 pin_failures=3 "
                    + "pin_by_others=0 pin_by_remote=0 recovery_failures=1"
            ),
            (refused(.pinNotSet), "event=authentication outcome=refused reason=pin_not_set"),
            (
                refused(.pinLockout(.waiting(seconds: 240))),
                "event=authentication outcome=refused reason=pin_waiting seconds=240"
            ),
            (
                refused(.pinLockout(.waiting(seconds: .max))),
                "event=authentication outcome=refused reason=pin_waiting seconds=9223372036854775807"
            ),
            (refused(.pinLockout(.disabled)), "event=authentication outcome=refused reason=pin_disabled"),
            (refused(.pinLockout(.shareUsedUp)), "event=authentication outcome=refused reason=share_used_up"),
            (refused(.cancelled), "event=authentication outcome=refused reason=cancelled"),
            (refused(.timedOut), "event=authentication outcome=refused reason=timed_out"),
            (refused(.recordUnusable), "event=authentication outcome=refused reason=record_unusable"),
            (refused(.background), "event=authentication outcome=refused reason=background_job"),
            (refused(.fingerPathClosed(.remote)), "event=authentication outcome=refused reason=remote"),
            (
                .failure(factor: .pin, attempts: attempts(pin: 1, others: 2, remote: 3)),
                "event=failure factor=pin finger_failures=0 pin_failures=6 pin_by_others=2 pin_by_remote=3 "
                    + "recovery_failures=1"
            ),
            (
                .failure(factor: .finger, attempts: attempts(finger: 5)),
                "event=failure factor=finger finger_failures=5 pin_failures=0 pin_by_others=0 pin_by_remote=0 "
                    + "recovery_failures=1"
            ),
            (
                .failure(factor: .recoveryCode, attempts: attempts()),
                "event=failure factor=recovery_code finger_failures=0 pin_failures=0 pin_by_others=0 pin_by_remote=0 "
                    + "recovery_failures=1"
            ),
            (closed(.switchedOff), "event=finger_closed reason=switched_off"),
            (closed(.noTerminal), "event=finger_closed reason=no_terminal"),
            (closed(.notEnrolled), "event=finger_closed reason=not_enrolled"),
            (closed(.notApproved), "event=finger_closed reason=not_approved"),
            (closed(.printsUnusable), "event=finger_closed reason=prints_unusable"),
            (closed(.printsUnavailable), "event=finger_closed reason=prints_unavailable"),
            (
                closed(.enrollmentChanged(EnrollmentChange(added: 1, removed: 2))),
                "event=finger_closed reason=enrollment_changed added=1 removed=2"
            ),
            (closed(.biometryLockout(limit: 5)), "event=finger_closed reason=biometry_lockout limit=5"),
            (closed(.pinRequiredAfterBoot), "event=finger_closed reason=pin_required_after_boot"),
            (closed(.pinNeverUsed), "event=finger_closed reason=pin_never_used"),
            (closed(.pinRequiredStale), "event=finger_closed reason=pin_required_stale"),
            (closed(.remote), "event=finger_closed reason=remote"),
            (closed(.lidClosed), "event=finger_closed reason=lid_closed"),
            (closed(.background), "event=finger_closed reason=background"),
            (closed(.anotherSeat), "event=finger_closed reason=another_seat"),
            (closed(.readerNotTrusted(.outside)), "event=finger_closed reason=reader_outside"),
            (closed(.readerNotTrusted(.moved)), "event=finger_closed reason=reader_moved"),
            (closed(.readerNotTrusted(.chip)), "event=finger_closed reason=match_on_chip"),
            (closed(.readerNotTrusted(.approvedOutside)), "event=finger_closed reason=reader_approved_outside"),
            (
                closed(
                    .readerExchanged(
                        ReaderExchange(
                            present: Array("A".utf8), enrolled: Array("b".utf8), isSameKind: false,
                            isKeptElsewhere: false))),
                "event=finger_closed reason=reader_exchanged"
            ),
            (closed(.foreignPrints(2)), "event=finger_closed reason=foreign_prints count=2"),
            (.readerRefused(.unplaced), "event=reader_refused reason=reader_unplaced"),
            (.readerRefused(.virtual), "event=reader_refused reason=no_stand_in"),
            (closed(.triesUsedUp), "event=finger_closed reason=tries_used_up"),
            (closed(.notTouched), "event=finger_closed reason=not_touched"),
            (
                closed(.readerNotAvailable(.virtualRefused)),
                "event=finger_closed reason=reader_not_available problem=virtual_refused"
            ),
            (.recordFault(.identity, .otherUser), "event=record_fault record=identity fault=other_user"),
            (.recordFault(.store, .unsafe), "event=record_fault record=store fault=unsafe"),
            (.storeRefused(errno: 28), "event=store_refused errno=28"),
            (.storeBusy, "event=store_busy"),
            (.attemptsTorn, "event=attempts_torn"),
            (.vaultFailed(.keyLost), "event=vault_failed error=key_lost"),
            (.vaultFailed(.enclave(.stalled)), "event=vault_failed error=tpm_stalled"),
            (.recordFault(.attempts, .rolledBack), "event=record_fault record=attempts fault=rolled_back"),
            (.recordFault(.store, .enclaveGone), "event=record_fault record=store fault=tpm_gone"),
            (.noCounter, "event=tpm_no_counter"), (.countMadeGood, "event=tpm_count_made_good"),
            (.enclaveWaits(failures: 17, limit: 32), "event=tpm_waits tpm_failures=17 tpm_limit=32"),
            (.clockUnreadable, "event=clock_unreadable"), (.memoryNotLocked, "event=memory_not_locked"),
            (.argumentUnknown([0x61, 0x0A]), "event=argument_unknown argument=\"a\\x0a\""),
            (.foreignPrints(count: 3), "event=foreign_prints count=3"),
            (managed(.pinSet), "event=management act=pin_set by=user"),
            (managed(.pinChanged), "event=management act=pin_changed by=user"),
            (managed(.pinRemoved), "event=management act=pin_removed by=user"),
            (managed(.recoveryCodeMade), "event=management act=recovery_code_made by=user"),
            (managed(.recoveryCodeUsed), "event=management act=recovery_code_used by=user"),
            (managed(.approved(prints: 2)), "event=management act=approved prints=2 by=user"),
            (managed(.deactivated), "event=management act=deactivated by=user"),
            (managed(.printsDiscarded), "event=management act=prints_discarded by=user"),
            (managed(.adopted), "event=management act=adopted by=user"),
            (managed(.olderRecordsAccepted), "event=management act=older_records_accepted by=user"),
            (managed(.purged), "event=management act=purged by=user"),
            (
                .management(.lockoutReset(finger: true, pin: false), byAdministrator: true),
                "event=management act=lockout_reset finger=yes pin=no by=administrator"
            ),
        ] as [(JournalEvent, String)]) func words(event: JournalEvent, expected: String)
    {
        #expect(rendered(event, context: context) == expected + who)
    }

    /// Catches a number with a digit too few, too many or another sign.
    @Test(arguments: [0, 7, 10, 1_000_000_007, Int32.max, -1, -10, Int32.min]) func numbers(errno: Int32) {
        let line = rendered(.storeRefused(errno: errno), context: context)
        #expect(line == "event=store_refused errno=\(errno)" + who)
    }

    /// Catches the same, and a trap, at the ends of the range.
    @Test(arguments: [UInt64(Int.max), .max, 19, 20]) func longNumbers(seconds: UInt64) {
        let event = JournalEvent.authentication(
            verdict: .refused(.pinLockout(.waiting(seconds: seconds))), attempts: nil)
        #expect(rendered(event, context: context).contains(" seconds=\(min(seconds, UInt64(Int.max))) "))
    }

    /// Catches a grant that does not say by which factor.
    @Test func grantsAndFingers() throws {
        let verdict = try #require(granted())
        let line = rendered(.authentication(verdict: verdict, attempts: nil), context: context)
        #expect(line == "event=authentication outcome=granted factor=pin" + who)
        let finger = try #require(Finger(number: 7))
        #expect(
            rendered(managed(.fingerEnrolled(finger)), context: context)
                == "event=management act=finger_enrolled finger=\"right index\" by=user" + who)
        #expect(
            rendered(managed(.fingerDeleted(finger)), context: context)
                == "event=management act=finger_deleted finger=\"right index\" by=user" + who)
        #expect(
            rendered(managed(.fingersImported(prints: 2)), context: context)
                == "event=management act=fingers_imported prints=2 by=user" + who)
    }

    /// Catches a password, typed by mistake where the name belongs, that is written to the journal.
    @Test func keepsUnknownNamesOut() {
        var typed = context
        typed.user = Array("correct horse".utf8)
        let line = rendered(refused(.unknownUser), context: typed)
        #expect(
            line == "event=authentication outcome=refused reason=unknown_user service=sudo user=unknown ruid=1000 "
                + "tty=/dev/pts/3 rhost=\"\"")
    }

    /// Catches a stand-in reader that passes for a real one.
    @Test func tellsTheStandIn() {
        var standIn = context
        standIn.usesStandInReader = true
        #expect(rendered(.storeBusy, context: standIn).hasSuffix(" reader=\"stand-in reader\""))
        standIn.usesStandInReader = false
        standIn.usesStandInTPM = true
        #expect(rendered(.storeBusy, context: standIn).hasSuffix(" rhost=\"\" tpm=\"stand-in TPM\""))
    }

    /// Catches a value that ends its quotes, its line or its terminal's good manners, or is taken for another key.
    @Test(arguments: [
        ("a b", "\"a b\""),
        ("a\nevent=authentication outcome=granted", "\"a\\x0aevent=authentication outcome=granted\""),
        ("a\" outcome=granted", "\"a\\x22 outcome=granted\""), ("a\\", "\"a\\x5c\""), ("a=b", "\"a=b\""), ("", "\"\""),
        ("\u{1B}[31m", "\"\\x1b[31m\""), ("ü", "\"\\xc3\\xbc\""), ("\0", "\"\\x00\""), ("a\r", "\"a\\x0d\""),
        ("DOMAIN/alice@host+x%1:2-3.4_5", "DOMAIN/alice@host+x%1:2-3.4_5"), ("\u{7F}", "\"\\x7f\""),
    ]) func escapes(value: String, shown: String) {
        for key in ["service", "user", "tty", "rhost"] {
            var hostile = context
            switch key {
            case "service": hostile.service = Array(value.utf8)
            case "user": hostile.user = Array(value.utf8)
            case "tty": hostile.terminal = Array(value.utf8)
            default: hostile.remoteHost = Array(value.utf8)
            }
            let line = rendered(.storeBusy, context: hostile) + " "
            #expect(line.contains(" \(key)=\(shown) "))
            #expect(line.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        }
    }

    /// Catches a line that grows with what a caller sends.
    @Test func isBounded() {
        let long = [UInt8](repeating: 0xFF, count: 100_000)
        let hostile = JournalContext(
            service: long, user: long, terminal: long, remoteHost: long, realUID: .max, usesStandInReader: true,
            usesStandInTPM: true)
        let event = JournalEvent.authentication(
            verdict: .refused(.pinLockout(.waiting(seconds: .max))),
            attempts: attempts(finger: 255, pin: 255, others: 255, remote: 255))
        #expect(rendered(event, context: hostile).utf8.count <= JournalLine.lengthLimit)
        var cut = context
        cut.user = [UInt8](repeating: 0x61, count: 161)
        #expect(
            rendered(.storeBusy, context: cut).contains(
                " user=\"\(String(repeating: "a", count: 160))...\" "))
        cut.user = [UInt8](repeating: 0x0A, count: 41)
        #expect(
            rendered(.storeBusy, context: cut).contains(
                " user=\"\(String(repeating: "\\x0a", count: 40))...\" "))
        #expect(
            rendered(.argumentUnknown(long), context: hostile).utf8.count <= JournalLine.lengthLimit)
    }
}
