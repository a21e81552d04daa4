import Foundation

/// Sits between a program and a software TPM, as somebody does who has his hands on the wires; it keeps what goes by, and
/// may change what comes from the TPM.
public final class BusProxy: Sendable {
    /// Where programs find it.
    public let socket: String
    private let upstream: String
    private let listener: Int32
    private let change: @Sendable ([UInt8]) -> [UInt8]
    private let lock = NSLock()
    nonisolated(unsafe) private var commands: [UInt8] = []
    nonisolated(unsafe) private var responses: [UInt8] = []

    /// The name of the interface to it, as Signet's configuration has it.
    public var interface: String { "swtpm:path=" + socket }
    /// All bytes that went to the TPM.
    public var toTPM: [UInt8] { lock.withLock { commands } }
    /// All bytes that came from it, as they came.
    public var fromTPM: [UInt8] { lock.withLock { responses } }

    /// Listens before `tpm`; each response goes through `change`.
    public init(_ tpm: SoftwareTPM, change: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }) throws {
        socket = tpm.folder + "/p"
        upstream = tpm.socket
        // What sets localities is no bus.
        try FileManager.default.createSymbolicLink(atPath: socket + ".ctrl", withDestinationPath: upstream + ".ctrl")
        self.change = change
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = BusProxy.address(socket) { bind(self.listener, $0, $1) }
        guard listener >= 0, bound == 0, listen(listener, 4) == 0 else { throw CocoaError(.fileWriteUnknown) }
        Thread.detachNewThread { [listener, upstream, weak self] in
            while true {
                let program = accept(listener, nil, nil)
                guard program >= 0 else { return }
                let tpm = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                guard BusProxy.address(upstream, { connect(tpm, $0, $1) }) == 0 else {
                    close(program)
                    close(tpm)
                    continue
                }
                BusProxy.pump(program, tpm, self)
                close(program)
                close(tpm)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Carries whole messages both ways until a side closes; a response may come in pieces, which are put together.
    private static func pump(_ program: Int32, _ tpm: Int32, _ owner: BusProxy?) {
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            var wanted = [
                pollfd(fd: program, events: Int16(POLLIN), revents: 0),
                pollfd(fd: tpm, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&wanted, 2, 30_000) > 0, let owner else { return }
            if wanted[0].revents != 0 {
                let count = read(program, &buffer, buffer.count)
                guard count > 0 else { return }
                owner.lock.withLock { owner.commands += buffer[..<count] }
                guard write(tpm, buffer, count) == count else { return }
            }
            if wanted[1].revents != 0 {
                let count = read(tpm, &buffer, buffer.count)
                guard count > 0 else { return }
                var response = Array(buffer[..<count])
                // Tag, length and code (TPM 2.0 Library, Part 1, "Command/Response Structure").
                while response.count < 10 || response.count < Int(response[4]) << 8 + Int(response[5]) {
                    let more = read(tpm, &buffer, buffer.count)
                    guard more > 0 else { return }
                    response += buffer[..<more]
                }
                owner.lock.withLock { owner.responses += response }
                response = owner.change(response)
                guard write(program, response, response.count) == response.count else { return }
            }
        }
    }

    private static func address(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            for (index, byte) in path.utf8.prefix(target.count - 1).enumerated() { target[index] = byte }
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
