import SignetRecords
import SignetSecrets

/// One life of the helper: requests are taken in order, the primary is opened once, one object is loaded at a time.
struct Session: ~Copyable {
    /// nil where there is no TPM.
    private let connection: Connection?
    private var enclave: OpenedEnclave?
    /// What `load` loaded.
    private var loaded: Handle?

    init(_ connection: Connection?) { self.connection = connection }

    /// Answers one request; nil: it may not come now.
    mutating func answer(_ request: EnclaveRequest, _ packet: Span<UInt8>) -> Answer? {
        if request == .close {
            var answer = Answer(.done)
            answer.isLast = true
            // Flushed first: who reads the answer finds the TPM as it was.
            loaded = nil
            enclave = nil
            return answer
        }
        guard let connection else { return Answer(.failed(.noDevice)) }
        do throws(Refusal) {
            switch request {
            case .look:
                return Answer(.facts(try refusing(Refusal.plainly) { () throws(ReturnCode) in try connection.look() }))
            case .open(let primaryName):
                guard enclave == nil else { return nil }
                enclave = try OpenedEnclave(connection, expecting: primaryName)
                return enclave.map { Answer(.opened(primaryName: $0.name)) }
            default: return try serve(request, packet)
            }
        } catch {
            return Answer(error.reply)
        }
    }

    /// Answers a request that needs the session.
    private mutating func serve(_ request: EnclaveRequest, _ packet: Span<UInt8>) throws(Refusal) -> Answer? {
        guard let enclave else { return nil }
        let none: [UInt8] = []
        switch request {
        case .look, .open, .close: return nil
        case .seal(let secret):
            return Answer(
                .object(try enclave.seal(packet.extracting(secret), under: none.span, countsFailures: false)))
        case .unseal(let object):
            // An empty authorisation would be one more counted failure of an object that has one.
            guard !object.countsFailures else { throw .problem(.foreign) }
            return Answer(secret: try enclave.unseal(try enclave.load(object), with: none.span))
        case .sealUnder(let secret, let authorization, let countsFailures):
            let object = try enclave.seal(
                packet.extracting(secret), under: packet.extracting(authorization), countsFailures: countsFailures)
            return Answer(.object(object))
        case .load(let object):
            // The place of the one before is free first: a TPM may have three.
            loaded = nil
            loaded = try enclave.load(object)
            enclave.leavePrimary()
            return Answer(.done)
        case .unsealUnder(let authorization):
            switch loaded {
            case .none: return nil
            case .some(let object):
                return Answer(secret: try enclave.unseal(object, with: packet.extracting(authorization)))
            }
        case .makeCounter(let authorization):
            return Answer(.counter(try enclave.makeCounter(authorization: packet.extracting(authorization))))
        case .readCounter(let index, let authorization):
            return Answer(.counter(try enclave.readCounter(index, authorization: packet.extracting(authorization))))
        case .bumpCounter(let index, let authorization):
            return Answer(.counter(try enclave.bumpCounter(index, authorization: packet.extracting(authorization))))
        case .removeCounter(let index):
            try enclave.removeCounter(index)
            return Answer(.done)
        case .setLockout(let authorization, let limit, let healSeconds, let recoverySeconds):
            try enclave.setLockout(
                authorization: packet.extracting(authorization), limit: limit, healSeconds: healSeconds,
                recoverySeconds: recoverySeconds)
            return Answer(.done)
        case .resetLockout(let authorization):
            try enclave.resetLockout(authorization: packet.extracting(authorization))
            return Answer(.done)
        }
    }
}
