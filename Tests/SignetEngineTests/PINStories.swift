import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// Stories of the PIN; each says in a comment which fault it would catch.
enum PINStories {
    static let all = right + waits + shares + withoutFinger + records + faults

    private static let offered = Met.prompt(.pinOrTouch)

    static let right: [Story] = [
        // A right PIN that does not count, or leaves failures behind.
        Story(
            name: "right PIN", answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, actor in
                #expect(machine.attempts.pin.total == 0 && machine.attempts.lastPIN == machine.time.now)
                #expect(actor.vault.comparisons == 1 && actor.charges == 2)
            }),
        // A wrong PIN that is not counted or not told to the journal.
        Story(
            name: "wrong PIN", answers: [.wrong], outcome: .refused(.authenticationFailed),
            met: [offered, .notice(.wrongPIN(triesLeft: nil))],
            after: { machine, actor in
                #expect(machine.attempts.pin.total == 1 && machine.attempts.pin.wait == nil)
                #expect(actor.journalHas(.failure(factor: .pin, attempts: machine.attempts)))
            }),
        // Failures that a success does not clear, of fingers too.
        Story(
            name: "wrong then right",
            prepare: {
                try $0.setUp()
                $0.wrongFingers(2)
                $0.wrongPINs(2)
            }, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, _ in
                #expect(machine.attempts.pin.total == 0 && machine.attempts.finger.count == 0)
            }),
        // A person who is not told that the tries run out.
        Story(
            name: "third wrong PIN",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(2)
            }, answers: [.wrong], outcome: .refused(.authenticationFailed),
            met: [offered, .notice(.wrongPIN(triesLeft: 2))]),
        // A PIN that an administrator knows, and its owner is not told; or told for ever.
        Story(
            name: "PIN set by an administrator", prepare: { try $0.setUp(byAdministrator: true) }, answers: [.right],
            outcome: .granted(.pin),
            met: [.notice(.pinSetByAdministrator), .prompt(.pin(because: .pinNeverUsed))],
            after: { machine, _ in
                let next = machine.process()
                #expect(Outcome(next.authenticate([.right])) == .granted(.pin))
                #expect(next.person.notices.isEmpty)
            }),
        // A record that stays cheap to guess, or whose PIN is lost while it is made dearer.
        Story(
            name: "cost raised",
            prepare: {
                try $0.setUp()
                $0.configuration.argon2Passes = 4
            }, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, _ in
                #expect(machine.disk.identity?.pin.cost.passes == 4)
                let next = machine.process()
                #expect(Outcome(next.authenticate([.right])) == .granted(.pin))
                #expect(next.vault.derivations == 1)
            }),
        // A right PIN refused because a record could not be made dearer on a full disk.
        Story(
            name: "cost cannot be raised",
            prepare: {
                try $0.setUp()
                $0.configuration.argon2Passes = 4
            }, answers: [.right], meanwhile: { $1.process.faults = [(.saveIdentity, nil)] }, outcome: .granted(.pin),
            met: [offered], after: { machine, _ in #expect(machine.disk.identity?.pin.cost.passes == 3) }),
    ]

    static let waits: [Story] = [
        // A fifth failure without a wait.
        Story(
            name: "fifth wrong PIN",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(4)
            }, answers: [.wrong], outcome: .refused(.pinLockout(.waiting(seconds: 60))),
            met: [offered, .notice(.wrongPIN(triesLeft: nil)), .notice(.waiting(seconds: 60))]),
        // A prompt, a comparison or a finger while the PIN waits.
        Story(
            name: "during the wait",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(4)
                _ = $0.process().authenticate([.wrong])
                $0.time.pass(59)
            }, answers: [.right], touches: [.matched(index: 0)], outcome: .refused(.pinLockout(.waiting(seconds: 1))),
            met: [.notice(.waiting(seconds: 1))],
            after: { machine, actor in
                #expect(actor.vault.comparisons == 0 && actor.charges == 0 && actor.sensor.arms == 0)
                machine.time.pass(1)
                #expect(Outcome(machine.process().authenticate([.right])) == .granted(.pin))
            }),
        // A reboot that shortens the wait.
        Story(
            name: "reboot in the middle of a wait",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(4)
                _ = $0.process().authenticate([.wrong])
                $0.time.pass(59)
                $0.time.reboot(at: 5)
            }, answers: [.right], outcome: .refused(.pinLockout(.waiting(seconds: 55))),
            met: [.notice(.waiting(seconds: 55))]),
        // A PIN locked by another process while this one was asked.
        Story(
            name: "locked while asked",
            answers: [.right],
            meanwhile: { machine, actor in
                actor.once(at: .ask) {
                    machine.wrongPINs(4)
                    _ = machine.process("other").authenticate([.wrong])
                }
            }, outcome: .refused(.pinLockout(.waiting(seconds: 60))),
            met: [offered, .notice(.waiting(seconds: 60))],
            after: { _, actor in #expect(actor.vault.comparisons == 0) }),
    ]

    static let shares: [Story] = [
        // Somebody else who can lock a person out: alice is neither kept waiting nor without her finger.
        Story(
            name: "another person used up the share",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(3, caller: .anotherPerson)
            }, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, _ in #expect(machine.attempts.pin.total == 0) }),
        // A share that goes on for ever: the fourth try is not even asked for.
        Story(
            name: "another person's fourth",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(3, caller: .anotherPerson)
            }, answers: [.right], caller: .anotherPerson, closure: .background,
            outcome: .refused(.pinLockout(.shareUsedUp)), met: [.notice(.shareUsedUp)],
            after: { machine, actor in
                #expect(actor.vault.comparisons == 0 && machine.attempts.pin.byAnotherPerson == 3)
            }),
        // A used-up share that closes the finger.
        Story(
            name: "another person's share, by finger",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(3, caller: .anotherPerson)
            }, touches: [.matched(index: 0)], caller: .anotherPerson, outcome: .granted(.finger),
            met: [.notice(.touchTheReader)],
            after: { machine, _ in #expect(machine.attempts.pin.byAnotherPerson == 3) }),
        // One share that uses up another.
        Story(
            name: "remote beside another person",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(3, caller: .anotherPerson)
            }, answers: [.wrong], caller: .remote, closure: .remote, outcome: .refused(.authenticationFailed),
            met: [.prompt(.pin(because: .remote)), .notice(.wrongPIN(triesLeft: 2))],
            after: { machine, _ in
                #expect(machine.attempts.pin.byRemote == 1 && machine.attempts.pin.wait == nil)
            }),
    ]

    static let withoutFinger: [Story] = [
        // Ctrl-C that counts, says something, or is asked again.
        Story(
            name: "cancelled", answers: [.cancels], outcome: .refused(.cancelled), met: [offered],
            after: { machine, actor in #expect(machine.attempts.pin.total == 0 && actor.charges == 0) }),
        Story(name: "timed out", answers: [.letsTimePass], outcome: .refused(.timedOut), met: [offered]),
        Story(name: "no conversation", answers: [.cannotBeAsked], outcome: .refused(.cancelled), met: [offered]),
        // An empty answer that is compared, or asked for without end.
        Story(
            name: "Enter three times", prepare: { try $0.setUp(prints: []) }, answers: [.enter, .enter, .enter],
            outcome: .refused(.cancelled),
            met: [
                .prompt(.pin(because: .notEnrolled)), .notice(.nothingTyped), .prompt(.pin(because: nil)),
                .notice(.nothingTyped), .prompt(.pin(because: nil)),
            ], after: { machine, actor in #expect(actor.charges == 0) }),
        // A program without a terminal that is asked to touch, or another prompt than sudo replaces.
        Story(
            name: "no terminal", answers: [.right], touches: [.matched(index: 0)], terminal: false,
            outcome: .granted(.pin), met: [.prompt(.password)],
            after: { _, actor in #expect(actor.sensor.opened.isEmpty && actor.sensor.arms == 0) }),
        Story(
            name: "no terminal and pin=no", touches: [.matched(index: 0)], pin: false, terminal: false,
            outcome: .refused(.fingerPathClosed(.noTerminal)), met: [.notice(.fingerPathClosed(.noTerminal))],
            after: { _, actor in #expect(actor.sensor.arms == 0) }),
        // A remote caller, a closed lid or a background job that is offered the finger.
        Story(
            name: "remote", answers: [.right], touches: [.matched(index: 0)], caller: .remote, closure: .remote,
            outcome: .granted(.pin), met: [.prompt(.pin(because: .remote))],
            after: { _, actor in #expect(actor.journalHas(.fingerPathClosed(.remote)) && actor.sensor.arms == 0) }),
        Story(
            name: "lid closed", answers: [.right], closure: .lidClosed, outcome: .granted(.pin),
            met: [.prompt(.pin(because: .lidClosed))]),
        Story(
            name: "background", answers: [.enter, .right], closure: .background, outcome: .granted(.pin),
            met: [
                .prompt(.pin(because: .background)), .notice(.nothingTyped), .prompt(.pin(because: nil)),
            ], after: { _, actor in #expect(actor.sensor.arms == 0) }),
        // Another seat that is offered the finger, or not told why it is not.
        Story(
            name: "another seat", answers: [.right], touches: [.matched(index: 0)], closure: .anotherSeat,
            outcome: .granted(.pin), met: [.prompt(.pin(because: .anotherSeat))],
            after: { _, actor in
                #expect(actor.journalHas(.fingerPathClosed(.anotherSeat)) && actor.sensor.arms == 0)
            }),
        // Somebody at `su alice` who is not told why no finger counts where he is, or is told of her fingers.
        Story(
            name: "su under a closed lid", answers: [.right], caller: .anotherPerson, closure: .lidClosed,
            outcome: .granted(.pin), met: [.prompt(.pin(because: .lidClosed))]),
        Story(
            name: "su from afar", answers: [.right], caller: .anotherPerson, closure: .remote,
            outcome: .granted(.pin), met: [.prompt(.pin(because: .remote))]),
        Story(
            name: "su without fingers", answers: [.right], caller: .anotherPerson, closure: .notApproved,
            outcome: .granted(.pin), met: [.prompt(.pin(because: nil))]),
        // `finger = no` that is not kept.
        Story(
            name: "finger = no",
            prepare: {
                try $0.setUp()
                $0.configuration.finger = false
            }, answers: [.right], outcome: .granted(.pin), met: [.prompt(.pin(because: .switchedOff))]),
    ]

    static let records: [Story] = [
        // A caller who learns who exists, by time, by what is written, or by the prompt.
        Story(
            name: "unknown user", prepare: { _ in }, answers: [.right], exists: false, outcome: .refused(.unknownUser),
            met: [.prompt(.pin(because: nil)), .notice(.wrongPIN(triesLeft: nil))],
            after: { _, actor in
                #expect(actor.vault.timesSpent == 1 && !actor.process.wrote)
            }),
        Story(
            name: "unknown user without a terminal", prepare: { _ in }, answers: [.right], exists: false,
            terminal: false, outcome: .refused(.unknownUser),
            met: [.prompt(.password), .notice(.wrongPIN(triesLeft: nil))]),
        Story(
            name: "unknown user, Enter", prepare: { _ in }, answers: [.enter, .right], exists: false,
            outcome: .refused(.unknownUser),
            met: [
                .prompt(.pin(because: nil)), .notice(.nothingTyped), .prompt(.pin(because: nil)),
                .notice(.wrongPIN(triesLeft: nil)),
            ], after: { _, actor in #expect(actor.vault.timesSpent == 1) }),
        // A user without a PIN who is asked for one, or let in.
        Story(
            name: "no PIN set", prepare: { _ in }, answers: [.right], touches: [.matched(index: 0)],
            outcome: .refused(.pinNotSet), met: [.notice(.pinNotSet)]),
        // Prints that cannot be read and shut the PIN out.
        Story(
            name: "prints damaged",
            prepare: {
                try $0.setUp()
                $0.disk.damage = [(.prints, .damaged)]
            }, answers: [.right], outcome: .granted(.pin), met: [.prompt(.pin(because: .printsUnusable))],
            after: { _, actor in #expect(actor.journalHas(.recordFault(.prints, .damaged))) }),
        // A template in a form that this Signet does not know, and shuts the PIN out.
        Story(
            name: "a print of another format",
            prepare: {
                try $0.setUp()
                $0.disk.prints?.templates[2] = 0x34
            }, answers: [.right], touches: [.matched(index: 0)], outcome: .granted(.pin),
            met: [.prompt(.pin(because: .printsUnusable))],
            after: { _, actor in
                #expect(actor.journalHas(.recordFault(.prints, .damaged)) && actor.sensor.arms == 0)
            }),
        // A shortage that shuts the PIN out, or that is told as prints that are damaged.
        Story(
            name: "no descriptor for the prints", answers: [.right],
            meanwhile: {
                $1.process.storeError = .system(errno: 24)
                $1.process.faults = [(.loadPrints, nil)]
            }, outcome: .granted(.pin), met: [.prompt(.pin(because: .printsUnavailable))]),
        Story(
            name: "no memory for the prints", answers: [.right],
            meanwhile: { $1.process.faults = [(.digest, nil)] }, outcome: .granted(.pin),
            met: [.prompt(.pin(because: .printsUnavailable))],
            after: { machine, actor in
                #expect(actor.sensor.arms == 0 && machine.change == nil && actor.journalHas(.vaultFailed(.outOfMemory)))
            }),
        // Prints that become unreadable after they were offered, and refuse instead of asking for the PIN.
        Story(
            name: "prints damaged meanwhile", answers: [.enter, .right],
            meanwhile: { machine, actor in
                actor.once(at: .ask) { machine.disk.damage = [(.prints, .damaged)] }
            }, outcome: .granted(.pin), met: [offered, .prompt(.pin(because: .printsUnusable))]),
        // Counters deleted to guess anew.
        Story(
            name: "counters missing",
            prepare: {
                try $0.setUp()
                $0.disk.attempts = nil
            }, answers: [.right], outcome: .refused(.recordUnusable), met: [.notice(.recordUnusable)],
            after: { _, actor in
                #expect(actor.vault.comparisons == 0 && actor.journalHas(.recordFault(.attempts, .missing)))
            }),
        // The records deleted while the PIN was typed: nothing is damaged, and nothing lets anybody in.
        Story(
            name: "purged at the prompt", answers: [.right],
            meanwhile: { machine, actor in actor.once(at: .ask) { machine.disk.removeAll() } },
            outcome: .refused(.pinNotSet), met: [offered, .notice(.recordsGone)],
            after: { machine, actor in
                #expect(actor.vault.comparisons == 0 && machine.disk.identity == nil)
                #expect(!actor.journal.events.contains { if case .recordFault = $0 { true } else { false } })
            }),
        // A torn copy that costs nothing and is not told.
        Story(
            name: "counters torn",
            prepare: {
                try $0.setUp()
                $0.disk.torn = true
            }, answers: [.wrong], outcome: .refused(.authenticationFailed),
            met: [offered, .notice(.wrongPIN(triesLeft: nil))],
            after: { machine, actor in
                #expect(actor.journalHas(.attemptsTorn) && machine.attempts.pin.total == 2)
            }),
    ]

    static let faults: [Story] = [
        // A store that is held by a frozen process, and lets somebody in.
        Story(
            name: "store busy", answers: [.right],
            meanwhile: { machine, _ in try? machine.disk.acquire(FakeProcess("frozen")) },
            outcome: .refused(.recordUnusable), met: [.notice(.systemFault)],
            after: { machine, actor in
                #expect(actor.journalHas(.storeBusy) && actor.vault.comparisons == 0)
                if let frozen = machine.disk.holder { machine.disk.release(frozen) }
            }),
        // A comparison whose charge is not on disk.
        Story(
            name: "charge cannot be written", answers: [.right],
            meanwhile: { $1.process.faults = [(.saveAttempts, 1)] }, outcome: .refused(.recordUnusable),
            met: [offered, .notice(.systemFault)],
            after: { _, actor in
                #expect(actor.vault.comparisons == 0 && actor.journalHas(.storeRefused(errno: 28)))
            }),
        // A right PIN that counts although its settling is not on disk.
        Story(
            name: "success cannot be written", answers: [.right],
            meanwhile: { $1.process.faults = [(.saveAttempts, 2)] }, outcome: .refused(.recordUnusable),
            met: [offered, .notice(.systemFault)],
            after: { machine, _ in #expect(machine.attempts.pin.total == 1) }),
        // A clock that cannot be read, and a wait that is over.
        Story(
            name: "clock unreadable",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(4)
                _ = $0.process().authenticate([.wrong])
                $0.time.isUnreadable = true
            }, answers: [.right], outcome: .refused(.recordUnusable), met: [.notice(.systemFault)],
            after: { _, actor in
                #expect(actor.vault.comparisons == 0 && actor.journalHas(.clockUnreadable))
            }),
        // Short memory that uses up tries.
        Story(
            name: "out of memory", answers: [.right], meanwhile: { $1.process.faults = [(.unwrap, nil)] },
            outcome: .refused(.recordUnusable), met: [offered, .notice(.systemFault)],
            after: { machine, actor in
                #expect(machine.attempts.pin.total == 0 && actor.journalHas(.vaultFailed(.outOfMemory)))
            }),
        // Lost keys that read as a wrong PIN.
        Story(
            name: "keys lost", answers: [.right],
            meanwhile: {
                $1.process.faults = [(.unwrap, nil)]
                $1.process.vaultError = .keyLost
            }, outcome: .refused(.recordUnusable), met: [offered, .notice(.recordUnusable)],
            after: { machine, _ in #expect(machine.attempts.pin.total == 0) }),
    ]
}
