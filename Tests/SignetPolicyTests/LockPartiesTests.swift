import SignetPolicy
import Testing

@Suite struct LockPartiesTests {
    /// Root, the account's owner, another person, and one more.
    private static let (root, alice, bob, carol): (UInt32, UInt32, UInt32, UInt32) = (0, 1001, 1002, 1003)

    /// Catches bob's `su alice` that kills alice's sudo, or root's login; a stopped `su alice` of bob's that keeps alice, root
    /// or carol out; a stopped process of alice's own that an administrator cannot get past; one of
    /// theirs that is killed while it waits for the disk, and one of bob's that is spared for it.
    @Test(arguments: [
        // Who waits, who holds, what is done about a holder that runs or is stopped, and about one that waits for the disk.
        (root, root, OverdueHolder.kill, OverdueHolder.startAnew),
        (root, alice, .kill, .startAnew), (alice, root, .kill, .startAnew), (alice, alice, .kill, .startAnew),
        (root, bob, .kill, .kill), (alice, bob, .kill, .kill),
        (bob, root, .spare, .spare), (bob, alice, .spare, .spare),
        (bob, bob, .kill, .startAnew), (bob, carol, .kill, .startAnew),
    ])
    func whoKillsWhom(_ waiter: UInt32, _ holder: UInt32, _ running: OverdueHolder, _ sleeping: OverdueHolder) {
        let parties = LockParties(owner: Self.alice, waiter: waiter, holder: holder)
        #expect(parties.treatment(ofHolderInDiskSleep: false) == running)
        #expect(parties.treatment(ofHolderInDiskSleep: true) == sleeping)
    }

    /// Catches a holder of whom nothing is known, and whom anybody kills, or nobody.
    @Test func anUnknownHolderIsKilledByThoseWhoseAccountItIs() {
        for (waiter, done) in [(Self.root, OverdueHolder.kill), (Self.alice, .kill), (Self.bob, .spare)] {
            let parties = LockParties(owner: Self.alice, waiter: waiter, holder: nil)
            #expect(parties.treatment(ofHolderInDiskSleep: false) == done)
            #expect(parties.treatment(ofHolderInDiskSleep: true) == (done == .kill ? .startAnew : .spare))
        }
    }

    /// Catches a lock of the whole store's that is taken for somebody's: whoever waits for it would kill an administrator's
    /// process, or be kept out by a person who stopped what holds it.
    @Test func whatIsNobodysIsRoots() {
        #expect(
            LockParties(owner: 0, waiter: Self.bob, holder: 0).treatment(ofHolderInDiskSleep: false) == .spare)
        #expect(
            LockParties(owner: 0, waiter: Self.bob, holder: Self.alice).treatment(ofHolderInDiskSleep: false) == .kill)
        #expect(LockParties(owner: 0, waiter: 0, holder: 0).treatment(ofHolderInDiskSleep: false) == .kill)
    }
}
