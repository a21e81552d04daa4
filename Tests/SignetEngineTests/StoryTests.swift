import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// Each story as it is written: verdict, all that the person met in order, journal, and what stands on disk.
@Suite struct StoryTests {
    /// The comments beside the stories say which fault each would catch.
    @Test(arguments: PINStories.all, kinds) func pin(_ story: Story, on kind: EnclaveKind) throws {
        try check(story, kind)
    }
    @Test(arguments: FingerStories.all, kinds) func finger(_ story: Story, on kind: EnclaveKind) throws {
        try check(story, kind)
    }
    @Test(arguments: FieldStories.all, kinds) func field(_ story: Story, on kind: EnclaveKind) throws {
        try check(story, kind)
    }
    @Test(arguments: ChangeStories.all, kinds) func change(_ story: Story, on kind: EnclaveKind) throws {
        try check(story, kind)
    }
    @Test(arguments: RecoveryStories.all, kinds) func recovery(_ story: Story, on kind: EnclaveKind) throws {
        try check(story, kind)
    }

    @Test(arguments: EnclaveStories.all) func enclave(_ story: Story) throws { try check(story, .file) }

    static let kinds = [EnclaveKind.file, .tpm]

    private func check(_ story: Story, _ kind: EnclaveKind) throws {
        let machine = try story.prepared(kind)
        let actor = story.begin(machine)
        #expect(machine.disk.violations.isEmpty, "before the story")
        let outcome = story.run(actor)
        #expect(outcome == story.outcome)
        #expect(actor.person.met == story.met)
        #expect(actor.person.answers.isEmpty || outcome != .granted(.pin), "an answer was not asked for")
        // One line a decision: exactly one says how it ended.
        let endings = actor.journal.events.filter { if case .authentication = $0 { true } else { false } }
        #expect(endings.count == 1)
        try story.after(machine, actor)
        #expect(Story.wrongs(machine, actor, outcome) == [])
        #expect(actor.process.calls.last == .stopListening, "signals act when all is settled")
    }

    /// Catches a prompt after fingers at which Ctrl-C does nothing, and a reader that is held while a person types.
    @Test func thePINIsAskedForWithTheReaderClosedAndSignalsFree() throws {
        let machine = Machine()
        try machine.setUp()
        let actor = machine.process()
        _ = actor.authenticate([.enter, .cancels], touches: [.notRecognised, .notRecognised, .notRecognised])
        let armed = try #require(actor.process.calls.lastIndex(of: .arm))
        let asked = try #require(actor.process.calls.lastIndex(of: .ask))
        try #require(armed < asked)
        let between = actor.process.calls[armed..<asked]
        #expect(between.contains(.close) && between.contains(.stopListening))
    }

    /// Catches a wait that is missing, too short or too long, or a tenth failure that does not disable.
    @Test func tenWrongPINs() throws {
        let machine = Machine()
        try machine.setUp()
        func attempt(_ answer: Answer) -> Outcome { Outcome(machine.process().authenticate([answer])) }
        for _ in 1...4 { #expect(attempt(.wrong) == .refused(.authenticationFailed)) }
        for wait: UInt64 in [60, 300, 900, 3600, 3600] {
            #expect(attempt(.wrong) == .refused(.pinLockout(.waiting(seconds: wait))))
            machine.time.pass(wait - 1)
            #expect(attempt(.right) == .refused(.pinLockout(.waiting(seconds: 1))))
            machine.time.pass(1)
        }
        let last = machine.process()
        #expect(Outcome(last.authenticate([.wrong])) == .refused(.pinLockout(.disabled)))
        #expect(last.person.notices == [.wrongPIN(triesLeft: nil), .pinDisabled(codeHelps: true)])
        machine.time.pass(1_000_000)
        machine.time.reboot()
        #expect(attempt(.cancels) == .refused(.cancelled), "the recovery code is asked for, and nothing else")
        #expect(machine.attempts.pin.total == 10 && machine.disk.violations.isEmpty)
    }

    /// Catches a record fault that lets anybody in, compares anything, or reads like another one in the journal.
    @Test(arguments: [RecordFault.damaged, .foreign, .otherUser, .renamed, .newer, .missing, .unsafe, .keyLost])
    func unusableRecords(_ fault: RecordFault) throws {
        for kind in [RecordKind.identity, .attempts] {
            let machine = Machine()
            try machine.setUp()
            machine.disk.damage = [(kind, fault)]
            let actor = machine.process()
            let outcome = Outcome(actor.authenticate([.right], touches: [.matched(index: 0)]))
            #expect(outcome == .refused(.recordUnusable))
            #expect(actor.person.met == [.notice(fault == .renamed ? .troubled(.renamed) : .recordUnusable)])
            #expect(actor.journalHas(.recordFault(kind, fault)))
            #expect(actor.vault.comparisons == 0 && actor.sensor.arms == 0)
            #expect(!actor.process.wrote)
        }
    }
}
