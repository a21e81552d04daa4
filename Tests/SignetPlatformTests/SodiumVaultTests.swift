import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets
import Testing

/// The known answers were computed with other implementations: the argon2 tool of the algorithm's authors, Python's
/// hashlib for BLAKE2b, OpenSSL's ChaCha20-Poly1305 and Ed25519, and HChaCha20 written from the draft and checked
/// with its vector.
///
/// The PIN is 480273, the salt "signet salt 0001", the pepper 0, 1, … 31.
@Suite struct SodiumVaultTests {
    static func vault() -> SodiumVault {
        SodiumVault(
            root: Array("/nonexistent".utf8),
            values: StoreValues(digestKey: secret(bytes(32)), pepper: secret(bytes(32))))
    }

    static let seedAndPublic =
        bytes(32, from: 0x60) + hex("174553b456dddfc6908ecab1c101fe6ab21e2baa0617795b7d43a63482993fd5")
    static let publicKey = Array(seedAndPublic[32...])
    static let golden = WrappedKey(
        cost: .floor, salt: Array("signet salt 0001".utf8), nonce: bytes(24, from: 0x40),
        sealed: hex(
            """
            c9dc6f66f2a0d0aa26106eeb024df1d491e60918bb930196f35b5a22a1cde133cb8966f9786ce404186a58bf4e5180c9
            b3794afd62c3f13281a5b49358df1968e4e3d336f25bd2d91410cafe9725686f
            """))!

    /// nil where the vault answers nil.
    static func unwrap(
        _ wrapped: WrappedKey, _ text: String, purpose: SecretPurpose = .pin, publicKey: [UInt8] = publicKey
    ) throws -> [UInt8]? {
        var vault = vault()
        let typed = try vault.conceal(secret(Array(text.utf8)), for: purpose)
        let key = try vault.unwrap(wrapped, with: typed, for: purpose, publicKey: publicKey)
        guard let key else { return nil }
        return content(key)
    }

    /// Catches any change on the way from the PIN to the key: nobody's PIN would be right any more.
    @Test func goldenKeyOpens() throws {
        #expect(try Self.unwrap(Self.golden, "480273") == Self.seedAndPublic)
    }

