/// Evidence that the deciding machine granted: nothing else can make one.
package struct Proof: Equatable, Sendable {
    package let factor: Factor

    fileprivate init(factor: Factor) { self.factor = factor }
}

/// The deciding machine (rule 2): events in, one action out; only its `granted` arm lets anybody in.
///
/// It holds no secret and does nothing. The engine performs each action and answers with the event that came of it.
/// A factor counts in three steps, charge, comparison and settling, and the machine grants after the third alone.
/// An event that does not belong to the state refuses.
package struct AuthenticationMachine: Equatable, Sendable {
    package private(set) var state = State.begun
    /// Which factors this call may use.
    private let pinAllowed: Bool
    private let fingerTries: UInt8
    private let terminal: Bool
    /// Whether a field can be read while a touch is awaited; false from when it could not be opened.
    private var field: Bool
    /// Whether the field stands open.
    private var fieldIsOpen = false
    /// Whether the person knows that the reader waits for them.
    private var touchIsAnnounced = false
    /// How often the person left, or the machine slept.
    private var absences: UInt8 = 0
    /// What keeps this caller from the PIN and leaves the finger open: a used-up share, or the TPM's wait.
    private var pinClosed: PINLockout?
    /// Whether a recovery code would be taken, which a person with a disabled PIN is told.
    private var codeHelps = false
    private var triesUsed: UInt8 = 0
    private var emptyAnswers: UInt8 = 0
    private var newPINTries: UInt8 = 0

    /// How often an empty answer or a refused new PIN is asked for again.
    package static let patience: UInt8 = 3
    /// How many touches one try may take; where the reader asks to repeat the last of them, the try failed.
    ///
    /// A reader that never decides would else keep the prompt, and the charge, open for ever. One that compares a single
    /// print a touch needs ten for ten fingers.
    package static let touchLimit: UInt8 = 10
    /// How often the person may leave the field, or the machine sleep, and the reader be armed again; after that the PIN is
    /// left.
    package static let absenceLimit: UInt8 = 3

    /// `terminal` tells whether a person can be asked to touch, and be told why; `field`, whether PIN and finger can be
    /// waited for at once.
    package init(pinAllowed: Bool, fingerTries: UInt8, terminal: Bool, field: Bool = false) {
        self.field = field
        self.pinAllowed = pinAllowed
        self.fingerTries = fingerTries
        self.terminal = terminal
    }

    /// Where the machine stands; the parts of a factor's three steps are states of their own.
    package enum State: Equatable, Sendable {
        case begun
        case askingUnknown, comparingUnknown
        case askingPIN(touchOffered: Bool)
        case chargingPIN, comparingPIN, settlingPIN(right: Bool)
        case openingField, away
        case openingReader, chargingFinger
        /// `touch` counts the touches of one try, from 1.
        case arming(touch: UInt8), awaitingTouch(touch: UInt8)
        case settlingFinger(FingerOutcome)
        case askingRecoveryCode, chargingRecovery, comparingRecovery, settlingRecovery(right: Bool)
        case askingNewPIN, storingNewPIN
        case ended(Verdict)
    }

    /// What is known when it begins.
    package struct Facts: Equatable, Sendable {
        package var record: RecordState
        package var pin: SecretDoor
        /// The recovery code's door; nil where there is none.
        package var recovery: SecretDoor?
        /// Why the finger path is closed; nil where it is open.
        package var finger: FingerClosure?
        package var pinSetByAdministrator = false
        /// Seconds for which the TPM takes no PIN of this user; nil where it takes one, and fingers need none.
        package var enclaveWait: UInt64?

        package init(record: RecordState, pin: SecretDoor, recovery: SecretDoor?, finger: FingerClosure?) {
            self.record = record
            self.pin = pin
            self.recovery = recovery
            self.finger = finger
        }
    }

    /// How a charged finger try ended.
    package enum FingerOutcome: Equatable, Sendable {
        case matched
        case failed
        /// A living helper says that no finger lay on the reader: refunded.
        case notTouched(interrupted: Bool)
        /// Interrupted while or after a finger lay on the reader: stays charged.
        case interrupted
        /// Something happened at the field first: refunded where no finger lay on the reader.
        case setAside(FieldEvent, fingerSeen: Bool)
        /// The machine slept: refunded where no finger lay on the reader.
        case slept(fingerSeen: Bool)
        /// Not touched, and the driver did not stop waiting: refunded.
        case cancelIgnored
        /// The reader or its helper failed: stays charged.
        case readerFailed(ReaderProblem)
    }

    /// Takes one event and says what to do next.
    package mutating func handle(_ event: AuthenticationEvent) -> AuthenticationStep {
        let step = next(event)
        if case .end(let verdict) = step.action { state = .ended(verdict) }
        return step
    }

    // The transition table. Whatever it does not name refuses.
    private mutating func next(_ event: AuthenticationEvent) -> AuthenticationStep {
        switch (state, event) {
        case (.begun, .facts(let facts)): return begin(facts)

        case (.askingUnknown, .answered): return go(.comparingUnknown, .spendTime)
        case (.askingUnknown, .answeredNothing): return askAgain()
        case (.comparingUnknown, .notMatched): return refuse(.unknownUser, saying: .wrongPIN(triesLeft: nil))

        case (.askingPIN, .answered): return go(.chargingPIN, .chargePIN)
        case (.askingPIN(touchOffered: true), .answeredNothing): return go(.openingReader, .openReader)
        case (.askingPIN(touchOffered: false), .answeredNothing): return askAgain()
        case (.chargingPIN, .charged): return go(.comparingPIN, .comparePIN)
        case (.chargingPIN, .doorClosed(let lockout)), (.comparingPIN, .doorClosed(let lockout)):
            return refuse(.pinLockout(lockout), saying: notice(lockout))
        case (.comparingPIN, .matched): return go(.settlingPIN(right: true), .settlePIN(right: true))
        case (.comparingPIN, .notMatched): return go(.settlingPIN(right: false), .settlePIN(right: false))
        case (.settlingPIN(right: true), .settled): return grant(.pin)
        case (.settlingPIN(right: false), .settledFailure(let door)): return pinFailed(door)

        case (.openingField, .fieldOpened):
            fieldIsOpen = true
            return go(.openingReader, .openReader)
        case (.openingField, .noField):
            field = false
            return go(.askingPIN(touchOffered: true), .ask(.pinOrTouch))
        case (.openingReader, .answered) where fieldIsOpen: return go(.chargingPIN, .chargePIN)
        case (.openingReader, .left) where fieldIsOpen: return go(.away, .awaitReturn)
        case (.away, .returned): return reopen()

        case (.openingReader, .readerOpened): return go(.chargingFinger, .chargeFinger)
        case (.openingReader, .fingerClosed(let why)), (.chargingFinger, .fingerClosed(let why)): return fallBack(why)
        case (.chargingFinger, .charged): return go(.arming(touch: 1), .armReader)
        case (.arming(let touch), .armed):
            return go(.awaitingTouch(touch: touch), .awaitTouch, saying: announceTouch())
        case (.arming, .touched(let outcome)), (.awaitingTouch, .touched(let outcome)):
            return settleFinger(outcome)
        case (.awaitingTouch(let touch), .touchAgain(let reason)): return touchAgain(after: touch, reason)
        case (.settlingFinger(.matched), .settled): return grant(.finger)
        case (.settlingFinger(let outcome), .settledFailure(let door)) where outcome != .matched:
            return fingerEnded(outcome, door)
        case (.settlingFinger, .fingerClosed(let why)): return fallBack(why)

        case (.askingRecoveryCode, .answered): return go(.chargingRecovery, .chargeRecovery)
        case (.askingRecoveryCode, .answeredNothing): return askAgain()
        case (.chargingRecovery, .charged): return go(.comparingRecovery, .compareRecovery)
        case (.chargingRecovery, .doorClosed(let lockout)), (.comparingRecovery, .doorClosed(let lockout)):
            codeHelps = false
            return refuse(.pinLockout(lockout), saying: notice(lockout))
        case (.comparingRecovery, .matched): return go(.settlingRecovery(right: true), .settleRecovery(right: true))
        case (.comparingRecovery, .notMatched):
            return go(.settlingRecovery(right: false), .settleRecovery(right: false))
        case (.settlingRecovery(right: true), .settled): return go(.askingNewPIN, .askNewPIN)
        case (.settlingRecovery(right: false), .settledFailure(let door)): return recoveryFailed(door)
        case (.askingNewPIN, .answered): return go(.storingNewPIN, .storeNewPIN)
        case (.askingNewPIN, .newPINRefused(let notice)): return askNewPINAgain(notice)
        case (.storingNewPIN, .settled): return grant(.recoveryCode, saying: .recoveryCodeUsedUp)

        case (_, .notAnswered(let timedOut)): return refuse(timedOut ? .timedOut : .cancelled)
        case (_, .recordsGone): return refuse(.pinNotSet, saying: .recordsGone)
        case (_, .troubled(let trouble)): return refuse(.recordUnusable, saying: .troubled(trouble))
        case (_, .unusable(damaged: true)): return refuse(.recordUnusable, saying: .recordUnusable)
        default: return refuse(.recordUnusable, saying: .systemFault)
        }
    }

    private mutating func begin(_ facts: Facts) -> AuthenticationStep {
        let told: [Notice] = facts.pinSetByAdministrator ? [.pinSetByAdministrator] : []
        switch facts.record {
        case .unknownUser:
            guard pinAllowed else { return refuse(.unknownUser) }
            return go(.askingUnknown, .ask(terminal ? .pin(because: nil) : .password))
        case .pinNotSet: return refuse(.pinNotSet, saying: .pinNotSet)
        case .unusable: return refuse(.recordUnusable, saying: .recordUnusable)
        case .troubled(let trouble): return refuse(.recordUnusable, saying: .troubled(trouble))
        case .usable: break
        }
        // Only a person at a terminal is asked for the code.
        if pinAllowed, terminal, case .some(.open) = facts.recovery { codeHelps = true }
        switch facts.pin {
        case .closed(.waiting(let seconds)):
            return refuse(.pinLockout(.waiting(seconds: seconds)), saying: .waiting(seconds: seconds))
        case .closed(.disabled): return beginDisabled(facts)
        case .closed(.shareUsedUp): pinClosed = .shareUsedUp
        case .open: pinClosed = facts.enclaveWait.map { .waiting(seconds: $0) }
        }
        if let why = terminal ? facts.finger : .noTerminal {
            var step = fallBack(why)
            step.notices = told + step.notices
            return step
        }
        guard pinAllowed, pinClosed == nil else { return go(.openingReader, .openReader, saying: told.first) }
        if field { return go(.openingField, .openField, saying: told.first) }
        return go(.askingPIN(touchOffered: true), .ask(.pinOrTouch), saying: told.first)
    }

    // A disabled PIN closes the finger path too; only a person who can be told what is asked is asked for the code.
    private mutating func beginDisabled(_ facts: Facts) -> AuthenticationStep {
        guard codeHelps else {
            if case .some(.closed(.waiting(let seconds))) = facts.recovery {
                return refuse(.pinLockout(.waiting(seconds: seconds)), saying: .waiting(seconds: seconds))
            }
            return refuse(.pinLockout(.disabled), saying: notice(.disabled))
        }
        return go(.askingRecoveryCode, .ask(.recoveryCode))
    }

    // From the finger to the PIN, where the PIN is open to this caller.
    private mutating func fallBack(_ why: FingerClosure) -> AuthenticationStep {
        guard pinAllowed else {
            let failed = triesUsed > 0 && why != .notTouched
            return refuse(failed ? .authenticationFailed : .fingerPathClosed(why), saying: .fingerPathClosed(why))
        }
        if let pinClosed { return refuse(.pinLockout(pinClosed), saying: notice(pinClosed)) }
        return go(.askingPIN(touchOffered: false), .ask(terminal ? .pin(because: why) : .password))
    }

    // The prompt of an open field speaks of the touch; after an absence it has to do so again.
    private mutating func announceTouch() -> Notice? {
        defer { touchIsAnnounced = true }
        return touchIsAnnounced ? nil : .touchTheReader
    }

    // The reader is opened anew, for a person who is back or a machine that is.
    private mutating func reopen(afterSleep: Bool = false) -> AuthenticationStep {
        absences += 1
        touchIsAnnounced = false
        guard absences <= AuthenticationMachine.absenceLimit else {
            return fallBack(afterSleep ? .readerNotAvailable(.slept) : .triesUsedUp)
        }
        return go(.openingReader, .openReader, saying: afterSleep ? .readerWakes : nil)
    }

    private mutating func touchAgain(after touch: UInt8, _ reason: RetryReason) -> AuthenticationStep {
        guard touch < AuthenticationMachine.touchLimit else { return settleFinger(.failed) }
        return go(.arming(touch: touch + 1), .armReader, saying: .retry(reason))
    }

    private mutating func settleFinger(_ outcome: FingerOutcome) -> AuthenticationStep {
        // A match counts only from a reader that was armed; while arming, nothing can have been compared.
        if case .arming = state, outcome == .matched { return refuse(.recordUnusable, saying: .systemFault) }
        if case .setAside = outcome, !fieldIsOpen { return refuse(.recordUnusable, saying: .systemFault) }
        return go(.settlingFinger(outcome), .settleFinger(outcome))
    }

    private mutating func fingerEnded(_ outcome: FingerOutcome, _ door: SettledDoor) -> AuthenticationStep {
        switch outcome {
        case .matched: return refuse(.recordUnusable, saying: .systemFault)
        case .notTouched(interrupted: true), .interrupted: return refuse(.cancelled)
        case .notTouched(interrupted: false): return fallBack(.notTouched)
        case .readerFailed(let problem): return fallBack(.readerNotAvailable(problem))
        case .cancelIgnored: return fallBack(.readerNotAvailable(.cancelIgnored))
        case .slept(fingerSeen: false): return reopen(afterSleep: true)
        case .setAside(.answered, _): return go(.chargingPIN, .chargePIN)
        case .setAside(.cancelled, _): return refuse(.cancelled)
        case .setAside(.timedOut, _): return refuse(.timedOut)
        case .setAside(.left, fingerSeen: false): return go(.away, .awaitReturn)
        case .setAside(.left, fingerSeen: true), .slept(fingerSeen: true), .failed: break
        }
        triesUsed += 1
        guard case .finger(.open) = door else {
            if case .finger(.biometryLockout(let limit)) = door { return fallBack(.biometryLockout(limit: limit)) }
            return refuse(.recordUnusable, saying: .systemFault)
        }
        guard triesUsed < fingerTries else { return fallBack(.triesUsedUp) }
        if outcome == .slept(fingerSeen: true) { return reopen(afterSleep: true) }
        guard outcome == .failed else { return go(.away, .awaitReturn) }
        return go(.chargingFinger, .chargeFinger, saying: .notRecognised)
    }

    private mutating func pinFailed(_ door: SettledDoor) -> AuthenticationStep {
        secretFailed(door) { .wrongPIN(triesLeft: $0) }
    }

    private mutating func recoveryFailed(_ door: SettledDoor) -> AuthenticationStep {
        codeHelps = false
        return secretFailed(door) { .wrongRecoveryCode(triesLeft: $0) }
    }

    private func secretFailed(_ door: SettledDoor, _ wrong: (Int?) -> Notice) -> AuthenticationStep {
        switch door {
        case .secret(.open(let left)): return refuse(.authenticationFailed, saying: wrong(left <= 2 ? left : nil))
        case .secret(.closed(let lockout)):
            return AuthenticationStep(
                notices: [wrong(nil), notice(lockout)], action: .end(.refused(.pinLockout(lockout))))
        case .finger: return refuse(.recordUnusable, saying: .systemFault)
        }
    }

    /// What a person is told of a lockout.
    private func notice(_ lockout: PINLockout) -> Notice {
        switch lockout {
        case .waiting(let seconds): .waiting(seconds: seconds)
        case .disabled: .pinDisabled(codeHelps: codeHelps)
        case .shareUsedUp: .shareUsedUp
        }
    }

    private mutating func askAgain() -> AuthenticationStep {
        emptyAnswers += 1
        guard emptyAnswers < AuthenticationMachine.patience else { return refuse(.cancelled) }
        let prompt: Prompt =
            state == .askingRecoveryCode ? .recoveryCode : terminal ? .pin(because: nil) : .password
        return AuthenticationStep(notices: [.nothingTyped], action: .ask(prompt))
    }

    private mutating func askNewPINAgain(_ notice: Notice) -> AuthenticationStep {
        newPINTries += 1
        guard newPINTries < AuthenticationMachine.patience else { return refuse(.cancelled, saying: notice) }
        return AuthenticationStep(notices: [notice], action: .askNewPIN)
    }

    // MARK: The four ways a step is made

    private mutating func go(
        _ next: State, _ action: AuthenticationAction, saying notice: Notice? = nil
    ) -> AuthenticationStep {
        state = next
        return AuthenticationStep(notices: notice.map { [$0] } ?? [], action: action)
    }

    private func refuse(_ refusal: Refusal, saying notice: Notice? = nil) -> AuthenticationStep {
        AuthenticationStep(notices: notice.map { [$0] } ?? [], action: .end(.refused(refusal)))
    }

    private func grant(_ factor: Factor, saying notice: Notice? = nil) -> AuthenticationStep {
        AuthenticationStep(notices: notice.map { [$0] } ?? [], action: .end(.granted(Proof(factor: factor))))
    }
}
