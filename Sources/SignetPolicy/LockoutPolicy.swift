/// What a counted secret (the PIN or the recovery code) allows a caller to do now.
package enum SecretDoor: Equatable, Sendable {
    /// An attempt may be charged; `triesLeft` counts those before the next wait or the end, this one included.
    case open(triesLeft: Int)
    case closed(PINLockout)
}

/// What the finger counter allows now.
package enum FingerDoor: Equatable, Sendable {
    /// A try may be charged.
    case open(triesLeft: Int)
    /// Only the PIN re-opens it.
    case biometryLockout
}

/// An attempt that was charged on disk before anything was compared; settling names it.
package struct Charge: Equatable, Sendable {
    /// The series of failures it belongs to.
    package let epoch: UInt64

    fileprivate init(epoch: UInt64) { self.epoch = epoch }
}

/// Counting and locking out: pure rules over the counters of one user.
///
/// Every attempt is charged as a failure before the comparison and settled after it (rule 1); a success clears, a refund
/// takes back a try in which nothing was compared, and nothing else lowers a counter.
package struct LockoutPolicy: Equatable, Sendable {
    package let fingerLimit: Int
    package let pinLimit: Int
    /// Seconds for which a PIN keeps fingers open.
    package let freshSeconds: UInt64

    /// A person's own failures without a wait: 1–4.
    package static let freeFailures = 4
    /// Seconds of the wait after the person's own 5th, 6th, 7th, 8th and 9th failure.
    package static let waits: [UInt32] = [60, 300, 900, 3600, 3600]
    /// How many of the failures may come from other people's processes, and how many from remote callers, at most.
    package static let longestShare = 3
    /// The last failures of fingers before the lockout, which only the user's own processes may use.
    package static let fingersKept = 2

    package init(_ configuration: Configuration) {
        fingerLimit = min(max(Int(configuration.fingerLimit), 1), 5)
        pinLimit = min(max(Int(configuration.pinLimit), 5), 10)
        freshSeconds = UInt64(configuration.pinFreshHours) * 3600
    }

    // MARK: The PIN and the recovery code

    /// How many of the failures may come from other people's processes, and how many from remote callers, 1 to 3.
    ///
    /// A smaller limit has smaller shares, so that the person always has three tries left, or more.
    package var share: Int { min(LockoutPolicy.longestShare, max(1, (pinLimit - LockoutPolicy.freeFailures) / 2)) }

    /// How many of the failures count towards the limit.
    ///
    /// Others' count up to their share: else a limit that is made smaller, or is the least because the configuration cannot be
    /// read, would disable a PIN by what they typed before.
    package func counted(_ failures: SecretFailures) -> Int {
        Int(failures.byPerson) + min(Int(failures.byAnotherPerson), share) + min(Int(failures.byRemote), share)
    }

    /// What `failures` allow a caller now.
    package func door(_ failures: SecretFailures, for caller: CallerClass, at now: BootInstant) -> SecretDoor {
        if counted(failures) >= pinLimit { return .closed(.disabled) }
        if let wait = failures.wait {
            let left = wait.remaining(at: now)
            if left > 0 { return .closed(.waiting(seconds: left)) }
        }
        guard caller != .person else {
            let beforeWait = max(LockoutPolicy.freeFailures + 1 - Int(failures.byPerson), 1)
            return .open(triesLeft: min(beforeWait, pinLimit - counted(failures)))
        }
        // The last failure before the end belongs to the person: somebody else must not be able to disable a PIN.
        let left = min(share - Int(failures.count(of: caller)), pinLimit - 1 - counted(failures))
        return left > 0 ? .open(triesLeft: left) : .closed(.shareUsedUp)
    }

    /// Charges one attempt, to be written before the comparison; nil where the door is closed.
    package func charge(
        _ failures: inout SecretFailures, for caller: CallerClass, at now: BootInstant
    ) -> Charge? {
        guard case .open = door(failures, for: caller, at: now) else { return nil }
        failures.add(caller)
        // Other people's failures use up their share, start no wait and lengthen none: they cannot keep the user waiting.
        if caller == .person, counted(failures) < pinLimit,
            let seconds = LockoutPolicy.wait(after: Int(failures.byPerson))
        {
            failures.wait = Wait(since: now, seconds: seconds)
        }
        return Charge(epoch: failures.epoch)
    }

    /// Takes back a charge for which nothing was compared; void after a success or a reset in between.
    package func refund(_ charge: Charge, _ failures: inout SecretFailures, of caller: CallerClass, to before: Wait?) {
        guard charge.epoch == failures.epoch else { return }
        failures.remove(caller)
        failures.wait = before
    }

    /// The wait that the person's own failure number `count` starts.
    private static func wait(after count: Int) -> UInt32? {
        guard count > freeFailures, count - freeFailures - 1 < waits.count else { return nil }
        return waits[count - freeFailures - 1]
    }

    // MARK: Fingers

    /// What the counters allow a finger now, the PIN's lockout aside.
    ///
    /// Whoever types `su alice` and kills it leaves a failure behind without touching anything. So others are turned away
    /// while the user has still some tries left; with a limit of one or two that is always.
    package func door(_ failures: FingerFailures, for caller: CallerClass) -> FingerDoor {
        let limit = caller == .person ? fingerLimit : fingerLimit - LockoutPolicy.fingersKept
        let left = limit - Int(failures.count)
        return left > 0 ? .open(triesLeft: left) : .biometryLockout
    }

    /// Charges one finger try; nil where the fingers' door is closed.
    package func charge(_ failures: inout FingerFailures, for caller: CallerClass) -> Charge? {
        guard case .open = door(failures, for: caller) else { return nil }
        failures.count += 1
        return Charge(epoch: failures.epoch)
    }

    /// Takes back a try for which a living helper says that no finger lay on the reader.
    package func refund(_ charge: Charge, _ failures: inout FingerFailures) {
        guard charge.epoch == failures.epoch, failures.count > 0 else { return }
        failures.count -= 1
    }

    /// Why the PIN is needed before a finger counts (rule 7); nil where it was given within this boot and in time.
    package func freshness(_ attempts: Attempts, at now: BootInstant) -> FingerClosure? {
        guard let last = attempts.lastPIN else { return .pinNeverUsed }
        guard last.boot == now.boot else { return .pinRequiredAfterBoot }
        guard let passed = last.seconds(until: now), passed < freshSeconds else { return .pinRequiredStale }
        return nil
    }

    // MARK: Successes and resets

    /// A finger matched: finger failures are cleared, PIN failures never.
    package func fingerSucceeded(_ attempts: inout Attempts) {
        attempts.finger.clear()
    }

    /// The PIN was right: both counters are cleared, and fingers are fresh again.
    package func pinSucceeded(_ attempts: inout Attempts, at now: BootInstant) {
        attempts.pin.clear()
        attempts.finger.clear()
        attempts.lastPIN = now
    }

    /// The recovery code was right: its own failures are cleared.
    ///
    /// The PIN's are when the new PIN is set (`pinSucceeded`).
    package func recoveryCodeMatched(_ attempts: inout Attempts) {
        attempts.recovery.clear()
    }

    /// An administrator resets: the chosen counters are cleared, and outstanding refunds become void.
    package func reset(_ attempts: inout Attempts, finger: Bool, pin: Bool) {
        if finger { attempts.finger.clear() }
        if pin {
            attempts.pin.clear()
            attempts.recovery.clear()
        }
    }
}

extension SecretFailures {
    /// The failures that this kind of caller made.
    package func count(of caller: CallerClass) -> UInt8 {
        switch caller {
        case .person: byPerson
        case .anotherPerson: byAnotherPerson
        case .remote: byRemote
        }
    }

    fileprivate mutating func add(_ caller: CallerClass) { adjust(caller) { $0 < .max ? $0 + 1 : $0 } }

    fileprivate mutating func remove(_ caller: CallerClass) { adjust(caller) { $0 > 0 ? $0 - 1 : 0 } }

    private mutating func adjust(_ caller: CallerClass, _ change: (UInt8) -> UInt8) {
        switch caller {
        case .person: byPerson = change(byPerson)
        case .anotherPerson: byAnotherPerson = change(byAnotherPerson)
        case .remote: byRemote = change(byRemote)
        }
    }

    fileprivate mutating func clear() {
        let next = epoch &+ 1
        self = SecretFailures()
        epoch = next
    }
}

extension FingerFailures {
    fileprivate mutating func clear() {
        let next = epoch &+ 1
        self = FingerFailures()
        epoch = next
    }
}
