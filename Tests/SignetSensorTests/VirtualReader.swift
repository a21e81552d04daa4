import Foundation

/// A client of libfprint's virtual readers: text commands, one a connection, without a line's end.
struct VirtualReader: Sendable {
    let path: String

    /// Sends one command once the reader listens, and waits until it was taken; answers what came back.
    @discardableResult
    func send(_ command: String) -> String? {
        let end = Date().addingTimeInterval(10)
        while Date() < end {
            if let answer = attempt(command) { return answer }
            usleep(5_000)
        }
        return nil
    }

    func send(_ commands: [String]) {
        for command in commands { send(command) }
    }

    /// A connection to whatever listens at `path`; nil where nothing does.
    static func connect(to path: String) -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix(107)) }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if connected == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    private func attempt(_ command: String) -> String? {
        guard let descriptor = VirtualReader.connect(to: path) else { return nil }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(command.utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            return nil
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { break }
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
