/// What the count beside a user's records says, compared with the TPM's.
package enum CounterStanding: Equatable, Sendable {
    /// The records are those that were written last.
    case inForce
    /// They are, and a crash came before the TPM counted: it has to count now.
    case notCountedYet
    /// They are older than what was written last: put back from a copy.
    case rolledBack
    /// No order of writing leads here: it is another TPM's count.
    case foreign
}

/// When the TPM counts for a user: pure rules against copies of old records that are put back.
///
/// Counters are written with the next count first and counted by the TPM after, so that a crash in between leaves the
/// records one ahead, which is made good. The other order would have to accept one step of going back at any time.
///
/// A guess costs a count, or whoever writes the disk could guess, put the copy back and guess again. The first wrong
/// PIN costs it when it is settled and not with its charge, so that a right PIN costs none: what is cut off between
/// comparison and settling has told nobody what came of it. Fingers cost none: a disk is written from another system,
/// and after that boot the PIN is asked first (rule 7).
///
/// A count is a write of the TPM's flash. One maker gives 500,000 of them (ST33 product brief), the cautious number for
/// flash is 100,000. Fifty authentications a day are 182,650 in ten years, and each costs one count at most:
/// - all of them failed or right after a failure, the worst there is: 182,650, 37 % of 500,000; 100,000 last 5.4 years;
/// - three wrong PINs a day, each followed by the right one: 6 counts a day, 21,918, 4.4 % of 500,000, 22 % of 100,000.
///
/// Changes of the PIN, the prints and the like add a few.
package enum CounterPolicy {
    /// Judges records that say `written` where the TPM says `counted`.
    package static func standing(written: UInt64, counted: UInt64) -> CounterStanding {
        if written == counted { return .inForce }
        if written < counted { return .rolledBack }
        return written - counted == 1 ? .notCountedYet : .foreign
    }

    /// Whether charging a PIN or a recovery code costs a count: where failures stand already.
    package static func countsCharge(onTopOf attempts: Attempts) -> Bool {
        attempts.pin.total > 0 || attempts.recovery.total > 0
    }
}
