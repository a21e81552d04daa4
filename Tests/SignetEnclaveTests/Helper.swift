import CPlatform
import Foundation
import SignetPolicy
import SignetRecords
import SoftwareTPM
import Testing

/// All tests of the TPM helper, one at a time: some look at how long something takes.
@Suite(.serialized, .enabled(if: Helper.obstacle == nil, Comment(rawValue: Helper.obstacle ?? "")))
enum EnclaveTests {}

/// A secret that is easy to find again.
func secret(_ seed: UInt8) -> [UInt8] { (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(seed)) } }

/// The helper is gone, or what it sent is no reply.
struct HelperEnded: Error {}

/// The built helper, driven by its own messages.
final class Helper {
    let pid: pid_t
    private var socket: Int32 = -1
    private var reaped: Int32?

    private static let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
    static let path =
        (ProcessInfo.processInfo.environment["SIGNET_BUILD"] ?? packageRoot + "/.build/debug") + "/signet-enclave"

    /// Why the tests cannot run here, or nil.
    static let obstacle: String? =
        SoftwareTPM.obstacle
        ?? (FileManager.default.isExecutableFile(atPath: path) ? nil : "signet-enclave is not built")

    /// Starts the helper; `environment` stands for somebody else who starts it, with variables of his own.
    init(_ arguments: [String], environment: [String] = []) throws {
        var theirs: Int32 = -1
        guard signet_packet_pair(&socket, &theirs) == 0 else { throw HelperEnded() }
        defer { close(theirs) }
        var words = ["signet-enclave"] + arguments
        var program = Helper.path
        if !environment.isEmpty {
            words = ["env"] + environment + [Helper.path] + arguments
            program = "/usr/bin/env"
        }
        var texts: [UnsafePointer<CChar>?] = words.map { UnsafePointer(strdup($0)) }
        texts.append(nil)
        defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
        pid = try Helper.spawn(program, texts, socket: theirs)
    }

    /// Starts a child of ours with the socket as descriptor 3, whose end we are told, unlike that of a helper that the
    /// product starts.
    private static func spawn(
        _ program: String, _ arguments: [UnsafePointer<CChar>?], socket: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        var (every, none) = (sigset_t(), sigset_t())
        sigfillset(&every)
        sigemptyset(&none)
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, socket, Int32(SIGNET_HELPER_SOCKET))
        for other in Int32(SIGNET_HELPER_SOCKET) + 1..<256 { posix_spawn_file_actions_addclose(&actions, other) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &every)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = arguments.map { UnsafeMutablePointer(mutating: $0) }
        var environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin"), nil]
        defer { free(environment[0]) }
        var pid: pid_t = 0
        guard posix_spawn(&pid, program, &actions, &attributes, words, &environment) == 0 else { throw HelperEnded() }
        return pid
    }

    convenience init(_ tpm: SoftwareTPM) throws { try self.init(["--tcti", tpm.interface]) }

    deinit {
        close(socket)
        if end(within: 2) == nil { kill() }
        _ = end(within: 2)
    }

    func kill() { signet_kill_helper(pid, -1) }

    /// Closes the socket, as a program does that ends.
    func hangUp() {
        close(socket)
        socket = -1
    }

    /// The exit status, or the signal as a negative number; nil where the helper still runs.
    func end(within seconds: Double) -> Int32? {
        if let reaped { return reaped }
        let end = Date() + seconds
        repeat {
            var status: Int32 = 0
            if waitpid(pid, &status, WNOHANG) == pid {
                reaped = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
                return reaped
            }
            usleep(1000)
        } while Date() < end
        return nil
    }

    /// Sends bytes that need be no message.
    func send(_ bytes: [UInt8]) { _ = CPlatform.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Sends a request; its ranges lie in `secrets`.
    func send(_ request: EnclaveRequest, _ secrets: [UInt8] = []) throws {
        var memory = [UInt8](repeating: 0, count: EnclaveMessage.packetLimit)
        var span = memory.mutableSpan
        let length = try request.encode(secretsFrom: secrets.span, into: &span)
        send(Array(memory[..<length]))
    }

    /// The next packet; throws where the helper ends instead.
    func receive(within seconds: Double = 15) throws -> (reply: EnclaveReply, secret: [UInt8]) {
        var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, Int32(seconds * 1000)) == 1 else { throw HelperEnded() }
        var memory = [UInt8](repeating: 0, count: EnclaveMessage.packetLimit)
        let length = recv(socket, &memory, memory.count, 0)
        guard length > 0 else { throw HelperEnded() }
        let packet = Array(memory[..<length])
        let reply = try EnclaveReply(decoding: packet.span)
        guard case .secret(let place) = reply else { return (reply, []) }
        return (reply, Array(packet[place]))
    }

    /// Asks one thing.
    func ask(_ request: EnclaveRequest, _ secrets: [UInt8] = []) throws -> EnclaveReply {
        try send(request, secrets)
        return try receive().reply
    }

    /// Asks for a secret; nil where the reply is another, which `reply` then is.
    func unseal(_ request: EnclaveRequest, _ secrets: [UInt8] = []) throws -> [UInt8]? {
        try send(request, secrets)
        let answer = try receive()
        return answer.secret.isEmpty ? nil : answer.secret
    }

    /// Opens the enclave; the Name of its primary.
    @discardableResult func open(_ name: [UInt8] = []) throws -> [UInt8] {
        guard case .opened(let name) = try ask(.open(primaryName: name)) else { throw HelperEnded() }
        return name
    }

    /// Seals a secret with no authorisation.
    func seal(_ secret: [UInt8]) throws -> EnclaveObject {
        guard case .object(let object) = try ask(.seal(secret: 0..<32), secret) else { throw HelperEnded() }
        return object
    }

    /// Seals a secret under an authorisation.
    func seal(_ secret: [UInt8], under pin: [UInt8], countsFailures: Bool) throws -> EnclaveObject {
        let request = EnclaveRequest.sealUnder(
            secret: 0..<32, authorization: 32..<64, countsFailures: countsFailures)
        guard case .object(let object) = try ask(request, secret + pin) else { throw HelperEnded() }
        return object
    }

    /// Tries an authorisation at the loaded object.
    func attempt(_ pin: [UInt8]) throws -> EnclaveReply { try ask(.unsealUnder(authorization: 0..<32), pin) }

    /// How the TPM's protection against guessing stands.
    func state() throws -> DictionaryAttackState {
        guard case .facts(let description) = try ask(.look) else { throw HelperEnded() }
        return description.dictionaryAttack
    }
}
