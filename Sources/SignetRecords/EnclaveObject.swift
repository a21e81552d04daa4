/// A sealed object of a TPM, as it is kept on disk: of no use without that TPM.
package struct EnclaveObject: Equatable, Sendable {
    /// TPM2B_PUBLIC, marshalled.
    package let publicArea: [UInt8]
    /// TPM2B_PRIVATE, marshalled; encrypted by the TPM.
    package let privateArea: [UInt8]
    /// Whether a wrong authorisation counts for the TPM's protection against guessing (the attribute noDA is clear).
    package let countsFailures: Bool

    /// The longest of either area in bytes: an ECC P-256 parent's sealed object of 32 bytes needs 48 and 160.
    package static let areaLimit = 512

    /// Refuses areas that are empty or too long.
    package init?(publicArea: [UInt8], privateArea: [UInt8], countsFailures: Bool) {
        guard (1...EnclaveObject.areaLimit).contains(publicArea.count),
            (1...EnclaveObject.areaLimit).contains(privateArea.count)
        else { return nil }
        self.publicArea = publicArea
        self.privateArea = privateArea
        self.countsFailures = countsFailures
    }
}
