/// The door as it stands after a failure was settled.
package enum SettledDoor: Equatable, Sendable {
    case secret(SecretDoor)
    case finger(FingerCounterDoor)
}

/// The finger counter's door, with the limit a person is told.
package enum FingerCounterDoor: Equatable, Sendable {
    case open
    case biometryLockout(limit: UInt8)
}

/// What happened at the open field while something else was waited for.
package enum FieldEvent: Equatable, Sendable {
    /// Enter after at least one character.
    case answered
    /// Ctrl-C, Ctrl-D, a signal that ends the program, or a terminal that is gone.
    case cancelled
    /// The field stood open for too long.
    case timedOut
    /// The person leaves: the job is to be stopped, or the terminal's window lost its focus. Nothing is on the screen.
    case left
}

/// What came of an action.
package enum AuthenticationEvent: Equatable, Sendable {
    case facts(AuthenticationMachine.Facts)
    /// Something was typed.
    case answered
    /// Enter alone.
    case answeredNothing
    /// Ctrl-C, Ctrl-D, the caller's time limit, or a conversation that cannot be used.
    case notAnswered(timedOut: Bool)
    /// The attempt is charged, durably.
    case charged
    /// The secret's door is closed: nothing was charged, or nothing compared and the charge taken back.
    case doorClosed(PINLockout)
    /// The finger path is closed: nothing more was charged.
    case fingerClosed(FingerClosure)
    /// The field is open, and is attended to while the reader is waited for; or there is no such field.
    case fieldOpened, noField
    /// The person left the field before a finger was charged, and is back at it.
    case left, returned
    case readerOpened
    case armed
    /// No try: the same charge goes on with another touch.
    case touchAgain(RetryReason)
    case touched(AuthenticationMachine.FingerOutcome)
    case matched
    case notMatched
    /// A success is settled, durably.
    case settled
    /// A failure or a refund is settled, and this is the door now.
    case settledFailure(SettledDoor)
    /// The new PIN is too weak, or the two differ.
    case newPINRefused(Notice)
    /// A record is damaged or foreign; or else the store, the keys, the memory or the clock cannot be used now.
    case unusable(damaged: Bool)
    /// The records cannot be used for a reason that a person is told.
    case troubled(RecordTrouble)
    /// The records were deleted since they were read: the user has no PIN any more.
    case recordsGone
}

/// What the engine does next.
package enum AuthenticationAction: Equatable, Sendable {
    case ask(Prompt)
    /// For an unknown user: spends the time that a comparison takes.
    case spendTime
    // The three steps of a PIN are one hold of the user's lock.
    case chargePIN, comparePIN, settlePIN(right: Bool)
    case openField, awaitReturn
    case openReader, chargeFinger, armReader, awaitTouch
    case settleFinger(AuthenticationMachine.FingerOutcome)
    case chargeRecovery, compareRecovery, settleRecovery(right: Bool)
    case askNewPIN, storeNewPIN
    case end(Verdict)
}

/// What is said, and what is done after it.
package struct AuthenticationStep: Equatable, Sendable {
    package var notices: [Notice]
    package var action: AuthenticationAction

    package init(notices: [Notice], action: AuthenticationAction) {
        self.notices = notices
        self.action = action
    }
}
