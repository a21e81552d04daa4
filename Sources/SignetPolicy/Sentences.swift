/// What a person is asked for, in a hidden field.
package enum Prompt: Equatable, Sendable {
    /// The PIN alone, with the reason why no finger is offered, where it is worth a word.
    case pin(because: FingerClosure?)
    /// The PIN, or Enter and a touch.
    case pinOrTouch
    /// The PIN, at a field that stays open while the reader is opened; it speaks of no touch yet.
    case pinBeforeTouch
    /// A program without a terminal: it replaces this very text by its own.
    case password
    /// The PIN is disabled.
    case recoveryCode
    case newPIN
    case newPINAgain
    /// Management: the PIN that is in force.
    case currentPIN
}

extension Prompt {
    /// The same for somebody else than the user (`su alice`), to whom the state of the user's fingers is no business; what
    /// is said of the caller's own place, and of the reader, is theirs.
    package var forAStranger: Prompt {
        switch self {
        case .pin(because: .some(.triesUsedUp)), .pin(because: .some(.notTouched)),
            .pin(because: .some(.readerNotAvailable)), .pin(because: .some(.remote)), .pin(because: .some(.lidClosed)),
            .pin(because: .some(.background)), .pin(because: .some(.anotherSeat)):
            self
        case .pin: .pin(because: nil)
        default: self
        }
    }
}

/// What a person is told.
package enum Notice: Equatable, Sendable {
    case touchTheReader
    /// The machine slept; the reader is opened anew.
    case readerWakes
    case notRecognised
    case retry(RetryReason)
    /// Tries left where two or fewer are left before a wait or the end.
    case wrongPIN(triesLeft: Int?)
    case wrongRecoveryCode(triesLeft: Int?)
    case waiting(seconds: UInt64)
    /// `codeHelps`: the next prompt asks for the recovery code.
    case pinDisabled(codeHelps: Bool)
    case shareUsedUp
    case pinNotSet
    /// The records were deleted while the person was asked.
    case recordsGone
    case recordUnusable
    /// The records cannot be used, and why.
    case troubled(RecordTrouble)
    /// The machine cannot do its part now: the store is busy or read-only, memory is short.
    case systemFault
    case nothingTyped
    case fingerPathClosed(FingerClosure)
    /// A job in the background is refused without a question.
    case backgroundJob
    case pinSetByAdministrator
    case pinRefused(PINWeakness)
    case pinsDiffer
    case recoveryCodeUsedUp
}
