package import SignetEngine
package import SignetPolicy
internal import SignetRecords

// Arming and awaiting: a finger is charged, and what the helper says decides what becomes of the charge.

extension SensorClient {
    /// The longest wait for a touch in seconds; the helper's own alarm is longer.
    private static let touchSeconds = 90
    /// Milliseconds in which a living helper answers a cancel.
    private static let cancelLimit = 1000

    package mutating func arm<Watch: FieldWatch & ~Copyable>(beside watch: inout Watch) throws(ReaderProblem) {
        do throws(ReaderProblem) { try arming(beside: &watch) } catch {
            // A helper or driver that the sleep has cut off may say, or not say, anything.
            let cause = cause(of: error)
            rest?.failed(cause)
            throw cause
        }
    }

    private mutating func arming<Watch: FieldWatch & ~Copyable>(beside watch: inout Watch) throws(ReaderProblem) {
        guard phase == .opened, signals.hold() else { throw refuse() }
        if !tryGoesOn { fingerSeen = false }
        tryGoesOn = false
        measureSleep()
        helper?.expectSmallPackets()
        try send(.arm)
        // The helper waits until the finger before is lifted.
        switch try next(until: Deadline(seconds: openSeconds), beside: &watch, watchingSignals: true) {
        case .event(.armed): phase = .armed(confirmed: true)
        case .field(let event):
            aside = event
            phase = .armed(confirmed: false)
        // Awaiting the touch will find the signal pending, and cancel.
        case .signal: phase = .armed(confirmed: false)
        case .event(.failed(let problem)):
            end()
            throw problem
        case .deadline:
            abandon()
            throw .timedOut
        case .event, .sleep: throw refuse()
        }
    }

    package mutating func awaitTouch<Watch: FieldWatch & ~Copyable>(
        seconds: Int, beside watch: inout Watch
    ) -> Touch {
        guard case .armed(let confirmed) = phase else { return .failed(refuse()) }
        phase = .opened
        var wait = TouchWait(isConfirmed: confirmed)
        let touch: Touch
        do throws(ReaderProblem) {
            touch = try awaitTouch(seconds: seconds, &wait, beside: &watch)
        } catch {
            // Nobody knows what the reader saw, so the try stays charged.
            fingerSeen = true
            let slept = wait.wasAsleep || wait.ending == nil && hasSlept()
            touch = slept ? .slept(fingerSeen: true) : .failed(error)
        }
        note(touch)
        return wait.isAnsweredByPerson ? told(wait.ending) ?? touch : touch
    }

    /// Writes down whether the reader does what it is there for.
    private func note(_ touch: Touch) {
        switch touch {
        case .failed(let problem): rest?.failed(problem)
        case .matched, .notRecognised: rest?.succeeded()
        case .retry, .timedOut, .interrupted, .setAside, .slept, .cancelIgnored: break
        }
    }

    /// Milliseconds after its deadline at which a match still counts: the helper may say it while the cancel is under way.
    private static let matchLimit = 1000

    /// How far a wait for a touch has come.
    private struct TouchWait {
        /// `armed` has come.
        var isConfirmed: Bool
        var sawFinger = false
        /// Why the wait was cancelled, once it was.
        var ending: Touch?

        /// Whether the machine slept meanwhile.
        var wasAsleep: Bool { if case .slept = ending { true } else { false } }

        /// Whether the person, or who stops the program, has ended the wait.
        ///
        /// Nothing that the helper still says is an answer then, least of all a match: who has pressed Ctrl-C does not
        /// want to be let in by a finger that still lay there.
        var isAnsweredByPerson: Bool {
            switch ending {
            case .setAside, .interrupted: true
            default: false
            }
        }
    }

    private mutating func awaitTouch<Watch: FieldWatch & ~Copyable>(
        seconds: Int, _ wait: inout TouchWait, beside watch: inout Watch
    ) throws(ReaderProblem) -> Touch {
        let seconds = max(0, min(seconds, SensorClient.touchSeconds))
        var deadline = Deadline(seconds: seconds)
        let last = Deadline(milliseconds: seconds * 1000 + SensorClient.matchLimit)
        if let event = aside.take() {
            wait.ending = .setAside(event, fingerSeen: false)
            deadline = try cancel()
        }
        while true {
            let wasCancelled = wait.ending != nil
            let reply = try nextOfTouch(until: deadline, wait, beside: &watch)
            if !wasCancelled, hasSlept() { wait.ending = .slept(fingerSeen: false) }
            switch reply {
            case .event(let event):
                if let touch = try touch(for: event, &wait) {
                    guard case .matched = touch else { return touch }
                    return stillWanted(touch, &wait, until: last, beside: &watch)
                }
            case .field(let event): wait.ending = .setAside(event, fingerSeen: false)
            case .signal: wait.ending = .interrupted(fingerSeen: false)
            case .sleep: break
            case .deadline:
                guard wasCancelled else {
                    if wait.ending == nil { wait.ending = .timedOut(fingerSeen: false) }
                    break
                }
                abandon()
                throw .stalled
            }
            if wait.ending == nil { continue }
            if !wasCancelled { deadline = try cancel() }
        }
    }

