internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy

// What people read where a management task ends without what was asked for.

extension Failure {
    init(_ refusal: ManagementRefusal, _ target: TargetUser) {
        let option = target.option
        let whose = target.byAdministrator ? "\(target.text)'s" : "your"
        switch refusal {
        case .pinNotSet: self = .pinNotSet(target)
        case .pinAlreadySet:
            self.init(.no, "\(whose) PIN is set already", hint: "change it with \"sudo signet pin change\(option)\"")
        case .wrongPIN:
            self.init(
                .no, "the PIN was wrong",
                hint: "a forgotten PIN is replaced with \"sudo signet recovery-code use\(option)\"")
        case .pinLockout(let lockout): self.init(lockout, "PIN", target)
        case .recoveryCodeLockout(let lockout): self.init(lockout, "recovery code", target)
        case .noRecoveryCode:
            self.init(
                .no, "there is no recovery code for \(target.text)",
                hint: "make one with \"sudo signet recovery-code new\(option)\" while the PIN works")
        case .wrongRecoveryCode:
            self.init(.no, "the recovery code was wrong", hint: "it has 26 letters and digits; dashes do not matter")
        case .newPINRefused:
            self.init(
                .no, "no new PIN was set", hint: "choose one that is long and no pattern, and type it twice alike")
        case .nowhereToShow:
            self.init(.no, "there is no terminal to show the recovery code on", hint: "run it in a terminal")
        case .cancelled, .declined: self.init(.cancelled, "")
        case .timedOut: self.init(.no, "nobody answered in time", hint: Failure.again)
        case .nobodyToAsk:
            self.init(.no, "the terminal could not be read", hint: "run it in the foreground of a terminal")
        case .ledger(let failure): self.init(failure, target)
        case .reader(let problem): self.init(problem)
        case .readerNotTrusted(let distrust): self.init(distrust)
        case .readerExchanged(let exchange):
            self.init(.readerNotAvailable, exchange.words, hint: exchange.remedy(option))
        case .activateFirst(.readerNotTrusted(let distrust)):
            self.init(
                .no, distrust.words,
                hint: distrust.isMendedByActivation
                    ? "approve it there with \"sudo signet activate\(option)\"" : distrust.remedy)
        case .activateFirst(.printsUnusable):
            self.init(
                .stateDamaged, "\(whose) fingerprints cannot be read",
                hint: "see what is wrong with \"sudo signet doctor\"")
        case .activateFirst(.printsUnavailable):
            self.init(
                .busy, "\(whose) fingerprints cannot be checked just now", hint: "try again; the journal says why")
        case .activateFirst(.enrollmentChanged(let change)) where change.isOfReadersAlone:
            self.init(
                .no,
                "\(whose) fingerprints were changed, or \(change.gone) \(change.gone == 1 ? "is" : "are") gone from the "
                    + "reader's memory",
                hint: "see which with \"sudo signet readers\(option)\"; where none is gone, run "
                    + "\"sudo signet activate\(option)\"")
        case .activateFirst(let closure):
            self.init(
                .no, "\(whose) fingerprints \(closure.isChange ? "were changed" : "are not switched on")",
                hint: "look at them with \"sudo signet list\(option)\", then run \"sudo signet activate\(option)\"")
        case .biometryLockout:
            self.init(
                .lockedOut, "fingerprint is off after too many failed tries",
                hint: target.byAdministrator
                    ? "clear them with \"sudo signet lockout reset --finger\(option)\"" : "the PIN switches it on again"
            )
        case .alreadyEnrolled(let finger):
            self.init(
                .no, "\(whose) \(finger.name) is enrolled already",
                hint: "name another finger, or delete it with \"sudo signet delete \(finger.argument)\(option)\"")
        case .duplicate(of: .some(let finger)):
            self.init(.no, "this finger is enrolled already, as \(finger.name)", hint: "use another finger")
        case .duplicate(of: nil):
            self = .known(leftOver: 0, byFprintd: 0, target)
        case .tooManyPrints:
            self.init(
                .no, "no more fingers can be enrolled", hint: "delete one with \(FingerChoice.deletion(of: [], target))"
            )
        case .notConfirmed:
            self.init(
                .no, "the touch was not recognised or did not come, and no finger was changed", hint: Failure.again)
        case .notEnrolled:
            self.init(
                .no, "\(target.text) has no enrolled finger", hint: "enrol one with \"sudo signet enroll\(option)\"")
        case .noSuchFinger(let finger):
            self.init(
                .no, "\(whose) \(finger.name) is not enrolled", hint: "see \"sudo signet list\(option)\"")
        case .onSeveralReaders(let finger, let readers):
            let delete = "sudo signet delete \(finger.argument)"
            self.init(
                .no,
                "\(whose) \(finger.name) is enrolled on \(readers.count) readers: "
                    + readers.map(\.shortName).joined(separator: ", "),
                hint: "to delete it from one: "
                    + readers.map { "\"\(delete) --reader \($0.argument(among: readers))\(option)\"" }
                    .joined(separator: " or ") + "; from each of them: \"\(delete) --yes\(option)\"")
        case .notOnThatReader(let finger, let readers):
            self.init(
                .no, "\(whose) \(finger?.name ?? "finger") is not enrolled on that reader",
                hint: "name one that has it: "
                    + readers.map { "\"--reader \($0.argument(among: readers))\"" }.joined(separator: " or "))
        case .printsKeptElsewhere:
            self.init(
                .no, "\(whose) fingerprints are kept by fprintd on this machine",
                hint: "change them in the settings of GNOME or KDE, or with fprintd-enroll and fprintd-delete, "
                    + "then run \"sudo signet activate\(option)\"")
        case .nothingToImport:
            self.init(
                .no, "fprintd keeps no fingerprint of \(target.text) that can be imported",
                hint: "enrol one with \"sudo signet enroll\(option)\"")
        case .readersOfPrintsMissing:
            self.init(
                .readerNotAvailable, "the reader that the fingerprints were enrolled with is not there",
                hint: "plug it in, or see what is there with \"sudo signet readers\"")
        case .goneFromReader(let fingers, let keptElsewhere):
            self.init(
                .no,
                "\(whose) \(fingers.map(\.name).joined(separator: ", ")) \(fingers.count == 1 ? "is" : "are") gone from "
                    + "the reader's memory",
                hint: keptElsewhere
                    ? GonePrints.remedyOfFprintd
                    : "delete \(fingers.count == 1 ? "it" : "them, one by one,") with "
                        + "\"\(GonePrints.remedy(fingers, option))\"")
        case .printsLeft(let count):
            self.init(
                .no, "\(count) \(count == 1 ? "finger is" : "fingers are") enrolled still",
                hint: "delete them first with \"sudo signet delete --all\(option)\"")
        }
    }

