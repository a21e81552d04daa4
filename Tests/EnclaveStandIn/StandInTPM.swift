import Foundation
import SignetPolicy
import SignetRecords

/// A TPM that is a folder, for the tests of those who talk to one: it keeps what a TPM keeps and decides what a TPM decides,
/// and protects nothing.
///
/// `fault` in the folder has lines "REQUEST ACTION": die, stall, nonsense, or the number of a problem. `log` gets each
/// request's name.
struct StandInTPM {
    let folder: String
    var secret: [UInt8] = []
    var isOpen = false
    var loaded: Stored?

    /// An object in the folder `objects`, named by its private area.
    struct Stored: Equatable {
        let secret: [UInt8]
        let authorization: [UInt8]
        let counts: Bool
    }

    /// What the helper does instead of answering.
    enum Fault: Equatable {
        case die
        case stall
        case nonsense
        case problem(EnclaveProblem)
    }

    func file(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(folder)/\(name)").map { [UInt8]($0) }
    }

    func keep(_ name: String, _ bytes: [UInt8]) {
        try? FileManager.default.createDirectory(
            atPath: "\(folder)/\(name)".replacingOccurrences(of: "/[^/]*$", with: "", options: .regularExpression),
            withIntermediateDirectories: true)
        try? Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }

    func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }

    /// The Name: that of the seed, as long as the TPM is not cleared.
    var name: [UInt8] {
        if let seed = file("seed") { return [0, 11] + seed }
        let seed = random(32)
        keep("seed", seed)
        return [0, 11] + seed
    }

    func fault(for request: String) -> Fault? {
        for line in String(decoding: file("fault") ?? [], as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, words[0] == request else { continue }
            switch words[1] {
            case "die": return .die
            case "stall": return .stall
            case "nonsense": return .nonsense
            default: return UInt8(words[1]).flatMap(EnclaveProblem.init(rawValue:)).map(Fault.problem)
            }
        }
        return nil
    }

    func log(_ request: String) {
        guard let handle = fopen("\(folder)/log", "a") else { return }
        fputs(request + "\n", handle)
        fclose(handle)
    }

    // MARK: Objects

    func store(_ object: Stored) -> EnclaveReply {
        let id = random(16)
        keep("objects/\(hex(name + id))", [object.counts ? 1 : 0] + object.secret + object.authorization)
        return EnclaveObject(publicArea: [1], privateArea: id, countsFailures: object.counts).map(EnclaveReply.object)
            ?? .failed(.other)
    }

    func find(_ object: EnclaveObject) -> Stored? {
        guard let bytes = file("objects/\(hex(name + object.privateArea))"), bytes.count >= 33 else { return nil }
        return Stored(secret: Array(bytes[1..<33]), authorization: Array(bytes[33...]), counts: bytes[0] == 1)
    }

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    // MARK: Dictionary attack

    /// failures, limit, whether lockoutAuth is set.
    var attack: [UInt8] { file("attack") ?? [0, 32, 0] }

    var state: DictionaryAttackState {
        DictionaryAttackState(
            failures: UInt32(attack[0]), limit: UInt32(attack[1]), healSeconds: 7200, recoverySeconds: 86400,
            inLockout: attack[0] >= attack[1], hasLockoutAuthorization: attack[2] == 1)
    }

    mutating func authorize(_ authorization: [UInt8]) -> EnclaveReply {
        guard let loaded else { return .failed(.other) }
        if loaded.counts, state.inLockout { return .failed(.lockout) }
        guard loaded.authorization == authorization else {
            if loaded.counts { keep("attack", [attack[0] + 1] + attack.dropFirst()) }
            return .wrong(counted: loaded.counts)
        }
        secret = loaded.secret
        return .secret(0..<secret.count)
    }

    // MARK: Counters

    func makeCounter(_ authorization: [UInt8]) -> EnclaveReply {
        let room = Int(file("room").map { $0.first ?? 0 } ?? 255)
        let free = EnclaveMessage.counterIndices.prefix(room).first { file("counter-\($0)") == nil }
        guard let free else { return .failed(.noRoom) }
        let highest = (file("highest")?.first ?? 0) + 1
        keep("highest", [highest])
        keep("counter-\(free)", [highest] + authorization)
        return .counter(EnclaveCounter(index: free, value: UInt64(highest)))
    }

    func count(_ index: UInt32, _ authorization: [UInt8], by step: UInt8) -> EnclaveReply {
        guard let counter = file("counter-\(index)"), let value = counter.first else { return .failed(.noCounter) }
        guard Array(counter.dropFirst()) == authorization else { return .wrong(counted: false) }
        if step > 0 {
            keep("counter-\(index)", [value + step] + authorization)
            keep("highest", [max(value + step, file("highest")?.first ?? 0)])
        }
        return .counter(EnclaveCounter(index: index, value: UInt64(value + step)))
    }
}
