package import SignetEngine
package import SignetPolicy
package import SignetRecords
package import SignetSecrets

/// How a TPM's helper is waited for and kept.
package struct EnclaveTiming: Equatable, Sendable {
    /// Milliseconds that one request may take.
    package var patience = 10_000
    /// The folder of the slots for helpers that wait for a person; nil: every one may wait.
    package var slots: [UInt8]? = SensorClient.standardClaims

    package init() {}
}

/// The enclave of a machine with a TPM 2.0, behind its helper.
///
/// One helper serves one authentication: started for the master key, kept while the person types, asked for the half when
/// the PIN has come, ended with the value.
package struct TPMEnclave: Enclave, ~Copyable {
    private var session: EnclaveSession
    private let sealedKey: EnclaveObject
    private let timing: EnclaveTiming
    /// What the counters' authorisations are derived from; known once the master key is.
    private var counterKey: SecretBytes?
    private var slot: WaitingSlot?

    /// The enclave that `record` names, reached as `settings` say.
    package init(_ record: EnclaveKeyRecord, _ settings: EnclaveSettings, timing: EnclaveTiming = EnclaveTiming()) {
        session = EnclaveSession(settings, primaryName: record.primaryName, patience: timing.patience)
        sealedKey = record.masterKey
        self.timing = timing
    }

    package var kind: EnclaveKind { .tpm }

    package mutating func masterKey() throws(EnclaveError) -> SecretBytes {
        let key = try session.unseal(sealedKey)
        guard let counterKey = KeyedHash.deriveKey(from: key, context: "signet counter authorization 1") else {
            throw .outOfMemory
        }
        self.counterKey = consume counterKey
        takeSlotOrEnd()
        return key
    }

    /// Whoever waits for a person needs a slot.
    private mutating func takeSlotOrEnd() {
        guard let slots = timing.slots, slot == nil else { return }
        slot = WaitingSlot(in: slots)
        if slot == nil { session.end() }
    }

    /// Whether the helper may be kept while a person types.
    private var mayWait: Bool { timing.slots == nil || slot != nil }

    package mutating func wake() { try? session.start() }

    package mutating func rest() { if !mayWait { session.end() } }

    package mutating func prepare(_ object: EnclaveObject?) {
        // A counter may have been asked for since there was no slot.
        rest()
        if let object, mayWait { try? session.load(object) }
    }

    /// Prepares for a user who does not exist as for one who does.
    mutating func prepareForNobody() { prepare(sealedKey) }

    /// Has the TPM refuse an authorisation, as it would a wrong PIN's; it counts nothing, for the object is not subject to
    /// its protection.
    mutating func spendTime(authorization: borrowing SecretBytes) {
        _ = try? openHalf(sealedKey, authorization: authorization)
    }

    package mutating func dictionaryAttack() throws(EnclaveError) -> DictionaryAttackState? {
        try asked { (session) throws(EnclaveProblem) in try session.look().dictionaryAttack }
    }

    /// A TPM's own limit counts for the half only where it protects: with a reset that needs a secret, and room for the
    /// failures of all who use this machine's TPM.
    private static let leastLimit: UInt32 = 32

    package mutating func makeHalf(authorization: borrowing SecretBytes) throws(EnclaveError) -> EnclaveHalf? {
        guard authorization.count == EnclaveMessage.secretCount,
            let half = SecretBytes(randomCount: EnclaveMessage.secretCount),
            var both = SecretBytes(count: 2 * EnclaveMessage.secretCount)
        else { throw .outOfMemory }
        TPMEnclave.join(half, authorization, to: &both)
        let object: EnclaveObject
        do throws(EnclaveProblem) {
            let attack = try session.look().dictionaryAttack
            let counts = attack.hasLockoutAuthorization && attack.limit >= TPMEnclave.leastLimit
            let count = EnclaveMessage.secretCount
            let reply = try both.withBytes { (bytes) throws(EnclaveProblem) in
                try session.ask(
                    .sealUnder(secret: 0..<count, authorization: count..<2 * count, countsFailures: counts),
                    secrets: bytes
                ).reply
            }
            guard case .object(let made) = reply, made.countsFailures == counts else { throw session.refuse() }
            object = made
        } catch {
            throw .problem(error)
        }
        // What is written is to open: proven now, while the PIN is here and the old object still is.
        guard case .half(let opened) = try openHalf(object, authorization: authorization), opened.isEqual(to: half)
        else { throw .problem(.helperFailed) }
        return EnclaveHalf(object: object, half: half)
    }

    private static func join(
        _ first: borrowing SecretBytes, _ second: borrowing SecretBytes, to both: inout SecretBytes
    ) {
        both.withMutableBytes { target in
            first.withBytes { first in
                second.withBytes { second in
                    guard target.count == first.count + second.count else { return }
                    for index in 0..<first.count { target[index] = first[index] }
                    for index in 0..<second.count { target[first.count + index] = second[index] }
                }
            }
        }
    }

    package mutating func openHalf(
        _ object: EnclaveObject, authorization: borrowing SecretBytes
    ) throws(EnclaveError) -> HalfOpening {
        guard authorization.count == EnclaveMessage.secretCount else { throw .problem(.other) }
        let answer: EnclaveAnswer
        do throws(EnclaveProblem) {
            try loaded(object)
            answer = try authorization.withBytes { (bytes) throws(EnclaveProblem) in
                try session.ask(.unsealUnder(authorization: 0..<bytes.count), secrets: bytes)
            }
        } catch {
            throw .problem(error)
        }
        switch answer.reply {
        case .secret:
            guard let half = answer.takeSecret() else { throw .outOfMemory }
            return .half(half)
        case .wrong(let counted): return .wrong(counted: counted)
        default: throw .problem(session.refuse())
        }
    }

    /// Waits until the object is loaded.
    ///
    /// A helper that met its end while the person typed, or that could not load what was an older record's, has a
    /// successor: nothing was authorised yet.
    private mutating func loaded(_ object: EnclaveObject) throws(EnclaveProblem) {
        let wasPrepared = session.isRunning
        do throws(EnclaveProblem) {
            try session.load(object)
            try session.settle()
        } catch {
            guard wasPrepared, error == .helperFailed || error == .foreign else { throw error }
            session.end()
            try session.load(object)
            try session.settle()
        }
    }

    /// Asks, with the error in the port's form.
    private mutating func asked<Answer>(
        _ body: (inout EnclaveSession) throws(EnclaveProblem) -> Answer
    ) throws(EnclaveError) -> Answer {
        do throws(EnclaveProblem) { return try body(&session) } catch { throw .problem(error) }
    }
}

