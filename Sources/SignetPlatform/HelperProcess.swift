internal import CPlatform
internal import SignetSecrets

/// Why a helper is of no use any more.
package enum HelperFailure: Error, Equatable, Sendable {
    /// Its file is missing, or somebody else than root could change it.
    case unsafePath
    /// The kernel refused to start it.
    case notStarted
    /// It ended, or closed its socket.
    case ended
    /// It does not take what is sent to it.
    case stalled
    /// It sent a packet that is too long or no message.
    case nonsense
}

/// One helper process and the socket to it; the owner ends it.
///
/// It is another's child (`signet_start_helper`), so that there is nothing to reap but where we are a subreaper.
public struct HelperProcess: ~Copyable {
    private let pid: pid_t
    /// The process as a descriptor, or -1 where the kernel has none.
    private let pidfd: Int32
    private let socket: Int32
    /// The one packet in work, either way; wiped after use, since it may hold a template.
    private var packet: SecretBytes
    /// Room for small packets, made where nobody waits for it.
    private var small = SecretBytes(count: HelperProcess.smallLimit)
    /// Longer than any packet without a list or a template, in bytes.
    private static let smallLimit = 256
    /// The reader that it has open: it goes when the process is gone, and not before.
    var claim: ReaderClaim?
    /// Milliseconds in which it must have ended once it is told to; it is killed then.
    var grace = 1000
    /// When it must have ended; nil until it was told to.
    private var ending: Deadline?
    /// It has said that its device is closed, which is the last that it does.
    private var hasTakenLeave = false

    /// What is waited for.
    enum Readiness {
        /// A packet can be read, or the helper is gone.
        case packet
        /// A packet can be sent, or the helper is gone.
        case room
    }

    /// What is looked at beside the helper; a descriptor of -1 is none.
    struct Surroundings {
        /// The keys of a field, and the signals that it holds back.
        var keys: Int32 = -1
        var fieldSignals: Int32 = -1
        /// Milliseconds after which the field is looked at in any case; -1: never.
        var patience: Int32 = -1
        /// Signals that are held here.
        var signals: Int32 = -1
        /// From when a sleep of the machine ends the wait.
        var sleep: SleepMeter?
    }

    /// What a wait ended with.
    enum Wakeup: Equatable {
        /// What was waited for.
        case ready
        /// Something may have happened at the field.
        case field
        /// A signal that is held is pending.
        case signal
        /// The machine has slept.
        case sleep
        case deadline
    }

    /// Starts the program at the absolute `path` with `arguments` after its name.
    package init(path: [UInt8], arguments: [[UInt8]], packetLimit: Int) throws(HelperFailure) {
        guard let checked = HelperPath(path) else { throw .unsafePath }
        guard let packet = SecretBytes(count: packetLimit) else { throw .notStarted }
        var ours: Int32 = -1
        var theirs: Int32 = -1
        // SAFETY: both numbers are good for the call.
        guard unsafe signet_packet_pair(&ours, &theirs) == 0 else { throw .notStarted }
        var pidfd: Int32 = -1
        let pid = HelperProcess.start(checked, arguments, theirs, &pidfd)
        _ = CPlatform.close(theirs)
        guard pid > 0 else {
            _ = CPlatform.close(ours)
            throw .notStarted
        }
        self.pid = pid
        self.pidfd = pidfd
        self.socket = ours
        self.packet = packet
    }

    /// Expects no packet of more than `smallLimit` bytes from now on: what is longer is nonsense.
    ///
    /// Memory for a template is much, and to give it back would keep somebody waiting who has touched the reader.
    mutating func expectSmallPackets() { if let room = small.take() { packet = room } }

    /// Expects packets of up to `count` bytes again.
    mutating func expectPackets(upTo count: Int) {
        guard packet.count < count, let room = SecretBytes(count: count) else { return }
        packet = room
    }

