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
