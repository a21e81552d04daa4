import CPlatform
import Testing

@testable import SignetEngine
@testable import SignetPolicy
@testable import signet

@Suite struct OutcomeTests {
    private let alice = TargetUser(uid: 1000, name: Array("alice".utf8), byAdministrator: false, caller: .person)
    private let byAdmin = TargetUser(uid: 1000, name: Array("alice".utf8), byAdministrator: true, caller: .person)

    /// Catches a PIN that goes without a warning where it is the only way in, or where it is somebody else's.
    @Test func aPINThatIsNeededIsNotRemovedUnasked() {
        #expect(PINRemoval.refusal(alice, closed: []) == nil)
        for target in [alice, byAdmin] {
            let refusal = PINRemoval.refusal(target, closed: ["su", "sudo"])
            #expect(refusal?.exit == .no)
            #expect(refusal?.message.hasSuffix("in no more: su, sudo") == true)
            #expect(refusal?.hint?.hasSuffix("add --yes") == true)
            // Whoever only deletes the lines opens the service, or shuts it: what goes in their place has to be said.
            #expect(refusal?.hint?.contains("\"@include common-auth\" in the place of Signet's lines") == true)
        }
        #expect(PINRemoval.refusal(byAdmin, closed: [])?.hint == "to do it, add --yes")
    }

