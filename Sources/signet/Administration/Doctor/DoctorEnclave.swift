internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

/// The enclave's lines of doctor: what the secrets are bound to, and whether that holds.
enum DoctorEnclave {
    static func lines(_ report: EnclaveReport) -> [DoctorLine] {
        standIn(report) + store(report) + unfinished(report) + protection(report) + people(report)
    }

    private static func standIn(_ report: EnclaveReport) -> [DoctorLine] {
        guard report.isStandIn else { return [] }
        return [
            DoctorLine(
                .warn, "enclave", "a \(StandInTPM.label) is configured: its secrets lie in ordinary files",
                remedy: "take tpm and enclave_helper out of /etc/security/signet.conf")
        ]
    }

    private static func store(_ report: EnclaveReport) -> [DoctorLine] {
        switch (report.store, report.tpm) {
        // What is wrong with the store itself stands in its own lines.
        case (.none, .problem(let problem)) where report.preference == .require:
            return [
                DoctorLine(
                    .fail, "enclave", "no PIN can be set: the configuration asks for a TPM, and \(problem.words)",
                    remedy: withoutTPM)
            ]
        case (.none, _), (.unusable, _): return []
        case (.file, .present(let facts)):
            if report.preference == .require { return [required(remedy: "sudo signet enclave migrate --to tpm")] }
            if report.preference == .file { return [.ok("enclave", "the secrets are in a key file, as configured")] }
            return [
                DoctorLine(
                    .note, "enclave", "there is a TPM (\(facts.makerName)), and the secrets are in a key file",
                    remedy: "sudo signet enclave migrate --to tpm")
            ]
        case (.file, .problem):
            if report.preference == .require { return [required(remedy: withoutTPM)] }
            return [.ok("enclave", "the secrets are in a key file; there is no TPM")]
        case (.tpm, .present(let facts)):
            return [
                .ok("enclave", "the secrets are bound to the TPM (\(facts.makerName), firmware \(facts.firmwareText))")
            ]
        case (.tpm, .problem(let problem)):
            return [
                DoctorLine(.fail, "enclave", "nobody gets in: \(problem.words)", remedy: remedy(problem))
            ]
        }
    }

    /// What works where no TPM does: nothing could be moved to it.
    private static let withoutTPM =
        "write \"enclave = prefer\" in /etc/security/signet.conf; or mend the TPM, and then: sudo signet enclave migrate --to tpm"

    /// Other commands send people here where the helper failed.
    private static func remedy(_ problem: EnclaveProblem) -> String {
        guard problem == .helperFailed else { return problem.remedy }
        return "mend what is said of the TPM helper; where that is well, look into the system's log"
    }

    private static func required(remedy: String) -> DoctorLine {
        DoctorLine(
            .fail, "enclave", "nobody gets in: the configuration asks for a TPM, and the secrets are in a key file",
            remedy: remedy)
    }

    private static func unfinished(_ report: EnclaveReport) -> [DoctorLine] {
        var lines: [DoctorLine] = []
        if let target = report.migration {
            lines.append(
                DoctorLine(
                    .warn, "enclave", "a migration to \(target.name) was begun and not ended",
                    remedy: "sudo signet enclave migrate --to \(target.word)"))
        }
        for path in report.leftovers {
            lines.append(
                DoctorLine(
                    .fail, "enclave", "\(path) does not count: a migration left it, or somebody put it there",
                    remedy: "sudo signet enclave migrate --to tpm"))
        }
        return lines
    }

    /// How well the TPM guards a short PIN.
    private static func protection(_ report: EnclaveReport) -> [DoctorLine] {
        guard report.store == .tpm, case .present(let facts) = report.tpm else { return [] }
        let state = facts.dictionaryAttack
        var lines: [DoctorLine] = []
        let heals = "one is forgotten after \(EnclaveText.duration(state.healSeconds))"
        if state.inLockout {
            lines.append(
                DoctorLine(
                    .warn, "enclave", "the TPM is locked after \(state.failures) wrong authorisations; \(heals)",
                    remedy: EnclaveProblem.lockout.remedy))
        } else if state.limit > 0, UInt64(state.failures) * 2 >= UInt64(state.limit) {
            lines.append(
                DoctorLine(
                    .warn, "enclave",
                    "the TPM has counted \(state.failures) of \(state.limit) failures, and PINs that it counts wait; \(heals)",
                    remedy: "find who fails: look into the system's log"))
        }
        if !state.hasLockoutAuthorization {
            lines.append(
                DoctorLine(
                    .note, "enclave",
                    "the TPM's lockoutAuth is not set: it does not count wrong PINs, for anybody could clear the count",
                    remedy: "sudo signet enclave setup --set-lockout-auth"))
        } else if !PINCounting.isWorthwhile(state) {
            lines.append(
                DoctorLine(
                    .note, "enclave",
                    "the TPM locks after \(state.limit) failures, which is too few for it to count wrong PINs",
                    remedy: "tpm2_dictionarylockout --setup-parameters --max-tries=\(PINCounting.leastLimit)"))
        }
        return lines
    }

    private static func people(_ report: EnclaveReport) -> [DoctorLine] {
        var lines: [DoctorLine] = []
        if !report.unbound.isEmpty {
            lines.append(
                DoctorLine(
                    .note, "enclave", "not yet bound to the TPM: the PIN of \(EnclaveText.names(report.unbound))",
                    remedy: "each user's next right PIN does it"))
        }
        if !report.withoutCounter.isEmpty {
            let text =
                "no counter in the TPM for \(EnclaveText.names(report.withoutCounter)): old copies of their records pass"
            lines.append(
                DoctorLine(
                    .note, "enclave", text, remedy: "make room: tpm2_getcap handles-nv-index shows what fills it"))
        }
        return lines
    }
}
