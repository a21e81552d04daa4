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
