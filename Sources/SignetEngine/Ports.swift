package import SignetPolicy
package import SignetRecords
package import SignetSecrets

// The ports: what the stories need from the machine (the readers' is in FingerSensor.swift, the TPM's in
// Enclave.swift). SignetPlatform has the adapters, the tests have fakes.

/// Why a record cannot be used; each case is told apart in the journal.
package enum RecordFault: Equatable, Sendable {
    /// The bytes are not what was written.
    case damaged
    /// Sealed under another machine's key, or the key was replaced.
    case foreign
    /// Another user's record was put here.
    case otherUser
    /// The uid now has another name than the record's.
    case renamed
    /// Written by a later Signet.
    case newer
    /// It must be there and is not.
    case missing
    /// A file or folder of the store is not root's alone.
    case unsafe
    /// A folder above the store can be changed by others than root, or is a link.
    case unsafeAbove
    /// What lies in its place can be neither replaced nor taken away: an immutable file, a mount point.
    case stuck
    /// The master key is gone or cannot be used.
    case keyLost
    /// Older than what the counters or the TPM say was written last: put back from a copy.
    case rolledBack
    /// The machine was set up with a TPM, and that TPM is not there, does not answer, or refuses.
    case enclaveGone
    /// The TPM is another one, or was cleared.
    case enclaveForeign
    /// The configuration asks for a TPM, and the store's key is a file.
    case enclaveRequired
}

/// Which record a fault is about.
package enum RecordKind: UInt8, Equatable, Sendable {
    case identity = 1
    case prints = 2
    case attempts = 3
    case values = 4
    case store = 5
    case chips = 6
}

/// Why the store did not do what was asked.
package enum StoreError: Error, Equatable, Sendable {
    case fault(RecordKind, RecordFault)
    /// The user's lock could not be had in time.
    case busy
    /// The file system refused, with its errno.
    case system(errno: Int32)
}

/// The records of one user, and the lock that makes charge, comparison and settling one hold.
package protocol RecordStore: ~Copyable {
    /// Waits for the user's lock; who holds it longer than the longest permitted hold is killed.
    mutating func lock() throws(StoreError)
    /// Gives the lock back; harmless where it is not held.
    mutating func unlock()

    /// The identity, or nil where the user has none.
    mutating func loadIdentity() throws(StoreError) -> IdentityRecord?
    /// The enrollment set; empty with generation 0 where none was ever written.
    mutating func loadPrints() throws(StoreError) -> EnrollmentSet
    /// The counters, which must be there when there is an identity.
    mutating func loadAttempts() throws(StoreError) -> Attempts
    /// Whether the last load found one of the two copies torn, and added a failure to each counter for it.
    var attemptsWereTorn: Bool { get }

    /// Makes the user's folder with a first identity and fresh counters, or replaces both.
    mutating func create(_ identity: IdentityRecord) throws(StoreError)
    /// Replaces the identity; durable when it returns.
    mutating func save(_ identity: IdentityRecord) throws(StoreError)
    /// Replaces the prints; durable when it returns.
    mutating func save(_ prints: borrowing EnrollmentSet) throws(StoreError)
    /// Writes the counters in place; durable when it returns.
    mutating func save(_ attempts: Attempts) throws(StoreError)
    /// The same for counters that a success has cleared; durable soon, and before the next write.
    ///
    /// After a power cut meanwhile the records are those before it: nothing that was charged is forgotten.
    mutating func saveSoon(_ attempts: Attempts) throws(StoreError)
    /// Deletes all that Signet keeps for the user.
    mutating func remove() throws(StoreError)
    /// The TPM's counter that the records name, whatever user name they bear; nil where none can be read.
    mutating func namedCounter() -> EnclaveCounter?

    /// Whose records these are.
    var uid: UInt32 { get }
    /// The index of prints in readers' memories; `fault(.chips, .missing)` where there is none.
    ///
    /// Where prints are kept elsewhere it has those of all of Signet's users that are there now.
    mutating func loadChipIndex() throws(StoreError) -> ChipIndex
    /// Changes the index under its own lock, which is taken after the user's; durable when it returns.
    ///
    /// One that cannot be read is first made anew from all users' records. Nothing is changed where prints are kept elsewhere.
    mutating func changeChipIndex(_ change: (inout ChipIndex) -> Void) throws(StoreError)
    /// Writes the index once more as it is, an empty one where there is none: throws where the next change would find that it
    /// cannot. Nothing is written where prints are kept elsewhere.
    mutating func renewChipIndex() throws(StoreError)
    /// Makes all of the user's entries loose, wherever prints are kept: the records go.
    mutating func loosenChipIndex() throws(StoreError)
    /// Takes these out of the index, wherever prints are kept: they have left the chip.
    mutating func forgetLeftovers(_ leftovers: [ChipIndex.Entry]) throws(StoreError)
    /// Compares the index with all users' records, and writes it anew where it does not fit and `mending`.
    mutating func surveyChipIndex(mending: Bool) throws(StoreError) -> ChipSurvey
}

