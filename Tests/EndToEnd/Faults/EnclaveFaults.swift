import Testing

/// Each call of the shipped module and of its TPM helper fails in turn while a PIN is asked for.
@Suite(.serialized, .inWorld, .withProduct, .traced, .enabled(if: MachineTPM.isHere, "needs swtpm and tpm2-tools"))
struct EnclaveFaults {
    // Would catch a failed call of the helper that hangs, shuts out without a word, or is taken for another TPM.
    @Test func aRightPIN() throws { try sweep("right PIN, TPM", mayGrant: true, Signet.pin) }

    // Would catch a failed call after which a wrong PIN opens what the TPM keeps.
    @Test func aWrongPIN() throws { try sweep("wrong PIN, TPM", mayGrant: false, Signet.wrongPIN(1)) }

    private func sweep(_ name: String, mayGrant: Bool, _ answer: String) throws {
        try MachineTPM.bound { _, user in
            try Asked.stack { service in
                // Never an older store: the TPM's counter would know it.
                try Asked(service: service, user: user).scenario(name, mayGrant: mayGrant, pin: answer).sweep()
            }
        }
    }
}
