/// The cost of deriving a key from a PIN with Argon2id (RFC 9106), as the record that was made with it says.
package struct KeyDerivationCost: Equatable, Sendable {
    /// Passes over the memory, 3–8.
    package let passes: UInt32
    /// Memory in MiB, 64–512.
    package let memoryMiB: UInt32

    /// Refuses what is cheaper than the floor (3 passes, 64 MiB) or dear enough to be an attack on the machine.
    ///
    /// A right PIN whose record is raised to a new cost derives twice under one hold of the user's lock, and who holds it
    /// for 15 seconds is taken for frozen and killed: the dearest derivation must stay well below half of that.
    package init?(passes: UInt32, memoryMiB: UInt32) {
        guard passes >= 3, passes <= 8, memoryMiB >= 64, memoryMiB <= 512 else { return nil }
        self.passes = passes
        self.memoryMiB = memoryMiB
    }

    private init(floorPasses: UInt32, floorMemoryMiB: UInt32) {
        passes = floorPasses
        memoryMiB = floorMemoryMiB
    }

    /// The least that is accepted: 3 passes over 64 MiB.
    package static let floor = KeyDerivationCost(floorPasses: 3, floorMemoryMiB: 64)

    /// Whether a record made with `self` should be raised to `policy` at the next success.
    package func isBelow(_ policy: KeyDerivationCost) -> Bool { passes < policy.passes || memoryMiB < policy.memoryMiB }
}

extension Configuration {
    /// The cost for secrets made from now on.
    package var keyDerivationCost: KeyDerivationCost {
        KeyDerivationCost(passes: UInt32(argon2Passes), memoryMiB: UInt32(argon2MemoryMiB)) ?? .floor
    }
}
