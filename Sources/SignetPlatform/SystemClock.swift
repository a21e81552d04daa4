internal import CPlatform
package import SignetEngine
package import SignetPolicy

/// The kernel's clocks.
package struct SystemClock: Clock, ~Copyable {
    private let bootFile: [CChar]
    /// The boot, once it was read: no process outlives it.
    private var boot: BootIdentity?

    /// Reads the boot's identity where the kernel shows it.
    package init() { self.init(bootFile: Array("/proc/sys/kernel/random/boot_id".utf8)) }

    /// For tests: another file in its place.
    package init(bootFile: [UInt8]) { self.bootFile = bootFile.map { CChar(bitPattern: $0) } + [0] }

    package mutating func now() throws(ClockUnreadable) -> BootInstant {
        guard let seconds = SystemClock.secondsSinceBoot else { throw ClockUnreadable() }
        if let boot { return BootInstant(boot: boot, seconds: seconds) }
        let read = try readBoot()
        boot = read
        return BootInstant(boot: read, seconds: seconds)
    }

    private borrowing func readBoot() throws(ClockUnreadable) -> BootIdentity {
        // SAFETY: the path is terminated and outlives the call.
        let raw = unsafe signet_openat(AT_FDCWD, bootFile, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0)
        guard raw >= 0 else { throw ClockUnreadable() }
        let file = FileDescriptor(owning: raw)
        // One byte more than there should be, to see that there is no more.
        var text = [UInt8](repeating: 0, count: 38)
        var target = text.mutableSpan
        guard let count = try? file.read(into: &target, at: 0),
            let boot = BootIdentity(text: text.span.extracting(0..<count))
        else { throw ClockUnreadable() }
        return boot
    }

    /// Seconds since this boot; nil where the clock cannot be read.
    ///
    /// CLOCK_BOOTTIME counts while the machine sleeps, and clock_settime(2) does not move it.
    static var secondsSinceBoot: UInt64? {
        var time = timespec()
        // SAFETY: `time` is ours and outlives the call.
        guard unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return nil }
        return UInt64(exactly: time.tv_sec)
    }

    package mutating func wallTime() -> Int64 {
        var time = timespec()
        // SAFETY: `time` is ours and outlives the call.
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return 0 }
        return Int64(time.tv_sec)
    }
}

extension BootIdentity {
    /// Parses exactly what the kernel writes: 8-4-4-4-12 lower-case hexadecimal digits and a line's end.
    package init?(text: Span<UInt8>) {
        guard text.count == 37, text[36] == 0x0A else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        var digits = 0
        for index in 0..<36 {
            let byte = text[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x61...0x66: digit = byte - 0x61 + 10
            default: return nil
            }
            if digits < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
            digits += 1
        }
        self.init(high: high, low: low)
    }
}
