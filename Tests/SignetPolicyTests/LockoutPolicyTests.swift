import SignetPolicy
import Testing

@Suite struct LockoutPolicyTests {
    let policy = LockoutPolicy(Configuration())
    let boot = BootIdentity(high: 1, low: 2)

    private func at(_ seconds: UInt64, boot: BootIdentity? = nil) -> BootInstant {
        BootInstant(boot: boot ?? self.boot, seconds: seconds)
    }

    /// Catches a wait of the wrong length, a wait that starts too early or late, or an eleventh comparison.
    @Test func tenWrongPINsFollowTheSchedule() {
        var failures = SecretFailures()
        var now: UInt64 = 1000
        let waits: [UInt64] = [0, 0, 0, 0, 60, 300, 900, 3600, 3600]
        for wait in waits {
            let charge = policy.charge(&failures, for: .person, at: at(now))
            #expect(charge != nil)
            if wait > 0 {
                #expect(policy.door(failures, for: .person, at: at(now)) == .closed(.waiting(seconds: wait)))
                #expect(policy.door(failures, for: .person, at: at(now + wait - 1)) == .closed(.waiting(seconds: 1)))
            }
            now += wait
            guard case .open = policy.door(failures, for: .person, at: at(now)) else {
                Issue.record("closed after the wait of \(wait) s")
                return
            }
        }
        let tenth = policy.charge(&failures, for: .person, at: at(now))
        #expect(tenth != nil)
        #expect(policy.door(failures, for: .person, at: at(now + 1_000_000)) == .closed(.disabled))
        let eleventh = policy.charge(&failures, for: .person, at: at(now + 1_000_000))
        #expect(eleventh == nil)
        #expect(failures.total == 10)
    }

    /// Catches a reboot that shortens a wait, and a wait that never ends after one.
    @Test func aRebootStartsTheWaitAnew() {
        let wait = Wait(since: at(5000), seconds: 300)
        let after = BootIdentity(high: 9, low: 9)
        #expect(wait.remaining(at: at(5100)) == 200)
        #expect(wait.remaining(at: at(0, boot: after)) == 300)
        #expect(wait.remaining(at: at(299, boot: after)) == 1)
        #expect(wait.remaining(at: at(300, boot: after)) == 0)
    }

    /// Catches a clock that seems to run backwards (a time namespace) opening the door.
    @Test func anEarlierInstantWaitsTheWholeTime() {
        #expect(Wait(since: at(5000), seconds: 300).remaining(at: at(10)) == 300)
    }

    /// Catches somebody else's `su` keeping the user waiting, disabling the PIN, or guessing more than a share.
    @Test(arguments: [CallerClass.anotherPerson, .remote]) func aShareShutsItsOwnDoorAlone(caller: CallerClass) {
        var failures = SecretFailures()
        for left in [3, 2, 1] {
            #expect(policy.door(failures, for: caller, at: at(0)) == .open(triesLeft: left))
            let charge = policy.charge(&failures, for: caller, at: at(0))
            #expect(charge != nil)
        }
        #expect(policy.door(failures, for: caller, at: at(0)) == .closed(.shareUsedUp))
        let more = policy.charge(&failures, for: caller, at: at(0))
        #expect(more == nil)
        #expect(policy.door(failures, for: .person, at: at(0)) == .open(triesLeft: 5))
        #expect(failures.wait == nil)
    }

    /// Catches others who bring the user's waits nearer: after six failures of theirs one slip would cost 15
    /// minutes, and close the fingers too.
    @Test func othersBringNoWaitNearer() {
        var failures = SecretFailures()
        failures.byAnotherPerson = 3
        failures.byRemote = 3
        for left in [4, 3, 2] {
            #expect(policy.door(failures, for: .person, at: at(0)) == .open(triesLeft: left))
            let charge = policy.charge(&failures, for: .person, at: at(0))
            #expect(charge != nil)
        }
        #expect(failures.wait == nil)
        #expect(policy.door(failures, for: .person, at: at(0)) == .open(triesLeft: 1))
        let last = policy.charge(&failures, for: .person, at: at(0))
        #expect(last != nil)
        #expect(policy.door(failures, for: .person, at: at(0)) == .closed(.disabled))
    }

