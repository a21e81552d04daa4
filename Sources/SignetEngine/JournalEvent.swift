package import SignetPolicy

/// One line of the journal: a decision, or an act of management, with what an administrator needs and no secret.
package enum JournalEvent: Equatable, Sendable {
    /// How an authentication ended.
    case authentication(verdict: Verdict, attempts: Attempts?)
    /// A factor was compared and did not match.
    case failure(factor: Factor, attempts: Attempts)
    /// The finger path is closed, and why.
    case fingerPathClosed(FingerClosure)
    /// A record cannot be used.
    case recordFault(RecordKind, RecordFault)
    /// The file system refused.
    case storeRefused(errno: Int32)
    /// The user's lock could not be had.
    case storeBusy
    /// One copy of the counters was torn; one failure was added to each.
    case attemptsTorn
    /// The keys or the memory for a derivation could not be had.
    case vaultFailed(VaultError)
    /// The TPM has no room for a counter: older copies of this user's records would not be told from the newest.
    case noCounter
    /// A crash came between the writing of the counters and the TPM's count, which was made now.
    case countMadeGood
    /// No PIN is taken for now, so that the TPM does not lock: what it counted, and where it locks.
    case enclaveWaits(failures: UInt32, limit: UInt32)
    /// The boot clock cannot be read.
    case clockUnreadable
    /// Secrets lie in memory that may be written to swap: a tight RLIMIT_MEMLOCK, and no CAP_IPC_LOCK.
    case memoryNotLocked
    /// The configuration file cannot be used: the strictest bounds rule.
    case configurationUnusable(ConfigurationTrouble)
    /// The module has no such argument.
    case argumentUnknown([UInt8])
    /// A reader was passed over for where or what it is.
    case readerRefused(ReaderDistrust)
    /// Something happened to a reader that was in use, and it goes on.
    case readerTrouble(ReaderProblem)
    /// So many prints of others came into a reader's memory since the user approved.
    case foreignPrints(count: Int)
    /// A print stays in a reader's memory that no record has, for it could not be deleted.
    case printLeft
    /// A management task was done: its name ("pin changed"), and whether an administrator did it for somebody else.
    case management(ManagementAct, byAdministrator: Bool)
}

/// What a management task did.
package enum ManagementAct: Equatable, Sendable {
    case pinSet
    case pinChanged
    case pinRemoved
    case recoveryCodeMade
    case recoveryCodeUsed
    case fingerEnrolled(Finger)
    case fingerDeleted(Finger)
    /// Prints were taken over from fprintd's store.
    case fingersImported(prints: Int)
    case approved(prints: Int)
    case deactivated
    /// An unreadable record of prints was replaced by an empty one.
    case printsDiscarded
    case lockoutReset(finger: Bool, pin: Bool)
    case adopted
    /// Records that were restored from a backup are those in force now.
    case olderRecordsAccepted
    case purged
    /// Prints were deleted from readers' memories that cut deletions and enrolments had left.
    case leftoversDeleted(prints: Int)
}
