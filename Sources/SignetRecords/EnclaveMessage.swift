package import SignetPolicy

// The messages between Signet and its TPM helper, one packet each on a SOCK_SEQPACKET socket, in the layout of
// `PacketCodec.swift`. The helper answers each request with one reply, in order. Secrets (32 bytes each) go from and to
// memory of the caller, never through an array.

/// The numbers of the format.
package enum EnclaveMessage {
    /// The version of the format; both sides are installed together, so another one is always an error.
    package static let version: UInt8 = 1
    /// Every secret and every authorisation, in bytes.
    package static let secretCount = 32
    /// The longest packet in bytes.
    package static let packetLimit = 2048
    /// The longest name of an object in bytes: a hash algorithm and a SHA-512 digest; ours have 34.
    package static let nameLimit = 66
    /// The NV indices that are ours, out of the owner's range (TCG Registry of Reserved TPM 2.0 Handles: 0x01800000 to
    /// 0x01BFFFFF); a message that names another is none, so that no damaged record reaches what is somebody else's.
    package static let counterIndices: ClosedRange<UInt32> = 0x0180_5300...0x0180_53FF
    /// The longest new lockoutAuth in bytes: what an object's authValue may have with SHA-256.
    package static let lockoutAuthLimit = 32
}

/// What Signet asks the helper; a `Range` says where in the packet's source of secrets a secret lies.
package enum EnclaveRequest: Equatable, Sendable {
    /// What the TPM is and how it stands: answered by `facts`.
    case look
    /// Make the primary key and a session; refused as `foreign` where the primary's Name is not this one (empty: any).
    /// Answered by `opened`.
    case open(primaryName: [UInt8])
    /// Seal a secret without authorisation, never subject to dictionary attack: answered by `object`.
    case seal(secret: Range<Int>)
    /// Give the secret of such an object: answered by `secret`.
    case unseal(EnclaveObject)
    /// Seal a secret under an authorisation: answered by `object`.
    case sealUnder(secret: Range<Int>, authorization: Range<Int>, countsFailures: Bool)
    /// Load such an object, so that `unsealUnder` is quick: answered by `done`.
    case load(EnclaveObject)
    /// Give the secret of the loaded object: answered by `secret` or `wrong`.
    case unsealUnder(authorization: Range<Int>)
    /// Define a counter at the first free index of ours, count it once: answered by `counter`, or `failed(.noRoom)`.
    case makeCounter(authorization: Range<Int>)
    case readCounter(index: UInt32, authorization: Range<Int>)
    case bumpCounter(index: UInt32, authorization: Range<Int>)
    /// Undefine a counter: answered by `done`, also where there is none.
    case removeCounter(index: UInt32)
    /// Set an empty lockoutAuth to this one and the limits with it: answered by `done`.
    case setLockout(authorization: Range<Int>, limit: UInt32, healSeconds: UInt32, recoverySeconds: UInt32)
    /// Forget the failures: answered by `done` or `wrong`; never to be asked twice for one answer of a person.
    case resetLockout(authorization: Range<Int>)
    /// Flush everything and end: answered by `done`.
    case close
}

/// What the helper answers.
package enum EnclaveReply: Equatable, Sendable {
    case facts(EnclaveDescription)
    case opened(primaryName: [UInt8])
    case object(EnclaveObject)
    /// Where in the packet the 32 bytes lie.
    case secret(Range<Int>)
    /// The authorisation was wrong; whether the TPM counted it.
    case wrong(counted: Bool)
    case counter(EnclaveCounter)
    case done
    case failed(EnclaveProblem)
}

/// Why the TPM did not do what was asked.
package enum EnclaveProblem: UInt8, Error, Equatable, Sendable, CaseIterable {
    /// There is no TPM, or it does not answer.
    case noDevice = 1
    /// The object or the primary is another TPM's, or this one was cleared, or the blob was changed.
    case foreign = 2
    /// The TPM is in dictionary attack lockout.
    case lockout = 3
    /// It stayed busy through all retries.
    case busy = 4
    /// No NV space, handle or session is left.
    case noRoom = 5
    /// The counter is not defined.
    case noCounter = 6
    /// The owner hierarchy asks for an authorisation that we do not have, or is disabled.
    case ownerRefused = 7
    /// lockoutAuth is set already.
    case lockoutAuthSet = 8
    /// A return code that no other case names; the journal of the helper's parent has its number.
    case other = 9
    /// The helper did not start, ended, or sent nonsense.
    case helperFailed = 10
    /// The TPM or the helper took longer than its deadline.
    case stalled = 11
}

/// What a TPM says of itself.
package struct EnclaveDescription: Equatable, Sendable {
    /// TPM2_PT_MANUFACTURER, as its up to four characters.
    package let maker: [UInt8]
    /// TPM2_PT_FIRMWARE_VERSION_1 and _2.
    package let firmware: UInt64
    package let dictionaryAttack: DictionaryAttackState
    /// Whether the owner hierarchy asks for an authorisation.
    package let hasOwnerAuthorization: Bool
    /// TPM2_PT_NV_COUNTERS_AVAIL: how many counters more can be defined; 0 where the TPM does not say, too.
    package let countersLeft: UInt32

    /// Takes what was read.
    package init(
        maker: [UInt8], firmware: UInt64, dictionaryAttack: DictionaryAttackState, hasOwnerAuthorization: Bool,
        countersLeft: UInt32
    ) {
        self.maker = maker
        self.firmware = firmware
        self.dictionaryAttack = dictionaryAttack
        self.hasOwnerAuthorization = hasOwnerAuthorization
        self.countersLeft = countersLeft
    }
}
