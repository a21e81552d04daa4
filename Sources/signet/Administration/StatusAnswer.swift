internal import SignetEngine
internal import SignetPolicy

// What `status --json` answers. Times are seconds since 1970.

/// Something that needs somebody.
struct NeedAnswer: Encodable, Equatable {
    let what: String
    let text: String
    /// The command that mends it, to be run as it is; null where there is none, or where it depends.
    let command: String?
    /// The same, or in words what to do.
    let remedy: String
}

/// One reader.
struct ReaderAnswer: Encodable, Equatable {
    let name: String
    let driver: String
    let device: String
    /// "press" or "swipe".
    let kind: String
    let stages: Int
    /// Where prints live: "host" or "reader".
    let prints: String
    /// Whether prints in its memory can be told.
    let listsPrints: Bool
    let isVirtual: Bool
    let isStandIn: Bool

    init(_ reader: ReaderDescription, isStandIn: Bool) {
        name = Output.text(reader.name)
        driver = Output.text(reader.identity.driver)
        device = Output.text(reader.identity.device)
        kind = reader.swipes ? "swipe" : "press"
        stages = Int(reader.stages)
        prints = reader.storesPrints ? "reader" : "host"
        listsPrints = reader.listsPrints
        isVirtual = reader.identity.isVirtual
        self.isStandIn = isStandIn
    }
}

/// The readers at hand.
struct ReadersAnswer: Encodable, Equatable {
    let readers: [ReaderAnswer]
    /// Why there are none.
    let problem: String?
    let standInReader: Bool

    init(_ presence: ReaderPresence, isStandIn: Bool) {
        standInReader = isStandIn
        switch presence {
        case .present(let found):
            readers = found.map { ReaderAnswer($0, isStandIn: isStandIn) }
            problem = nil
        case .problem(let why):
            readers = []
            problem = why.code
        }
    }
}

/// The counters.
struct LockoutAnswer: Encodable, Equatable {
    let fingerFailures: Int
    let fingerLimit: Int
    let fingerLockedOut: Bool
    let pinFailures: Int
    let pinLimit: Int
    /// "open", "waiting" or "disabled".
    let pinState: String
    let waitSeconds: UInt64
    /// Kinds of caller that have used up their share.
    let closedTo: [String]

    init(_ fact: LockoutFact) {
        fingerFailures = fact.fingerFailures
        fingerLimit = fact.fingerLimit
        fingerLockedOut = fact.isFingerLockedOut
        pinFailures = fact.pinFailures
        pinLimit = fact.pinLimit
        closedTo = fact.closedTo.map(\.code)
        switch fact.pin {
        case .waiting(let seconds): (pinState, waitSeconds) = ("waiting", seconds)
        case .disabled: (pinState, waitSeconds) = ("disabled", 0)
        case .shareUsedUp, nil: (pinState, waitSeconds) = ("open", 0)
        }
    }
}

/// All about one user.
struct StatusAnswer: Encodable, Equatable {
    struct Fingerprint: Encodable, Equatable {
        let on: Bool
        let reason: String?
        /// Why none is asked for where whoever asks is, by the same names; absent where one is, or none is on.
        let notAskedHere: String?
        /// Who has the reader, where that is why.
        let inUseBy: String?
        /// Who keeps the prints: "signet" or "fprintd".
        let keptBy: String
        let fingers: [FingerAnswer]
    }

    struct FingerAnswer: Encodable, Equatable {
        let finger: String
        let enrolledAt: Int64
        let driver: String
        let device: String
        /// The reader's name, or what people tell it by where it is not there.
        let reader: String
        let onReader: Bool
    }

    struct PIN: Encodable, Equatable {
        let isSet: Bool
        let changedAt: Int64?
        let lastUsedAt: Int64?
        /// "never", "known" or "before_start_up".
        let lastUse: String?
        let setByAdministrator: Bool?
    }

    struct Recovery: Encodable, Equatable {
        let ready: Bool
        let madeAt: Int64?
    }

    struct TPM: Encodable, Equatable {
        let pinBound: Bool
        let counter: Bool
        let countsPins: Bool
        /// Of this user's share of the TPM's failures.
        let failures: Int
        let share: Int
        let waitSeconds: UInt64

