/// What is done about a process that holds a lock for longer than any hold may last.
package enum OverdueHolder: Equatable, Sendable {
    case kill
    /// Waited for, until the wait itself is over.
    case spare
    /// As `spare`, and its time begins anew: it may be killed later.
    case startAnew
}

/// Who waits for a lock, who holds it, and whose it is: whether the one may kill the other.
///
/// To kill is to take a proof from somebody: a right PIN is charged when it is compared, and stays charged where its process
/// dies before that is settled. So whoever waits in his own `su alice` kills no process of alice's or root's, whatever keeps
/// it, or he would have her failures rise whenever her disk is slow.
///
/// It must be done all the same, for a process that another person started can be stopped by that person, for ever. And an
/// account's owner and root get through what is theirs: a forgotten `sudo` that was stopped keeps neither of them out.
package struct LockParties: Equatable, Sendable {
    /// The uid of the account that the lock guards; 0 for what is nobody's alone.
    private let owner: UInt32
    /// The real uid of the process that waits.
    private let waiter: UInt32
    /// The real uid that the holder had when it took the lock; nil where that is not known.
    private let holder: UInt32?

    package init(owner: UInt32, waiter: UInt32, holder: UInt32?) {
        self.owner = owner
        self.waiter = waiter
        self.holder = holder
    }

    /// What is done, now that the time is over.
    ///
    /// A holder in uninterruptible sleep waits for the disk, as a rule, and nothing is wrong with it: one of the owner's or
    /// root's is given its whole time again. But another person can bring that sleep about, by the limits of a control group
    /// of their own (memory.high) or the lowest priority at the disk (ioprio_set(2)). So it saves nobody of them from those
    /// whose account it is, only from each other.
    ///
    /// Where it is not known who the holder is, only those whose account it is kill: nobody else loses more than a wait.
    package func treatment(ofHolderInDiskSleep sleeps: Bool) -> OverdueHolder {
        switch (isTheirs(waiter), holder.map { !isTheirs($0) }) {
        case (true, .some(true)): .kill
        case (true, _), (false, .some(true)): sleeps ? .startAnew : .kill
        case (false, _): .spare
        }
    }

    private func isTheirs(_ user: UInt32) -> Bool { user == 0 || user == owner }
}