/// How the index of prints in readers' memories stands beside the records.
package struct ChipSurvey: Equatable, Sendable {
    /// Why it could not be read; nil where it could.
    package let fault: RecordFault?
    /// Whether it says what the records say.
    package let fits: Bool
    /// What it should say; as in `loadChipIndex`, with what is kept elsewhere.
    package let index: ChipIndex
    /// Prints that Signet knows and no record has: what deletions and enrolments left that were cut off.
    ///
    /// Where a user's record cannot be read, none of that user's is among them; nor is what fprintd keeps, where it does.
    package let leftovers: [ChipIndex.Entry]

    package init(fault: RecordFault?, fits: Bool, index: ChipIndex, leftovers: [ChipIndex.Entry]) {
        self.fault = fault
        self.fits = fits
        self.index = index
        self.leftovers = leftovers
    }
}

extension RecordStore where Self: ~Copyable {
    package mutating func namedCounter() -> EnclaveCounter? { (try? loadAttempts())?.counter }
    package mutating func saveSoon(_ attempts: Attempts) throws(StoreError) { try save(attempts) }
}

/// Why a cryptographic operation could not be done; never says whether a secret was right.
package enum VaultError: Error, Equatable, Sendable {
    /// Memory for the derivation could not be had.
    case outOfMemory
    /// The keys of the store cannot be used.
    case keyLost
    /// The TPM did not do what was asked.
    case enclave(EnclaveProblem)
}

/// A fresh Ed25519 key pair.
package struct SigningKeyPair: ~Copyable {
    /// 64 bytes, libsodium's form (seed and public half).
    package let secret: SecretBytes
    /// 32 bytes.
    package let publicKey: [UInt8]

    package init(secret: consuming SecretBytes, publicKey: [UInt8]) {
        self.secret = secret
        self.publicKey = publicKey
    }

    /// Gives up the pair for its secret half.
    package consuming func takeSecret() -> SecretBytes { secret }
}

/// A typed secret as the vault goes on with it: not the characters, but what `KeyVault.conceal` made of them.
///
/// It keeps the characters out of the process's memory while a key is derived and until the program ends. To whoever
/// also has the store's pepper it is as good as the secret itself: it opens the signing key, and a short PIN is found
/// from it by trying. So it is kept and wiped like one.
package struct ConcealedSecret: ~Copyable {
    package let image: SecretBytes

    /// For a vault: takes what it made.
    package init(_ image: consuming SecretBytes) { self.image = image }
}

