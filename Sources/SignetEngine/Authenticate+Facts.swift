internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// What is known at the beginning, and the questions to the person.

extension Authentication
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Reads the records and judges what is open, before anybody is asked anything.
    mutating func facts() -> AuthenticationEvent {
        var facts = AuthenticationMachine.Facts(
            record: .unusable, pin: .closed(.disabled), recovery: nil, finger: .switchedOff)
        guard request.userExists else {
            facts.record = .unknownUser
            return .facts(facts)
        }
        do throws(LedgerFailure) {
            guard let state = try ledger.load() else {
                facts.record = .pinNotSet
                return .facts(facts)
            }
            let now = try ledger.now()
            facts.record = .usable
            facts.pin = ledger.policy.door(state.attempts.pin, for: ledger.caller, at: now)
            if request.pinAllowed, case .open = facts.pin {
                facts.enclaveWait = try ledger.enclaveWait(state, .pin, at: now)
                // The TPM works while the rest is read and while the person types.
                if facts.enclaveWait == nil { ledger.vault.prepare(state.identity.pin) }
            }
            facts.recovery = state.identity.recovery.map { _ in
                ledger.policy.door(state.attempts.recovery, for: ledger.caller, at: now)
            }
            facts.pinSetByAdministrator = state.identity.pinSetByAdministrator && ledger.caller == .person
            facts.finger = try fingerClosure(state)
            if let closure = facts.finger { ledger.log.record(.fingerPathClosed(closure)) }
            return .facts(facts)
        } catch {
            return error.event
        }
    }

    /// Why no finger is offered; nil where a touch may be asked for.
    ///
    /// Only the opened reader can tell the rest.
    private mutating func fingerClosure(_ state: UserState) throws(LedgerFailure) -> FingerClosure? {
        guard request.configuration.finger else { return .switchedOff }
        if let closure = request.surroundings.closure(besideApproved: state.identity.approvals.map { $0.place }) {
            return closure
        }
        // Prints that cannot be read close the finger path; the PIN still works (rule 11).
        var unreadable = FingerClosure.printsUnusable
        guard let set = ledger.readablePrints(else: &unreadable) else { return unreadable }
        if state.identity.approvals.isEmpty && set.entries.isEmpty { return .notEnrolled }
        if let counters = try ledger.countersClose(state.attempts) { return ledger.explained(counters, state, set) }
        var isOpen = false
        var closure: FingerClosure?
        for reader in set.readers(andOf: state.identity.approvals) {
            guard let why = try ledger.reviewNow(state, set, on: reader, presence: nil) else {
                // Whether and how an approval from outside is mended depends on where the reader is now: `passOver` judges.
                if let distrust = ledger.distrust(
                    state.identity, reader, generation: set.generation, at: nil, onChip: set.liesOnChip(reader)),
                    distrust != .approvedOutside
                {
                    closure = closure ?? .readerNotTrusted(distrust)
                } else {
                    isOpen = true
                }
                continue
            }
            // A change on any reader closes the finger path on all of them (rule 5).
            if case .enrollmentChanged = why {
                try ledger.rememberChange(why)
                return why
            }
            closure = closure ?? why
        }
        guard isOpen else { return closure ?? .notEnrolled }
        records = ReadRecords(state: state, set: set)
        return nil
    }

    /// Asks for a secret; its image stays in this one place until it is used.
    mutating func ask(_ prompt: Prompt) throws(LedgerFailure) -> AuthenticationEvent {
        secret = nil
        records = nil
        person.showTyping()
        // Every charge is settled: from here on Ctrl-C and the program's own time limit are the program's again.
        sensor.stopListening()
        // The helper starts while the person reads, and opens the reader when they ask for it. Beside every other prompt
        // nobody else should find the reader busy.
        if prompt == .pinOrTouch {
            sensor.prepare()
        } else {
            sensor.close()
            session = nil
        }
        fieldIsOpen = false
        let answer: SecretBytes
        do throws(ConversationError) {
            answer = try person.askForSecret(ledger.caller == .anotherPerson ? prompt.forAStranger : prompt)
        } catch {
            return .notAnswered(timedOut: error == .timedOut)
        }
        guard answer.count > 0 else { return .answeredNothing }
        // Typed instead of touching: the helper ends while the PIN is compared.
        sensor.startClosing()
        secret = try ledger.conceal(answer, prompt == .recoveryCode ? .recoveryCode : .pin)
        return .answered
    }

    /// Shows the field that is attended to while the reader is opened and a touch awaited.
    mutating func openField() -> AuthenticationEvent {
        fieldIsOpen = person.openField(.pinBeforeTouch)
        // The person can type from here on; the helper starts meanwhile.
        if fieldIsOpen { sensor.prepare() }
        return fieldIsOpen ? .fieldOpened : .noField
    }

    /// The person leaves the field, and comes back or not.
    ///
    /// Every charge is settled; no reader is open for somebody who looks at something else.
    mutating func awaitReturn() -> AuthenticationEvent {
        sensor.close()
        session = nil
        sensor.stopListening()
        do throws(ConversationError) {
            try person.awaitReturn(.pinBeforeTouch)
            return .returned
        } catch {
            fieldIsOpen = false
            return .notAnswered(timedOut: error == .timedOut)
        }
    }

    /// Takes what was typed at the open field, where that is what happened there.
    mutating func take(_ event: FieldEvent) -> FieldEvent {
        guard event == .answered else { return event }
        fieldIsOpen = false
        let answer: SecretBytes
        do throws(ConversationError) { answer = try person.takeAnswer() } catch {
            return error == .timedOut ? .timedOut : .cancelled
        }
        sensor.startClosing()
        // Short of memory, which the journal is told: as if nobody had answered, so that nothing is charged.
        do throws(LedgerFailure) { secret = try ledger.conceal(answer, .pin) } catch { return .cancelled }
        return .answered
    }

    /// For an unknown user: the time of one comparison, so that a caller cannot tell who exists.
    mutating func spendTime() -> AuthenticationEvent {
        if let typed = takeSecret() { ledger.vault.spendTime(of: ledger.cost, on: typed) }
        return .notMatched
    }

    mutating func compare(_ purpose: SecretPurpose) throws(LedgerFailure) -> AuthenticationEvent {
        guard let typed = takeSecret() else { return .unusable(damaged: false) }
        key = try ledger.compare(typed, purpose)
        secret = consume typed
        return key == nil ? .notMatched : .matched
    }

    mutating func settle(_ purpose: SecretPurpose, right: Bool) throws(LedgerFailure) -> AuthenticationEvent {
        let typed = takeSecret()
        guard right else { return .settledFailure(.secret(try ledger.settleFailure(purpose))) }
        guard let typed, let opened = takeKey() else { return .unusable(damaged: false) }
        try ledger.settleSuccess(purpose, key: opened, secret: typed)
        // Only a new PIN needs the key again.
        if purpose == .recoveryCode { key = consume opened }
        return .settled
    }

    // MARK: A new PIN after a recovery

    /// Asks twice for a new PIN; its image stays in `secret`.
    mutating func askNewPIN() throws(LedgerFailure) -> AuthenticationEvent {
        var agreed: SecretBytes?
        do throws(ConversationError) {
            let first = try person.ask(.newPIN)
            if let notice = PINPolicy(request.configuration).refusal(of: first, userName: request.userName) {
                return .newPINRefused(notice)
            }
            let second = try person.ask(.newPINAgain)
            guard first.isEqual(to: second) else { return .newPINRefused(.pinsDiffer) }
            agreed = consume first
        } catch {
            return .notAnswered(timedOut: error == .timedOut)
        }
        guard let pin = agreed.take() else { return .unusable(damaged: false) }
        secret = try ledger.conceal(pin, .pin)
        return .answered
    }

    mutating func storeNewPIN() throws(LedgerFailure) -> AuthenticationEvent {
        guard let pin = takeSecret(), let opened = takeKey() else { return .unusable(damaged: false) }
        try ledger.replacePIN(pin, key: opened, after: .recoveryCode)
        ledger.log.record(.management(.recoveryCodeUsed, byAdministrator: false))
        return .settled
    }

    mutating func takeSecret() -> ConcealedSecret? {
        var taken: ConcealedSecret?
        swap(&taken, &secret)
        return taken
    }

    mutating func takeKey() -> SecretBytes? {
        var taken: SecretBytes?
        swap(&taken, &key)
        return taken
    }
}
