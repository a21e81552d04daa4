import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// Stories of the one prompt, at which PIN and finger are waited for at once; each says which fault it would catch.
enum FieldStories {
    static let all = typing + touching + leaving + sleeping + others

    private static let begun = Met.prompt(.pinBeforeTouch)
    private static let touch = Met.notice(.touchTheReader)
    private static let again = Met.notice(.notRecognised)
    private static func pin(_ why: FingerClosure) -> Met { .prompt(.pin(because: why)) }

    static let sleeping: [Story] = [
        // A sleep that ends the prompt, costs a try, or is not told.
        Story(
            name: "slept", touches: [.slept(fingerSeen: false), .matched(index: 0)], field: [],
            outcome: .granted(.finger), met: [begun, touch, .notice(.readerWakes), touch],
            after: { machine, actor in
                #expect(machine.attempts.finger.count == 0)
                #expect(actor.sensor.opened == [.inside, .inside] && actor.sensor.arms == 2)
                #expect(actor.journalHas(.readerTrouble(.slept)))
            }),
        // A finger that lay there when the machine fell asleep as a free guess.
        Story(
            name: "slept with a finger", answers: [.cancels], touches: [.slept(fingerSeen: true)],
            field: [], outcome: .refused(.cancelled),
            met: [begun, touch, .notice(.readerWakes), touch, pin(.notTouched)],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        // A machine that sleeps again and again and keeps the prompt for ever.
        Story(
            name: "slept four times", answers: [.cancels],
            touches: [Touch](repeating: .slept(fingerSeen: false), count: 4),
            field: [], outcome: .refused(.cancelled),
            met: [
                begun, touch, .notice(.readerWakes), touch, .notice(.readerWakes), touch, .notice(.readerWakes), touch,
                pin(.readerNotAvailable(.slept)),
            ], after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
        // A reader that does not come back, or is told as if it had never been there.
        Story(
            name: "slept and lost", answers: [.right], touches: [.slept(fingerSeen: false)], field: [],
            meanwhile: {
                $1.process.faults = [(.readers, 2)]
                $1.process.readerProblem = .slept
            }, outcome: .granted(.pin),
            met: [begun, touch, .notice(.readerWakes), pin(.readerNotAvailable(.slept))]),
        // A driver that ignores the cancel: a try that is lost by it, or given back though a finger lay there.
        Story(
            name: "cancel ignored", answers: [.right], touches: [.cancelIgnored(fingerSeen: false)], field: [],
            outcome: .granted(.pin), met: [begun, touch, pin(.readerNotAvailable(.cancelIgnored))],
            after: { machine, actor in
                #expect(actor.charges == 4)
                #expect(actor.journalHas(.fingerPathClosed(.readerNotAvailable(.cancelIgnored))))
            }),
        Story(
            name: "cancel ignored with a finger", answers: [.cancels], touches: [.cancelIgnored(fingerSeen: true)],
            field: [], outcome: .refused(.cancelled), met: [begun, touch, pin(.readerNotAvailable(.cancelIgnored))],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
    ]

    static let typing: [Story] = [
        // A person who types at once and waits for the reader all the same, or pays for a finger that was never asked for.
        Story(
            name: "typed while the readers are listed", answers: [.right], field: [.during(.readers, .answered)],
            outcome: .granted(.pin), met: [begun],
            after: { machine, actor in
                #expect(actor.sensor.opened.isEmpty && actor.charges == 2 && machine.attempts.finger.count == 0)
            }),
        Story(
            name: "typed while the reader opens", answers: [.right], field: [.during(.open, .answered)],
            outcome: .granted(.pin), met: [begun],
            after: { machine, actor in
                #expect(actor.sensor.arms == 0 && actor.charges == 2 && machine.attempts.finger.count == 0)
            }),
        // A finger that stays charged though nobody touched, and one that is compared beside the PIN.
        Story(
            name: "typed while the reader is armed", answers: [.right], field: [.during(.arm, .answered)],
            outcome: .granted(.pin), met: [begun, touch],
            after: { machine, actor in
                #expect(machine.attempts.finger.count == 0 && actor.charges == 4 && actor.sensor.arms == 1)
                #expect(actor.process.compared == [.pin])
            }),
        Story(
            name: "typed instead of touching", answers: [.right], touches: [.matched(index: 0)],
            field: [.during(.awaitTouch, .answered)], outcome: .granted(.pin), met: [begun, touch],
            after: { machine, actor in
                #expect(machine.attempts.finger.count == 0 && actor.sensor.touches == [.matched(index: 0)])
            }),
        // A wrong PIN that takes its finger's charge along, or says nothing.
        Story(
            name: "wrong PIN at the field", answers: [.wrong], field: [.during(.awaitTouch, .answered)],
            outcome: .refused(.authenticationFailed), met: [begun, touch, .notice(.wrongPIN(triesLeft: nil))],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0 && machine.attempts.pin.total == 1) }),
        // A free guess with a finger: whoever sees that it is not taken types anything.
        Story(
            name: "typed with a finger on the reader", answers: [.wrong], field: [.during(.awaitTouch, .answered)],
            meanwhile: { $1.sensor.fingerLies = true }, outcome: .refused(.authenticationFailed),
            met: [begun, touch, .notice(.wrongPIN(triesLeft: nil))],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1 && machine.attempts.pin.total == 1) }),
        // Ctrl-C that costs a try, or is taken for an answer.
        Story(
            name: "cancelled while the reader opens", field: [.during(.open, .cancelled)],
            outcome: .refused(.cancelled), met: [begun],
            after: { _, actor in #expect(actor.charges == 0) }),
        Story(
            name: "cancelled while a touch is awaited", field: [.during(.awaitTouch, .cancelled)],
            outcome: .refused(.cancelled), met: [begun, touch],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
        Story(
            name: "cancelled with a finger on the reader", field: [.during(.awaitTouch, .cancelled)],
            meanwhile: { $1.sensor.fingerLies = true }, outcome: .refused(.cancelled), met: [begun, touch],
            after: { machine, _ in #expect(machine.attempts.finger.count == 1) }),
        // A field that stands open for ever.
        Story(
            name: "the field's time is over", field: [.during(.awaitTouch, .timedOut)], outcome: .refused(.timedOut),
            met: [begun, touch], after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
        // An answer that cannot be taken from the field and lets somebody in, or ends in a circle.
        Story(
            name: "the answer is lost", answers: [.cannotBeAsked], field: [.during(.awaitTouch, .answered)],
            outcome: .refused(.cancelled), met: [begun, touch],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0 && machine.attempts.pin.total == 0) }),
    ]

    static let touching: [Story] = [
        // A finger that needs a key first.
        Story(
            name: "touched at the field", touches: [.matched(index: 0)], field: [], outcome: .granted(.finger),
            met: [begun, touch],
            after: { machine, actor in
                #expect(actor.vault.comparisons == 0 && actor.charges == 2 && machine.attempts.finger.count == 0)
            }),
        // A wrong finger that ends the field, and a PIN after it that is not taken.
        Story(
            name: "a wrong finger, then typed", answers: [.right], touches: [.notRecognised],
            field: [.during(.awaitTouch, passing: 1, .answered)], outcome: .granted(.pin), met: [begun, touch, again],
            after: { machine, actor in #expect(actor.sensor.arms == 2 && machine.attempts.finger.count == 0) }),
        // A fourth try, and fingers that are still spoken of when they are used up.
        Story(
            name: "three wrong fingers at the field", answers: [.right],
            touches: [.notRecognised, .notRecognised, .notRecognised, .matched(index: 0)], field: [],
            outcome: .granted(.pin), met: [begun, touch, again, again, pin(.triesUsedUp)],
            after: { _, actor in #expect(actor.sensor.arms == 3) }),
        // A reader that waits for ever, and a person who pays for it.
        Story(
            name: "not touched at the field", answers: [.right], field: [], outcome: .granted(.pin),
            met: [begun, touch, pin(.notTouched)],
            after: { machine, actor in #expect(machine.attempts.finger.count == 0 && actor.sensor.waits == [20]) }),
        // A retry reason that the person does not get to read.
        Story(
            name: "a retry at the field", touches: [.retry(.centreFinger), .matched(index: 0)], field: [],
            outcome: .granted(.finger), met: [begun, touch, .notice(.retry(.centreFinger))]),
        // A signal that the field does not see and the sensor does.
        Story(
            name: "interrupted at the field", touches: [.interrupted(fingerSeen: false)], field: [],
            outcome: .refused(.cancelled), met: [begun, touch],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
    ]

    static let leaving: [Story] = [
        // A reader that waits for somebody who looks at something else, and a person who pays for looking away.
        Story(
            name: "left and came back", touches: [.matched(index: 0)], field: [.during(.awaitTouch, .left)],
            outcome: .granted(.finger), met: [begun, touch, .absence, touch],
            after: { machine, actor in
                #expect(actor.sensor.opened.count == 2 && actor.sensor.arms == 2 && actor.charges == 4)
                #expect(machine.attempts.finger.count == 0)
            }),
        Story(
            name: "left while the reader opens", answers: [.right],
            field: [.during(.open, .left), .during(.open, .answered)], outcome: .granted(.pin),
            met: [begun, .absence], after: { _, actor in #expect(actor.charges == 2) }),
        // Records that were read before somebody went away, and are believed when they are back.
        Story(
            name: "a print was added during an absence", answers: [.right], touches: [.matched(index: 0)],
            field: [.during(.awaitTouch, .left)],
            meanwhile: { machine, actor in actor.once(at: .awaitReturn) { machine.tamper([.first, .second]) } },
            outcome: .granted(.pin),
            met: [begun, touch, .absence, pin(.enrollmentChanged(EnrollmentChange(added: 1, removed: 0)))],
            after: { machine, actor in
                #expect(actor.sensor.arms == 1 && machine.change == EnrollmentChange(added: 1, removed: 0))
            }),
        Story(
            name: "a print was added after the field had opened", answers: [.right], touches: [.matched(index: 0)],
            field: [],
            meanwhile: { machine, actor in actor.once(at: .openField) { machine.tamper([.first, .second]) } },
            outcome: .granted(.pin),
            met: [begun, touch, pin(.notApproved)],
            after: { _, actor in #expect(actor.vault.comparisons == 1 && actor.sensor.arms == 1) }),
        // A stop that makes a finger's failure undone: a free guess.
        Story(
            name: "left with a finger on the reader", touches: [.matched(index: 0)],
            field: [.during(.awaitTouch, .left)], meanwhile: { $1.sensor.fingerLies = true },
            outcome: .granted(.finger), met: [begun, touch, .absence, touch],
            after: { machine, actor in #expect(actor.charges == 3 && machine.attempts.finger.count == 0) }),
        Story(
            name: "left with fingers on the reader, three times", answers: [.cancels], touches: [.matched(index: 0)],
            field: [
                .during(.awaitTouch, .left), .during(.awaitTouch, .left), .during(.awaitTouch, .left),
            ], meanwhile: { $1.sensor.fingerLies = true }, outcome: .refused(.cancelled),
            met: [begun, touch, .absence, touch, .absence, touch, pin(.triesUsedUp)],
            after: { machine, _ in #expect(machine.attempts.finger.count == 3) }),
        // A terminal that reports its focus without end and keeps reader and disk busy.
        Story(
            name: "left four times", answers: [.right],
            field: [
                .during(.awaitTouch, .left), .during(.open, .left), .during(.awaitTouch, .left),
                .during(.awaitTouch, .left),
            ], outcome: .granted(.pin),
            met: [begun, touch, .absence, .absence, touch, .absence, touch, .absence, pin(.triesUsedUp)]),
        // Somebody who never comes back.
        Story(
            name: "left for good", field: [.during(.awaitTouch, .left)],
            meanwhile: {
                $1.process.faults = [(.awaitReturn, nil)]
                $1.process.conversationError = .timedOut
            }, outcome: .refused(.timedOut), met: [begun, touch, .absence],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
    ]

    static let others: [Story] = [
        // A terminal that takes no field, and nobody is asked at all.
        Story(
            name: "no field can be opened", answers: [.enter], touches: [.matched(index: 0)], field: [],
            meanwhile: { $1.person.fieldOpens = false }, outcome: .granted(.finger),
            met: [.prompt(.pinOrTouch), touch]),
        // A reader that somebody else holds, waited for or not named.
        Story(
            name: "a reader that another prompt holds", answers: [.right], field: [],
            meanwhile: {
                $1.sensor.notOpening = [(.inside, .busy)]
                $1.sensor.holder = Array("sudo on pts/3".utf8)
            }, outcome: .granted(.pin),
            met: [begun, .holder("sudo on pts/3"), pin(.readerNotAvailable(.busy))],
            after: { _, actor in #expect(actor.sensor.arms == 0 && actor.charges == 2) }),
        // A field that is opened for nothing where no finger is offered, and where only a finger is.
        Story(
            name: "a field, but no finger", answers: [.right], field: [], closure: .remote, outcome: .granted(.pin),
            met: [.prompt(.pin(because: .remote))],
            after: { _, actor in #expect(actor.process.count(.openField) == 0) }),
        Story(
            name: "a field, but no PIN", touches: [.matched(index: 0)], pin: false, field: [],
            outcome: .granted(.finger), met: [touch],
            after: { _, actor in #expect(actor.process.count(.openField) == 0) }),
        // A helper that died while the person typed, charged to the finger and not to the PIN.
        Story(
            name: "the helper dies beside the field", answers: [.right], touches: [.failed(.helperFailed)], field: [],
            outcome: .granted(.pin), met: [begun, touch, pin(.readerNotAvailable(.helperFailed))],
            after: { machine, _ in #expect(machine.attempts.finger.count == 0) }),
    ]
}
