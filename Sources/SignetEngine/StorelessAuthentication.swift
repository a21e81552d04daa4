package import SignetPolicy
internal import SignetSecrets

/// An authentication where no store can be opened: nobody has a PIN here, or the store cannot be trusted.
///
/// The machine decides as always; there is nothing that could be counted or compared, and so no way to success.
package struct StorelessAuthentication<Log: Journal & ~Copyable, Person: Conversation & ~Copyable>: ~Copyable {
    private let request: AuthenticationRequest
    private let error: StoreError
    private var log: Log
    private var person: Person

    package init(
        _ request: AuthenticationRequest, _ error: StoreError, log: consuming Log, person: consuming Person
    ) {
        self.request = request
        self.error = error
        self.log = log
        self.person = person
    }

    /// Runs to the refusal.
    package mutating func run() -> Verdict {
        var record = RecordState.unusable
        switch error {
        // A machine on which nobody was ever enrolled has no store yet.
        case .fault(.store, .missing): record = .pinNotSet
        case .fault(let kind, let fault):
            log.record(.recordFault(kind, fault))
            if let trouble = RecordTrouble(fault) { record = .troubled(trouble) }
        case .busy: log.record(.storeBusy)
        case .system(let number): log.record(.storeRefused(errno: number))
        }
        let isFault = if case .fault = error { true } else { false }
        if !request.userExists { record = .unknownUser }
        var machine = AuthenticationMachine(
            pinAllowed: request.pinAllowed, fingerTries: 1, terminal: request.terminal)
        var event = AuthenticationEvent.facts(
            AuthenticationMachine.Facts(record: record, pin: .closed(.disabled), recovery: nil, finger: .switchedOff))
        // Short of descriptors or memory, or busy: nothing is damaged.
        if record == .unusable, !isFault { event = .unusable(damaged: false) }
        while true {
            let step = machine.handle(event)
            for notice in step.notices { person.tell(notice) }
            switch step.action {
            case .end(let verdict):
                person.closeField()
                log.record(.authentication(verdict: verdict, attempts: nil))
                return verdict
            case .ask(let prompt):
                do throws(ConversationError) {
                    _ = try person.ask(prompt)
                    event = .answered
                } catch {
                    event = .notAnswered(timedOut: error == .timedOut)
                }
            case .spendTime: event = .notMatched
            default: event = .unusable(damaged: true)
            }
        }
    }
}
