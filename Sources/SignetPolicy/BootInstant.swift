/// The identity that the kernel gives to one boot of the machine: `/proc/sys/kernel/random/boot_id`, 128 bits.
package struct BootIdentity: Equatable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// An instant on the boot clock, which a changed wall clock does not move: CLOCK_BOOTTIME of `clock_gettime(2)`.
package struct BootInstant: Equatable, Sendable {
    package let boot: BootIdentity
    /// Whole seconds since that boot, time asleep included.
    package let seconds: UInt64

    package init(boot: BootIdentity, seconds: UInt64) {
        self.boot = boot
        self.seconds = seconds
    }

    /// Seconds from `self` to `later`, or nil where the two lie in different boots or in the wrong order.
    package func seconds(until later: BootInstant) -> UInt64? {
        guard boot == later.boot, later.seconds >= seconds else { return nil }
        return later.seconds - seconds
    }
}
