package import SignetPolicy

/// What a secret is used for; it separates the keys that are derived from the PIN and from the recovery code.
package enum SecretPurpose: UInt8, Equatable, Sendable {
    case pin = 1
    case recoveryCode = 2
}

/// The user's signing key, sealed under a key that only the PIN (or the recovery code) together with the pepper derives.
///
/// Where the enclave is a TPM, the PIN derives an authorisation too, for which the TPM gives the other half of that key.
package struct WrappedKey: Equatable, Sendable {
    package let cost: KeyDerivationCost
    /// 16 bytes, `crypto_pwhash_SALTBYTES`.
    package let salt: [UInt8]
    /// 24 bytes, `crypto_aead_xchacha20poly1305_ietf_NPUBBYTES`.
    package let nonce: [UInt8]
    /// The 64-byte Ed25519 secret key and a 16-byte tag.
    package let sealed: [UInt8]
    /// The TPM's object with the other half of the key; nil where the secret alone derives it.
    package let half: EnclaveObject?

    package static let saltCount = 16
    package static let nonceCount = 24
    package static let sealedCount = 80

    /// Refuses parts of a wrong length.
    package init?(
        cost: KeyDerivationCost, salt: [UInt8], nonce: [UInt8], sealed: [UInt8], half: EnclaveObject? = nil
    ) {
        guard salt.count == WrappedKey.saltCount, nonce.count == WrappedKey.nonceCount,
            sealed.count == WrappedKey.sealedCount
        else { return nil }
        self.cost = cost
        self.salt = salt
        self.nonce = nonce
        self.sealed = sealed
        self.half = half
    }
}

/// One print as an approval covers it.
package struct ApprovedPrint: Equatable, Sendable {
    /// The keyed hash over the print's type, driver, device id and data.
    package let digest: Digest
    package let presence: PrintPresence

    package init(digest: Digest, presence: PrintPresence) {
        self.digest = digest
        self.presence = presence
    }
}

/// The user's own signature over the enrollment digest of one reader, the reader's place, and what else lay in its memory;
/// made only with the PIN.
package struct Approval: Equatable, Sendable {
    package let reader: ReaderIdentity
    /// Where the reader was when it was approved.
    package let place: ReaderPlace
    /// The handle digests of the prints in its memory that were not the user's, in ascending order.
    package let others: [Digest]
    package let generation: UInt64
    /// What was approved, in ascending order of the digests; kept to tell a person what changed.
    package let prints: [ApprovedPrint]
    /// 64 bytes, Ed25519 over the approval message.
    package let signature: [UInt8]
    /// Wall time in seconds since 1970, for people to read only.
    package let madeAt: Int64

    package static let signatureCount = 64
    /// The most prints of others that are told apart; a chip holds 10 to 200.
    package static let othersLimit = 255

    /// Whether a record can't hold both: one digest a reader and generation, else it would be open which of them counts.
    ///
    /// Two generations of one reader stand beside each other while a set of prints is replaced.
    func isRival(of other: Approval) -> Bool { reader == other.reader && generation == other.generation }

    package init(
        reader: ReaderIdentity, place: ReaderPlace, others: [Digest] = [], generation: UInt64,
        prints: [ApprovedPrint], signature: [UInt8], madeAt: Int64
    ) {
        self.reader = reader
        self.place = place
        self.others = others
        self.generation = generation
        self.prints = prints
        self.signature = signature
        self.madeAt = madeAt
    }
}

/// Who a user is to Signet: the record `identity`.
///
/// The keys in it are wrapped a second time, under what the PIN derives, so that the decoded value holds no secret.
package struct IdentityRecord: Equatable, Sendable {
    package let uid: UInt32
    /// The login name when the record was made or adopted, at most 255 bytes.
    package var userName: [UInt8]
    /// 16 random bytes that tell this user from a later one with the same name and uid.
    package let instance: [UInt8]
    /// 32 bytes, Ed25519.
    package var publicKey: [UInt8]
    package var pin: WrappedKey
    /// Absent when none was made, or when it was used.
    package var recovery: WrappedKey?
    /// Wall times in seconds since 1970, for people to read only.
    package var pinChangedAt: Int64
    package var recoveryMadeAt: Int64
    /// Whether somebody else set the PIN, which the user is told at the next prompt.
    package var pinSetByAdministrator: Bool
    /// One for each reader at most.
    package var approvals: [Approval]

    package static let instanceCount = 16
    package static let publicKeyCount = 32

    /// The approval of a reader's prints in this generation of the set; else any other of that reader, from which a person
    /// is told what changed.
    package func approval(of reader: ReaderIdentity, generation: UInt64) -> Approval? {
        approvals.first { $0.reader == reader && $0.generation == generation }
            ?? approvals.first { $0.reader == reader }
    }

    package init(
        uid: UInt32, userName: [UInt8], instance: [UInt8], publicKey: [UInt8], pin: WrappedKey, recovery: WrappedKey?,
        pinChangedAt: Int64, recoveryMadeAt: Int64, pinSetByAdministrator: Bool, approvals: [Approval]
    ) {
        self.uid = uid
        self.userName = userName
        self.instance = instance
        self.publicKey = publicKey
        self.pin = pin
        self.recovery = recovery
        self.pinChangedAt = pinChangedAt
        self.recoveryMadeAt = recoveryMadeAt
        self.pinSetByAdministrator = pinSetByAdministrator
        self.approvals = approvals
    }
}
