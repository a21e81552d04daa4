package import SignetPolicy

/// Why a management task ended without what was asked for.
package enum ManagementRefusal: Error, Equatable, Sendable {
    /// The user has no PIN, and so no records.
    case pinNotSet
    /// There is a PIN: it is changed with itself, not set.
    case pinAlreadySet
    /// Wrong as often as it is asked for.
    case wrongPIN
    case pinLockout(PINLockout)
    /// None was made, or it was used.
    case noRecoveryCode
    case wrongRecoveryCode
    case recoveryCodeLockout(PINLockout)
    /// Too weak, or typed differently the second time, as often as it is asked for.
    case newPINRefused
    /// There is nowhere to show the recovery code.
    case nowhereToShow
    case cancelled
    /// Enter alone, where that is an answer; no task ends with it.
    case declined
    case timedOut
    /// Nobody can be asked.
    case nobodyToAsk
    case ledger(LedgerFailure)
    case reader(ReaderProblem)
    /// Every reader that could serve is one that is not believed for where it is.
    case readerNotTrusted(ReaderDistrust)
    /// A reader is there, and none of those with which the user enrolled.
    case readerExchanged(ReaderExchange)
    /// The set was changed, or never approved: it must be activated before it is added to.
    case activateFirst(FingerClosure)
    /// Fingers are locked out.
    case biometryLockout
    /// This finger of the user is enrolled on this reader.
    case alreadyEnrolled(Finger)
    /// The finger that was laid on the reader is enrolled by that name; nil: the reader knows it and cannot say whose it is.
    case duplicate(of: Finger?)
    case tooManyPrints
    /// The confirming touch did not come, or did not match.
    case notConfirmed
    /// There is no print at all.
    case notEnrolled
    /// There are prints, but none of that finger.
    case noSuchFinger(Finger)
    /// That finger is enrolled on each of these readers.
    case onSeveralReaders(Finger, [ReaderIdentity])
    /// On the reader that was named there is none of that finger, or none at all; on these there is.
    case notOnThatReader(Finger?, [ReaderIdentity])
    /// The prints are fprintd's, where the desktop's settings change them.
    case printsKeptElsewhere
    /// No print was found to import.
    case nothingToImport
    /// There are prints to import, but the reader that made them is not at hand.
    case readersOfPrintsMissing
    /// The reader's memory has none of the prints any more: these fingers, and whether fprintd keeps what is said of them.
    case goneFromReader([Finger], keptElsewhere: Bool)
    /// The PIN goes last: so many prints are there still.
    case printsLeft(Int)
}
