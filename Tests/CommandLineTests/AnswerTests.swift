import Testing

@testable import SignetEngine
@testable import SignetPolicy
@testable import signet

@Suite struct AnswerTests {
    private let alice = TargetUser(uid: 1000, name: Array("alice".utf8), byAdministrator: false, caller: .person)
    private let byAdmin = TargetUser(uid: 1000, name: Array("alice".utf8), byAdministrator: true, caller: .person)

    /// Catches fields that are renamed or lost, and answers without a version: programs read them.
    @Test func answersKeepTheirShape() {
        let item = ListAnswer.Item(
            finger: "right index", driver: "elanmoc", device: "0", onReader: true, enrolledAt: 5, active: true,
            reader: "elanmoc")
        #expect(
            Output.json(ListAnswer(user: "alice", fingers: [item])) == """
                {"fingers":[{"active":true,"device":"0","driver":"elanmoc","enrolled_at":5,"finger":"right index",\
                "on_reader":true,"reader":"elanmoc"}],"schema_version":1,"user":"alice"}

                """)
        #expect(
            Output.json(PINAnswer(user: "alice", pin: true, recoveryCode: nil))
                == "{\"pin\":true,\"schema_version\":1,\"user\":\"alice\"}\n")
        #expect(
            Output.json(VerifyAnswer(.refused(.pinLockout(.disabled)), alice))
                == "{\"reason\":\"pin_disabled\",\"schema_version\":1,\"user\":\"alice\",\"verified\":false}\n")
        #expect(
            Output.json(FailureAnswer(Failure(.lockedOut, "m", hint: "h"))) == """
                {"error":{"code":"locked_out","exit_status":6,"hint":"h","message":"m"},"schema_version":1}

                """)
        #expect(Output.json(VersionAnswer()) == "{\"schema_version\":1,\"version\":\"\(VersionAnswer().version)\"}\n")
    }

    /// Catches an exit code of `verify` that says "recognised" for anything but a proof, or loses the reason.
    @Test(arguments: [
        (Refusal.authenticationFailed, ExitCode.no), (.pinNotSet, .no), (.timedOut, .no), (.unknownUser, .no),
        (.pinLockout(.waiting(seconds: 5)), .lockedOut), (.pinLockout(.disabled), .lockedOut),
        (.cancelled, .cancelled), (.recordUnusable, .stateDamaged),
        (.fingerPathClosed(.readerNotAvailable(.busy)), .busy),
        (.fingerPathClosed(.readerNotAvailable(.tooHot)), .readerNotAvailable),
        (.fingerPathClosed(.biometryLockout(limit: 5)), .lockedOut), (.fingerPathClosed(.notEnrolled), .fingerClosed),
        (.fingerPathClosed(.remote), .fingerClosed), (.fingerPathClosed(.lidClosed), .fingerClosed),
        (.fingerPathClosed(.readerNotTrusted(.outside)), .readerNotAvailable), (.fingerPathClosed(.notTouched), .no),
        (.fingerPathClosed(.printsUnusable), .stateDamaged), (.fingerPathClosed(.printsUnavailable), .busy),
    ])
    func verifyExits(refusal: Refusal, code: ExitCode) {
        #expect(Verdict.refused(refusal).exitCode == code)
    }

    /// Catches a name that becomes another one, or a second command, where a told command is pasted into root's shell.
    @Test(arguments: ["DOM\\joe", "x$(id)", "a;id"]) func namesInToldCommandsAreQuoted(name: String) {
        let target = TargetUser(uid: 1000, name: Array(name.utf8), byAdministrator: true, caller: .person)
        var status = UserStatus(uid: 1000, userName: Array(name.utf8), record: .usable, readers: .present([]))
        var told = [ManagementRefusal.notEnrolled, .pinLockout(.disabled), .printsLeft(1), .biometryLockout].map {
            Failure($0, target).hint ?? ""
        }
        told += [Failure.pinNotSet(target).hint ?? "", ForgetText.after([name])]
        told.append(GonePrint(user: name, finger: nil, keeper: .signet).remedy)
        status.fingerClosure = .enrollmentChanged(EnrollmentChange(added: 1, removed: 0))
        told += StatusAnswer.needs(status, isOrphan: false).map(\.remedy)
        told += StatusAnswer.needs(status, isOrphan: true).map(\.remedy)
        #expect(told.count > 8)
        for text in told { #expect(text.contains(" --user '\(name)'"), "\(text)") }
    }

    /// Catches a reader that somebody has, and that is told to scripts as one that is not there.
    @Test func aBusyReaderIsBusy() {
        let reader = ReaderIdentity(driver: Array("elanmoc".utf8), device: Array("0".utf8))
        let busy = PrintsLeft(reader: reader, prints: 1, why: .problem(.busy, holder: nil))
        let away = PrintsLeft(reader: reader, prints: 1, why: .problem(.noReader, holder: nil))
        #expect(Failure.readerInUse(by: "fprintd").exit == .busy)
        #expect(Leftovers.exitCode(of: []) == .yes && Leftovers.exitCode(of: [busy]) == .busy)
        #expect(Leftovers.exitCode(of: [busy, away]) == .readerNotAvailable)
    }

    /// Catches a refusal with a wrong exit code, without a sentence or a way out, or not in the form of all messages.
    @Test(arguments: [
        (ManagementRefusal.pinNotSet, ExitCode.no), (.pinAlreadySet, .no), (.wrongPIN, .no),
        (.pinLockout(.waiting(seconds: 61)), .lockedOut), (.pinLockout(.disabled), .lockedOut),
        (.pinLockout(.shareUsedUp), .lockedOut), (.recoveryCodeLockout(.disabled), .lockedOut),
        (.noRecoveryCode, .no), (.wrongRecoveryCode, .no), (.newPINRefused, .no), (.nowhereToShow, .no),
        (.timedOut, .no), (.nobodyToAsk, .no), (.ledger(.recordUnusable), .stateDamaged),
        (.ledger(.unavailable), .busy), (.ledger(.full), .busy), (.ledger(.readOnly), .busy),
        (.ledger(.changedMeanwhile), .busy), (.reader(.noReader), .readerNotAvailable),
        (.reader(.tooHot), .readerNotAvailable), (.reader(.busy), .busy), (.activateFirst(.notApproved), .no),
        (.activateFirst(.printsUnusable), .stateDamaged), (.activateFirst(.printsUnavailable), .busy),
        (.activateFirst(.enrollmentChanged(EnrollmentChange(added: 0, removed: 1, gone: 1))), .no),
        (.goneFromReader([Finger.all[0]], keptElsewhere: false), .no),
        (.biometryLockout, .lockedOut),
        (.onSeveralReaders(Finger.all[0], [ReaderIdentity(driver: [0x61], device: [0x30])]), .no),
        (.duplicate(of: nil), .no), (.tooManyPrints, .no), (.notConfirmed, .no), (.notEnrolled, .no),
        (.printsLeft(1), .no),
    ])
    func refusalsAreWorded(refusal: ManagementRefusal, code: ExitCode) {
        for target in [alice, byAdmin] {
            let failure = Failure(refusal, target)
            #expect(failure.exit == code)
            #expect(failure.message.first?.isUppercase == false || failure.message.hasPrefix("PIN"))
            #expect(!failure.message.hasSuffix(".") && !failure.message.isEmpty)
            #expect(failure.hint?.isEmpty == false && !failure.message.contains("\n"))
        }
        #expect(Failure(.cancelled, alice) == Failure(.cancelled, ""))
    }

    /// Catches a setup without a finger that does not say why, or what to do then.
    @Test func thePINAloneIsExplained() {
        #expect(
            SetupAnswer.text(pinAlone: .readerInUse(by: "fprintd.service")) == """
                Your PIN is set. No finger is enrolled: the reader is in use by fprintd.service.
                End that program, and try again.
                Then add one with "sudo signet enroll".

                """)
    }

    /// Catches the reader's sentence in the form of a prompt.
    @Test func theReaderIsMissedInLowerCase() {
        #expect(Failure(.noReader).message == "no reader was found")
    }

    /// Catches what is the matter cut short, and advice for the prompt in the message.
    @Test func whatIsTheMatterIsWhole() {
        for problem in (1...17).compactMap({ ReaderProblem(rawValue: $0) }) {
            let message = Failure(problem).message
            #expect(problem.sentence.dropFirst().hasPrefix(message.dropFirst() + "."), "\(message)")
            #expect(message == problem.words && PrintsLeft.Cause.problem(problem, holder: nil).words == message)
        }
        #expect(Failure(.ghost).message == "the reader is listed and no longer there")
    }

    /// Catches a deletion that leaves a print and does not say why, or who has the reader.
    @Test func whatStaysIsExplained() {
        let reader = ReaderIdentity(driver: Array("elanmoc".utf8), device: [0x30])
        let left = [
            PrintsLeft(reader: reader, prints: 1, why: .problem(.busy, holder: Array("fprintd.service".utf8))),
            PrintsLeft(reader: reader, prints: 2, why: .notTrusted(.outside)),
        ]
        let finger = Finger.all[0]
        let deleted = FingersDeleted(fingers: [finger], left: left, remaining: 0, approved: false)
        let text = DeleteAnswer.text(of: deleted, alice, leftovers: 3)
        #expect(text.contains("where nothing matches now: the reader is in use by fprintd.service.\n"), "\(text)")
        #expect(text.contains("2 could not be deleted") && text.contains("at an outside port"), "\(text)")
        let answer = DeleteAnswer(deleted, alice, leftovers: 3)
        #expect(answer.leftOnReader == 3 && answer.leftBecause == ["reader_busy", "reader_outside"])
        var outcome = LeftoversDeleted()
        outcome.left = left
        #expect(Leftovers.text(of: outcome).contains("elanmoc: 1 print; the reader is in use by fprintd.service.\n"))
    }

    /// Catches an activation that is advised where it would be refused.
    @Test func activationIsAdvisedWhereItHelps() {
        for distrust in [ReaderDistrust.outside, .moved, .unplaced, .virtual, .chip, .approvedOutside] {
            let hint = Failure(.activateFirst(.readerNotTrusted(distrust)), alice).hint
            #expect(hint?.contains("signet activate") == distrust.isMendedByActivation, "\(distrust)")
        }
    }

    /// Catches a print that is gone and is not offered for deletion, or for the wrong program's.
    @Test func whatIsGoneIsOffered() {
        let fingers = [Finger.all[0], Finger.all[1]]
        let own = Failure(.goneFromReader(fingers, keptElsewhere: false), byAdmin)
        #expect(own.hint?.contains("sudo signet delete \(fingers[0].argument) --user") == true, "\(own)")
        #expect(Failure(.goneFromReader(fingers, keptElsewhere: true), alice).hint?.contains("fprintd-delete") == true)
        let first = Failure(.activateFirst(.enrollmentChanged(EnrollmentChange(added: 0, removed: 1, gone: 1))), alice)
        #expect(first.message == "your fingerprints were changed, or 1 is gone from the reader's memory")
        #expect(first.hint?.contains("delete") == false, "\(first)")
        #expect(first.hint?.contains("sudo signet readers") == true, "\(first)")
        let text = GonePrints.text([fingers[0]], "", keptElsewhere: false)
        #expect(text.contains("gone from the reader's memory"), "\(text)")
        #expect(text.hasSuffix("\(fingers[0].argument)\".\n"), "\(text)")
    }

    /// Catches an activation without any finger left that names a command which refuses where fprintd keeps the prints.
    @Test func withoutAFingerTheRightWayIsNamed() {
        let none = Activated(reader: nil, prints: 0, readersLeft: 0)
        #expect(ActivateAnswer.text(of: none, "", keptElsewhere: false).contains("\"sudo signet enroll\""))
        let elsewhere = ActivateAnswer.text(of: none, " --user bob", keptElsewhere: true)
        #expect(elsewhere.contains("fprintd-enroll") && !elsewhere.contains("signet enroll"), "\(elsewhere)")
    }

    /// Catches a finger that the reader knows with no way out, though it is left over or fprintd's.
    @Test func aKnownFingerHasAWayOut() {
        #expect(Failure(.duplicate(of: nil), alice).hint == "use another finger, or delete it for whom it was enrolled")
        let left = Failure.known(leftOver: 1, byFprintd: 0, alice).hint
        #expect(left?.contains("\"sudo signet delete --leftovers\"") == true && left?.contains("import") == false)
        let both = Failure.known(leftOver: 1, byFprintd: 2, byAdmin).hint
        #expect(both?.contains("--leftovers") == true && both?.contains("sudo signet import --user") == true)
    }

    /// Catches finger names that people or fprintd's users type and that are not understood, and others that are.
    @Test func fingersHaveNames() throws {
        for finger in Finger.all {
            #expect(try Finger(argument: [finger.argument]) == finger)
            #expect(try Finger(argument: finger.name.split(separator: " ").map(String.init)) == finger)
        }
        #expect(try Finger(argument: ["Right-Index-Finger"]).name == "right index")
        for wrong in ["index", "right", "middle right", "", "rightindex finger finger"] {
            #expect(throws: Failure.self) { try Finger(argument: [wrong]) }
        }
    }

    /// Catches a bar that is too long, or that breaks for numbers no reader should give.
    @Test func theBarFits() {
        for (done, total) in [(0, 5), (5, 5), (7, 5), (-1, 5), (3, 0), (255, 255)] {
            let line = ProgressBar.line(done: done, of: total, remark: "Good")
            #expect(line.count <= 48 && line.count { $0 == "█" || $0 == "░" } == 24)
        }
        #expect(ProgressBar.line(done: 5, of: 8, remark: "Good") == "  ███████████████░░░░░░░░░  5 of 8   Good")
    }

    /// Catches a name from outside that steers the terminal.
    @Test func foreignTextIsHarmless() {
        #expect(
            Output.text([0x61, 0x1B, 0x5B, 0x0A, 0xC2, 0x9B, 0xFF]) == "a?[???"
                || !Output.text([0x1B]).contains("\u{1B}"))
        #expect(Output.table([["a", "b"], ["ccc", "d"]]) == "a    b\nccc  d\n")
    }
}
