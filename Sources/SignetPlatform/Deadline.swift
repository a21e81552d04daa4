internal import CPlatform

/// A point on the boot clock until which something is waited for; the clock goes on while the machine sleeps.
package struct Deadline {
    /// Milliseconds since boot.
    private let end: Int64

    /// A deadline some milliseconds from now; one that has passed where the clock cannot be read.
    package init(milliseconds: Int) {
        let (end, overflow) = Deadline.now.addingReportingOverflow(Int64(clamping: milliseconds))
        self.end = overflow ? 0 : end
    }

    /// A deadline some seconds from now.
    package init(seconds: Int) {
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.init(milliseconds: overflow ? 0 : milliseconds)
    }

    /// Whether it has passed.
    package var hasPassed: Bool { Deadline.now >= end }

    /// The time left for one poll(2) in milliseconds, 0–1000: poll's own clock stands still while the machine sleeps.
    package var pollTimeout: Int32 { Int32(clamping: max(0, min(end &- Deadline.now, 1000))) }

    /// Milliseconds since boot; the end of time where the clock cannot be read, so that every wait is over.
    package static var now: Int64 {
        var time = timespec()
        // SAFETY: `time` is good for the call.
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return Int64.max }
        return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
    }
}
