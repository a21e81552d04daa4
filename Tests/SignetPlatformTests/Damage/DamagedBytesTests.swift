import Foundation
import Proof
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

/// Each byte of each file of a store that is another, gone or too many.
@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct DamagedBytesTests {
    let stage: DamageStage

    init() throws { stage = try DamageStage() }

    /// What is told when the bytes of a file are not those that were written.
    private func fault(of file: DamageStage.File) -> StoreError {
        // A key has no form of its own: any other 32 bytes are another machine's, and nothing opens under them.
        file == .key ? .fault(.values, .foreign) : .fault(file.kind, .damaged)
    }

    /// Catches a byte that nothing depends on, damage that passes for another machine's or another user's record, and a
    /// decoder that traps.
    @Test(arguments: DamageStage.File.allCases.filter { $0 != .attempts }) func flippedBytes(_ file: DamageStage.File)
        throws
    {
        let expected = stage.sight(with: fault(of: file), of: file)
        let valid = stage.written(in: file)
        var tally = Tally("damage: each byte and bit of \(file) changed")
        for index in valid.indices {
            for mask in masks {
                var changed = valid
                changed[index] ^= mask
                try stage.put(changed, into: file)
                let sight = stage.look()
                tally.check(sight == expected, "byte \(index) ^ \(mask): \(sight.faults)")
            }
        }
        try stage.restore(file)
        tally.check(stage.look() == stage.intact, "restored")
        tally.report()
    }

    /// Catches a damaged slot of the counters that hands back more than the one charge that its twin stands in for, that is
    /// not told, or that takes anything else back.
    @Test func flippedSlots() throws {
        let newest = stage.newestSlot
        let valid = stage.written(in: .attempts)
        var tally = Tally("damage: each byte and bit of attempts changed")
        for index in Proof.sample(of: valid.count, few: 700) {
            for mask in masks {
                var changed = valid
                changed[index] ^= mask
                try stage.put(changed, into: .attempts)
                var expected = stage.intact
                expected.isTorn = true
                // What the other slot says, and one failure more in each: never less than was charged.
                let isNewest = index / AttemptsFile.slotCount == newest
                expected.attempts = DamageStage.counters(pin: isNewest ? 3 : 4, finger: 2)
                let sight = stage.look()
                tally.check(
                    sight == expected, "byte \(index) ^ \(mask): \(sight.faults) \(String(describing: sight.attempts))")
            }
        }
        // Both slots hit, each somewhere else.
        let expected = stage.sight(with: .fault(.attempts, .damaged), of: .attempts)
        let places = Array(0..<140) + Array(4064..<4096)
        for (step, first) in places.enumerated() {
            let second = places[(step * 37 + 11) % places.count]
            var changed = valid
            changed[first] ^= 0xFF
            changed[AttemptsFile.slotCount + second] ^= 1
            try stage.put(changed, into: .attempts)
            let sight = stage.look()
            tally.check(sight == expected, "bytes \(first) and \(second): \(sight.faults)")
        }
        try stage.restore(.attempts)
        tally.check(stage.look() == stage.intact, "restored")
        tally.report()
    }

    /// Catches a file that is read past its end, or used although some of it is missing or too much.
    @Test(arguments: DamageStage.File.allCases) func lengths(_ file: DamageStage.File) throws {
        let damaged = file == .key ? StoreError.fault(.store, .damaged) : .fault(file.kind, .damaged)
        let expected = stage.sight(with: damaged, of: file)
        let valid = stage.written(in: file)
        var tally = Tally("damage: \(file) cut at each length, and longer")
        for count in Proof.sample(of: valid.count, few: 500) {
            try stage.put(Array(valid[..<count]), into: file)
            let sight = stage.look()
            tally.check(sight == expected, "length \(count): \(sight.faults)")
        }
        for more in [[0], [0xFF], [UInt8](repeating: 0, count: 4096), valid, [UInt8](repeating: 1, count: 3_000_000)] {
            try stage.put(valid + more, into: file)
            let sight = stage.look()
            tally.check(sight == expected, "\(more.count) more: \(sight.faults)")
        }
        // As a disk leaves it that lost what was written: the right length, and nothing in it.
        for byte: UInt8 in [0, 0xFF] {
            try stage.put([UInt8](repeating: byte, count: valid.count), into: file)
            let sight = stage.look()
            tally.check(sight == stage.sight(with: fault(of: file), of: file), "all \(byte): \(sight.faults)")
        }
        try stage.restore(file)
        tally.check(stage.look() == stage.intact, "restored")
        tally.report()
    }

    /// All of them, and each bit in the whole proof.
    private var masks: [UInt8] { Proof.isWhole ? [0xFF] + (0..<8).map { 1 << $0 } : [0xFF] }
}