// MARK: Counters

extension TPMEnclave {
    package mutating func makeCounter(for owner: CounterOwner) throws(EnclaveError) -> EnclaveCounter? {
        do throws(EnclaveError) {
            return try count(for: owner) { place in .makeCounter(authorization: place) }
        } catch {
            guard error == .problem(.noRoom) else { throw error }
            return nil
        }
    }

    package mutating func value(of counter: EnclaveCounter, for owner: CounterOwner) throws(EnclaveError) -> UInt64 {
        try count(counter, for: owner) { place in .readCounter(index: counter.index, authorization: place) }
    }

    package mutating func bump(_ counter: EnclaveCounter, for owner: CounterOwner) throws(EnclaveError) -> UInt64 {
        try count(counter, for: owner) { place in .bumpCounter(index: counter.index, authorization: place) }
    }

    package mutating func remove(_ counter: EnclaveCounter) throws(EnclaveError) {
        let reply = try asked { (session) throws(EnclaveProblem) in
            try session.ask(.removeCounter(index: counter.index)).reply
        }
        guard reply == .done else { throw .problem(session.refuse()) }
    }

    private mutating func count(
        _ counter: EnclaveCounter, for owner: CounterOwner, _ request: (Range<Int>) -> EnclaveRequest
    ) throws(EnclaveError) -> UInt64 {
        let answer = try count(for: owner, request)
        guard answer.index == counter.index else { throw .problem(session.refuse()) }
        return answer.value
    }

    private mutating func count(
        for owner: CounterOwner, _ request: (Range<Int>) -> EnclaveRequest
    ) throws(EnclaveError) -> EnclaveCounter {
        let authorization = try authorization(for: owner)
        let reply: EnclaveReply?
        do throws(EnclaveProblem) {
            reply = try authorization.withBytes { (bytes) throws(EnclaveProblem) in
                try session.ask(request(0..<bytes.count), secrets: bytes).reply
            }
        } catch {
            throw .problem(error)
        }
        switch reply {
        case .counter(let counter): return counter
        // Somebody removed the counter and made one of his own at its index.
        case .wrong: throw .problem(.noCounter)
        default: throw .problem(session.refuse())
        }
    }

    /// The authorisation of a user's counter, 32 bytes.
    ///
    /// It keeps others who reach the TPM from counting in the user's place, which would close his door; nobody counts back.
    private borrowing func authorization(for owner: CounterOwner) throws(EnclaveError) -> SecretBytes {
        var writer = ByteWriter()
        writer.uint32(owner.uid)
        let message = KeyedHash.bytes(of: "signet counter 1") + writer.bytes + owner.instance
        guard var authorization = SecretBytes(count: EnclaveMessage.secretCount) else { throw .outOfMemory }
        switch counterKey {
        case .none: throw .keyLost
        case .some(let key):
            let written = authorization.withMutableBytes { target in
                KeyedHash.write(of: message.span, key: key, to: &target)
            }
            guard written else { throw .outOfMemory }
        }
        return authorization
    }
}
