import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// Stories of the finger; each says in a comment which fault it would catch.
enum FingerStories {
    static let all = touches + endings + readers + meanwhile + freshness + fingerOnly

    private static let offered = Met.prompt(.pinOrTouch)
    private static let touch = Met.notice(.touchTheReader)
    private static let again = Met.notice(.notRecognised)
    private static func pin(_ why: FingerClosure) -> Met { .prompt(.pin(because: why)) }

    static let touches: [Story] = [
        // A finger that does not count, or clears failures of the PIN.
        Story(
            name: "finger",
            prepare: {
                try $0.setUp()
                $0.wrongPINs(2)
                $0.wrongFingers(2)
            }, answers: [.enter], touches: [.matched(index: 0)], outcome: .granted(.finger), met: [offered, touch],
            after: { machine, actor in
                #expect(machine.attempts.finger.count == 0 && machine.attempts.pin.total == 2)
                #expect(actor.vault.comparisons == 0 && actor.charges == 2)
            }),
        // A second touch that is charged with the first one, or not at all.
        Story(
            name: "second touch", answers: [.enter], touches: [.notRecognised, .matched(index: 0)],
            outcome: .granted(.finger), met: [offered, touch, again],
            after: { machine, actor in
                #expect(actor.charges == 3 && actor.sensor.arms == 2 && machine.attempts.finger.count == 0)
            }),
        // More than three tries a prompt.
        Story(
            name: "three tries, then the PIN", answers: [.enter, .cancels],
            touches: [.notRecognised, .notRecognised, .notRecognised, .matched(index: 0)],
            outcome: .refused(.cancelled), met: [offered, touch, again, again, pin(.triesUsedUp)],
            after: { machine, actor in
                #expect(machine.attempts.finger.count == 3 && actor.sensor.arms == 3)
            }),
        // A sixth try: five failures in all close the finger path, in the middle of a prompt.
        Story(
            name: "fifth wrong finger",
            prepare: {
                try $0.setUp()
                $0.wrongFingers(3)
            }, answers: [.enter, .right], touches: [.notRecognised, .notRecognised, .matched(index: 0)],
            outcome: .granted(.pin), met: [offered, touch, again, pin(.biometryLockout(limit: 5))],
            after: { machine, _ in
                #expect(machine.attempts.finger.count == 0)
                let next = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
                #expect(Outcome(next) == .granted(.finger), "the PIN re-opens the finger path")
            }),
        // Somebody else who uses up the user's fingers.
        Story(
            name: "another person's fingers", answers: [.enter, .cancels],
            touches: [.notRecognised, .notRecognised, .notRecognised], caller: .anotherPerson,
            outcome: .refused(.cancelled), met: [offered, touch, again, again, pin(.triesUsedUp)],
            after: { machine, _ in
                let again = machine.process()
                let next = again.authenticate(
                    [.enter, .cancels], touches: [.matched(index: 0)], caller: .anotherPerson)
                #expect(Outcome(next) == .refused(.cancelled) && again.sensor.arms == 0)
                let owner = machine.process().authenticate([.enter], touches: [.notRecognised, .matched(index: 0)])
                #expect(Outcome(owner) == .granted(.finger))
            }),
        // A lockout that is forgotten by the next prompt.
        Story(
            name: "biometry lockout",
            prepare: {
                try $0.setUp()
                $0.wrongFingers(5)
            }, answers: [.enter, .cancels], touches: [.matched(index: 0)], outcome: .refused(.cancelled),
            met: [pin(.biometryLockout(limit: 5)), .notice(.nothingTyped), .prompt(.pin(because: nil))],
            after: { machine, actor in
                #expect(actor.sensor.arms == 0 && machine.attempts.finger.count == 5)
            }),
        // The last try that cannot succeed, because its own charge closes the door.
        Story(
            name: "the fifth try matches",
            prepare: {
                try $0.setUp()
                $0.wrongFingers(4)
            }, answers: [.enter], touches: [.matched(index: 0)], outcome: .granted(.finger), met: [offered, touch],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
        // A finger limit of one that shuts fingers out altogether.
        Story(
            name: "a limit of one",
            prepare: {
                try $0.setUp()
                $0.configuration.fingerLimit = 1
            }, answers: [.enter], touches: [.matched(index: 0)], outcome: .granted(.finger), met: [offered, touch]),
        // Retry reasons that use up tries, or end the story.
        Story(
            name: "retry reasons", answers: [.enter],
            touches: [.retry(.tooShort), .retry(.centreFinger), .matched(index: 0)], outcome: .granted(.finger),
            met: [
                offered, touch, .notice(.retry(.tooShort)), .notice(.retry(.centreFinger)),
            ],
            after: { machine, actor in
                #expect(actor.charges == 2 && actor.sensor.arms == 3)
                #expect(actor.sensor.waits == [20, 20, 20])
            }),
    ]

    static let endings: [Story] = [
        // A person who went for their PIN and pays for it.
        Story(
            name: "not touched", answers: [.enter, .right], touches: [], outcome: .granted(.pin),
            met: [offered, touch, pin(.notTouched)],
            after: { machine, actor in #expect(actor.charges == 4) }),
        Story(
            name: "not touched, cancelled", answers: [.enter, .cancels], touches: [], outcome: .refused(.cancelled),
            met: [offered, touch, pin(.notTouched)],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
        // A finger on the reader at the deadline that was a free guess.
        Story(
            name: "touched too late", answers: [.enter, .cancels], touches: [.timedOut(fingerSeen: true)],
            outcome: .refused(.cancelled), met: [offered, touch, again, pin(.notTouched)],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        // Ctrl-C that is charged, though nobody touched.
        Story(
            name: "interrupted", answers: [.enter], touches: [.interrupted(fingerSeen: false)],
            outcome: .refused(.cancelled), met: [offered, touch],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
        // Ctrl-C after a touch as a free guess.
        Story(
            name: "interrupted after a touch", answers: [.enter], touches: [.interrupted(fingerSeen: true)],
            outcome: .refused(.cancelled), met: [offered, touch],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        // A helper killed after a touch as a free guess.
        Story(
            name: "helper died", answers: [.enter, .cancels], touches: [.failed(.helperFailed)],
            outcome: .refused(.cancelled), met: [offered, touch, pin(.readerNotAvailable(.helperFailed))],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        Story(
            name: "unplugged while waiting", answers: [.enter, .right], touches: [.failed(.removed)],
            outcome: .granted(.pin), met: [offered, touch, pin(.readerNotAvailable(.removed))]),
        // A helper that says it matched a print which it was not given.
        Story(
            name: "index beyond the gallery", answers: [.enter, .cancels], touches: [.matched(index: 1)],
            outcome: .refused(.cancelled), met: [offered, touch, pin(.readerNotAvailable(.helperFailed))],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        Story(
            name: "negative index", answers: [.enter, .cancels], touches: [.matched(index: -1)],
            outcome: .refused(.cancelled), met: [offered, touch, pin(.readerNotAvailable(.helperFailed))],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        // A reader that fails to arm and is asked to touch all the same.
        Story(
            name: "cannot be armed", answers: [.enter, .right], touches: [.matched(index: 0)],
            meanwhile: { $1.process.faults = [(.arm, nil)] }, outcome: .granted(.pin),
            met: [offered, pin(.readerNotAvailable(.faulty))]),
    ]

    static let readers: [Story] = [
        // A missing or busy reader that is charged, or refuses the PIN.
        Story(
            name: "no reader", answers: [.enter, .cancels], meanwhile: { $1.sensor.present = [] },
            outcome: .refused(.cancelled), met: [offered, pin(.readerNotAvailable(.noReader))],
            after: { machine, actor in #expect(actor.charges == 0) }),
        Story(
            name: "reader busy", answers: [.enter, .right],
            meanwhile: { $1.sensor.notOpening = [(.inside, .busy)] }, outcome: .granted(.pin),
            met: [offered, pin(.readerNotAvailable(.busy))]),
        Story(
            name: "no helper", answers: [.enter, .right],
            meanwhile: {
                $1.process.faults = [(.readers, nil)]
                $1.process.readerProblem = .helperFailed
            }, outcome: .granted(.pin), met: [offered, pin(.readerNotAvailable(.helperFailed))]),
        // A reader that does not open and keeps the other one from being used.
        Story(
            name: "second reader",
            prepare: {
                $0.readers = [.of(.inside), .of(.outside)]
                try $0.setUp(prints: [.first, .elsewhere])
            }, answers: [.enter], touches: [.matched(index: 0)],
            meanwhile: { $1.sensor.notOpening = [(.inside, .busy)] }, outcome: .granted(.finger),
            met: [offered, touch],
            after: { _, actor in
                #expect(actor.sensor.opened == [.inside, .outside] && actor.sensor.galleries == [[0], [1]])
            }),
        // A reader of other people's that is opened without need.
        Story(
            name: "another reader without prints",
            prepare: {
                $0.readers = [.of(.outside), .of(.inside)]
                try $0.setUp()
            }, answers: [.enter], touches: [.matched(index: 0)], outcome: .granted(.finger), met: [offered, touch],
            after: { _, actor in #expect(actor.sensor.opened == [.inside]) }),
        // Other people's prints on a chip that close the path, or are not reported.
        Story(
            name: "foreign prints",
            prepare: {
                $0.readers = [.of(.chip, keepsPrints: true)]
                try $0.setUp(prints: [.onChip])
            }, answers: [.enter], touches: [.matched(index: 0)], meanwhile: { $1.sensor.foreignPrints = 3 },
            outcome: .granted(.finger), met: [offered, touch],
            after: { _, actor in #expect(actor.journalHas(.foreignPrints(count: 3))) }),
    ]

    static let meanwhile: [Story] = [
        // A PIN locked while the finger was awaited, and the finger counts.
        Story(
            name: "PIN locked while waiting", answers: [.enter, .right], touches: [.matched(index: 0)],
            meanwhile: { machine, actor in
                actor.once(at: .awaitTouch) {
                    machine.wrongPINs(4)
                    _ = machine.process("other").authenticate([.wrong])
                }
            }, outcome: .refused(.pinLockout(.waiting(seconds: 60))),
            met: [offered, touch, pin(.biometryLockout(limit: 5)), .notice(.waiting(seconds: 60))],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        // A refund of a charge that a reset has cleared, taken from somebody else's failure.
        Story(
            name: "reset between charge and refund", answers: [.enter, .cancels],
            meanwhile: { machine, actor in
                actor.once(at: .awaitTouch) {
                    var ledger = machine.process("reset", isAdministrator: true).ledger()
                    try? ledger.reset(finger: true, pin: false)
                    machine.wrongFingers(1)
                }
            }, outcome: .refused(.cancelled), met: [offered, touch, pin(.notTouched)],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        // Fingers locked out by other processes between prompt and charge.
        Story(
            name: "locked out before the charge", answers: [.enter, .cancels], touches: [.matched(index: 0)],
            meanwhile: { machine, actor in actor.once(at: .ask) { machine.wrongFingers(5) } },
            outcome: .refused(.cancelled), met: [offered, pin(.biometryLockout(limit: 5))],
            after: { machine, actor in #expect(actor.sensor.arms == 0) }),
        // The user's records removed while the finger was awaited.
        Story(
            name: "purged while waiting", answers: [.enter], touches: [.matched(index: 0)],
            meanwhile: { machine, actor in actor.once(at: .awaitTouch) { machine.disk.removeAll() } },
            outcome: .refused(.pinNotSet), met: [offered, touch, .notice(.recordsGone)]),
        // The same before the reader is opened anew, and between two tries.
        Story(
            name: "purged before the reader opens", answers: [.enter], touches: [.matched(index: 0)],
            meanwhile: { machine, actor in actor.once(at: .ask) { machine.disk.removeAll() } },
            outcome: .refused(.pinNotSet), met: [offered, .notice(.recordsGone)],
            after: { _, actor in #expect(actor.sensor.arms == 0) }),
        Story(
            name: "purged at a touch that fails", answers: [.enter], touches: [.notRecognised, .matched(index: 0)],
            meanwhile: { machine, actor in actor.once(at: .awaitTouch) { machine.disk.removeAll() } },
            outcome: .refused(.pinNotSet), met: [offered, touch, .notice(.recordsGone)],
            after: { _, actor in #expect(actor.sensor.arms == 1) }),
    ]

    static let freshness: [Story] = [
        // A finger that counts before the PIN after a boot, or three days after it.
        Story(
            name: "first use after boot",
            prepare: {
                try $0.setUp()
                $0.time.reboot()
            }, answers: [.right], outcome: .granted(.pin), met: [pin(.pinRequiredAfterBoot)],
            after: { machine, _ in
                let next = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
                #expect(Outcome(next) == .granted(.finger), "the PIN makes fingers fresh")
            }),
        Story(
            name: "72 hours after the PIN",
            prepare: {
                try $0.setUp()
                $0.time.pass(72 * 3600)
            }, answers: [.right], outcome: .granted(.pin), met: [pin(.pinRequiredStale)]),
        // A second less is still fresh.
        Story(
            name: "just before 72 hours",
            prepare: {
                try $0.setUp()
                $0.time.pass(72 * 3600 - 1)
            }, answers: [.enter], touches: [.matched(index: 0)], outcome: .granted(.finger), met: [offered, touch]),
        // A finger that keeps itself fresh for ever.
        Story(
            name: "a finger does not renew freshness",
            prepare: {
                try $0.setUp()
                $0.time.pass(72 * 3600 - 1)
                _ = $0.process().authenticate([.enter], touches: [.matched(index: 0)])
                $0.time.pass(1)
            }, answers: [.right], outcome: .granted(.pin), met: [pin(.pinRequiredStale)]),
    ]

    static let fingerOnly: [Story] = [
        // A prompt where `pin=no` forbids it.
        Story(
            name: "pin=no", touches: [.matched(index: 0)], pin: false, outcome: .granted(.finger), met: [touch]),
        Story(
            name: "pin=no, not recognised", touches: [.notRecognised, .notRecognised, .notRecognised], pin: false,
            outcome: .refused(.authenticationFailed),
            met: [touch, again, again, .notice(.fingerPathClosed(.triesUsedUp))]),
        Story(
            name: "pin=no, not touched", pin: false, outcome: .refused(.fingerPathClosed(.notTouched)),
            met: [touch, .notice(.fingerPathClosed(.notTouched))]),
        Story(
            name: "pin=no after boot",
            prepare: {
                try $0.setUp()
                $0.time.reboot()
            }, touches: [.matched(index: 0)], pin: false,
            outcome: .refused(.fingerPathClosed(.pinRequiredAfterBoot)),
            met: [.notice(.fingerPathClosed(.pinRequiredAfterBoot))]),
        // A user without prints who is offered a touch.
        Story(
            name: "no prints", prepare: { try $0.setUp(prints: []) }, answers: [.right], outcome: .granted(.pin),
            met: [pin(.notEnrolled)]),
    ]
}
