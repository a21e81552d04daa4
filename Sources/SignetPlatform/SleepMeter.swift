internal import CPlatform

/// Whether the machine has slept since a point in time.
///
/// CLOCK_BOOTTIME counts while the machine sleeps and CLOCK_MONOTONIC does not (clock_gettime(2)): what lies between them
/// grows by a sleep and by nothing else. No signal, service or bus is needed to know it.
struct SleepMeter: Equatable {
    /// What the clocks showed, in nanoseconds: CLOCK_MONOTONIC was read before and after CLOCK_BOOTTIME.
    struct Reading: Equatable {
        let before: Int64
        let boot: Int64
        let after: Int64
    }

    /// The longest time that the machine can have slept since it was started, up to the beginning; nil where the clocks
    /// could not be read, and then it never slept.
    private let beginning: Int64?

    /// Begins now.
    init() { self.init(SleepMeter.now) }

    /// Begins at `reading`.
    init(_ reading: Reading?) { beginning = reading.map { $0.boot &- $0.before } }

    /// Whether it has slept.
    var hasSlept: Bool { hasSlept(by: SleepMeter.now) }

    /// Whether it had slept when the clocks were read.
    ///
    /// However long the program was kept from the processor between two readings of a clock, this is no sleep: the least
    /// that it can have slept now is compared with the most that it can have slept then.
    func hasSlept(by reading: Reading?) -> Bool {
        guard let beginning, let reading else { return false }
        return reading.boot &- reading.after > beginning
    }

    private static var now: Reading? {
        guard let before = nanoseconds(CLOCK_MONOTONIC), let boot = nanoseconds(CLOCK_BOOTTIME),
            let after = nanoseconds(CLOCK_MONOTONIC)
        else { return nil }
        return Reading(before: before, boot: boot, after: after)
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64? {
        var time = timespec()
        // SAFETY: `time` is good for the call.
        guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