    /// Catches a small limit, which any fault in the configuration sets, that leaves the person next to nothing beside others.
    @Test(arguments: [(5, 1), (6, 1), (7, 1), (8, 2), (9, 2), (10, 3)]) func aSmallLimitHasSmallShares(
        limit: UInt8, share: Int
    ) {
        var configuration = Configuration()
        configuration.pinLimit = limit
        let policy = LockoutPolicy(configuration)
        #expect(policy.share == share)
        var failures = SecretFailures()
        for caller in [CallerClass.anotherPerson, .remote] {
            while policy.charge(&failures, for: caller, at: at(0)) != nil {}
            #expect(Int(failures.count(of: caller)) == share)
        }
        var tries = 0
        var now: UInt64 = 0
        while policy.charge(&failures, for: .person, at: at(now)) != nil {
            tries += 1
            now += 10_000
        }
        #expect(tries == Int(limit) - 2 * share && tries >= 3)
    }

    /// Catches a PIN that is disabled because the limit became smaller than what others typed before.
    @Test func aSmallerLimitDisablesNothingByOthers() {
        var failures = SecretFailures()
        failures.byAnotherPerson = 3
        failures.byRemote = 3
        var configuration = Configuration()
        configuration.pinLimit = 5
        let policy = LockoutPolicy(configuration)
        #expect(policy.door(failures, for: .person, at: at(0)) == .open(triesLeft: 3))
        #expect(policy.door(failures, for: .anotherPerson, at: at(0)) == .closed(.shareUsedUp))
        #expect(policy.door(failures, for: .remote, at: at(0)) == .closed(.shareUsedUp))
    }

    /// Catches alice's own session over the network that has only the share which strangers at sshd can use up, a program that
    /// says for whom it asks and is not believed, and one that is believed against the kernel's own word.
    @Test(
        arguments: [
            (1000, 1000, false, nil, .person), (1000, 1000, true, nil, .person), (1000, 1000, true, "bob", .person),
            (1001, 1000, false, nil, .anotherPerson), (1001, 1000, true, "alice", .anotherPerson),
            (0, 1000, false, nil, .person), (0, 1000, true, nil, .remote), (0, 1000, true, "bob", .remote),
            (0, 1000, false, "alice", .person), (0, 1000, false, "root", .person),
            (0, 1000, false, "bob", .anotherPerson),
            (0, nil, false, nil, .person), (1000, nil, false, nil, .anotherPerson), (0, 0, true, nil, .remote),
        ] as [(UInt32, UInt32?, Bool, String?, CallerClass)])
    func whoStandsBehind(real: UInt32, user: UInt32?, isRemote: Bool, requester: String?, expected: CallerClass) {
        let caller = CallerClass(
            realUID: real, user: user, name: Array("alice".utf8), isRemote: isRemote,
            asksFor: requester.map { Array($0.utf8) })
        #expect(caller == expected)
    }

    /// Catches other callers using up the last failure before the end.
    @Test func onlyThePersonCanDisableThePIN() {
        var failures = SecretFailures()
        failures.byPerson = 9
        #expect(policy.door(failures, for: .anotherPerson, at: at(0)) == .closed(.shareUsedUp))
        failures.byPerson = 8
        let charge = policy.charge(&failures, for: .remote, at: at(0))
        #expect(charge != nil)
        #expect(policy.door(failures, for: .anotherPerson, at: at(0)) == .closed(.shareUsedUp))
        guard case .open = policy.door(failures, for: .person, at: at(0)) else {
            Issue.record("the person was shut out")
            return
        }
    }

    /// Catches a refund that lowers a later series of failures after a success or a reset.
    @Test func aRefundAfterAResetIsVoid() throws {
        var attempts = Attempts()
        let first = try #require(policy.charge(&attempts.finger, for: .person))
        policy.reset(&attempts, finger: true, pin: true)
        let second = policy.charge(&attempts.finger, for: .person)
        #expect(second != nil)
        policy.refund(first, &attempts.finger)
        #expect(attempts.finger.count == 1)

        let pin = try #require(policy.charge(&attempts.pin, for: .person, at: at(0)))
        policy.pinSucceeded(&attempts, at: at(1))
        let later = policy.charge(&attempts.pin, for: .person, at: at(2))
        #expect(later != nil)
        policy.refund(pin, &attempts.pin, of: .person, to: nil)
        #expect(attempts.pin.total == 1)
    }