    /// A door that is closed.
    init(_ lockout: PINLockout, _ secret: String, _ target: TargetUser) {
        switch lockout {
        case .waiting(let seconds):
            let wait = seconds < 60 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
            self.init(.lockedOut, "too many wrong tries of the \(secret)", hint: "try again in \(wait)")
        case .disabled:
            self.init(
                .lockedOut, "the \(secret) of \(target.text) is disabled",
                hint: "use the recovery code with \"sudo signet recovery-code use\", or ask an administrator to run "
                    + "\"signet lockout reset --user \(target.argument)\"")
        case .shareUsedUp:
            self.init(
                .lockedOut, "too many wrong tries of the \(secret) by somebody else",
                hint: "it opens again when \(target.text) next uses the PIN in another way, or an administrator runs "
                    + "\"signet lockout reset --user \(target.argument)\"")
        }
    }

    /// The records, the keys or the machine.
    init(_ failure: LedgerFailure, _ target: TargetUser) {
        switch failure {
        case .recordUnusable:
            self.init(
                .stateDamaged, "signet's record for \(target.text) is damaged",
                hint: "see what is wrong with \"sudo signet doctor\"")
        case .notSetUp: self = .pinNotSet(target)
        case .indexUnusable(let fault): self = .indexUnusable(fault)
        case .troubled(.rolledBack):
            self.init(
                .stateDamaged,
                "signet's record for \(target.text) is not the one that was written last: a copy was put back",
                hint: "see what is wrong with \"sudo signet doctor\"")
        case .troubled(.renamed): self = .renamed(target)
        case .troubled(.enclaveGone):
            self.init(
                .stateDamaged, "this machine's TPM does not answer", hint: "see why with \"sudo signet doctor\"")
        case .troubled(.enclaveForeign):
            self.init(
                .stateDamaged, "this machine's TPM was cleared or replaced",
                hint: "see what to do with \"sudo signet doctor\"")
        case .troubled(.enclaveRequired):
            self.init(
                .stateDamaged, "the configuration asks for a TPM, and signet was set up without it",
                hint: "see what to do with \"sudo signet doctor\"")
        case .troubled(.folderAbove): self = .folderAbove()
        case .locked(let lockout): self.init(lockout, "PIN", target)
        case .unavailable:
            self.init(
                .busy, "signet's record for \(target.text) cannot be used just now",
                hint: "try again; the journal says why")
        case .full:
            self.init(
                .busy, "no space is left on the file system of /var/lib/signet",
                hint: "make room, as \"df /var/lib/signet\" shows, and run it again")
        case .readOnly:
            self.init(
                .busy, "the file system of /var/lib/signet cannot be written",
                hint: "see \"findmnt --target /var/lib/signet\", and mount it for writing")
        case .changedMeanwhile:
            self.init(
                .busy, "somebody else changed signet's record for \(target.text) meanwhile, and nothing was done",
                hint: "see \"sudo signet status\", and run it again")
        }
    }

