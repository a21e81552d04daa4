import SignetEngine
import SignetPolicy
import SignetRecords
import Testing

/// Stories of a disabled PIN and its recovery code; each says in a comment which fault it would catch.
enum RecoveryStories {
    static let all: [Story] = [
        // A code that lets in without a new PIN, is not used up, or leaves the PIN disabled.
        Story(
            name: "recovery code, then a new PIN", prepare: disabled, answers: [.typesCode, .newPIN, .newPIN],
            outcome: .granted(.recoveryCode), met: [code, new, again, .notice(.recoveryCodeUsedUp)],
            after: { machine, actor in
                #expect(machine.attempts.pin.total == 0 && machine.attempts.recovery.total == 0)
                #expect(actor.journalHas(.management(.recoveryCodeUsed, byAdministrator: false)))
                #expect(Outcome(machine.process().authenticate([.newPIN])) == .granted(.pin))
                #expect(Outcome(machine.process().authenticate([.right])) == .refused(.authenticationFailed))
            }),
        // A recovery that costs the user their approval.
        Story(
            name: "fingers after a recovery", prepare: disabled, answers: [.typesCode, .newPIN, .newPIN],
            outcome: .granted(.recoveryCode), met: [code, new, again, .notice(.recoveryCodeUsedUp)],
            after: { machine, _ in
                let next = machine.process().authenticate([.enter], touches: [.matched(index: 0)])
                #expect(Outcome(next) == .granted(.finger))
            }),
        // A weak PIN set at the one prompt that nobody watches, or two that differ.
        Story(
            name: "weak, differing, then set", prepare: disabled,
            answers: [.typesCode, .types("111111"), .newPIN, .types("quiet otter 8"), .newPIN, .newPIN],
            outcome: .granted(.recoveryCode),
            met: [
                code, new, .notice(.pinRefused(.repeated)), new, again, .notice(.pinsDiffer), new, again,
                .notice(.recoveryCodeUsedUp),
            ]),
        // Refused PINs without end, or a code used up for nothing.
        Story(
            name: "three refused PINs", prepare: disabled,
            answers: [.typesCode, .types("1"), .types("alice77"), .enter], outcome: .refused(.cancelled),
            met: [
                code, new, .notice(.pinRefused(.tooShort(minimum: 6))), new, .notice(.pinRefused(.containsUserName)),
                new, .notice(.pinRefused(.tooShort(minimum: 6))),
            ],
            after: { machine, _ in
                #expect(machine.disk.identity?.recovery != nil && machine.attempts.pin.total == 10)
            }),
        // Ctrl-C between code and PIN that lets in.
        Story(
            name: "cancelled after the code", prepare: disabled, answers: [.typesCode, .newPIN, .cancels],
            outcome: .refused(.cancelled), met: [code, new, again],
            after: { machine, _ in
                #expect(machine.disk.identity?.recovery != nil && machine.attempts.pin.total == 10)
            }),
        // A code that must be typed exactly as it was shown.
        Story(
            name: "code in lower case with dashes", prepare: disabled, answers: [.cancels],
            outcome: .refused(.cancelled),
            met: [code],
            after: { machine, _ in
                var typed: [UInt8] = []
                for (index, symbol) in machine.code.enumerated() {
                    if index > 0, index % 5 == 0 { typed.append(0x2D) }
                    typed.append(symbol >= 0x41 ? symbol + 0x20 : symbol)
                }
                let next = machine.process().authenticate([.bytes(typed), .newPIN, .newPIN])
                #expect(Outcome(next) == .granted(.recoveryCode))
            }),
        // Wrong codes that cost nothing.
        Story(
            name: "wrong recovery code", prepare: disabled, answers: [.types("0000000000")],
            outcome: .refused(.authenticationFailed), met: [code, .notice(.wrongRecoveryCode(triesLeft: nil))],
            after: { machine, actor in
                #expect(machine.attempts.recovery.total == 1 && machine.attempts.pin.total == 10)
                #expect(actor.journalHas(.failure(factor: .recoveryCode, attempts: machine.attempts)))
            }),
        Story(
            name: "fifth wrong recovery code",
            prepare: {
                try disabled($0)
                for _ in 0..<4 { _ = $0.process().authenticate([.wrong]) }
            }, answers: [.wrong], outcome: .refused(.pinLockout(.waiting(seconds: 60))),
            met: [code, .notice(.wrongRecoveryCode(triesLeft: nil)), .notice(.waiting(seconds: 60))],
            after: { machine, _ in
                let next = machine.process()
                #expect(Outcome(next.authenticate([.typesCode])) == .refused(.pinLockout(.waiting(seconds: 60))))
                #expect(next.vault.comparisons == 0)
            }),
        // An empty code that is compared.
        Story(
            name: "Enter for a code", prepare: disabled, answers: [.enter, .enter, .enter],
            outcome: .refused(.cancelled), met: [code, .notice(.nothingTyped), code, .notice(.nothingTyped), code],
            after: { _, actor in #expect(actor.charges == 0) }),
        // The PIN itself taken at the prompt for the code.
        Story(
            name: "right PIN at the code's prompt", prepare: disabled, answers: [.right],
            outcome: .refused(.authenticationFailed), met: [code, .notice(.wrongRecoveryCode(triesLeft: nil))]),
        // A disabled PIN that leaves the finger open.
        Story(
            name: "disabled, no code",
            prepare: {
                try $0.setUp(code: false)
                $0.wrongPINs(10)
            }, answers: [.right], touches: [.matched(index: 0)], outcome: .refused(.pinLockout(.disabled)),
            met: [.notice(.pinDisabled(codeHelps: false))],
            after: { _, actor in #expect(actor.sensor.arms == 0 && actor.vault.comparisons == 0) }),
        // A code that works twice.
        Story(
            name: "code used up",
            prepare: {
                try disabled($0)
                _ = $0.process().authenticate([.bytes($0.code), .newPIN, .newPIN])
                $0.wrongPINs(10)
            }, answers: [.typesCode], outcome: .refused(.pinLockout(.disabled)),
            met: [.notice(.pinDisabled(codeHelps: false))]),
        // A code that works twice, by two who type it at once.
        Story(
            name: "code used up meanwhile", prepare: disabled,
            answers: [.typesCode, .types("brisk heron 5"), .types("brisk heron 5")],
            meanwhile: { machine, actor in
                var asked = 0
                actor.process.onCall = { call in
                    asked += call == .ask ? 1 : 0
                    guard call == .ask, asked == 2 else { return }
                    _ = machine.process("faster").authenticate([.bytes(machine.code), .newPIN, .newPIN])
                }
            }, outcome: .refused(.recordUnusable), met: [code, new, again, .notice(.systemFault)],
            after: { machine, _ in
                #expect(Outcome(machine.process().authenticate([.newPIN])) == .granted(.pin))
            }),
        // A code asked for where nobody can be told what is asked.
        Story(
            name: "disabled without a terminal", prepare: disabled, answers: [.right], terminal: false,
            outcome: .refused(.pinLockout(.disabled)), met: [.notice(.pinDisabled(codeHelps: false))]),
        // A PIN stored in part, which shuts its owner out for good: the code must still be there.
        Story(
            name: "counters cannot be written with the new PIN", prepare: disabled,
            answers: [.typesCode, .newPIN, .newPIN], meanwhile: { $1.process.faults = [(.saveAttempts, 3)] },
            outcome: .refused(.recordUnusable), met: [code, new, again, .notice(.systemFault)],
            after: { machine, _ in
                #expect(machine.disk.identity?.recovery != nil || machine.attempts.pin.total == 0)
            }),
        // A right code and a stored PIN that let in although the code could not be used up.
        Story(
            name: "code cannot be used up", prepare: disabled, answers: [.typesCode, .newPIN, .newPIN],
            meanwhile: { $1.process.faults = [(.saveIdentity, 2)] }, outcome: .refused(.recordUnusable),
            met: [code, new, again, .notice(.systemFault)],
            after: { machine, _ in
                #expect(Outcome(machine.process().authenticate([.newPIN])) == .granted(.pin))
            }),
        Story(
            name: "new PIN cannot be written", prepare: disabled, answers: [.typesCode, .newPIN, .newPIN],
            meanwhile: { $1.process.faults = [(.saveIdentity, 1)] }, outcome: .refused(.recordUnusable),
            met: [code, new, again, .notice(.systemFault)],
            after: { machine, _ in #expect(machine.disk.identity?.recovery != nil) }),
    ]

    private static let code = Met.prompt(.recoveryCode)
    private static let new = Met.prompt(.newPIN)
    private static let again = Met.prompt(.newPINAgain)

    /// Ten wrong PINs.
    @Sendable private static func disabled(_ machine: Machine) throws {
        try machine.setUp()
        machine.wrongPINs(10)
    }
}