    private static func start(
        _ path: HelperPath, _ arguments: [[UInt8]], _ socket: Int32, _ pidfd: inout Int32
    ) -> pid_t {
        // All texts in one piece of memory, each with a zero at its end.
        var texts = path.terminated
        var starts = [0]
        for argument in arguments {
            guard !argument.contains(0) else { return -1 }
            starts.append(texts.count)
            texts += argument + [0]
        }
        let bytes = texts.map { CChar(bitPattern: $0) }
        // SAFETY: each start lies within `bytes`, which lives until the closure returns; the list ends with nil.
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return -1 }
            var pointers: [UnsafePointer<CChar>?] = unsafe starts.map { unsafe base.advanced(by: $0) }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let first = list.baseAddress else { return -1 }
                return unsafe signet_start_helper(base, first, socket, &pidfd)
            }
        }
    }

    /// Sends one packet that `encode` writes; it answers the packet's length, or nil where there is none to send.
    package mutating func send(
        within milliseconds: Int, _ encode: (inout MutableSpan<UInt8>) -> Int?
    ) throws(HelperFailure) {
        let deadline = Deadline(milliseconds: milliseconds)
        while try !sendAtOnce(encode) {
            guard wait(for: .room, until: deadline) == .ready, !deadline.hasPassed else { throw .stalled }
        }
    }

    /// As `send`, without waiting; false where the socket has no room.
    mutating func sendAtOnce(_ encode: (inout MutableSpan<UInt8>) -> Int?) throws(HelperFailure) -> Bool {
        let length = packet.withMutableBytes { (bytes) -> Int? in encode(&bytes) }
        defer { wipe() }
        guard let length, length > 0, length <= packet.count else { throw .nonsense }
        while true {
            let socket = socket
            let sent = packet.withBytes { bytes in
                // SAFETY: `length` is at most the length of the packet. NOSIGNAL: no SIGPIPE for the caller.
                unsafe bytes.withUnsafeBytes { buffer in
                    unsafe CPlatform.send(socket, buffer.baseAddress, length, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
                }
            }
            if sent == length { return true }
            let reason = signet_errno()
            if sent < 0, reason == EINTR { continue }
            guard sent < 0, reason == EAGAIN || reason == ENOBUFS else { throw .ended }
            return false
        }
    }

    /// Waits for the helper, for what is beside it, or for the deadline: in this order of importance, and of what is
    /// beside it the field first.
    func wait(
        for readiness: Readiness, until deadline: Deadline, beside other: Surroundings = Surroundings()
    ) -> Wakeup {
        let patience = other.patience >= 0 ? Deadline(milliseconds: Int(other.patience)) : nil
        while true {
            let passed = deadline.hasPassed
            let impatient = patience?.hasPassed ?? false
            let timeout = passed ? 0 : min(deadline.pollTimeout, patience?.pollTimeout ?? Int32.max)
            // A negative descriptor is skipped by poll(2).
            var wanted: InlineArray<4, pollfd> = [
                pollfd(fd: socket, events: Int16(readiness == .packet ? POLLIN : POLLOUT), revents: 0),
                pollfd(fd: other.keys, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other.fieldSignals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other.signals, events: Int16(POLLIN), revents: 0),
            ]
            // SAFETY: four entries, good for the call.
            var entries = wanted.mutableSpan
            let count = unsafe entries.withUnsafeMutableBufferPointer { buffer in
                unsafe poll(buffer.baseAddress, 4, timeout)
            }
            // Where poll(2) itself is refused (EINVAL under a tiny RLIMIT_NOFILE), what is done next finds the helper of
            // no use; to ask again would spin.
            if count < 0, signet_errno() != EINTR { return .ready }
            if count > 0 {
                if wanted[0].revents != 0 { return .ready }
                if wanted[1].revents != 0 || wanted[2].revents != 0 { return .field }
                if wanted[3].revents != 0 { return .signal }
            }
            // poll(2) returns within a second of waking up.
            if other.sleep?.hasSlept == true { return .sleep }
            if impatient { return .field }
            if passed { return .deadline }
        }
    }

    /// Waits for a packet and lets `body` read it.
    package mutating func receive<Result: ~Copyable>(
        within milliseconds: Int, _ body: (Span<UInt8>) -> Result
    ) throws(HelperFailure) -> Result {
        guard wait(for: .packet, until: Deadline(milliseconds: milliseconds)) == .ready else { throw .stalled }
        return try receive(body)
    }

    /// Reads the packet that `wait` told of and lets `body` read it.
    package mutating func receive<Result: ~Copyable>(
        _ body: (Span<UInt8>) -> Result
    ) throws(HelperFailure) -> Result {
        let socket = socket
        defer { wipe() }
        var length: Int
        repeat {
            length = packet.withMutableBytes { bytes in
                // SAFETY: the buffer has the length that is passed. TRUNC: a longer packet is known by its length.
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe recv(socket, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT) | CInt(MSG_TRUNC))
                }
            }
        } while length < 0 && signet_errno() == EINTR
        // A packet of no bytes cannot be told from the end of the connection, and is no message either.
        guard length > 0 else { throw .ended }
        guard length <= packet.count else { throw .nonsense }
        return packet.withBytes { bytes in body(bytes.extracting(0..<length)) }
    }

    private mutating func wipe() {
        packet.withMutableBytes { bytes in
            // SAFETY: the buffer has this length; explicit_bzero is not optimised away.
            unsafe bytes.withUnsafeMutableBytes { buffer in
                if let base = buffer.baseAddress { unsafe explicit_bzero(base, buffer.count) }
            }
        }
    }

    /// Tells the helper that no more requests come: it closes its reader and ends, which the owner need not wait for yet.
    package mutating func hangUp() {
        _ = shutdown(socket, Int32(SHUT_WR))
        if ending == nil { ending = Deadline(milliseconds: grace) }
    }

    /// Waits until the helper says that its device is closed, where it does within its grace.
    ///
    /// `isFarewell` knows its word for that; all else that it still says counts for nothing. The end of the process
    /// need not be waited for then: the kernel's work of taking its memory back takes longer than all that is left to
    /// be done here.
    package mutating func takeLeave(_ isFarewell: (Span<UInt8>) -> Bool) {
        if ending == nil { hangUp() }
        guard let ending else { return }
        // Who has it always say something else is not listened to for ever.
        while !hasTakenLeave, !ending.hasPassed, wait(for: .packet, until: ending) == .ready {
            do throws(HelperFailure) { hasTakenLeave = try receive { isFarewell($0) } } catch {
                // A packet of no sense may be followed by another one, the end by nothing.
                if error != .nonsense { return }
            }
        }
    }

    /// Kills the helper at once, for one that does not behave.
    package func kill() { signet_kill_helper(pid, pidfd) }

    /// Whether the process is gone; where it is our child it is reaped, by us or by a caller that ignores SIGCHLD or reaps
    /// everybody's children.
    private func isGone() -> Bool {
        if pidfd >= 0 {
            // Readable from the process's end on (pidfd_open(2)).
            var wanted = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
            // SAFETY: one entry, good for the call.
            guard unsafe poll(&wanted, 1, 0) > 0 else { return false }
            _ = signet_reap_helper(pid, pidfd)
            return true
        }
        return signet_reap_helper(pid, pidfd) != 0
    }

    /// Waits until the process is gone; whether it is.
    private func awaitEnd(until deadline: Deadline) -> Bool {
        while !isGone() {
            if deadline.hasPassed { return false }
            var wanted = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
            // SAFETY: one entry, good for the call. Without a pidfd this is a nap of 5 ms.
            _ = unsafe poll(&wanted, 1, pidfd >= 0 ? deadline.pollTimeout : 5)
        }
        return true
    }

    /// Ends the helper: its socket closes, it has its grace to close the reader, then it is killed.
    ///
    /// One that has taken leave is killed at once; its device is closed.
    deinit {
        _ = CPlatform.close(socket)
        if hasTakenLeave || !awaitEnd(until: ending ?? Deadline(milliseconds: grace)) {
            signet_kill_helper(pid, pidfd)
            // Where it is our child, nothing of it may be left. A process that hangs in the kernel cannot be waited for
            // without end.
            if !hasTakenLeave || signet_reap_helper(pid, pidfd) == 0 {
                _ = awaitEnd(until: Deadline(milliseconds: 2000))
            }
        }
        if pidfd >= 0 { _ = CPlatform.close(pidfd) }
    }
}
