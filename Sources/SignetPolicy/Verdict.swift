/// Why the finger path is closed for this authentication; the PIN stays.
package enum FingerClosure: Equatable, Sendable {
    /// `finger = no`, the module argument `finger=no`, or an unusable configuration.
    case switchedOff
    /// No terminal on which a person could be asked to touch.
    case noTerminal
    case notEnrolled
    /// Prints are there, but no approval was ever made for this reader.
    case notApproved
    /// What is kept of the prints cannot be read.
    case printsUnusable
    /// Whether the prints are those that were approved cannot be told now: memory or files are short, or the store is busy.
    case printsUnavailable
    case enrollmentChanged(EnrollmentChange)
    /// So many foreign prints, or 255 and more, came into the reader's memory since the user approved.
    case foreignPrints(UInt8)
    /// `limit` consecutive failures; the PIN re-opens it.
    case biometryLockout(limit: UInt8)
    /// First use since start-up.
    case pinRequiredAfterBoot
    /// The user has not used the PIN that somebody else set.
    case pinNeverUsed
    /// The last PIN is too long ago.
    case pinRequiredStale
    case remote
    case lidClosed
    case background
    /// The session has no seat, or another one than the readers.
    case anotherSeat
    /// The reader is not where it may be.
    case readerNotTrusted(ReaderDistrust)
    /// A reader is there, and it is another one than those with which the user enrolled.
    case readerExchanged(ReaderExchange)
    case readerNotAvailable(ReaderProblem)
    /// The tries of this prompt are used up.
    case triesUsedUp
    /// Nobody touched the reader in time.
    case notTouched
}

/// How the PIN is locked.
package enum PINLockout: Equatable, Sendable {
    /// Seconds left to wait.
    case waiting(seconds: UInt64)
    /// Only a recovery code or an administrator helps.
    case disabled
    /// This kind of caller has used up its share; others are not touched.
    case shareUsedUp
}

/// What is the matter with a user's records; the journal has the particulars.
package enum RecordState: Equatable, Sendable {
    case usable
    /// The user exists but has no PIN.
    case pinNotSet
    /// Damaged, foreign, unsafe, or the keys are lost.
    case unusable
    /// Unusable for a reason that a person is told.
    case troubled(RecordTrouble)
    case unknownUser
}

/// Why records cannot be used, where a person is told more than that.
package enum RecordTrouble: Equatable, Sendable, CaseIterable {
    /// Older than what was written last: put back from a copy.
    case rolledBack
    /// Made under another user name: the account was renamed, or its number is another person's now.
    case renamed
    /// The TPM does not answer, or refuses.
    case enclaveGone
    /// The TPM is another one, or was cleared.
    case enclaveForeign
    /// The configuration asks for a TPM, and the store's key is a file.
    case enclaveRequired
    /// A folder above the store can be changed by others than root, or is a link.
    case folderAbove
}

/// Why an authentication was refused.
package enum Refusal: Equatable, Sendable {
    /// A wrong PIN, or a finger that did not match; a new try may follow.
    case authenticationFailed
    case pinNotSet
    case pinLockout(PINLockout)
    case cancelled
    case timedOut
    case unknownUser
    /// The records, the store, the keys or the clock cannot be used.
    case recordUnusable
    /// `pin=no` and the finger path is closed.
    case fingerPathClosed(FingerClosure)
    /// A job in the background of its terminal: nobody was asked anything.
    case background

    /// Whether a new try within the same transaction can end otherwise.
    package var mayEndOtherwise: Bool {
        switch self {
        case .authenticationFailed, .unknownUser: true
        case .pinNotSet, .pinLockout, .cancelled, .timedOut, .recordUnusable, .fingerPathClosed, .background: false
        }
    }
}

/// Which factor was proven.
package enum Factor: UInt8, Equatable, Sendable {
    case finger = 1
    case pin = 2
    case recoveryCode = 3
}

/// How an authentication ended.
package enum Verdict: Equatable, Sendable {
    case granted(Proof)
    case refused(Refusal)

    /// Whether it is the one arm that lets somebody in; for the journal, never for a decision.
    package var isGranted: Bool {
        switch self {
        case .granted: true
        case .refused: false
        }
    }

    /// Whether nobody gave an answer that was compared.
    package var comparedNothing: Bool {
        switch self {
        case .refused(.cancelled), .refused(.timedOut), .refused(.fingerPathClosed): true
        default: false
        }
    }
}
