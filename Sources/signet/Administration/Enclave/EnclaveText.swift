internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

/// What `enclave status` prints for people.
enum EnclaveText {
    static func page(_ report: EnclaveReport, width: Int) -> String {
        var text = ""
        for need in needs(report) {
            let whole = "\(need.text) → \(need.remedy)"
            text +=
                whole.count <= width
                ? whole + "\n"
                : Sheet.hanging("", need.text, width: width) + Sheet.remedy(need.remedy, indent: 2, width: width)
        }
        if !text.isEmpty { text += "\n" }
        return text + Sheet.facts(rows(report), width: width)
    }

    /// "TPM 2.0 (Infineon), lockout authority set": what `signet status` shows of it.
    static func summary(_ report: EnclaveReport) -> String {
        let mark = report.isStandIn && report.store == .tpm ? " (\(StandInTPM.label))" : ""
        switch (report.store, report.tpm) {
        case (.none, _): return "no store yet"
        case (.unusable, _): return "cannot be used; see \"sudo signet doctor\""
        case (.file, _): return "key file, root's alone"
        case (.tpm, .problem(let problem)): return "TPM 2.0\(mark): \(problem.words)"
        case (.tpm, .present(let facts)):
            let reset = facts.dictionaryAttack.hasLockoutAuthorization ? "set" : "not set"
            return "TPM 2.0 (\(facts.makerName))\(mark), lockout authority \(reset)"
        }
    }

    private static func rows(_ report: EnclaveReport) -> [Sheet.Row] {
        let mark = report.isStandIn ? " (\(StandInTPM.label))" : ""
        var rows = [store(report)]
        switch report.tpm {
        case .problem(let problem):
            rows.append(Sheet.Row(label: "TPM", state: "none", details: "\(report.place)\(mark): \(problem.words)"))
        case .present(let facts):
            rows.append(
                Sheet.Row(
                    label: "TPM", state: facts.makerName,
                    details: "firmware \(facts.firmwareText), at \(report.place)\(mark)"))
            rows += [guessing(facts.dictionaryAttack), reset(facts.dictionaryAttack), counters(report, facts)]
        }
        if report.store == .tpm, !report.people.isEmpty {
            let bound = report.people.count - report.unbound.count
            rows.append(
                Sheet.Row(
                    label: "PINs", state: "\(bound) of \(report.people.count)",
                    details: report.unbound.isEmpty
                        ? "bound to this TPM" : "bound to this TPM; not yet: \(names(report.unbound))"))
        }
        if let target = report.migration {
            rows.append(Sheet.Row(label: "Migration", state: "begun", details: "to \(target.name), and not ended"))
        }
        return rows
    }

    private static func store(_ report: EnclaveReport) -> Sheet.Row {
        let wanted = "new stores: \(report.preference.word)"
        switch report.store {
        case .none: return Sheet.Row(label: "Secrets", state: "none", details: "there is no store yet; \(wanted)")
        case .file: return Sheet.Row(label: "Secrets", state: "key file", details: "that only root can read; \(wanted)")
        case .tpm: return Sheet.Row(label: "Secrets", state: "TPM", details: "sealed by this one alone; \(wanted)")
        case .unusable(let why): return Sheet.Row(label: "Secrets", state: "unusable", details: why.words)
        }
    }

    static func guessing(_ state: DictionaryAttackState) -> Sheet.Row {
        let heal = "one is forgotten after \(duration(state.healSeconds)) of running time"
        return Sheet.Row(
            label: "Failures", state: "\(state.failures) of \(state.limit)",
            details: state.inLockout ? "the TPM is locked; \(heal)" : heal)
    }

    static func reset(_ state: DictionaryAttackState) -> Sheet.Row {
        guard state.hasLockoutAuthorization else {
            return Sheet.Row(
                label: "Reset", state: "open",
                details:
                    "lockoutAuth is not set: whoever reaches the TPM, as root or by starting another system on this "
                    + "machine, can clear the failures; so the TPM does not count wrong PINs, Signet alone does")
        }
        let counts = PINCounting.isWorthwhile(state)
        return Sheet.Row(
            label: "Reset", state: "guarded",
            details: "lockoutAuth is set: only who knows it can clear the failures; a wrong one bars it for "
                + duration(state.recoverySeconds)
                + (counts
                    ? "; the TPM counts wrong PINs too"
                    : "; the limit is below \(PINCounting.leastLimit), so Signet alone counts wrong PINs"))
    }

    private static func counters(_ report: EnclaveReport, _ facts: EnclaveDescription) -> Sheet.Row {
        let used = report.people.count - report.withoutCounter.count
        var details = "\(facts.countersLeft) more can be made"
        if !report.withoutCounter.isEmpty { details += "; none for \(names(report.withoutCounter))" }
        return Sheet.Row(label: "Counters", state: "\(report.store == .tpm ? used : 0) used", details: details)
    }

    static func names(_ people: [EnclaveReport.Person]) -> String {
        let shown = 8
        let names = people.prefix(shown).map(\.label).joined(separator: ", ")
        return people.count > shown ? "\(names) and \(people.count - shown) more" : names
    }

    /// What needs somebody, with the command that mends it; the worst first.
    static func needs(_ report: EnclaveReport) -> [NeedAnswer] {
        DoctorEnclave.lines(report).filter { $0.level == .fail || $0.level == .warn }.map { line in
            let remedy = line.remedy ?? "sudo signet doctor"
            return NeedAnswer(
                what: line.level.rawValue, text: line.text, command: isCommand(remedy) ? remedy : nil, remedy: remedy)
        }
    }

    /// Whether a remedy is one command of Signet's and no more: words follow a comma, a colon, a dash or a bracket.
    private static func isCommand(_ remedy: String) -> Bool {
        remedy.hasPrefix("sudo signet ") && !remedy.contains { ",:;–(…".contains($0) }
    }

    /// Exact: "10 minutes", "24 hours", "90 seconds".
    static func duration(_ seconds: UInt32) -> String {
        if seconds == 0 { return "no time" }
        if seconds % 3600 == 0 { return seconds == 3600 ? "1 hour" : "\(seconds / 3600) hours" }
        if seconds % 60 == 0 { return seconds == 60 ? "1 minute" : "\(seconds / 60) minutes" }
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }
}

/// When the TPM counts wrong PINs.
enum PINCounting {
    /// The least TPM2_PT_MAX_AUTH_FAIL with which it may: below it, one user's few wrong PINs would lock the whole machine.
    static let leastLimit: UInt32 = 32

    /// Whether the TPM's own count is worth having: one that anybody clears stops nobody but the machine's users.
    static func isWorthwhile(_ state: DictionaryAttackState) -> Bool {
        state.hasLockoutAuthorization && state.limit >= leastLimit
    }
}
