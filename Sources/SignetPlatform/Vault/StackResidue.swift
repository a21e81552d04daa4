internal import CPlatform
internal import CSodium

/// What a finished computation left on the stack and in registers.
///
/// libsodium wipes its own states, but not every word that the compiler spilled from a register; the frames lie below
/// the caller's, where they stay until other calls happen to cover them. The vector registers held 16 bytes of a PIN.
enum StackResidue {
    /// More than the deepest of libsodium's calls that see a secret takes: Argon2id's blocks are the largest, about 8 KiB.
    private static let depth = 32 << 10

    /// Empties the vector registers, then overwrites the stack below the caller's frame.
    static func clear() {
        signet_clear_registers()
        sodium_stackzero(depth)
    }
}
