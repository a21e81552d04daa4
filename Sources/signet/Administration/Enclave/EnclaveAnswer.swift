internal import SignetPolicy
internal import SignetRecords

/// What `enclave status --json` answers, and `status --json` of all secrets.
struct EnclaveAnswer: Encodable, Equatable {
    struct TPM: Encodable, Equatable {
        let maker: String
        let firmware: String
        let failures: UInt32
        let failureLimit: UInt32
        let healSeconds: UInt32
        let recoverySeconds: UInt32
        let inLockout: Bool
        let lockoutAuthSet: Bool
        let countsPins: Bool
        let ownerAuthSet: Bool
        let countersLeft: UInt32

        init(_ facts: EnclaveDescription) {
            maker = facts.makerName
            firmware = facts.firmwareText
            let state = facts.dictionaryAttack
            failures = state.failures
            failureLimit = state.limit
            healSeconds = state.healSeconds
            recoverySeconds = state.recoverySeconds
            inLockout = state.inLockout
            lockoutAuthSet = state.hasLockoutAuthorization
            countsPins = PINCounting.isWorthwhile(state)
            ownerAuthSet = facts.hasOwnerAuthorization
            countersLeft = facts.countersLeft
        }
    }

    struct User: Encodable, Equatable {
        let user: String
        let userId: UInt32
        let pinBound: Bool
        let counter: Bool
    }

    /// "none", "file", "tpm" or "unusable".
    let secrets: String
    /// Why they cannot be used.
    let fault: String?
    /// What the configuration wants of new stores.
    let preference: String
    let place: String
    let standInTpm: Bool
    let tpm: TPM?
    /// Why the TPM cannot be asked.
    let tpmProblem: String?
    let users: [User]
    /// Where an unfinished migration goes to: "file" or "tpm".
    let migration: String?
    let leftovers: [String]
    let needs: [NeedAnswer]

    init(_ report: EnclaveReport) {
        switch report.store {
        case .none: (secrets, fault) = ("none", nil)
        case .file: (secrets, fault) = ("file", nil)
        case .tpm: (secrets, fault) = ("tpm", nil)
        case .unusable(let why): (secrets, fault) = ("unusable", why.code)
        }
        preference = report.preference.word
        place = report.place
        standInTpm = report.isStandIn
        switch report.tpm {
        case .present(let facts): (tpm, tpmProblem) = (TPM(facts), nil)
        case .problem(let problem): (tpm, tpmProblem) = (nil, problem.code)
        }
        users = report.people.map {
            User(user: $0.label, userId: $0.uid, pinBound: $0.isPINBound, counter: $0.hasCounter)
        }
        migration = report.migration?.word
        leftovers = report.leftovers
        needs = EnclaveText.needs(report)
    }
}