        init(_ fact: EnclaveFact) {
            pinBound = fact.pinHasHalf
            counter = fact.hasCounter
            countsPins = fact.countsFailures
            failures = fact.failures
            share = fact.share
            waitSeconds = fact.wait ?? 0
        }
    }

    /// Empty where the uid has no account.
    let user: String
    let userId: UInt32
    let isOrphan: Bool
    let record: String
    let needs: [NeedAnswer]
    let fingerprint: Fingerprint
    let pin: PIN
    let lockout: LockoutAnswer?
    let recovery: Recovery
    let readers: ReadersAnswer
    /// What the TPM has of this user; absent where it has nothing.
    let tpm: TPM?
    /// The machine's secrets; absent in a row of `--all`, where they stand beside the users.
    let enclave: EnclaveAnswer?

    init(_ status: UserStatus, isOrphan: Bool = false, isStandIn: Bool, enclave: EnclaveAnswer? = nil) {
        self.enclave = enclave
        tpm = status.enclave.map(TPM.init)
        user = Output.text(status.userName)
        userId = status.uid
        self.isOrphan = isOrphan
        record = isOrphan ? "orphan" : status.record.code
        needs = StatusAnswer.needs(status, isOrphan: isOrphan)
        fingerprint = Fingerprint(
            on: status.isFingerOn, reason: status.fingerClosure?.code,
            notAskedHere: status.closureHere?.code, inUseBy: status.readerHolder.map { Output.text($0) },
            keptBy: status.source.word,
            fingers: status.fingers.map { fact in
                FingerAnswer(
                    finger: fact.finger.name, enrolledAt: fact.enrolledAt, driver: Output.text(fact.reader.driver),
                    device: Output.text(fact.reader.device), reader: status.name(of: fact.reader),
                    onReader: fact.onReader)
            })
        pin = StatusAnswer.pin(status.pin)
        lockout = status.lockout.map(LockoutAnswer.init)
        switch status.recovery {
        case .none: recovery = Recovery(ready: false, madeAt: nil)
        case .ready(let madeAt, _): recovery = Recovery(ready: true, madeAt: madeAt)
        }
        readers = ReadersAnswer(status.readers, isStandIn: isStandIn)
    }

    private static func pin(_ fact: PINFact?) -> PIN {
        guard let fact else {
            return PIN(isSet: false, changedAt: nil, lastUsedAt: nil, lastUse: nil, setByAdministrator: nil)
        }
        var used: Int64?
        if case .at(let moment) = fact.lastUse { used = moment }
        let lastUse =
            switch fact.lastUse {
            case .never: "never"
            case .at: "known"
            case .beforeStartUp: "before_start_up"
            }
        return PIN(
            isSet: true, changedAt: fact.changedAt, lastUsedAt: used, lastUse: lastUse,
            setByAdministrator: fact.setByAdministrator)
    }

    /// What needs somebody, with the command that mends it.
    static func needs(_ status: UserStatus, isOrphan: Bool) -> [NeedAnswer] {
        if isOrphan {
            let command = "sudo signet user purge --user \(status.argument)"
            return [
                NeedAnswer(
                    what: "orphan", text: "no account has this uid any more", command: command, remedy: command)
            ]
        }
        return status.attention.map { attention in
            NeedAnswer(
                what: attention.code, text: attention.words, command: attention.command(for: status.argument),
                remedy: attention.remedy(for: status.argument))
        }
    }
}

extension UserStatus {
    /// Whether a finger would be let in now.
    var isFingerOn: Bool { record == .usable && fingerClosure == nil }

    /// The name for messages: the uid where there is no account.
    var label: String { userName.isEmpty ? "\(uid)" : Output.text(userName) }

    /// The same for commands that somebody may paste into a shell.
    var argument: String { userName.isEmpty ? "\(uid)" : ShellWord.quoted(userName) }
}

/// What `status --all` answers.
struct AllStatusAnswer: Encodable, Equatable {
    let users: [StatusAnswer]
    let enclave: EnclaveAnswer
}