    /// Catches input of every kind that is told alike: what went wrong must be told apart.
    @Test func inputThatCannotBeReadIsToldApart() throws {
        func problem(_ bytes: [UInt8]?) throws -> InputProblem? {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw Failure(.no, "no pipe") }
            defer { close(ends[0]) }
            if let bytes { _ = write(ends[1], bytes, bytes.count) }
            close(ends[1])
            do throws(InputProblem) {
                _ = try StandardInput.readSecretLine(limit: 4, from: bytes == nil ? -1 : ends[0])
                return nil
            } catch { return error }
        }
        #expect(try problem([]) == .empty)
        #expect(try problem(nil) == .closed)
        #expect(try problem(Array("12345".utf8)) == .tooLong)
        #expect(try problem(Array("1234".utf8)) == nil && problem(Array("12\n345".utf8)) == nil)
        let failures = [InputProblem.empty, .tooLong, .closed, .outOfMemory].map { Failure($0) }
        #expect(Set(failures.map(\.message)).count == 4 && failures.allSatisfy { $0.exit == .no && $0.hint != nil })
    }

    /// Catches a name as long as the command line that fills the terminal.
    @Test func whatWasTypedIsToldShort() {
        #expect(Output.name(String(repeating: "A", count: 100_000)).count == 65)
        #expect(Output.name("al\u{1B}ice") == "al?ice")
    }

    /// Catches "not recognised" for somebody who gave up.
    @Test func whoCancelsIsNotCalledUnknown() {
        #expect(VerifyAnswer(.refused(.cancelled), alice).text == "Cancelled.\n")
        #expect(VerifyAnswer(.refused(.authenticationFailed), alice).text == "Not recognised.\n")
    }

    /// Catches "not recognised" where nobody could touch, and a reason that programs cannot tell from another.
    @Test func whatWasNotComparedIsNotCalledUnknown() {
        let closures: [(FingerClosure, String, ExitCode)] = [
            (.readerNotAvailable(.busy), "reader_busy", .busy),
            (.readerNotAvailable(.noReader), "no_reader", .readerNotAvailable),
            (.readerNotTrusted(.moved), "reader_moved", .readerNotAvailable),
            (.readerNotTrusted(.chip), "match_on_chip", .readerNotAvailable), (.remote, "remote", .fingerClosed),
            (.lidClosed, "lid_closed", .fingerClosed), (.notEnrolled, "not_enrolled", .fingerClosed),
            (.biometryLockout(limit: 5), "locked_out", .lockedOut),
        ]
        for (closure, code, exit) in closures {
            let verdict = Verdict.refused(.fingerPathClosed(closure))
            let answer = VerifyAnswer(verdict, alice, holder: Array("fprintd".utf8))
            #expect(answer.text == "No finger was compared.\n" && answer.reason == "finger_path_closed")
            #expect(answer.fingerClosure == code && verdict.exitCode == exit)
            #expect(answer.inUseBy == (code == "reader_busy" ? "fprintd" : nil), "\(code)")
        }
        // One may have been compared before the time was over.
        let untouched = Verdict.refused(.fingerPathClosed(.notTouched))
        #expect(VerifyAnswer(untouched, alice, holder: nil).text == "Nobody touched the reader in time.\n")
        #expect(untouched.exitCode == .no)
        let json = Output.json(
            VerifyAnswer(.refused(.fingerPathClosed(.readerNotAvailable(.busy))), alice, holder: Array("fprintd".utf8)))
        #expect(
            json == """
                {"finger_closure":"reader_busy","in_use_by":"fprintd","reason":"finger_path_closed","schema_version":1,\
                "user":"alice","verified":false}

                """)
        for refusal in [Refusal.pinNotSet, .recordUnusable, .pinLockout(.disabled), .timedOut] {
            #expect(!VerifyAnswer(.refused(refusal), alice).text.contains("recognised"), "\(refusal)")
        }
    }

    /// Catches a PIN that was set and is not told where the rest of the task fails, and nothing that says how to go on.
    @Test func aPINThatWasSetIsTold() {
        let next = "sudo signet enroll"
        let again = Failure(.notConfirmed, alice).afterPIN(next: next)
        #expect(again.hint == "the PIN is set; go on with \"sudo signet enroll\"" && again.exit == .no)
        let duplicate = Failure(.duplicate(of: Finger.all[0]), alice).afterPIN(next: next)
        #expect(duplicate.hint == "use another finger; the PIN is set; go on with \"sudo signet enroll\"")
        #expect(RecoveryCodeText.afterwards(.interrupted, next: next)?.hasSuffix("go on with \"\(next)\".") == true)
        #expect(RecoveryCodeText.afterwards(.interrupted)?.contains("PIN") == false)
        #expect(Failure(.timedOut, alice).afterPIN(next: nil).hint == "the PIN is set")
    }

    /// Catches a command with a gap in it that a program runs, or that a person pastes.
    @Test func whatIsNoCommandIsNotGivenAsOne() throws {
        func exchange(isKeptElsewhere: Bool) -> Attention {
            .readerExchanged(
                ReaderExchange(
                    present: Array("Elan".utf8), enrolled: Array("goodixmoc".utf8), isSameKind: false,
                    isKeptElsewhere: isKeptElsewhere))
        }
        let attentions: [Attention] = [
            .recordFaulty(.identity, .newer), .recordFaulty(.prints, .damaged), .renamed, .notSetUp, .pinDisabled,
            .enrollmentChanged(EnrollmentChange(added: 1, removed: 0)), .printsGone(1, Finger.all[0]),
            .foreignPrints(1),
            .notApproved, .readerNotTrusted(.moved), .readerNotTrusted(.approvedOutside), .readerRefused(.chip),
            exchange(isKeptElsewhere: false), exchange(isKeptElsewhere: true), .readerRefused(.outside),
            .fprintdUnusable(.damaged), .fingerLockedOut(failures: 5), .pinSetByAdministrator, .noRecoveryCode,
            .pinToBeRenewed, .noCounter,
        ]
        for attention in attentions {
            let remedy = attention.remedy(for: "alice")
            #expect(!remedy.isEmpty)
            guard let command = attention.command(for: "alice") else { continue }
            #expect(remedy.hasPrefix(command))
            let words = command.split(separator: " ").map(String.init)
            #expect(words.prefix(2) == ["sudo", "signet"])
            guard case .run = try Parser(commands: Verbs.all).parse(Array(words.dropFirst(2))) else {
                Issue.record("\(command)")
                continue
            }
        }
        for attention in [
            exchange(isKeptElsewhere: false), .readerRefused(.chip), .recordFaulty(.identity, .newer),
        ] {
            #expect(attention.command(for: "alice") == nil)
        }
        #expect(Attention.readerRefused(.chip).remedy(for: "alice").contains("let an administrator write"))
        let unnamed = GonePrint(user: "alice", finger: nil, keeper: .signet).remedy
        #expect(unnamed.hasPrefix("sudo signet delete … --user alice, by a name from"), "\(unnamed)")
    }

    /// Catches a told command that names another reader, or one that no shell takes as it is.
    @Test func readersOfAFingerCanBeNamed() throws {
        func reader(_ driver: String, _ device: String) -> ReaderIdentity {
            ReaderIdentity(driver: Array(driver.utf8), device: Array(device.utf8))
        }
        let finger = Finger.all[6]
        let apart = Failure(.onSeveralReaders(finger, [reader("elanmoc", "0"), reader("aes3500", "0")]), alice)
        #expect(apart.hint?.contains("\"sudo signet delete right-index --reader elanmoc\" or") == true, "\(apart)")
        let alike = [reader("elanmoc", "a b"), reader("elanmoc", "1")]
        let hint = Failure(.onSeveralReaders(finger, alike), byAdmin).hint
        #expect(hint?.contains("--reader 'elanmoc:a b' --user alice\"") == true, "\(hint ?? "")")
        #expect(
            ReaderName(argument: "elanmoc:a b").fits(alike[0]) && !ReaderName(argument: "elanmoc:a b").fits(alike[1]))
        #expect(alike.allSatisfy(ReaderName(argument: "elanmoc").fits) && !ReaderName(argument: "").fits(alike[0]))
        #expect(
            !ReaderName(argument: "elanmoc:").fits(alike[0])
                && ReaderName(argument: "a:b:c").device == Array("b:c".utf8))
        #expect(Failure(.notOnThatReader(nil, alike), alice).hint?.contains("elanmoc:1") == true)
    }

    private func found(_ finger: Int, _ fate: FoundPrint.Fate, device: String = "0") -> FoundPrint {
        FoundPrint(
            finger: Finger.all[finger - 1],
            reader: ReaderIdentity(driver: Array("elanmoc".utf8), device: Array(device.utf8)),
            onReader: true, enrolledAt: 1_796_040_000, fate: fate)
    }

    /// Catches a stranger's print that an owner approves for want of its day, reader or name, and one that is gone and told
    /// as one to be had, or twice.
    @Test func whatFprintdKeepsIsToldWithDayAndReader() {
        let day = Output.day(1_796_040_000)
        let prints = [found(7, .new), found(1, .gone), found(7, .otherReader, device: "1")]
        #expect(
            ImportAnswer.list(prints, of: "alice") == """
                fprintd keeps these fingers of alice:
                  right index  \(day)  elanmoc:0, in the reader
                  left thumb   \(day)  elanmoc:0, is no longer on the reader
                  right index  \(day)  elanmoc:1, in the reader

                """)
        var outcome = Imported()
        outcome.found = prints
        outcome.approved = true
        let json = Output.json(ImportAnswer(outcome, leftOut: 0, alice))
        #expect(
            json.contains(
                "{\"device\":\"0\",\"driver\":\"elanmoc\",\"enrolled_at\":1796040000,\"finger\":\"right index\","
                    + "\"on_reader\":true,\"state\":\"imported\"}"), "\(json)")
        #expect(json.contains("\"state\":\"gone_from_reader\"") && json.contains("\"gone_from_reader\":1"))
        #expect(json.contains("\"imported\":[\"right index\"]") && json.contains("\"other_readers\":1"))
        #expect(!ImportAnswer.text(of: outcome, alice).contains("no longer"), "the list has told it")
        outcome.goneMeanwhile = [Finger.all[0]]
        #expect(ImportAnswer.text(of: outcome, alice).contains("The left thumb is no longer on the reader.\n"))
    }

    /// Catches fingers that an administrator imported, and that their owner is told nothing to do about.
    @Test func importedFingersThatAreOffNameActivate() {
        var outcome = Imported()
        outcome.found = [found(7, .known), found(2, .known)]
        #expect(ImportAnswer.text(of: outcome, alice).hasSuffix("do that with \"sudo signet activate\".\n"))
        #expect(ImportAnswer.text(of: outcome, byAdmin).contains("after alice runs \"sudo signet activate\""))
        outcome.approved = true
        #expect(!ImportAnswer.text(of: outcome, alice).contains("activate"))
    }

    /// Catches a task that was stopped and ends without a word when it goes on.
    @Test func goingOnIsNoticed() {
        // To this thread, which lets it in: one for the process would be another test's to take.
        var resumed = sigset_t()
        var before = sigset_t()
        sigemptyset(&resumed)
        sigaddset(&resumed, SIGCONT)
        Resumption.watch()
        #expect(!Resumption.happened)
        #expect(pthread_sigmask(SIG_UNBLOCK, &resumed, &before) == 0)
        #expect(raise(SIGCONT) == 0)
        #expect(pthread_sigmask(SIG_SETMASK, &before, nil) == 0)
        #expect(Resumption.happened)
        #expect(!Failure.stopped.message.isEmpty && Failure.stopped.exit == .cancelled)
    }

    /// Catches a command that is broken where it is quoted.
    @Test func quotedCommandsStayWhole() {
        let text = "A finger is switched on again with \"sudo signet activate\", and so on."
        for width in [24, 40, 60] {
            #expect(Help.wrapped(text, width: width).contains { $0.contains("\"sudo signet activate\",") })
        }
    }

    /// Catches success where nobody got the answer, and a complaint where the reader wanted no more of it.
    @Test(arguments: [ExitCode.yes, .no])
    func anAnswerThatIsLostIsNoSuccess(done: ExitCode) {
        #expect(Output.failure(writing: 0, after: done) == nil)
        #expect(Output.failure(writing: EPIPE, after: done) == nil)
        for code in [ENOSPC, EDQUOT, EFBIG, EBADF, EIO] {
            let failure = Output.failure(writing: code, after: done)
            #expect(failure?.exit == .notWritten)
            #expect(failure?.hint?.hasSuffix("exit status \(done.rawValue)") == true)
        }
    }
}
