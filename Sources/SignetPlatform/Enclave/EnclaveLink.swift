internal import SignetPolicy
internal import SignetRecords
internal import SignetSecrets

/// What the helper answered, with the secret that came with it.
struct EnclaveAnswer: ~Copyable {
    /// nil: nothing that is an answer.
    let reply: EnclaveReply?
    /// The 32 bytes of `secret`.
    let secret: SecretBytes?

    init(_ packet: Span<UInt8>) {
        let reply = try? EnclaveReply(decoding: packet)
        if case .secret(let place) = reply {
            secret = SecretBytes(copying: packet.extracting(place))
        } else {
            secret = nil
        }
        self.reply = reply
    }

    /// Gives up the answer for its secret.
    consuming func takeSecret() -> SecretBytes? { secret }
}

/// The TPM helper as a process and a socket: one packet to it for each request, one from it for each answer, in order.
///
/// Whatever it does that it should not do ends it, and the next request finds none.
struct EnclaveLink: ~Copyable {
    private let path: [UInt8]
    private let arguments: [[UInt8]]
    /// Milliseconds for one request.
    let patience: Int
    private var helper: HelperProcess?

    /// The helper that is installed; the configuration may name another.
    static var standardHelper: [UInt8] { Array("/usr/libexec/signet/signet-enclave".utf8) }
    /// Milliseconds for one request unless a test says otherwise: a discrete TPM needs up to 1.5 s for the longest.
    static let standardPatience = 10_000

    init(_ settings: EnclaveSettings, patience: Int) {
        path = settings.helper ?? EnclaveLink.standardHelper
        arguments = [Array("--tcti".utf8), settings.tcti]
        self.patience = patience
    }

    var isRunning: Bool { helper != nil }

    /// Starts a helper, unless there is one.
    mutating func start() throws(EnclaveProblem) {
        if helper != nil { return }
        do throws(HelperFailure) {
            helper = try HelperProcess(path: path, arguments: arguments, packetLimit: EnclaveMessage.packetLimit)
        } catch {
            throw .helperFailed
        }
    }

    /// Sends one request; a range in it means `secrets`.
    mutating func send(_ request: EnclaveRequest, secrets: Span<UInt8>) throws(EnclaveProblem) {
        do throws(HelperFailure) {
            guard helper != nil else { throw HelperFailure.ended }
            try helper?.send(within: patience) { packet in
                try? request.encode(secretsFrom: secrets, into: &packet)
            }
        } catch {
            throw abandon(error)
        }
    }

    /// The next answer.
    mutating func receive() throws(EnclaveProblem) -> EnclaveAnswer {
        do throws(HelperFailure) {
            guard let answer = try helper?.receive(within: patience, { packet in EnclaveAnswer(packet) }) else {
                throw HelperFailure.ended
            }
            guard answer.reply != nil else { throw HelperFailure.nonsense }
            return answer
        } catch {
            throw abandon(error)
        }
    }

    /// The answer is not one that may come now: kills the helper.
    mutating func refuse() -> EnclaveProblem { abandon(.nonsense) }

    private mutating func abandon(_ failure: HelperFailure) -> EnclaveProblem {
        helper?.kill()
        helper = nil
        return failure == .stalled ? .stalled : .helperFailed
    }

    /// Lets the helper end.
    mutating func end() { helper = nil }
}
