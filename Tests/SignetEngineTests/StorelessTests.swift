import SignetPolicy
import Testing

@testable import SignetEngine

/// Authentications where no store can be opened.
@Suite struct StorelessTests {
    private func run(_ error: StoreError, exists: Bool = true) -> (outcome: Outcome, met: [Met], events: [JournalEvent])
    {
        let machine = Machine()
        let actor = machine.process()
        actor.person.answers = [.right]
        let request = AuthenticationRequest(
            configuration: machine.configuration, userExists: exists, userName: Machine.alice, pinAllowed: true,
            terminal: true, surroundings: FingerSurroundings())
        var authentication = StorelessAuthentication(request, error, log: actor.journal, person: actor.person)
        let outcome = Outcome(authentication.run())
        return (outcome, actor.person.met, actor.journal.events)
    }

    /// Catches a TPM that is gone told as a damaged record, or one that the person can do nothing about told as
    /// nothing.
    @Test(arguments: [
        (RecordFault.enclaveGone, Notice.troubled(.enclaveGone)), (.enclaveForeign, .troubled(.enclaveForeign)),
        (.enclaveRequired, .troubled(.enclaveRequired)), (.unsafeAbove, .troubled(.folderAbove)),
        (.unsafe, .recordUnusable), (.keyLost, .recordUnusable), (.damaged, .recordUnusable),
    ])
    func theReasonIsTold(fault: RecordFault, notice: Notice) {
        let (outcome, met, events) = run(.fault(.store, fault))
        #expect(outcome == .refused(.recordUnusable) && met == [.notice(notice)])
        #expect(events.first == .recordFault(.store, fault))
    }

    /// Catches a lost TPM that tells a caller who exists.
    @Test func anUnknownUserMeetsThePrompt() {
        let (outcome, met, _) = run(.fault(.store, .enclaveGone), exists: false)
        #expect(outcome == .refused(.unknownUser))
        #expect(met == [.prompt(.pin(because: nil)), .notice(.wrongPIN(triesLeft: nil))])
    }

    /// Catches a machine on which nobody was enrolled, or that is only short of something, told as damaged.
    @Test func whatIsNoFaultIsTold() {
        #expect(run(.fault(.store, .missing)).met == [.notice(.pinNotSet)])
        // The same where it goes while somebody is asked.
        var ledger = Machine().process().ledger()
        #expect(ledger.failed(.fault(.store, .missing)) == .notSetUp)
        #expect(ledger.failed(.fault(.store, .unsafe)) == .recordUnusable)
        #expect(run(.busy).met == [.notice(.systemFault)])
        #expect(run(.system(errno: 24)).met == [.notice(.systemFault)])
    }
}
