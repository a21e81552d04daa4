import Glibc
import SignetEngine
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

@testable import SignetPlatform

/// What the vault's work with secrets leaves on the stack.
@Suite struct StackResidueTests {
    /// The stack below the caller: where the frames of finished calls were, and a little of those that read it.
    @inline(never) private static func stackBelow(_ address: UInt, _ buffer: inout [UInt8]) -> Int {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        return pread(memory, &buffer, buffer.count, off_t(Int(bitPattern: address) - buffer.count))
    }

    /// The number of eight-byte pieces of `secret` that stand in the last `count` bytes of the buffer.
    private static func pieces(_ secret: [UInt8], in buffer: [UInt8]) -> Int {
        stride(from: 0, through: secret.count - 8, by: 8).count { start in
            Array(secret[start..<(start + 8)]).withUnsafeBufferPointer { piece in
                buffer.withUnsafeBufferPointer { all in
                    (0...(all.count - 8)).contains { memcmp(all.baseAddress! + $0, piece.baseAddress!, 8) == 0 }
                }
            }
        }
    }

    // Would catch words of a secret that libsodium or the compiler spills and nobody clears.
    @Test func nothingOfASecretStays() throws {
        var vault = SodiumVaultTests.vault()
        let text = Array("Zq7mXw4TkB9vNc3R".utf8)
        let pair = try vault.makeSigningKey()
        let seed = Array(content(pair.secret).prefix(32))
        var buffer = [UInt8](repeating: 0, count: 24 << 10)
        let publicKey = pair.publicKey
        var found: [String: Int] = [:]
        var marker: UInt8 = 0
        let here = withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
        func look(_ step: String, for secrets: [String: [UInt8]]) {
            for (name, secret) in secrets {
                let count = Self.pieces(secret, in: buffer)
                if count > 0 { found["\(name) after \(step)"] = count }
            }
        }

        // What the test itself had of it in registers and frames is not the vault's.
        let typed = secret(text)
        StackResidue.clear()
        let image = try vault.conceal(typed, for: .pin)
        #expect(Self.stackBelow(here, &buffer) == buffer.count)
        look("concealing", for: ["PIN": text, "image": content(image.image)])
        let wrapped = try vault.wrap(pair.secret, under: image, for: .pin, cost: .floor)
        #expect(Self.stackBelow(here, &buffer) == buffer.count)
        let result = try Derivation.result(from: image.image, salt: wrapped.salt, cost: .floor, purpose: .pin)
        let wrapping = try Derivation.wrappingKey(result, pepper: secret(bytes(32)))
        let keys = ["image": content(image.image), "wrapping key": content(wrapping), "signing key": seed]
        look("wrapping", for: keys)
        let key = try vault.unwrap(wrapped, with: image, for: .pin, publicKey: publicKey)
        #expect(Self.stackBelow(here, &buffer) == buffer.count)
        look("unwrapping", for: keys)
        let opened = key != nil
        #expect(opened)
        _ = try vault.sign([1, 2, 3], with: pair.secret)
        #expect(Self.stackBelow(here, &buffer) == buffer.count)
        look("signing", for: keys)
        #expect(found == [:])
    }
}
