import CPlatform
import SignetSecrets
import Testing

@testable import signet

struct LockoutSecretTests {
    private func complaint(_ text: [UInt8]) -> String? {
        guard let secret = SecretBytes(copying: text.span) else { return "memory is short" }
        do throws(Failure) { try LockoutSecret.check(secret) } catch { return error.message }
        return nil
    }

    // Would catch: a secret of nobody's effort, one that the TPM cuts, and one that no other tool can be given.
    @Test func `what may guard the reset`() {
        #expect(complaint(Array("eight-ch".utf8)) == nil)
        #expect(complaint(Array(repeating: 0x7E, count: 32)) == nil)
        #expect(complaint(Array("seven-c".utf8))?.contains("shorter") == true)
        #expect(complaint(Array(repeating: 0x61, count: 33))?.contains("longer") == true)
        for byte: UInt8 in [0, 0x20, 0x0A, 0x7F, 0xC3] {
            #expect(complaint(Array("long enough".utf8).map { $0 == 0x20 ? byte : $0 })?.contains("blank") == true)
        }
    }

    // Would catch: numbers with which Signet itself would not let the TPM count PINs, or that forgive too much.
    @Test func `the protection that setup sets`() {
        #expect(LockoutProtection.limit >= PINCounting.leastLimit)
        let guessesADay = 86_400 / LockoutProtection.healSeconds
        #expect(500_000 / guessesADay > 9 * 365)
        #expect(LockoutProtection.limit * LockoutProtection.healSeconds < LockoutProtection.recoverySeconds)
    }
}

struct TPMLibrariesTests {
    // Would catch: a machine without tpm2-tss whose helper is called healthy, and one with it that is not.
    @Test func `what a program needs is looked for`() throws {
        #expect(TPMLibraries.missing(for: "/bin/ls").isEmpty)
        // A script, as a test's helper is one: what it starts is not known.
        #expect(TPMLibraries.missing(for: "/etc/passwd").isEmpty)
    }
}
