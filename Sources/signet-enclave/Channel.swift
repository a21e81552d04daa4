internal import CPlatform
import SignetRecords
import SignetSecrets

/// The answer to one request.
struct Answer: ~Copyable {
    let reply: EnclaveReply
    /// The secret that the reply's range lies in.
    var secret: SecretBytes?
    /// Nothing more is answered after it.
    var isLast = false

    init(_ reply: EnclaveReply) {
        self.reply = reply
        secret = nil
    }

    init(secret: consuming SecretBytes) {
        reply = .secret(0..<secret.count)
        self.secret = consume secret
    }
}

/// The socket to Signet; one packet is one message.
///
/// Whatever does not fit the protocol ends the helper: it has nothing to lose that a new one would not have.
struct Channel: ~Copyable {
    /// The memory of a packet that came, and of one that goes.
    private var incoming: SecretBytes
    private var outgoing: SecretBytes
    /// Readable while a signal that asks for the end is pending.
    private let signals: Int32
    private let socket = Int32(SIGNET_HELPER_SOCKET)

    /// Longer than a person types; milliseconds.
    private static let idleMilliseconds: Int32 = 120_000
    /// Longer than any request takes on a slow TPM; the alarm kills what has waited so long for one that does not answer.
    static let requestSeconds: UInt32 = 10

    /// Takes the socket that the program was started with; nil where memory or descriptors are short.
    ///
    /// The signals that ask a program to end are held, so that what is in the TPM is flushed first: a device without a
    /// resource manager, and a software TPM, would keep it.
    init?() {
        let signals = Channel.holdSignals()
        guard signals >= 0, let incoming = SecretBytes(count: EnclaveMessage.packetLimit),
            let outgoing = SecretBytes(count: EnclaveMessage.packetLimit)
        else { return nil }
        self.signals = signals
        self.incoming = incoming
        self.outgoing = outgoing
    }

    /// The alarm alone acts at once.
    private static func holdSignals() -> Int32 {
        var held = sigset_t()
        // SAFETY: the set is good for each call.
        let descriptor = unsafe signet_hold_signals(&held)
        unsafe sigemptyset(&held)
        unsafe sigaddset(&held, SIGALRM)
        unsafe pthread_sigmask(SIG_UNBLOCK, &held, nil)
        return descriptor
    }

    /// Answers requests until Signet closes its side, nobody asks any more, or a signal or an answer says that it is over.
    ///
    /// `answer` gets the request and the packet it lies in; nil: the request may not come now.
    mutating func serve(_ answer: (EnclaveRequest, Span<UInt8>) -> Answer?) {
        while waitForPacket() {
            alarm(Channel.requestSeconds)
            guard let answer = receive(answer), send(answer), !answer.isLast else { return }
            alarm(0)
        }
    }

    /// Whether there is a packet, or the end of them, to be read.
    private func waitForPacket() -> Bool {
        alarm(0)
        while true {
            var wanted: InlineArray<2, pollfd> = [
                pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
            ]
            var entries = wanted.mutableSpan
            // SAFETY: two entries, good for the call.
            let count = unsafe entries.withUnsafeMutableBufferPointer { buffer in
                unsafe poll(buffer.baseAddress, 2, Channel.idleMilliseconds)
            }
            if count < 0, signet_errno() == EINTR { continue }
            return count > 0 && wanted[1].revents == 0
        }
    }

    private mutating func receive(_ answer: (EnclaveRequest, Span<UInt8>) -> Answer?) -> Answer? {
        let socket = socket
        let length = incoming.withMutableBytes { bytes in
            // SAFETY: the buffer has the length that is passed. TRUNC: a longer packet is known by its length.
            unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC))
            }
        }
        defer { Channel.wipe(&incoming) }
        guard length > 0, length <= incoming.count else { return nil }
        return incoming.withBytes { bytes in
            let packet = bytes.extracting(0..<length)
            guard let request = try? EnclaveRequest(decoding: packet) else { return nil }
            return answer(request, packet)
        }
    }

    private mutating func send(_ answer: borrowing Answer) -> Bool {
        defer { Channel.wipe(&outgoing) }
        guard let length = encode(answer) else { return false }
        let socket = socket
        return outgoing.withBytes { bytes in
            // SAFETY: `encode` answers at most the length of the memory. Signet takes one answer before it asks anew, so
            // that there is room; NOSIGNAL: it may be gone.
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe CPlatform.send(
                    socket, buffer.baseAddress, length, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) == length
            }
        }
    }

    private mutating func encode(_ answer: borrowing Answer) -> Int? {
        let reply = answer.reply
        switch answer.secret {
        case .some(let secret):
            return secret.withBytes { source in
                outgoing.withMutableBytes { try? reply.encode(secretsFrom: source, into: &$0) }
            }
        case .none: return outgoing.withMutableBytes { try? reply.encode(into: &$0) }
        }
    }

    private static func wipe(_ memory: inout SecretBytes) {
        memory.withMutableBytes { bytes in
            // SAFETY: the buffer has this length; explicit_bzero is not optimised away.
            unsafe bytes.withUnsafeMutableBytes { buffer in
                if let base = buffer.baseAddress { unsafe explicit_bzero(base, buffer.count) }
            }
        }
    }
}
