import CSodium
import Glibc
import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets

@testable import SignetPlatform

/// What must not be found in a program's memory: a PIN, and the keys and prints of its owner's records.
///
/// The tests know all of it: they typed the PIN, and open the world's store with the product's own parts.
struct KnownSecrets {
    /// Sixteen letters and digits, of which no eight stand in any program by chance.
    static func pin() -> String {
        let characters = Array("abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789")
        return String((0..<16).map { _ in characters.randomElement() ?? "x" })
    }

    /// A typed text in the forms that a program could turn it into, and its halves.
    static func forms(of text: String, as name: String) -> [Pattern] {
        let bytes = Array(text.utf8)
        func wide(_ before: Int, _ after: Int) -> [UInt8] {
            bytes.flatMap { [UInt8](repeating: 0, count: before) + [$0] + [UInt8](repeating: 0, count: after) }
        }
        var patterns = [
            Pattern(name: name, bytes: bytes), Pattern(name: "\(name), reversed", bytes: bytes.reversed()),
            Pattern(name: "\(name) in UTF-16, little endian", bytes: wide(0, 1)),
            Pattern(name: "\(name) in UTF-16, big endian", bytes: wide(1, 0)),
            Pattern(name: "\(name) in UTF-32, little endian", bytes: wide(0, 3)),
            Pattern(name: "\(name) in UTF-32, big endian", bytes: wide(3, 0)),
        ]
        if bytes.count >= 10 {
            patterns.append(Pattern(name: "the beginning of \(name)", bytes: Array(bytes.prefix(8))))
            patterns.append(Pattern(name: "the end of \(name)", bytes: Array(bytes.suffix(8))))
        }
        return patterns
    }

    /// A key in pieces of eight bytes, as a register or a spilled word holds them.
    static func pieces(of key: [UInt8], as name: String) -> [Pattern] {
        stride(from: 0, through: key.count - 8, by: 8).map { start in
            Pattern(name: "\(name), bytes \(start)–\(start + 7)", bytes: Array(key[start..<(start + 8)]))
        }
    }

    let patterns: [Pattern]

    /// Opens the user's records.
    init(of user: User, pin: String) throws {
        let root = UserStore.standardRoot
        let master = try FileEnclave.read(root: root)
        let values = try StoreValues(root: root, masterKey: master)
        var store = try UserStore(root: root, uid: user.uid, userName: Array(user.name.utf8), masterKey: master)
        guard let identity = try store.loadIdentity() else { throw HarnessError("\(user.name) has no PIN") }
        guard let typed = SecretBytes(copying: Array(pin.utf8).span) else { throw HarnessError("no memory") }
        let image = try Derivation.image(of: typed, purpose: .pin, pepper: values.pepper)
        let result = try Derivation.result(
            from: image, salt: identity.pin.salt, cost: identity.pin.cost, purpose: .pin)
        let wrapping = try Derivation.wrappingKey(result, pepper: values.pepper)
        var patterns = KnownSecrets.forms(of: pin, as: "the PIN")
        patterns += KnownSecrets.pieces(of: bytes(image), as: "the PIN's image")
        patterns += KnownSecrets.pieces(of: bytes(wrapping), as: "the wrapping key")
        let concealed = ConcealedSecret(image)
        var vault = SodiumVault(root: root, values: values)
        guard let key = try vault.unwrap(identity.pin, with: concealed, for: .pin, publicKey: identity.publicKey) else {
            throw HarnessError("\(pin) is not the PIN of \(user.name)")
        }
        // The last 32 of the 64 bytes are the public key, which is on disk in clear.
        let seed = Array(bytes(key).prefix(32))
        patterns += KnownSecrets.pieces(of: seed, as: "the signing key")
        // What Ed25519 signs with: the hash of the seed (RFC 8032, section 5.1.5), here before bits of its ends are set.
        var expanded = [UInt8](repeating: 0, count: 64)
        guard crypto_hash_sha512(&expanded, seed, 32) == 0 else { throw HarnessError("no hash") }
        patterns += KnownSecrets.pieces(
            of: Array(expanded[8..<24]) + Array(expanded[32...]), as: "the signing key's hash")
        let prints = try store.loadPrints()
        for (number, entry) in prints.entries.enumerated() {
            let template = prints.templates.withBytes { all in entry.template.map { all[$0] } }
            patterns.append(Pattern(name: "print \(number)", bytes: template))
        }
        self.patterns = patterns
    }
}

private func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { span in (0..<span.count).map { span[$0] } }
}
