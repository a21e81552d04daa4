package import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// What an authentication is asked to do, and what is known of its surroundings.
package struct AuthenticationRequest: Equatable, Sendable {
    package var configuration: Configuration
    /// Whether the user is in the password database.
    package var userExists: Bool
    /// For the PIN policy, when a new PIN is set after a recovery.
    package var userName: [UInt8]
    /// `pin=no` makes it false.
    package var pinAllowed: Bool
    /// Whether a person can be asked to touch, and be told why.
    package var terminal: Bool
    /// Whether a field on the terminal can be read while a touch is awaited.
    package var field: Bool
    /// Where the caller is; its closure may be an argument of the caller's, too.
    package var surroundings: FingerSurroundings

    package init(
        configuration: Configuration, userExists: Bool, userName: [UInt8], pinAllowed: Bool, terminal: Bool,
        field: Bool = false, surroundings: FingerSurroundings
    ) {
        self.configuration = configuration
        self.userExists = userExists
        self.userName = userName
        self.pinAllowed = pinAllowed
        self.terminal = terminal
        self.field = field
        self.surroundings = surroundings
    }
}

/// The user's records as they were read together.
struct ReadRecords: ~Copyable {
    let state: UserState
    let set: EnrollmentSet
}

/// One authentication: asks the machine what to do, does it, and tells the machine what came of it.
package struct Authentication<
    Store: RecordStore & ~Copyable, Vault: KeyVault & ~Copyable, Time: Clock & ~Copyable, Log: Journal & ~Copyable,
    Sensor: FingerSensor & ~Copyable, Person: Conversation & ~Copyable
>: ~Copyable {
    package var ledger: UserLedger<Store, Vault, Time, Log>
    package var sensor: Sensor
    package var person: Person
    let request: AuthenticationRequest
    /// What was typed last, concealed; its one owner.
    var secret: ConcealedSecret?
    /// The signing key that the PIN or the recovery code opened.
    var key: SecretBytes?
    var session: ReaderSession?
    /// The position in the reader's gallery of the print that matched.
    var matchedIndex: Int?
    /// What the beginning read, for a reader that is opened before anybody is waited for; nil: it is read anew.
    ///
    /// What is read here only decides whether a touch is asked for. Charging and settling read for themselves.
    var records: ReadRecords?
    /// Whether the field stands open beside the reader.
    var fieldIsOpen = false

    /// Takes ownership of the adapters.
    package init(
        _ request: AuthenticationRequest, ledger: consuming UserLedger<Store, Vault, Time, Log>,
        sensor: consuming Sensor, person: consuming Person
    ) {
        self.request = request
        self.ledger = ledger
        self.sensor = sensor
        self.person = person
    }

    /// Runs to the verdict.
    ///
    /// Whatever happens, the reader is closed, the lock is free, and signals that came meanwhile act.
    package mutating func run() -> Verdict {
        var machine = AuthenticationMachine(
            pinAllowed: request.pinAllowed, fingerTries: request.configuration.fingerTries, terminal: request.terminal,
            field: request.field)
        var event = facts()
        while true {
            let step = machine.handle(event)
            for notice in step.notices { person.tell(notice) }
            if case .end(let verdict) = step.action {
                finish(verdict)
                return verdict
            }
            event = perform(step.action)
        }
    }

    private mutating func finish(_ verdict: Verdict) {
        if ledger.openCharge != nil { ledger.abandonCharge() }
        person.closeField()
        person.showTyping()
        // A program that asks again and again while the reader rests, and in which nothing was compared, fills no journal.
        if !sensor.isResting || !verdict.comparedNothing {
            ledger.log.record(.authentication(verdict: verdict, attempts: ledger.lastAttempts))
        }
        // The helper has ended meanwhile, and is waited for last.
        sensor.close()
        sensor.stopListening()
    }

    /// Does one action.
    ///
    /// An error of the machine's parts is an event like any other, and never a success.
    private mutating func perform(_ action: AuthenticationAction) -> AuthenticationEvent {
        do throws(LedgerFailure) {
            switch action {
            case .ask(let prompt): return try ask(prompt)
            case .spendTime: return spendTime()
            case .chargePIN: return try ledger.charge(.pin).map { .doorClosed($0) } ?? .charged
            case .comparePIN: return try compare(.pin)
            case .settlePIN(let right): return try settle(.pin, right: right)
            case .openField: return openField()
            case .awaitReturn: return awaitReturn()
            case .openReader: return try openReader()
            case .chargeFinger: return try ledger.chargeFinger().map { .fingerClosed($0) } ?? .charged
            case .armReader: return armReader()
            case .awaitTouch: return awaitTouch()
            case .settleFinger(let outcome): return try settleFinger(outcome)
            case .chargeRecovery: return try ledger.charge(.recoveryCode).map { .doorClosed($0) } ?? .charged
            case .compareRecovery: return try compare(.recoveryCode)
            case .settleRecovery(let right): return try settle(.recoveryCode, right: right)
            case .askNewPIN: return try askNewPIN()
            case .storeNewPIN: return try storeNewPIN()
            case .end: return .unusable(damaged: false)
            }
        } catch {
            return error.event
        }
    }
}
