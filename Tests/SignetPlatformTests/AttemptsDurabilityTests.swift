import Foundation
import SignetEngine
import SignetPlatform
import SignetPolicy
import SignetRecords
import Testing

/// Counters that a success has cleared are written without waiting for the disk (`RecordStore.saveSoon`): what a power cut
/// can leave of them.
@Suite(.enabled(if: isRoot, "needs root: everything in a store is root's")) struct AttemptsDurabilityTests {
    let folder: TestFolder
    let path: String

    init() throws {
        folder = try TestFolder()
        path = folder.sub("users/1000/attempts")
        try makeStore(folder)
        var store = try userStore(folder.bytes)
        try store.create(identity())
    }

    /// Catches cleared counters that a power cut makes unreadable, or that then read as anything but charged or cleared:
    /// each sector of the page may be on the disk or not.
    @Test func aLostClearLeavesTheCharge() throws {
        var store = try userStore(folder.bytes)
        try store.save(attempts(pin: 1, finger: 2))
        try store.save(attempts(pin: 1, finger: 3))
        let charged = try read(path)
        try store.saveSoon(attempts(pin: 1, finger: 0))
        let cleared = try read(path)
        #expect(try store.loadAttempts() == attempts(pin: 1, finger: 0))
        // Only one slot was written, and not the one that has the charge.
        let changed = [0, 1].filter { charged[$0 * 4096..<($0 + 1) * 4096] != cleared[$0 * 4096..<($0 + 1) * 4096] }
        let slot = try #require(changed.first)
        #expect(changed.count == 1)
        for sectors in 0..<256 {
            var file = charged
            for sector in 0..<8 where sectors >> sector & 1 == 1 {
                let range = slot * 4096 + sector * 512..<slot * 4096 + (sector + 1) * 512
                file[range] = cleared[range]
            }
            try overwrite(path, file)
            let loaded = try store.loadAttempts()
            if file == cleared {
                #expect(loaded == attempts(pin: 1, finger: 0))
            } else if file == charged {
                #expect(loaded == attempts(pin: 1, finger: 3))
            } else {
                // A torn slot counts as one failure more.
                #expect(loaded == attempts(pin: 2, finger: 4), "sectors \(sectors)")
                #expect([store.attemptsWereTorn] == [true])
            }
            // And it can be counted on from there.
            try store.save(attempts(pin: 3, finger: 5))
            #expect(try store.loadAttempts() == attempts(pin: 3, finger: 5))
            #expect([store.attemptsWereTorn] == [false])
        }
    }

    /// Catches a clear that others do not see at once, or a charge after it that goes over the same slot.
    @Test func aClearIsSeenAtOnce() throws {
        var one = try userStore(folder.bytes)
        var other = try userStore(folder.bytes)
        for round in UInt8(1)...5 {
            try one.lock()
            try one.save(attempts(pin: round, finger: round))
            try one.saveSoon(attempts(pin: round, finger: 0))
            one.unlock()
            try other.lock()
            #expect(try other.loadAttempts() == attempts(pin: round, finger: 0))
            try other.save(attempts(pin: round, finger: 1))
            other.unlock()
            #expect([other.attemptsWereTorn] == [false])
        }
    }
}