    /// Catches a wrong PIN, the other purpose or another public key that opens all the same.
    @Test func nothingElseOpensIt() throws {
        for text in ["480274", "", "4802730", "48027"] { #expect(try Self.unwrap(Self.golden, text) == nil) }
        #expect(try Self.unwrap(Self.golden, "480273", purpose: .recoveryCode) == nil)
        #expect(try Self.unwrap(Self.golden, "480273", publicKey: bytes(32)) == nil)
        #expect(try Self.unwrap(Self.golden, "480273", publicKey: []) == nil)
    }

    /// Catches an image that says its secret, that another purpose or pepper shares, or that is not the one of the known
    /// answer.
    @Test func concealed() throws {
        func image(_ text: String, _ purpose: SecretPurpose = .pin, pepper: [UInt8] = bytes(32)) throws -> [UInt8] {
            var vault = SodiumVault(
                root: [], values: StoreValues(digestKey: secret(bytes(32)), pepper: secret(pepper)))
            return content(try vault.conceal(secret(Array(text.utf8)), for: purpose).image)
        }
        #expect(try image("480273") == hex("a3f5434a420e0ad8783d1bb82401ae5ed19ce8ed9567f74815729e1931187418"))
        let others = try [
            image(""), image("480274"), image("480273", .recoveryCode), image("480273", pepper: bytes(32, from: 1)),
        ]
        for other in others { #expect(try other.count == 32 && other != image("480273")) }
    }

    /// Catches parts of the wrapped key that nothing depends on.
    @Test func everyPartCounts() throws {
        let golden = Self.golden
        func changed(_ bytes: [UInt8], at index: Int) -> [UInt8] {
            var bytes = bytes
            bytes[index] ^= 1
            return bytes
        }
        let variants = [
            WrappedKey(cost: .floor, salt: changed(golden.salt, at: 15), nonce: golden.nonce, sealed: golden.sealed),
            WrappedKey(cost: .floor, salt: golden.salt, nonce: changed(golden.nonce, at: 23), sealed: golden.sealed),
            WrappedKey(cost: .floor, salt: golden.salt, nonce: golden.nonce, sealed: changed(golden.sealed, at: 79)),
            WrappedKey(cost: .floor, salt: golden.salt, nonce: golden.nonce, sealed: changed(golden.sealed, at: 0)),
            WrappedKey(
                cost: KeyDerivationCost(passes: 4, memoryMiB: 64)!, salt: golden.salt, nonce: golden.nonce,
                sealed: golden.sealed),
        ]
        for variant in variants { #expect(try Self.unwrap(#require(variant), "480273") == nil) }
    }

    /// Catches a pepper that is not mixed in: a stolen record could be tried offline.
    @Test func pepperCounts() throws {
        var vault = SodiumVault(
            root: [], values: StoreValues(digestKey: secret(bytes(32)), pepper: secret(bytes(32, from: 1))))
        // The image of the right pepper's vault, so that only the mixing after Argon2id can tell.
        var right = Self.vault()
        let typed = try right.conceal(secret(Array("480273".utf8)), for: .pin)
        let key = try vault.unwrap(Self.golden, with: typed, for: .pin, publicKey: Self.publicKey)
        let opened = key != nil
        #expect(!opened)
    }

    /// Catches a wrapped key that its own secret does not open, salts or nonces that repeat, and a raised cost that
    /// fails.
    @Test func wrapAndUnwrap() throws {
        var vault = Self.vault()
        let pair = try vault.makeSigningKey()
        let publicKey = pair.publicKey
        let key = content(pair.secret)
        #expect(Array(key[32...]) == publicKey)
        let code = String(repeating: "x", count: 64)
        let cost = KeyDerivationCost(passes: 3, memoryMiB: 80)!
        let typed = try vault.conceal(secret(Array(code.utf8)), for: .recoveryCode)
        let first = try vault.wrap(pair.secret, under: typed, for: .recoveryCode, cost: cost)
        let second = try vault.wrap(pair.secret, under: typed, for: .recoveryCode, cost: cost)
        #expect(first.salt != second.salt && first.nonce != second.nonce && first.sealed != second.sealed)
        #expect(first.cost == cost)
        #expect(try Self.unwrap(first, code, purpose: .recoveryCode, publicKey: publicKey) == key)
        #expect(try Self.unwrap(first, code, purpose: .pin, publicKey: publicKey) == nil)
    }

    /// Catches a key whose halves do not belong together and that is taken for the user's: the public half of the
    /// user with somebody else's seed.
    @Test func halvesMustBelongTogether() throws {
        var vault = Self.vault()
        let mixed = secret(bytes(32, from: 0x61) + Self.publicKey)
        let typed = ConcealedSecret(secret([1]))
        let wrapped = try vault.wrap(mixed, under: typed, for: .pin, cost: .floor)
        let key = try vault.unwrap(wrapped, with: typed, for: .pin, publicKey: Self.publicKey)
        let opened = key != nil
        #expect(!opened)
    }

    /// Catches another signature scheme, and a verification that accepts what is malformed or changed, also just after it
    /// has accepted what is right.
    @Test func signatures() throws {
        var vault = Self.vault()
        let key = secret(Self.seedAndPublic)
        let signature = try vault.sign(Array("abc".utf8), with: key)
        let known = hex(
            """
            d681ad94a613141f1f351a98be9a4d64c28ea985318ae97fdea107845ccfdb98
            39cde8c34006e449c2aaad42fba5832ae7d95947943f04c1c4a6f109795c7b09
            """)
        #expect(signature == known)
        func isValid(_ signature: [UInt8], _ message: String = "abc", _ key: [UInt8] = Self.publicKey) -> Bool {
            vault.isValid(signature: signature, of: Array(message.utf8), by: key)
        }
        #expect(isValid(known))
        #expect(!isValid(known, "abd"))
        #expect(!isValid(known, ""))
        #expect(!isValid(known, "abc", bytes(32, from: 9)))
        #expect(!isValid(known, "abc", []))
        #expect(!isValid([]))
        #expect(!isValid(known + [0]))
        for index in known.indices {
            var changed = known
            changed[index] ^= 1
            #expect(isValid(known))
            #expect(!isValid(changed))
            #expect(!isValid(changed))
        }
        let short = secret(bytes(32))
        #expect(throws: VaultError.keyLost) { _ = try vault.sign([1], with: short) }
    }

    /// Catches another hash, or a key that is not used.
    @Test func digest() throws {
        var vault = Self.vault()
        let digest = try vault.digest(of: Array("abc".utf8).span)
        #expect(digest.bytes == hex("d63a32d3e44738d7907f964316c241adaba0abfeabc32349677578a15a203f7f"))
        let none: [UInt8] = []
        let nothing = try vault.digest(of: none.span)
        #expect(nothing != digest)
    }

    /// Catches random bytes that are none, or of a wrong number.
    @Test func random() throws {
        var vault = Self.vault()
        let one = try vault.random(count: 16)
        let other = try vault.random(count: 16)
        let code = try vault.randomSecret(count: 16)
        let codeCount = code.count
        #expect(one.count == 16 && one != other && codeCount == 16)
        #expect(try vault.random(count: 0) == [])
    }

    /// Catches a derivation whose memory cannot be had and that answers "wrong PIN", which would be charged, or traps.
    @Test func shortMemoryIsNoWrongPIN() async {
        await #expect(processExitsWith: .success) {
            var vault = SodiumVaultTests.vault()
            let pin = ConcealedSecret(secret(bytes(32)))
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            do {
                _ = try vault.unwrap(
                    SodiumVaultTests.golden, with: pin, for: .pin, publicKey: SodiumVaultTests.publicKey)
                exit(10)
            } catch {
                require(error as? VaultError == .outOfMemory, 11)
            }
        }
    }

    /// Catches a missing store that makes the time for an unknown user vanish: it would tell who exists.
    @Test func timeIsSpentWithoutAStore() {
        var vault = Self.vault()
        let pin = ConcealedSecret(secret(bytes(32)))
        let clock = ContinuousClock()
        let spent = clock.measure { vault.spendTime(of: .floor, on: pin) }
        let real = clock.measure { _ = try? Self.unwrap(Self.golden, "480273") }
        #expect(spent > real / 4)
    }
}
