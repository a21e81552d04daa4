internal import SignetEngine
internal import SignetPlatform
internal import SignetPolicy
internal import SignetRecords

extension Command {
    /// `signet enclave status`.
    static let enclaveStatus = Command(
        "enclave status", "say what the secrets are bound to, and how it stands", options: [.json],
        details: """
            What needs somebody comes first, with the command that mends it. Exit status 0: the secrets can be used; 1: there \
            is no store yet; 4: they cannot be used; 6: the TPM is locked; 7: it is busy.
            """
    ) { (invocation) throws(Failure) in
        try TargetUser.requireRoot(.ofThisProcess)
        let report = EnclaveReport.read(Machine.configuration())
        invocation.answer(EnclaveAnswer(report), text: EnclaveText.page(report, width: Sheet.width))
        return report.exit
    }
}
