internal import SignetEngine
internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// One conversation with the TPM helper: the primary key is made and its Name compared before anything else is asked.
///
/// Requests can be sent early: what is owed is taken before the next answer that somebody waits for.
struct EnclaveSession: ~Copyable {
    private var link: EnclaveLink
    /// Which TPM it must be; empty: whichever answers, for a store that is being made.
    private(set) var primaryName: [UInt8]
    /// What was sent and not answered yet.
    private var owed: [Owed] = []
    /// The object that is loaded, or will be once what is owed has come.
    private(set) var loading: EnclaveObject?

    private enum Owed {
        case opened
        case loaded
    }

    init(_ settings: EnclaveSettings, primaryName: [UInt8], patience: Int = EnclaveLink.standardPatience) {
        link = EnclaveLink(settings, patience: patience)
        self.primaryName = primaryName
    }

    var isRunning: Bool { link.isRunning }

    /// Lets the helper end, with all that it holds of the TPM.
    mutating func end() {
        owed = []
        loading = nil
        link.end()
    }

    /// Starts a helper and asks for the primary key, unless that was done; waits for no answer.
    mutating func start() throws(EnclaveProblem) {
        if link.isRunning { return }
        owed = []
        loading = nil
        try link.start()
        try send(.open(primaryName: primaryName))
        owed.append(.opened)
    }

    private mutating func send(_ request: EnclaveRequest) throws(EnclaveProblem) {
        let none: [UInt8] = []
        try link.send(request, secrets: none.span)
    }

    /// Has an object loaded and waits for nothing.
    mutating func load(_ object: EnclaveObject) throws(EnclaveProblem) {
        if link.isRunning, loading == object { return }
        try start()
        try send(.load(object))
        owed.append(.loaded)
        loading = object
    }

    /// Takes the answers that are owed.
    mutating func settle() throws(EnclaveProblem) {
        while let next = owed.first {
            do throws(EnclaveProblem) {
                let answer = try link.receive()
                owed.removeFirst()
                switch (next, answer.reply) {
                case (.opened, .opened(let name)):
                    guard primaryName.isEmpty || name == primaryName else { throw EnclaveProblem.foreign }
                    guard !name.isEmpty else { throw link.refuse() }
                    primaryName = name
                case (.loaded, .done): break
                case (_, .failed(let problem)): throw problem
                default: throw link.refuse()
                }
            } catch {
                // Without its primary key or object a session is of no use: the next request begins another.
                end()
                throw error
            }
        }
    }

    /// Asks one thing; a range in it means `secrets`.
    ///
    /// What the TPM does not do is thrown.
    mutating func ask(_ request: EnclaveRequest, secrets: Span<UInt8>) throws(EnclaveProblem) -> EnclaveAnswer {
        try start()
        try settle()
        try link.send(request, secrets: secrets)
        let answer = try link.receive()
        if case .failed(let problem) = answer.reply { throw problem }
        return answer
    }

    /// The same without secrets.
    mutating func ask(_ request: EnclaveRequest) throws(EnclaveProblem) -> EnclaveAnswer {
        let none: [UInt8] = []
        return try ask(request, secrets: none.span)
    }

    /// The answer is not one that may come now.
    mutating func refuse() -> EnclaveProblem {
        owed = []
        loading = nil
        return link.refuse()
    }
}

extension EnclaveSession {
    /// What the TPM says of itself.
    mutating func look() throws(EnclaveProblem) -> EnclaveDescription {
        guard case .facts(let description) = try ask(.look).reply else { throw refuse() }
        return description
    }

    /// The same with nothing asked before: also of a TPM that is not the store's, or whose owner refuses.
    mutating func lookAlone() throws(EnclaveProblem) -> EnclaveDescription {
        try link.start()
        try send(.look)
        switch try link.receive().reply {
        case .facts(let description): return description
        case .failed(let problem): throw problem
        default: throw refuse()
        }
    }

    /// Seals a secret of 32 bytes without authorisation.
    mutating func seal(_ secret: borrowing SecretBytes) throws(EnclaveProblem) -> EnclaveObject {
        let reply = try secret.withBytes { (bytes) throws(EnclaveProblem) in
            try ask(.seal(secret: 0..<bytes.count), secrets: bytes).reply
        }
        guard case .object(let object) = reply, !object.countsFailures else { throw refuse() }
        return object
    }

    /// What `seal` sealed.
    mutating func unseal(_ object: EnclaveObject) throws(EnclaveError) -> SecretBytes {
        let answer: EnclaveAnswer
        do throws(EnclaveProblem) { answer = try ask(.unseal(object)) } catch { throw .problem(error) }
        guard case .secret = answer.reply else { throw .problem(refuse()) }
        guard let secret = answer.takeSecret() else { throw .outOfMemory }
        return secret
    }
}
