import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import SignetSecrets

/// Suites that wrap a key under a PIN and open it.
protocol VaultTrial {}

extension VaultTrial {
    func typed(_ pin: String) -> SecretBytes { secret(Array(pin.utf8)) }

    /// A wrapped key under a PIN, and its public half.
    func wrap(_ vault: inout SodiumVault, _ pin: String) throws -> (WrappedKey, [UInt8]) {
        let pair = try vault.makeSigningKey()
        let image = try vault.conceal(typed(pin), for: .pin)
        return (try vault.wrap(pair.secret, under: image, for: .pin, cost: .floor), pair.publicKey)
    }

    /// Whether the PIN opens the key.
    func opens(_ vault: inout SodiumVault, _ wrapped: (WrappedKey, [UInt8]), _ pin: String) throws -> Bool {
        let image = try vault.conceal(typed(pin), for: .pin)
        return try vault.unwrap(wrapped.0, with: image, for: .pin, publicKey: wrapped.1) != nil
    }

    func vaultError(_ body: () throws -> Void) -> VaultError? {
        do {
            try body()
            return nil
        } catch { return error as? VaultError }
    }
}