/// Keys and what is done with them.
package protocol KeyVault: ~Copyable {
    /// Makes the image of a typed secret and wipes the secret; to be called as soon as nobody has to look at it any more.
    mutating func conceal(
        _ typed: consuming SecretBytes, for purpose: SecretPurpose
    ) throws(VaultError) -> ConcealedSecret
    /// The keyed hash that digests are made with.
    mutating func digest(of bytes: Span<UInt8>) throws(VaultError) -> Digest
    /// What a print's identity is known by to who has no key: SHA-256, as the reader's helper makes it too.
    mutating func handleDigest(of identity: Span<UInt8>) throws(VaultError) -> Digest
    /// Makes a signing key.
    mutating func makeSigningKey() throws(VaultError) -> SigningKeyPair
    /// Signs with a 64-byte key; the answer has 64 bytes.
    mutating func sign(_ message: [UInt8], with key: borrowing SecretBytes) throws(VaultError) -> [UInt8]
    /// Whether `signature` over `message` is by the holder of `publicKey`; false for any malformed part.
    mutating func isValid(signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool
    /// Seals a signing key under what `secret` and the pepper derive; costs one Argon2id.
    mutating func wrap(
        _ key: borrowing SecretBytes, under secret: borrowing ConcealedSecret, for purpose: SecretPurpose,
        cost: KeyDerivationCost
    ) throws(VaultError) -> WrappedKey
    /// Opens it; nil where the secret is wrong or the key's public half is not `publicKey`. Costs one Argon2id.
    mutating func unwrap(
        _ wrapped: WrappedKey, with secret: borrowing ConcealedSecret, for purpose: SecretPurpose, publicKey: [UInt8]
    ) throws(VaultError) -> SecretBytes?
    /// Spends the time of one derivation, for a user who does not exist; one at a time on the whole machine.
    mutating func spendTime(of cost: KeyDerivationCost, on secret: borrowing ConcealedSecret)
    /// Has the TPM's helper running, where there is a TPM; waits for nothing, and what fails shows when it is asked.
    ///
    /// To be called before a lock is taken. Who starts a process under a lock shares it with that process until this is
    /// another program, and a user may stop both with all that runs in a control group of theirs (cgroups(7), the freezer):
    /// of the two a waiter knows the one, and can kill no other.
    mutating func wake()
    /// Lets the TPM go where nobody may keep it while a person types; to be called once the lock was given back, and not
    /// before, for who is asked under it again would have to be started under it.
    mutating func rest()
    /// Has the TPM load what opening this key will need, while a person types; waits for nothing.
    mutating func prepare(_ wrapped: WrappedKey)
    /// How the TPM's protection against guessing stands; nil where there is no TPM.
    mutating func dictionaryAttack() throws(VaultError) -> DictionaryAttackState?
    /// As `Enclave.makeCounter`.
    mutating func makeCounter(for owner: CounterOwner) throws(VaultError) -> EnclaveCounter?
    /// As `Enclave.value`.
    mutating func value(of counter: EnclaveCounter, for owner: CounterOwner) throws(VaultError) -> UInt64
    /// As `Enclave.bump`.
    mutating func bump(_ counter: EnclaveCounter, for owner: CounterOwner) throws(VaultError) -> UInt64
    /// As `Enclave.remove`.
    mutating func remove(_ counter: EnclaveCounter) throws(VaultError)
    /// Whether a key that is wrapped now would get a half in the TPM.
    var hasHalves: Bool { get }
    /// `count` random bytes that are no secret: an instance id.
    mutating func random(count: Int) throws(VaultError) -> [UInt8]
    /// A secret of `count` random bytes: a recovery code.
    mutating func randomSecret(count: Int) throws(VaultError) -> SecretBytes
}

/// An open field, for somebody who waits for something else at the same time.
package protocol FieldWatch: ~Copyable {
    /// Readable when a key was pressed; -1 where no field is open.
    var keys: Int32 { get }
    /// Readable when a signal is pending that the field holds back; -1 where no field is open.
    var signals: Int32 { get }
    /// Milliseconds after which `attend` is to be called though nothing is readable; -1: no need.
    var patience: Int32 { get }
    /// Takes what came, without waiting; nil: the person goes on typing.
    mutating func attend() -> FieldEvent?
}

/// No field at all.
package struct NoField: FieldWatch {
    package init() {}
    package var keys: Int32 { -1 }
    package var signals: Int32 { -1 }
    package var patience: Int32 { -1 }
    package func attend() -> FieldEvent? { nil }
}

/// Why nobody answered.
package enum ConversationError: Error, Equatable, Sendable {
    /// Ctrl-C, Ctrl-D, or a caller that gives no answer.
    case cancelled
    /// The caller's own time limit passed.
    case timedOut
    /// There is no conversation, or the answer is too long or no text.
    case unusable
}

/// The person, or the program that speaks for them.
///
/// Where there is a field on a terminal, it can stay open while a reader is opened and a touch awaited: `openField`,
/// then whatever takes it as its `FieldWatch`, then `takeAnswer`, `ask` or `closeField`. All else is one question and one
/// answer.
package protocol Conversation: FieldWatch, ~Copyable {
    /// Asks for a secret in a hidden field; the answer is at most 512 bytes, without the line's end.
    ///
    /// A field that is open gets this prompt, and keeps what was typed.
    mutating func ask(_ prompt: Prompt) throws(ConversationError) -> SecretBytes
    /// Says one sentence, where there is somewhere to say it; at an open field, what concerns the touch becomes its prompt.
    mutating func tell(_ notice: Notice)
    /// Says who holds a busy reader, before the prompt that speaks of it.
    mutating func readerIsHeld(by holder: [UInt8])
    /// Shows a prompt at a field that is read while something else is waited for; false where there is no such field.
    mutating func openField(_ prompt: Prompt) -> Bool
    /// Takes what was answered, after `attend` said `answered`; the field is closed then.
    mutating func takeAnswer() throws(ConversationError) -> SecretBytes
    /// Lets the person leave, after `attend` said `left`, and waits until they are back; then the field stands open and
    /// empty with this prompt.
    mutating func awaitReturn(_ prompt: Prompt) throws(ConversationError)
    /// Takes prompt and masks off the screen and wipes what was typed; harmless where no field is open.
    mutating func closeField()
    /// Keeps what is typed off the screen while a touch is awaited; signals that end the program are held back then.
    mutating func hideTyping()
    /// Undoes it and throws away what was typed; harmless where nothing is hidden.
    mutating func showTyping()
}

extension Conversation where Self: ~Copyable {
    package var keys: Int32 { -1 }
    package var signals: Int32 { -1 }
    package var patience: Int32 { -1 }
    package mutating func attend() -> FieldEvent? { nil }
    package mutating func readerIsHeld(by holder: [UInt8]) {}
    package mutating func openField(_ prompt: Prompt) -> Bool { false }
    package mutating func takeAnswer() throws(ConversationError) -> SecretBytes { throw .unusable }
    package mutating func awaitReturn(_ prompt: Prompt) throws(ConversationError) { throw .unusable }
    package mutating func closeField() {}
    package mutating func hideTyping() {}
    package mutating func showTyping() {}
}

/// The boot clock cannot be read.
package struct ClockUnreadable: Error, Equatable, Sendable {
    package init() {}
}

/// Time.
package protocol Clock: ~Copyable {
    /// Now, on the boot clock.
    mutating func now() throws(ClockUnreadable) -> BootInstant
    /// Now, on the wall clock in seconds since 1970, for people to read only.
    mutating func wallTime() -> Int64
}

/// The journal: one line a decision.
package protocol Journal: ~Copyable {
    mutating func record(_ event: JournalEvent)
}
