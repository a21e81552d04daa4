import Testing

@testable import SignetPlatform

@Suite struct SleepMeterTests {
    private typealias Reading = SleepMeter.Reading

    /// Clocks that were read one after the other, each so many nanoseconds after the one before.
    private func reading(monotonic: Int64, asleep: Int64, first: Int64 = 50, second: Int64 = 50) -> SleepMeter.Reading {
        Reading(before: monotonic, boot: monotonic + first + asleep, after: monotonic + first + second)
    }

    /// Catches a sleep that is overlooked, and a program that was kept from the processor, or waited for, taken for one.
    @Test(
        arguments: [(0 as Int64, false), (1_000_000, true), (3_600_000_000_000, true)],
        [0 as Int64, 86_400_000_000_000])
    func aSleepIsWhatLiesBetweenTheClocks(sleep: (Int64, Bool), before: Int64) {
        let second: Int64 = 1_000_000_000
        let meter = SleepMeter(reading(monotonic: 5 * second, asleep: before))
        #expect(meter.hasSlept(by: reading(monotonic: 95 * second, asleep: before + sleep.0)) == sleep.1)
        // A pause of a second between two readings, at either end and in either place.
        for (first, later) in [(second, 50), (50, second)] as [(Int64, Int64)] {
            let slow = SleepMeter(reading(monotonic: 5 * second, asleep: before, first: first, second: later))
            #expect(!slow.hasSlept(by: reading(monotonic: 95 * second, asleep: before)))
            #expect(
                !meter.hasSlept(by: reading(monotonic: 95 * second, asleep: before, first: first, second: later)))
        }
    }

    /// Catches clocks that cannot be read, or values at the end of time, that count as a sleep or end the caller.
    @Test func oddClocks() {
        let usual = Reading(before: 1, boot: 2, after: 3)
        #expect(!SleepMeter(nil).hasSlept(by: usual) && !SleepMeter(usual).hasSlept(by: nil))
        // Only that these do not trap counts.
        for odd in [Reading(before: .min, boot: .max, after: .min), Reading(before: .max, boot: .min, after: .max)] {
            _ = SleepMeter(odd).hasSlept(by: odd)
        }
    }

    /// Catches the clocks of this machine read in another order, so that each wait would be a sleep.
    @Test func theClocksOfThisMachine() {
        let meter = SleepMeter()
        for _ in 0..<1000 { #expect(!meter.hasSlept) }
    }
}
