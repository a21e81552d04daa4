import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// Stories of a TPM; each says in a comment which fault it would catch.
enum EnclaveStories {
    static let all = failures + lockouts + lost + halves

    private static let offered = Met.prompt(.pinOrTouch)

    /// A TPM that counts wrong PINs, 32 of them, and forgets one every two hours.
    @Sendable static func counting(_ machine: Machine) throws {
        machine.tpm = FakeTPM(machine.time)
        machine.tpm?.counts = true
        try machine.setUp()
    }

    /// One that has no room for a counter.
    @Sendable static func withoutCounter(_ machine: Machine) throws {
        machine.tpm = FakeTPM(machine.time)
        machine.tpm?.room = 0
        try machine.setUp()
    }

    static let failures: [Story] = [
        // A right PIN that wears the flash, leaves a failure that the TPM does not have, or asks the TPM too late.
        Story(
            name: "TPM: right PIN", prepare: counting, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, actor in
                #expect(machine.attempts.enclaveFailures == nil && machine.tpm?.failures == 0)
                #expect(actor.process.count(.bump) == 0 && actor.charges == 2)
                let prepared = actor.process.calls.firstIndex(of: .prepareHalf) ?? .max
                #expect(prepared < actor.process.calls.firstIndex(of: .ask) ?? 0)
            }),
        // A wrong PIN that the TPM counted and Signet did not, or that a copy of the records undoes.
        Story(
            name: "TPM: wrong PIN", prepare: counting, answers: [.wrong], outcome: .refused(.authenticationFailed),
            met: [offered, .notice(.wrongPIN(triesLeft: nil))],
            after: { machine, actor in
                #expect(machine.tpm?.failures == 1)
                #expect(machine.attempts.enclaveFailures == EnclaveFailures(count: 1, since: machine.time.now))
                #expect(actor.process.count(.bump) == 1)
            }),
        // A success that forgets what the TPM still counts, or adds to it.
        Story(
            name: "TPM: wrong, then right",
            prepare: {
                try counting($0)
                $0.wrongPINs(3)
            }, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, actor in
                #expect(machine.attempts.pin.total == 0 && machine.attempts.enclaveFailures?.count == 3)
                #expect(machine.tpm?.failures == 3 && actor.process.count(.bump) == 1)
            }),
    ]

    static let lockouts: [Story] = [
        // A PIN tried although the machine's budget is half used up; a finger shut for somebody else's wrong PINs.
        Story(
            name: "TPM: half of the budget, by finger",
            prepare: {
                try counting($0)
                $0.tpm?.fail(16)
            }, answers: [.right], touches: [.matched(index: 0)], outcome: .granted(.finger),
            met: [.notice(.touchTheReader)],
            after: { _, actor in
                #expect(actor.vault.comparisons == 0)
                #expect(actor.journalHas(.enclaveWaits(failures: 16, limit: 32)))
            }),
        Story(
            name: "TPM: half of the budget",
            prepare: {
                try counting($0)
                $0.tpm?.fail(17)
            }, answers: [.right], closure: .remote, outcome: .refused(.pinLockout(.waiting(seconds: 14_400))),
            met: [.notice(.waiting(seconds: 14_400))],
            after: { machine, actor in
                #expect(actor.vault.comparisons == 0 && !actor.process.wrote)
                machine.time.pass(14_400)
                #expect(Outcome(machine.process().authenticate([.right])) == .granted(.pin))
            }),
        // A budget that is used up while a person types, and is not looked at again.
        Story(
            name: "TPM: half of the budget while typing", prepare: counting, answers: [.right],
            meanwhile: { machine, actor in actor.once(at: .ask) { machine.tpm?.fail(16) } },
            outcome: .refused(.pinLockout(.waiting(seconds: 7200))), met: [offered, .notice(.waiting(seconds: 7200))],
            after: { machine, actor in
                #expect(actor.vault.comparisons == 0 && actor.charges == 0 && machine.attempts.pin.total == 0)
            }),
        // A lockout in the middle of a comparison taken for a wrong PIN, or charged.
        Story(
            name: "TPM: locked while comparing", prepare: counting, answers: [.right],
            meanwhile: { machine, actor in actor.once(at: .unwrap) { machine.tpm?.fail(32) } },
            outcome: .refused(.pinLockout(.waiting(seconds: 86_400))),
            met: [offered, .notice(.waiting(seconds: 86_400))],
            after: { machine, actor in
                #expect(machine.attempts.pin.total == 0 && machine.attempts.enclaveFailures == nil)
                #expect(actor.journalHas(.vaultFailed(.enclave(.lockout))))
            }),
        // One user's typing that leads the TPM into lockout for all.
        Story(
            name: "TPM: share used up",
            prepare: {
                try counting($0)
                $0.wrongPINs(8)
            }, answers: [.right], closure: .remote, outcome: .refused(.pinLockout(.waiting(seconds: 3600))),
            met: [.notice(.waiting(seconds: 3600))],
            after: { machine, actor in
                #expect(machine.tpm?.failures == 8 && actor.vault.comparisons == 0)
                machine.time.pass(3600)
                #expect(Outcome(machine.process().authenticate([.right])) == .granted(.pin))
            }),
        // The last wrong PIN of a share that tells nobody why the next is not taken.
        Story(
            name: "TPM: share's last",
            prepare: {
                try counting($0)
                for _ in 1...2 {
                    $0.wrongPINs(3)
                    _ = $0.process().authenticate([.right])
                }
                $0.wrongPINs(1)
            }, answers: [.wrong], outcome: .refused(.pinLockout(.waiting(seconds: 7200))),
            met: [offered, .notice(.wrongPIN(triesLeft: nil)), .notice(.waiting(seconds: 7200))],
            after: { machine, _ in #expect(machine.attempts.pin.total == 2 && machine.tpm?.failures == 8) }),
        // Somebody else's `su` that uses up the user's share, success after success.
        Story(
            name: "TPM: share of another person",
            prepare: {
                try counting($0)
                for _ in 1...2 {
                    $0.wrongPINs(2, caller: .anotherPerson)
                    _ = $0.process().authenticate([.right])
                }
            }, answers: [.right], caller: .anotherPerson, closure: .background,
            outcome: .refused(.pinLockout(.waiting(seconds: 7200))), met: [.notice(.waiting(seconds: 7200))],
            after: { machine, _ in
                #expect(machine.attempts.enclaveFailures?.count == 4)
                #expect(Outcome(machine.process().authenticate([.right])) == .granted(.pin))
            }),
    ]

    static let lost: [Story] = [
        // A TPM that is gone and lets in, charges, or is told as a damaged record.
        Story(
            name: "TPM: gone",
            prepare: {
                try counting($0)
                $0.tpm?.isThere = false
            }, answers: [.right], touches: [.matched(index: 0)], outcome: .refused(.recordUnusable),
            met: [.notice(.troubled(.enclaveGone))],
            after: { machine, actor in
                #expect(actor.vault.comparisons == 0 && actor.sensor.arms == 0 && !actor.process.wrote)
                machine.tpm?.isThere = true
                #expect(Outcome(machine.process().authenticate([.right])) == .granted(.pin))
            }),
        Story(
            name: "TPM: gone while typing", prepare: counting, answers: [.right],
            meanwhile: { machine, actor in actor.once(at: .ask) { machine.tpm?.isThere = false } },
            outcome: .refused(.recordUnusable), met: [offered, .notice(.troubled(.enclaveGone))],
            after: { machine, _ in #expect(machine.attempts.pin.total == 0) }),
        // A guess for nothing: the TPM compared, and its helper was stopped before it told.
        Story(
            name: "TPM: answer lost",
            prepare: {
                try counting($0)
                $0.tpm?.losesAnswers = true
            }, answers: [.wrong], outcome: .refused(.recordUnusable),
            met: [offered, .notice(.troubled(.enclaveGone))],
            after: { machine, actor in
                #expect(machine.attempts.pin.total == 1 && machine.attempts.enclaveFailures?.count == 1)
                #expect(machine.tpm?.failures == 1)
                #expect(actor.journalHas(.vaultFailed(.enclave(.stalled))))
            }),
        // A busy TPM that costs a try.
        Story(
            name: "TPM: busy", prepare: counting, answers: [.right],
            meanwhile: {
                $1.process.faults = [(.unwrap, nil)]
                $1.process.vaultError = .enclave(.busy)
            }, outcome: .refused(.recordUnusable), met: [offered, .notice(.systemFault)],
            after: { machine, _ in
                #expect(machine.attempts.pin.total == 0 && machine.attempts.enclaveFailures == nil)
            }),
        // A counter that is not there, told as a cleared TPM: that one would not have opened the store.
        Story(
            name: "TPM: without the records' counter",
            prepare: {
                try counting($0)
                $0.tpm?.clear()
            }, answers: [.right], outcome: .refused(.recordUnusable), met: [.notice(.troubled(.rolledBack))],
            after: { _, actor in #expect(!actor.process.wrote && actor.vault.comparisons == 0) }),
        Story(
            name: "TPM: cleared, without a counter",
            prepare: {
                try withoutCounter($0)
                $0.tpm?.clear()
            }, answers: [.right], outcome: .refused(.recordUnusable),
            met: [offered, .notice(.troubled(.enclaveForeign))],
            after: { machine, actor in #expect(machine.attempts.pin.total == 0 && actor.vault.comparisons == 0) }),
        // A half that a file stands in for, or tries that it costs.
        Story(
            name: "TPM: records of a TPM on a machine with a file",
            prepare: {
                try withoutCounter($0)
                $0.tpm = nil
            }, answers: [.right], outcome: .refused(.recordUnusable), met: [.notice(.troubled(.enclaveGone))],
            after: { machine, actor in #expect(machine.attempts.pin.total == 0 && !actor.process.wrote) }),
    ]

    static let halves: [Story] = [
        // A PIN that stays guessable offline after the machine moved to a TPM, or is lost on the way.
        Story(
            name: "TPM: the half joins",
            prepare: {
                try $0.setUp()
                $0.tpm = FakeTPM($0.time)
            }, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, _ in
                #expect(machine.disk.identity?.pin.half != nil && machine.attempts.counter != nil)
                let next = machine.process()
                #expect(Outcome(next.authenticate([.right])) == .granted(.pin))
                #expect(next.vault.derivations == 1 && next.process.count(.saveIdentity) == 0)
                #expect(Outcome(machine.process().authenticate([.wrong])) == .refused(.authenticationFailed))
            }),
        // A right PIN refused because the half could not join.
        Story(
            name: "TPM: the half cannot join",
            prepare: {
                try $0.setUp()
                $0.tpm = FakeTPM($0.time)
            }, answers: [.right],
            meanwhile: {
                $1.process.faults = [(.wrap, nil), (.makeCounter, nil)]
                $1.process.vaultError = .enclave(.stalled)
            }, outcome: .granted(.pin), met: [offered],
            after: { machine, _ in
                #expect(machine.disk.identity?.pin.half == nil && machine.attempts.counter == nil)
                #expect(Outcome(machine.process().authenticate([.right])) == .granted(.pin))
                #expect(machine.disk.identity?.pin.half != nil)
            }),
        // A PIN that still needs the TPM after the machine moved to a file.
        Story(
            name: "TPM: the half leaves",
            prepare: {
                try counting($0)
                $0.tpm?.givesHalves = false
                $0.disk.attempts?.counter = nil
                $0.tpm?.counters = [:]
            }, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, _ in
                #expect(machine.disk.identity?.pin.half == nil && machine.tpm?.counters.isEmpty == true)
                machine.tpm = nil
                #expect(Outcome(machine.process().authenticate([.right])) == .granted(.pin))
            }),
        // A user who gets no counter although there is room by now, or a lack of room that keeps somebody out.
        Story(
            name: "TPM: room for a counter by now",
            prepare: {
                try withoutCounter($0)
                $0.tpm?.room = 1
            }, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, _ in #expect(machine.attempts.counter?.index == 0x0180_5000) }),
        Story(
            name: "TPM: no room for a counter", prepare: withoutCounter, answers: [.right], outcome: .granted(.pin),
            met: [offered], after: { machine, _ in #expect(machine.attempts.counter == nil) }),
        // Somebody locked out because a power cut came between the counters and the TPM's count.
        Story(
            name: "TPM: cut off before the count",
            prepare: {
                try counting($0)
                $0.wrongPINs(1)
                let cut = $0.process("cut off")
                cut.once(at: .bump) { cut.process.killAt = cut.process.calls.count }
                _ = cut.authenticate([.wrong])
            }, answers: [.right], outcome: .granted(.pin), met: [offered],
            after: { machine, actor in
                #expect(actor.journalHas(.countMadeGood))
                #expect(machine.attempts.pin.total == 0 && machine.attempts.enclaveFailures?.count == 2)
            }),
    ]
}
