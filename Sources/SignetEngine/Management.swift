package import SignetPolicy
internal import SignetRecords
package import SignetSecrets

/// Whom a management task is for, and by what rules.
package struct ManagementRequest: Equatable, Sendable {
    package var configuration: Configuration
    package var uid: UInt32
    package var userName: [UInt8]
    /// Whether somebody else than the user runs it: no PIN is asked for then, and nothing is approved.
    package var byAdministrator: Bool
    /// Whether a new PIN is typed twice; once where a program gives it.
    package var asksTwice: Bool

    package init(
        configuration: Configuration, uid: UInt32, userName: [UInt8], byAdministrator: Bool, asksTwice: Bool = true
    ) {
        self.configuration = configuration
        self.uid = uid
        self.userName = userName
        self.byAdministrator = byAdministrator
        self.asksTwice = asksTwice
    }
}

/// What a person sees of a task that is more than a question and an answer.
package protocol ManagementScreen: ~Copyable {
    /// What was found elsewhere, before anybody agrees to it with a PIN.
    mutating func show(_ found: [FoundPrint])
    /// Which finger is taken on which reader.
    mutating func begin(_ finger: Finger, on reader: ReaderDescription)
    /// A stage of the enrollment is done, or has to be repeated.
    mutating func show(_ progress: EnrollmentProgress)
    /// A touch is wanted now.
    mutating func askForTouch(_ purpose: TouchPurpose)
    /// That touch was no try; another one is wanted.
    mutating func askAgain(_ reason: RetryReason)
    /// That finger was not recognised; another touch is wanted.
    mutating func notRecognised()
    /// Prints are deleted from here on; signals that come wait until what was done is told.
    mutating func beginDeleting()
    /// The person cancelled; said while the signal that may end the program still waits.
    mutating func cancelled(pinWasSet: Bool)
    /// Whether a recovery code can be shown to the person alone.
    var canShowRecoveryCode: Bool { get }
    /// Shows the 26 characters of a recovery code, once.
    mutating func show(recoveryCode: borrowing SecretBytes)
}

/// What a touch is wanted for.
package enum TouchPurpose: Equatable, Sendable {
    /// To confirm the print that was just made.
    case confirm
    /// To find by what name a finger is enrolled that the reader knows already.
    case name
    /// To activate.
    case activate
}

/// The tasks by which people and administrators change what Signet keeps of a user.
///
/// Each is one function that returns what was done or throws why it was not. All of them count PINs and touches by the
/// same counters as an authentication (`UserLedger`).
package struct Management<
    Store: RecordStore & ~Copyable, Vault: KeyVault & ~Copyable, Time: Clock & ~Copyable, Log: Journal & ~Copyable,
    Sensor: FingerSensor & ~Copyable, Person: Conversation & ~Copyable
>: ~Copyable {
    package var ledger: UserLedger<Store, Vault, Time, Log>
    package var sensor: Sensor
    package var person: Person
    let request: ManagementRequest
    /// Whether this task set the PIN, which stays where the rest is cancelled.
    package internal(set) var pinWasSet = false

    /// How often something may be typed wrong before the task ends.
    static var patience: Int { 3 }

    /// Takes ownership of the adapters.
    package init(
        _ request: ManagementRequest, ledger: consuming UserLedger<Store, Vault, Time, Log>, sensor: consuming Sensor,
        person: consuming Person
    ) {
        self.request = request
        self.ledger = ledger
        self.sensor = sensor
        self.person = person
    }

    /// Runs a task.
    ///
    /// Whatever happens, the lock is free and the reader closed, and signals that came meanwhile act at last.
    mutating func task<Result, Screen: ManagementScreen & ~Copyable>(
        on screen: inout Screen, _ body: (inout Management, inout Screen) throws(ManagementRefusal) -> Result
    ) throws(ManagementRefusal) -> Result {
        do throws(ManagementRefusal) {
            let result = try body(&self, &screen)
            finish()
            return result
        } catch {
            if error == .cancelled { screen.cancelled(pinWasSet: pinWasSet) }
            finish()
            throw error
        }
    }

    mutating func finish() {
        if ledger.openCharge != nil { ledger.abandonCharge() }
        sensor.close()
        sensor.stopListening()
    }

    /// Does something with the records.
    mutating func onLedger<Result: ~Copyable>(
        _ body: (inout UserLedger<Store, Vault, Time, Log>) throws(LedgerFailure) -> Result
    ) throws(ManagementRefusal) -> Result {
        do throws(LedgerFailure) { return try body(&ledger) } catch { throw .ledger(error) }
    }

    /// The user's identity and counters, which must be there.
    mutating func state() throws(ManagementRefusal) -> UserState {
        guard let state = try onLedger({ (ledger) throws(LedgerFailure) in try ledger.load() }) else {
            throw .pinNotSet
        }
        return state
    }

    /// The prints that are kept of the user.
    mutating func prints() throws(ManagementRefusal) -> EnrollmentSet {
        do throws(LedgerFailure) { return try ledger.loadPrints() } catch { throw .ledger(error) }
    }

    /// Refuses where the prints are kept by somebody else, who alone changes them.
    func requireOwnPrints() throws(ManagementRefusal) {
        guard request.configuration.enrollmentSource == .signet else { throw .printsKeptElsewhere }
    }

    /// Tells the journal what was done.
    mutating func done(_ act: ManagementAct) {
        ledger.log.record(.management(act, byAdministrator: request.byAdministrator))
    }
}
