internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

extension Option {
    fileprivate static let to = Option("--to", value: "KIND", "where the secrets go: tpm or file")
}

extension Command {
    /// `signet enclave migrate`.
    static let enclaveMigrate = Command(
        "enclave migrate", "move everybody's secrets to the TPM, or to a key file", options: [.to, .json],
        details: """
            PINs, recovery codes and approved fingers stay. The old key is destroyed once everything is proven to open under \
            the new one. What was interrupted goes on when the command is given again, and people get in at each moment of it. \
            To the TPM, each PIN is bound to it at that user's next right PIN. To a key file, the half that the TPM has of a \
            PIN leaves at that user's next right PIN, and the command has to be given again then. Exit status 0: all is \
            moved; 1: it waits for somebody.
            """
    ) { (invocation) throws(Failure) in
        try TargetUser.requireRoot(.ofThisProcess)
        guard let word = invocation.value(of: .to), let target = EnclaveKind(word: word) else {
            throw Failure(.usage, "it is not clear where the secrets are to go", hint: "say --to tpm or --to file")
        }
        let configuration = Machine.configuration()
        let settings = configuration.enclaveSettings
        if target == .file, settings.preference == .require {
            throw Failure(
                .no, "the configuration asks for a TPM, and nobody would get in with a key file",
                hint: "change \"enclave\" in /etc/security/signet.conf first")
        }
        let outcome: MigrationOutcome
        do throws(StoreError) {
            var migration = try StoreMigration(root: UserStore.standardRoot, settings: settings) {
                (step) throws(StoreError) in MigrationText.tell(step)
            }
            outcome = try migration.run(to: target)
        } catch {
            throw Failure(error, settings: settings)
        }
        let text = MigrationText.page(outcome) { AdministratorLedger.label(of: $0) }
        invocation.answer(MigrationAnswer(outcome), text: text)
        return outcome.isFinished ? .yes : .no
    }
}

extension EnclaveKind {
    /// The kind of a word of `--to`.
    init?(word: String) {
        switch word {
        case "tpm": self = .tpm
        case "file": self = .file
        default: return nil
        }
    }
}

/// What `migrate` says.
enum MigrationText {
    /// One line for a step that somebody may want to see go by.
    static func tell(_ step: StoreMigration.Step) {
        guard case .userMoved(let uid) = step, let terminal = Terminal() else { return }
        terminal.write("moved: \(AdministratorLedger.label(of: uid))\n")
    }

    /// `name` gives the label of a uid.
    static func page(_ outcome: MigrationOutcome, name: (UInt32) -> String) -> String {
        var text = ""
        let users = outcome.movedUsers == 1 ? "1 user's records" : "\(outcome.movedUsers) users' records"
        switch (outcome.isFinished, outcome.target) {
        case (true, .tpm):
            text += "The secrets are bound to the TPM, and the key file is destroyed.\n"
            if outcome.movedUsers > 0 { text += "\(users) were moved; each PIN is bound at its next right use.\n" }
        case (true, .file):
            text += "The secrets are in a key file that only root can read; the TPM has nothing of them any more.\n"
        case (false, let target):
            text += "The secrets are on their way to \(target.name), and people get in meanwhile.\n"
        }
        for uid in outcome.waitingForPIN {
            text += "The TPM has a half of \(name(uid))'s PIN until that is next given right.\n"
        }
        for user in outcome.unreadable {
            text +=
                "The records of \(name(user.uid)) cannot be opened (\(words(user.error))); \"sudo signet doctor\" says more.\n"
        }
        for counter in outcome.countersLeft {
            text += "A counter stayed in the TPM: tpm2_nvundefine -C o 0x\(String(counter.index, radix: 16))\n"
        }
        if !outcome.isFinished {
            text += "Then give the command again: sudo signet enclave migrate --to \(outcome.target.word)\n"
        }
        return text
    }

    private static func words(_ error: StoreError) -> String {
        switch error {
        case .fault(let kind, let fault): "\(kind.words) \(fault.words)"
        case .busy: "in use"
        case .system: "the system refused"
        }
    }
}

/// What `migrate --json` answers.
struct MigrationAnswer: Encodable, Equatable {
    /// "file" or "tpm".
    let to: String
    let finished: Bool
    let movedUsers: Int
    /// Uids whose next right PIN is waited for.
    let waitingForPin: [UInt32]
    /// Uids whose records cannot be opened.
    let unreadable: [UInt32]

    init(_ outcome: MigrationOutcome) {
        to = outcome.target.word
        finished = outcome.isFinished
        movedUsers = outcome.movedUsers
        waitingForPin = outcome.waitingForPIN
        unreadable = outcome.unreadable.map(\.uid)
    }
}

extension AdministratorLedger {
    /// The name of a uid for people; the number where there is no account.
    static func label(of uid: UInt32) -> String { TargetUser(owner(of: uid)).label }
}
