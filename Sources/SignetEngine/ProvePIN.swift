internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

// Asking for secrets: the PIN or the recovery code that opens the signing key, and a new PIN.

extension Management
where
    Store: ~Copyable, Vault: ~Copyable, Time: ~Copyable, Log: ~Copyable, Sensor: ~Copyable, Person: ~Copyable
{
    /// Asks for the PIN until it is right, three times at most; answers the signing key that it opens.
    mutating func provePIN() throws(ManagementRefusal) -> SecretBytes { try prove(.pin) }

    /// The signing key for a change of the prints; nil where an administrator goes on without the user's PIN.
    ///
    /// Then nothing is approved, and the finger path stays closed until the user activates it.
    mutating func keyForChange() throws(ManagementRefusal) -> SecretBytes? {
        guard request.byAdministrator else { return try provePIN() }
        do throws(ManagementRefusal) { return try prove(.pin, mayDecline: true) } catch {
            switch error {
            case .declined, .nobodyToAsk, .pinLockout: return nil
            default: throw error
            }
        }
    }

    /// Proves either secret: ask, charge, compare, settle.
    ///
    /// Enter alone throws `declined` where that is an answer.
    mutating func prove(
        _ purpose: SecretPurpose, mayDecline: Bool = false
    ) throws(ManagementRefusal) -> SecretBytes {
        // A closed door is told before anybody types.
        let state = try state()
        let before = try onLedger { (ledger) throws(LedgerFailure) in try ledger.door(state, purpose) }
        if case .closed(let lockout) = before { throw .closed(purpose, lockout) }
        for _ in 0..<Management.patience {
            // The TPM works while the person types.
            if let key = state.identity.key(of: purpose) { ledger.vault.prepare(key) }
            let typed = try conceal(ask(purpose == .pin ? .currentPIN : .recoveryCode, mayDecline: mayDecline), purpose)
            if let lockout = try onLedger({ (ledger) throws(LedgerFailure) in try ledger.charge(purpose) }) {
                throw .closed(purpose, lockout)
            }
            if let key = try compare(typed, purpose) { return key }
            let door = try onLedger { (ledger) throws(LedgerFailure) in try ledger.settleFailure(purpose) }
            switch door {
            case .open(let left): tellWrong(purpose, triesLeft: left <= 2 ? left : nil)
            case .closed(let lockout):
                tellWrong(purpose, triesLeft: nil)
                throw .closed(purpose, lockout)
            }
        }
        throw purpose == .pin ? .wrongPIN : .wrongRecoveryCode
    }

    /// Compares what was charged and settles a success; nil where it is wrong and has to be settled.
    private mutating func compare(
        _ typed: borrowing ConcealedSecret, _ purpose: SecretPurpose
    ) throws(ManagementRefusal) -> SecretBytes? {
        do throws(LedgerFailure) {
            guard let key = try ledger.compare(typed, purpose) else { return nil }
            try ledger.settleSuccess(purpose, key: key, secret: typed)
            return key
        } catch {
            if case .locked(let lockout) = error { throw .closed(purpose, lockout) }
            throw .ledger(error)
        }
    }

    private mutating func tellWrong(_ purpose: SecretPurpose, triesLeft: Int?) {
        person.tell(purpose == .pin ? .wrongPIN(triesLeft: triesLeft) : .wrongRecoveryCode(triesLeft: triesLeft))
    }

    private mutating func conceal(
        _ typed: consuming SecretBytes, _ purpose: SecretPurpose
    ) throws(ManagementRefusal) -> ConcealedSecret {
        do throws(LedgerFailure) { return try ledger.conceal(typed, purpose) } catch { throw .ledger(error) }
    }

    /// Asks for a new PIN, twice where a person types it, until it may be set.
    mutating func askNewPIN() throws(ManagementRefusal) -> ConcealedSecret {
        // A program that gives a PIN has no other one.
        for _ in 0..<(request.asksTwice ? Management.patience : 1) {
            let first = try ask(.newPIN)
            if let notice = PINPolicy(request.configuration).refusal(of: first, userName: request.userName) {
                person.tell(notice)
                continue
            }
            guard request.asksTwice else { return try conceal(first, .pin) }
            let second = try ask(.newPINAgain)
            if first.isEqual(to: second) { return try conceal(first, .pin) }
            person.tell(.pinsDiffer)
        }
        throw .newPINRefused
    }

    /// Asks until something is typed.
    private mutating func ask(
        _ prompt: Prompt, mayDecline: Bool = false
    ) throws(ManagementRefusal) -> SecretBytes {
        for _ in 0..<Management.patience {
            do throws(ConversationError) {
                let answer = try person.askForSecret(prompt)
                if answer.count > 0 { return answer }
            } catch {
                switch error {
                case .cancelled: throw .cancelled
                case .timedOut: throw .timedOut
                case .unusable: throw .nobodyToAsk
                }
            }
            if mayDecline { throw .declined }
            person.tell(.nothingTyped)
        }
        throw .cancelled
    }
}

extension ManagementRefusal {
    fileprivate static func closed(_ purpose: SecretPurpose, _ lockout: PINLockout) -> ManagementRefusal {
        purpose == .pin ? .pinLockout(lockout) : .recoveryCodeLockout(lockout)
    }
}
