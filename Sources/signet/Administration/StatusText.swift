internal import SignetEngine
internal import SignetPolicy

/// What `status` prints for people.
enum StatusText {
    /// What is the same for all users of a machine.
    struct Machine: Equatable {
        /// Where the master key lives.
        var secrets = "no store yet"
        /// Services that ask Signet.
        var services: [String] = []
        var isStandIn = false
    }

    /// One user's page; what needs somebody comes first.
    static func page(_ status: UserStatus, _ machine: Machine, now: Int64, width: Int) -> String {
        var text = needs(status, isOrphan: false, width: width)
        if !text.isEmpty { text += "\n" }
        text += status.userName.isEmpty ? "uid \(status.uid)\n" : "\(status.label) (\(status.uid))\n"
        var rows: [Sheet.Row] = []
        switch status.record {
        case .usable, .notSetUp: break
        default: rows.append(Sheet.Row(label: "Record", state: status.record.words))
        }
        if status.pin != nil || status.record == .notSetUp {
            rows += [fingerprint(status), pin(status, now: now)]
        }
        if let lockout = status.lockout { rows.append(self.lockout(lockout)) }
        if status.pin != nil { rows.append(recovery(status.recovery)) }
        rows.append(reader(status.readers, isStandIn: machine.isStandIn))
        rows.append(Sheet.Row(label: "Secrets", state: machine.secrets))
        if let fact = status.enclave { rows.append(tpm(fact)) }
        let services = machine.services.isEmpty ? "none" : machine.services.joined(separator: ", ")
        rows.append(Sheet.Row(label: "Services", state: services))
        return text + Sheet.facts(rows, width: width)
    }

    /// One line for each thing that needs somebody, with the command that mends it.
    static func needs(_ status: UserStatus, isOrphan: Bool, width: Int) -> String {
        var text = ""
        for need in StatusAnswer.needs(status, isOrphan: isOrphan) {
            let line = "\(status.label): \(need.text)"
            let whole = "\(line) → \(need.remedy)"
            text +=
                whole.count <= width
                ? whole + "\n"
                : Sheet.hanging("", line, width: width) + Sheet.remedy(need.remedy, indent: 2, width: width)
        }
        return text
    }

    private static func fingerprint(_ status: UserStatus) -> Sheet.Row {
        var prints = status.fingers.map { fact in
            let reader = status.hasSeveralReaders ? ", \(status.name(of: fact.reader))" : ""
            return "\(fact.finger.name) (\(Output.day(fact.enrolledAt))\(reader))"
        }.joined(separator: ", ")
        if status.source == .fprintd { prints += prints.isEmpty ? "kept by fprintd" : "; kept by fprintd" }
        if status.isFingerOn {
            guard let why = status.wordsHere else {
                return Sheet.Row(label: "Fingerprint", state: "on", details: prints)
            }
            return Sheet.Row(label: "Fingerprint", state: "on,", details: "but not asked for here: \(why); \(prints)")
        }
        guard let closure = status.fingerClosure else { return Sheet.Row(label: "Fingerprint", state: "off") }
        let details = prints.isEmpty ? closure.words : "\(closure.words); \(prints)"
        return Sheet.Row(label: "Fingerprint", state: "off", details: details)
    }

    private static func pin(_ status: UserStatus, now: Int64) -> Sheet.Row {
        guard let pin = status.pin else { return Sheet.Row(label: "PIN", state: "not set") }
        let used =
            switch pin.lastUse {
            case .never: "never used"
            case .at(let moment): "last used \(Output.moment(moment, now: now))"
            case .beforeStartUp: "not used since start-up"
            }
        let by = pin.setByAdministrator ? " by an administrator" : ""
        return Sheet.Row(label: "PIN", state: "set", details: "changed \(Output.day(pin.changedAt))\(by), \(used)")
    }

    static func lockout(_ fact: LockoutFact) -> Sheet.Row {
        var details =
            "finger \(fact.fingerFailures) of \(fact.fingerLimit), PIN \(fact.pinFailures) of \(fact.pinLimit)"
        for caller in fact.closedTo { details += "; closed to \(caller.words)" }
        let state =
            switch fact.pin {
            case .disabled: "PIN disabled"
            case .waiting(let seconds): "wait \(Output.duration(seconds))"
            case .shareUsedUp, nil: fact.isFingerLockedOut ? "finger" : "none"
            }
        return Sheet.Row(label: "Lockout", state: state, details: details)
    }

    private static func tpm(_ fact: EnclaveFact) -> Sheet.Row {
        var details = fact.hasCounter ? "old copies of the records are told" : "no counter against old copies"
        if fact.countsFailures { details += "; \(fact.failures) of \(fact.share) failures counted by the TPM" }
        if let wait = fact.wait { details += "; wait \(Output.duration(wait))" }
        return Sheet.Row(label: "TPM", state: fact.pinHasHalf ? "PIN bound" : "PIN not bound yet", details: details)
    }

    private static func recovery(_ fact: RecoveryFact) -> Sheet.Row {
        switch fact {
        case .none: Sheet.Row(label: "Recovery", state: "none")
        case .ready(let madeAt, nil):
            Sheet.Row(label: "Recovery", state: "ready", details: "made \(Output.day(madeAt))")
        case .ready(let madeAt, .waiting(let seconds)):
            Sheet.Row(
                label: "Recovery", state: "wait",
                details: "\(Output.duration(seconds)); made \(Output.day(madeAt))")
        case .ready(let madeAt, _):
            Sheet.Row(label: "Recovery", state: "disabled", details: "made \(Output.day(madeAt))")
        }
    }

    private static func reader(_ readers: ReaderPresence, isStandIn: Bool) -> Sheet.Row {
        let mark = isStandIn ? " (stand-in reader)" : ""
        switch readers {
        case .problem(let problem): return Sheet.Row(label: "Reader", state: problem.words + mark)
        case .present(let found):
            let names = found.map { reader in
                [reader.nameAndPlace, reader.listingWords].compactMap { $0 }.joined(separator: ", ")
            }.joined(separator: "; ")
            return Sheet.Row(label: "Reader", state: names + mark)
        }
    }

    // MARK: All users

    static let heading = ["User", "Uid", "Finger", "Prints", "PIN", "Recovery", "Record"]

    /// One row of `status --all`.
    static func row(_ status: UserStatus, isOrphan: Bool) -> [String] {
        let finger = status.isFingerOn ? "on" : status.pin == nil ? "-" : "off"
        var pin = status.pin == nil ? "-" : "set"
        switch status.lockout?.pin {
        case .disabled: pin = "disabled"
        case .waiting: pin = "waiting"
        case .shareUsedUp, nil: break
        }
        let recovery = status.pin == nil ? "-" : status.recovery == .none ? "none" : "ready"
        var record = status.record.words
        if case .faulty(_, let fault) = status.record { record = fault.code }
        return [
            status.userName.isEmpty ? "-" : status.label, "\(status.uid)", finger, "\(status.fingers.count)", pin,
            recovery, isOrphan ? "no account" : record,
        ]
    }
}
