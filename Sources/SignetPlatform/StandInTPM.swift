package import SignetPolicy

/// A program in the place of the machine's TPM, or of the helper that speaks to it: a test's.
///
/// Such a TPM keeps its secrets in ordinary files, so whatever speaks of the TPM says so while it is configured.
package enum StandInTPM {
    /// The words for it: in journal, status and doctor alike.
    package static var label: String { "stand-in TPM" }

    /// Whether one is configured.
    package static func isConfigured(_ configuration: Configuration) -> Bool {
        configuration.enclaveHelper != nil || !TPMConnection.isDevice(configuration.tpm[...])
    }
}