    /// The match, where somebody still waits for it.
    ///
    /// A program that was stopped with its reader armed must not take, when it goes on, the touch that was meant for
    /// something else; nor one that another job has taken the terminal from (CVE-2024-37408).
    private mutating func stillWanted<Watch: FieldWatch & ~Copyable>(
        _ match: Touch, _ wait: inout TouchWait, until last: Deadline, beside watch: inout Watch
    ) -> Touch {
        // A finger that wakes the machine up is no answer to what was asked before it slept.
        if wait.wasAsleep { return .slept(fingerSeen: true) }
        if last.hasPassed { return .timedOut(fingerSeen: true) }
        guard wait.ending == nil, let event = watch.attend() else { return match }
        switch event {
        // Enter and the touch came together, and the touch is as good.
        case .answered: return match
        case .cancelled, .timedOut, .left:
            wait.ending = .setAside(event, fingerSeen: true)
            return .setAside(event, fingerSeen: true)
        }
    }

    /// What happens next; once the person has ended the wait only the helper's answer counts, and once it is cancelled a
    /// sleep changes nothing.
    private mutating func nextOfTouch<Watch: FieldWatch & ~Copyable>(
        until deadline: Deadline, _ wait: TouchWait, beside watch: inout Watch
    ) throws(ReaderProblem) -> Reply {
        if wait.isAnsweredByPerson { return try next(until: deadline, watchingSignals: false) }
        return try next(
            until: deadline, beside: &watch, watchingSignals: true, sleep: wait.ending == nil ? sleep : nil)
    }

    /// What an event of the helper makes of the wait; nil: it goes on.
    private mutating func touch(for event: SensorEvent, _ wait: inout TouchWait) throws(ReaderProblem) -> Touch? {
        switch event {
        case .armed where !wait.isConfirmed:
            wait.isConfirmed = true
            return nil
        case .fingerSeen where wait.isConfirmed && !wait.sawFinger:
            wait.sawFinger = true
            fingerSeen = true
            return nil
        case .matched(let index) where wait.isConfirmed && canMatch(index):
            fingerSeen = true
            return .matched(index: index)
        case .notMatched where wait.isConfirmed:
            fingerSeen = true
            return .notRecognised
        case .retry(let reason) where wait.isConfirmed:
            fingerSeen = true
            tryGoesOn = true
            return told(wait.ending) ?? .retry(reason)
        case .cancelled(let seen):
            fingerSeen = fingerSeen || seen
            guard let touch = told(wait.ending) else { throw refuse() }
            return touch
        case .cancelIgnored(let seen):
            fingerSeen = fingerSeen || seen
            guard let touch = told(wait.ending) else { throw refuse() }
            // The driver keeps the reader busy for nobody.
            abandon()
            if case .timedOut = touch { return .cancelIgnored(fingerSeen: fingerSeen) }
            return touch
        case .failed(let problem):
            end()
            // What was under way when the machine fell asleep ends so.
            if wait.wasAsleep { return .slept(fingerSeen: fingerSeen) }
            fingerSeen = true
            return .failed(problem)
        default: throw refuse()
        }
    }

    /// The ending with what is known now of the finger; nil where the wait was not cancelled.
    private func told(_ ending: Touch?) -> Touch? {
        switch ending {
        case .timedOut: return .timedOut(fingerSeen: fingerSeen)
        case .interrupted: return .interrupted(fingerSeen: fingerSeen)
        case .setAside(let event, _): return .setAside(event, fingerSeen: fingerSeen)
        case .slept: return .slept(fingerSeen: fingerSeen)
        default: return nil
        }
    }

    private func canMatch(_ index: Int) -> Bool {
        presence.indices.contains(index) && presence[index] != .missing
    }

    /// Asks the helper to stop; answers until when it must have answered.
    mutating func cancel() throws(ReaderProblem) -> Deadline {
        try send(.cancel)
        return Deadline(milliseconds: SensorClient.cancelLimit)
    }
}
