internal import SignetPolicy
internal import SignetRecords

// A finger's way: open, charge, arm, await, settle.

extension Authentication
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Opens the reader that holds the user's prints and opens; one that does not is passed over.
    mutating func openReader() throws(LedgerFailure) -> AuthenticationEvent {
        // One that was open when the machine fell asleep.
        if session != nil {
            sensor.close()
            session = nil
        }
        if let known = records.take() { return try openReader(known.state, known.set) }
        guard let state = try ledger.load() else { return .recordsGone }
        var unreadable = FingerClosure.printsUnusable
        guard let set = ledger.readablePrints(else: &unreadable) else { return .fingerClosed(unreadable) }
        return try openReader(state, set)
    }

    private mutating func openReader(
        _ state: UserState, _ set: borrowing EnrollmentSet
    ) throws(LedgerFailure) -> AuthenticationEvent {
        let present: [ReaderDescription]
        do throws(SensorStop) { present = try sensor.readers(beside: &person) } catch {
            switch error {
            case .problem(let problem):
                note(problem)
                return .fingerClosed(.readerNotAvailable(problem))
            case .setAside(let event): return setAside(event)
            }
        }
        var problem: ReaderProblem?
        var closure: FingerClosure?
        var passedOver: FingerClosure?
        for description in present {
            let reader = description.identity
            let gallery = set.gallery(of: reader)
            if gallery.isEmpty { continue }
            if let why = try ledger.reviewNow(state, set, on: reader, presence: nil) {
                try ledger.rememberChange(why)
                closure = closure ?? why
                continue
            }
            if let why = passOver(description, state, set.generation, onChip: set.isOnChip(description)) {
                passedOver = passedOver ?? why
                continue
            }
            let opened: OpenedReader
            do throws(SensorStop) {
                opened = try sensor.open(
                    reader, at: description.place, for: set, gallery: gallery, beside: &person)
            } catch {
                switch error {
                case .problem(let why): problem = why
                case .setAside(let event): return setAside(event)
                }
                sensor.close()
                continue
            }
            let candidate = ReaderSession(
                reader: reader, place: opened.description.place, gallery: gallery, presence: opened.presence,
                others: opened.others, generation: set.generation)
            try ledger.noteForeignPrints(candidate, state)
            if let why = try ledger.reviewNow(state, set, on: reader, presence: candidate) {
                try ledger.rememberChange(why)
                closure = closure ?? why
                sensor.close()
                continue
            }
            session = candidate
            return .readerOpened
        }
        if closure == nil, problem == .busy, let holder = sensor.holder { person.readerIsHeld(by: holder) }
        // A reader that is where it should be and does not open says more than one that is elsewhere.
        if let known = closure ?? (problem == nil ? passedOver : nil) { return .fingerClosed(known) }
        let absence = problem.map { FingerClosure.readerNotAvailable($0) } ?? absence(of: set, among: present)
        if !sensor.isResting { ledger.log.record(.fingerPathClosed(absence)) }
        return .fingerClosed(absence)
    }

    /// Why there is no reader to be asked.
    ///
    /// Whoever starts `su` for somebody else learns nothing of what that user enrolled with. At a login screen nobody can
    /// say yet who sits there: it tells everybody that the prints are for another reader, as it tells why else no finger
    /// counts.
    private func absence(of set: borrowing EnrollmentSet, among present: [ReaderDescription]) -> FingerClosure {
        ledger.caller == .person ? ledger.absence(of: set, among: present) : .readerNotAvailable(.noReader)
    }

    /// Tells the journal why the finger path closes in the middle.
    ///
    /// A reader that rests was told of when it failed.
    private mutating func note(_ problem: ReaderProblem) {
        if !sensor.isResting { ledger.log.record(.fingerPathClosed(.readerNotAvailable(problem))) }
    }

    /// Why a reader is not even opened; a second one that looks like the approved one is passed over like this.
    private mutating func passOver(
        _ reader: ReaderDescription, _ state: UserState, _ generation: UInt64, onChip: Bool
    ) -> FingerClosure? {
        if let distrust = ledger.distrust(
            state.identity, reader.identity, generation: generation, at: reader.place, onChip: onChip)
        {
            ledger.log.record(.readerRefused(distrust))
            return .readerNotTrusted(distrust)
        }
        guard let closure = request.surroundings.closure(at: reader.place) else { return nil }
        ledger.log.record(.fingerPathClosed(closure))
        return closure
    }

    /// What happened at the field before a finger was charged.
    private mutating func setAside(_ event: FieldEvent) -> AuthenticationEvent {
        switch take(event) {
        case .answered: .answered
        case .left: .left
        case .cancelled: .notAnswered(timedOut: false)
        case .timedOut: .notAnswered(timedOut: true)
        }
    }

    mutating func armReader() -> AuthenticationEvent {
        do throws(ReaderProblem) {
            try sensor.arm(beside: &person)
            // Now that no signal can end the program in between: a PIN typed instead of touching must not stand there in clear.
            if !fieldIsOpen { person.hideTyping() }
            return .armed
        } catch {
            return error == .slept ? slept(fingerSeen: true) : failed(error)
        }
    }

    private mutating func failed(_ problem: ReaderProblem) -> AuthenticationEvent {
        note(problem)
        return .touched(.readerFailed(problem))
    }

    private mutating func slept(fingerSeen: Bool) -> AuthenticationEvent {
        ledger.log.record(.readerTrouble(.slept))
        return .touched(.slept(fingerSeen: fingerSeen))
    }

    mutating func awaitTouch() -> AuthenticationEvent {
        guard let session else { return .unusable(damaged: false) }
        switch sensor.awaitTouch(seconds: Int(request.configuration.fingerTimeout), beside: &person) {
        case .matched(let index):
            // The index is the helper's word: outside the gallery it is no match at all.
            guard index >= 0, index < session.gallery.count else { return failed(.helperFailed) }
            matchedIndex = index
            return .touched(.matched)
        case .notRecognised: return .touched(.failed)
        case .retry(let reason): return .touchAgain(reason)
        case .timedOut(fingerSeen: true): return .touched(.failed)
        case .timedOut(fingerSeen: false): return .touched(.notTouched(interrupted: false))
        case .interrupted(fingerSeen: true): return .touched(.interrupted)
        case .interrupted(fingerSeen: false): return .touched(.notTouched(interrupted: true))
        case .setAside(let event, let fingerSeen): return .touched(.setAside(take(event), fingerSeen: fingerSeen))
        case .slept(let fingerSeen): return slept(fingerSeen: fingerSeen)
        case .cancelIgnored(fingerSeen: true): return failed(.cancelIgnored)
        case .cancelIgnored(fingerSeen: false):
            note(.cancelIgnored)
            return .touched(.cancelIgnored)
        case .failed(let problem): return failed(problem)
        }
    }

    mutating func settleFinger(
        _ outcome: AuthenticationMachine.FingerOutcome
    ) throws(LedgerFailure) -> AuthenticationEvent {
        switch outcome {
        case .matched:
            guard let session, let index = matchedIndex else { return .unusable(damaged: false) }
            // What is left to decide is on disk; the reader closes meanwhile.
            sensor.startClosing()
            return try ledger.settleMatch(session, index: index).map { .fingerClosed($0) } ?? .settled
        case .notTouched, .cancelIgnored, .slept(fingerSeen: false), .setAside(_, fingerSeen: false):
            return .settledFailure(.finger(try ledger.refundFinger()))
        // What was not proven untouched stays charged: a frozen or killed helper would be a free guess otherwise.
        case .failed, .readerFailed, .interrupted, .slept(fingerSeen: true), .setAside(_, fingerSeen: true):
            return .settledFailure(.finger(try ledger.settleFingerFailure()))
        }
    }
}
