import CTerminal
import Glibc
import Synchronization

/// Collects what programs of the world say to syslog, at the world's own /dev/log.
///
/// A thread reads all the time: the socket's queue is short, and syslog(3) waits while it is full.
final class JournalListener: Sendable {
    private let state: Shared
    private final class Shared: Sendable {
        let descriptor: CInt
        let lines = Mutex<[String]>([])
        let stopped = Atomic(false)

        init(descriptor: CInt) { self.descriptor = descriptor }

        // The thread has an owner of its own to this state, so the descriptor lives until the last read.
        deinit { close(descriptor) }

        func gather() {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while !stopped.load(ordering: .relaxed) {
                let count = signet_read_within(descriptor, &buffer, buffer.count, 50)
                guard count > 0 else { continue }
                let line = String(decoding: buffer.prefix(count), as: UTF8.self)
                lines.withLock { $0.append(line) }
            }
        }
    }

    init() throws {
        let descriptor = signet_listen_datagrams("/dev/log")
        guard descriptor >= 0 else { throw HarnessError("/dev/log could not be bound (errno \(-descriptor))") }
        state = Shared(descriptor: descriptor)
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(state)
        let result = pthread_create(
            &thread, nil,
            { raw in
                guard let raw else { return nil }
                Unmanaged<Shared>.fromOpaque(raw).takeRetainedValue().gather()
                return nil
            }, argument.toOpaque())
        guard result == 0 else {
            argument.release()
            throw HarnessError("no thread for the journal")
        }
        pthread_detach(thread)
    }

    deinit {
        state.stopped.store(true, ordering: .relaxed)
        unlink("/dev/log")
    }

    /// All lines so far, each with syslog's priority and time before it.
    var lines: [String] { state.lines.withLock { $0 } }

    /// Waits for a line that has all of these parts, and answers it.
    @discardableResult
    func waitFor(_ parts: String..., within seconds: Double = 5) throws -> String {
        let end = monotonicMilliseconds() + Int(seconds * 1000)
        while true {
            if let line = lines.first(where: { line in parts.allSatisfy { line.contains($0) } }) { return line }
            guard monotonicMilliseconds() < end else {
                throw HarnessError("the journal has no line with \(parts):\n\(lines.joined(separator: "\n"))")
            }
            usleep(5000)
        }
    }
}