    /// The list of prints in readers' memories, which is nobody's record.
    static func indexUnusable(_ fault: RecordFault) -> Failure {
        let list = "the list of prints in readers' memories"
        let leak = fault == .unsafe ? StoreInspection.indexLeak(root: UserStore.standardRoot) : nil
        let words = ChipIndexWords.inPlace(leak, fault, list) ?? "\(list) is \(fault.words)"
        return Failure(
            .stateDamaged, "\(words), and cannot be replaced",
            hint: ChipIndexWords.hint(fault))
    }

    /// The reader's place.
    init(_ distrust: ReaderDistrust) {
        self.init(.readerNotAvailable, distrust.words, hint: distrust.remedy)
    }

    /// The reader, where it is known who has it.
    static func readerInUse(by holder: String) -> Failure {
        Failure(.busy, inUse(by: holder), hint: "end that program, and try again")
    }

    /// Who has the reader, as `verify`, `status` and all that open it say it.
    static func inUse(by holder: String) -> String { "the reader is in use by \(holder)" }

    /// The reader.
    init(_ problem: ReaderProblem) {
        let hint =
            switch problem {
            case .noReader: "plug it in, or see what is there with \"sudo signet readers\""
            case .busy: "end the program that uses it, and try again"
            case .storageFull: "see what is in it with \"sudo signet readers\""
            case .helperFailed: "see what is wrong with \"sudo signet doctor\""
            default: "try again, or see \"sudo signet readers\""
            }
        self.init(problem.exitCode, problem.words, hint: hint)
    }
}

extension ReaderIdentity {
    /// "elanmoc 0": for a reader that need not be there.
    fileprivate var shortName: String { "\(Output.text(driver)) \(Output.text(device))" }

    /// The value of `--reader`, as a shell's word: the driver, and the device where another reader has the same driver.
    fileprivate func argument(among readers: [ReaderIdentity]) -> String {
        let isAlone = !readers.contains { $0.driver == driver && $0.device != device }
        return ShellWord.quoted(isAlone ? driver : driver + Array(":".utf8) + device)
    }
}

extension ReaderProblem {
    /// How a command ends that this kept from its reader.
    var exitCode: ExitCode { self == .busy ? .busy : .readerNotAvailable }
}

extension FingerClosure {
    /// Whether the prints are others than those that were approved.
    fileprivate var isChange: Bool { if case .enrollmentChanged = self { true } else { false } }
}
