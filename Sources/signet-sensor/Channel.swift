internal import CFprint
internal import CPlatform
import SignetRecords

/// The socket to Signet; one packet is one message.
///
/// Whatever does not fit the protocol ends the process: a helper has nothing to lose that a new one would not have.
@safe final class Channel {
    /// A packet can be read, or the other side is gone.
    private(set) var isReadable = false
    /// The other side asks nothing more and waits for no answer, whatever of it still lies unread.
    private(set) var isHungUp = false
    /// Whether the process ends as soon as the other side hangs up: there is nothing to put in order.
    var endsWhenHungUp = true
    /// The memory of a packet that came, and of one that goes: an answer may be sent while a request is looked at.
    private let incoming: UnsafeMutableRawBufferPointer
    private let outgoing: UnsafeMutableRawBufferPointer
    private let socket = Int32(SIGNET_HELPER_SOCKET)

    init() {
        // SAFETY: the memory lives as long as the process.
        unsafe incoming = .allocate(byteCount: SensorMessage.packetLimit, alignment: 16)
        unsafe outgoing = .allocate(byteCount: SensorMessage.packetLimit, alignment: 16)
        watch()
        watchForHangUp()
    }

    /// Lets the main loop look for the end of the other side's packets, however long ours takes to read them.
    private func watchForHangUp() {
        let condition = GIOCondition(
            rawValue: UInt32(SIGNET_POLLRDHUP) | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        // SAFETY: as in `watch`.
        unsafe _ = g_unix_fd_add(
            socket, condition,
            { _, _, data in
                guard let data = unsafe data else { return 0 }
                // SAFETY: `data` is the channel that was passed below.
                let channel = unsafe Unmanaged<Channel>.fromOpaque(data).takeUnretainedValue()
                // libfprint looks for readers and starts drivers in this loop too.
                if channel.endsWhenHungUp { _exit(0) }
                channel.isHungUp = true
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Lets the main loop look at the socket until it becomes readable once.
    private func watch() {
        let condition = GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        // SAFETY: the channel lives as long as the process, so the pointer stays good.
        unsafe _ = g_unix_fd_add(
            socket, condition,
            { _, _, data in
                guard let data = unsafe data else { return 0 }
                // SAFETY: `data` is the channel that was passed below.
                unsafe Unmanaged<Channel>.fromOpaque(data).takeUnretainedValue().isReadable = true
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Reads one request; `body` gets it with the packet it lies in.
    ///
    /// nil: the other side closed.
    func receive<Result>(_ body: (SensorRequest, Span<UInt8>) -> Result) -> Result? {
        // SAFETY: `incoming` has the length that is passed; MSG_TRUNC makes a longer packet known by its true length.
        let length = unsafe recv(socket, incoming.baseAddress, incoming.count, Int32(MSG_TRUNC))
        guard length > 0 else { return nil }
        isReadable = false
        watch()
        guard unsafe length <= incoming.count else { fail("too long") }
        // SAFETY: the first `length` bytes were just written, and the check keeps the length within the memory.
        let start = unsafe incoming.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let packet = unsafe UnsafeBufferPointer(start: start, count: length)
        defer { unsafe wipe(incoming) }
        guard let request = unsafe try? SensorRequest(decoding: packet.span) else { fail("no message") }
        return unsafe body(request, packet.span)
    }

    /// Tells Signet one event.
    func send(_ event: SensorEvent) {
        let none: [UInt8] = []
        send(event, templateFrom: none.span)
    }

    /// Tells Signet one event with a template that lies in `source`.
    func send(_ event: SensorEvent, templateFrom source: Span<UInt8>) {
        let start = unsafe outgoing.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let packet = unsafe UnsafeMutableBufferPointer(start: start, count: outgoing.count)
        defer { unsafe wipe(outgoing) }
        // SAFETY: the memory belongs to this object, and nothing else uses it during the call.
        guard let length = unsafe encode(event, source, into: packet) else { fail("no message") }
        // SAFETY: `encode` answers at most the length of the memory.
        guard unsafe CPlatform.send(socket, outgoing.baseAddress, length, Int32(MSG_NOSIGNAL)) == length else {
            fail("not sent")
        }
    }

    private func encode(
        _ event: SensorEvent, _ source: Span<UInt8>, into packet: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        var span = unsafe packet.mutableSpan
        return try? event.encode(templateFrom: source, into: &span)
    }

    private func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard let base = memory.baseAddress else { return }
        // SAFETY: the memory has this length.
        unsafe explicit_bzero(base, memory.count)
    }

    /// Ends the process at once; the reason is for whoever reads the code.
    private func fail(_ reason: StaticString) -> Never {
        _exit(1)
    }
}