    /// Catches a finger that clears PIN failures, and a PIN that leaves biometry locked out.
    @Test func successesClearWhatTheyMay() {
        var attempts = Attempts()
        attempts.pin.byPerson = 4
        attempts.finger.count = 4
        policy.fingerSucceeded(&attempts)
        #expect(attempts.finger.count == 0)
        #expect(attempts.pin.byPerson == 4)
        attempts.finger.count = 5
        #expect(policy.door(attempts.finger, for: .person) == .biometryLockout)
        let locked = policy.charge(&attempts.finger, for: .person)
        #expect(locked == nil)
        policy.pinSucceeded(&attempts, at: at(77))
        #expect(attempts.finger.count == 0)
        #expect(attempts.pin.total == 0)
        #expect(attempts.lastPIN == at(77))
    }

    /// Catches somebody else's `su alice`, begun and killed again and again, that switches alice's fingers off.
    @Test(arguments: [(1, 0), (2, 0), (3, 1), (5, 3)]) func othersLeaveTheUserSomeFingers(limit: UInt8, others: UInt8) {
        var configuration = Configuration()
        configuration.fingerLimit = limit
        let policy = LockoutPolicy(configuration)
        var attempts = Attempts()
        while policy.charge(&attempts.finger, for: .anotherPerson) != nil {}
        #expect(attempts.finger.count == others)
        #expect(policy.door(attempts.finger, for: .anotherPerson) == .biometryLockout)
        #expect(policy.door(attempts.finger, for: .person) == .open(triesLeft: Int(limit - others)))
    }

    /// Catches a finger that counts before the first PIN of a boot, or after 72 hours.
    @Test func fingersNeedAFreshPIN() {
        var attempts = Attempts()
        #expect(policy.freshness(attempts, at: at(10)) == .pinNeverUsed)
        attempts.lastPIN = at(10)
        #expect(policy.freshness(attempts, at: at(10)) == nil)
        #expect(policy.freshness(attempts, at: at(10 + 72 * 3600 - 1)) == nil)
        #expect(policy.freshness(attempts, at: at(10 + 72 * 3600)) == .pinRequiredStale)
        #expect(policy.freshness(attempts, at: at(9)) == .pinRequiredStale)
        #expect(policy.freshness(attempts, at: at(10, boot: BootIdentity(high: 5, low: 5))) == .pinRequiredAfterBoot)
    }

    /// Catches a configuration beyond the hard bounds loosening a limit.
    @Test func boundsAreHard() {
        var loose = Configuration()
        loose.fingerLimit = 200
        loose.pinLimit = 200
        #expect(LockoutPolicy(loose).fingerLimit == 5)
        #expect(LockoutPolicy(loose).pinLimit == 10)
        loose.fingerLimit = 0
        loose.pinLimit = 0
        #expect(LockoutPolicy(loose).fingerLimit == 1)
        #expect(LockoutPolicy(loose).pinLimit == 5)
    }

    /// Catches any order of events in which a counter falls but by success, a refund of its own charge, or a reset.
    @Test(arguments: 0..<200) func countersOnlyFallByRight(seed: Int) {
        var random = Linear(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        var failures = SecretFailures()
        var outstanding: [(Charge, CallerClass, Wait?)] = []
        var compared = 0
        var now: UInt64 = 0
        for _ in 0..<60 {
            let before = failures.total
            now += random.next() % 4000
            let caller = CallerClass.allCases[Int(random.next() % 3)]
            if random.next() % 4 == 0, let (charge, owner, wait) = outstanding.popLast() {
                policy.refund(charge, &failures, of: owner, to: wait)
                compared -= 1
                #expect(failures.total == before - 1)
            } else {
                let wait = failures.wait
                if let charge = policy.charge(&failures, for: caller, at: at(now)) {
                    outstanding.append((charge, caller, wait))
                    compared += 1
                    #expect(failures.total == before + 1)
                } else {
                    #expect(failures.total == before)
                }
            }
            #expect(failures.total == compared)
            #expect(failures.total <= 10)
            #expect(failures.byAnotherPerson <= 3 && failures.byRemote <= 3)
        }
    }
}

/// A small generator with a seed, so that a failing order of events can be run again.
struct Linear {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
