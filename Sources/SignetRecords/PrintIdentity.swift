internal import SignetPolicy

/// What makes a print this print, as bytes to be hashed: kind, driver, device id and data.
///
/// These are what libfprint's `fp_print_equal` compares. User name, finger, date and description are not among them: the
/// same print has others when the reader lists it than when it was enrolled.
///
/// The form, all numbers little-endian in four bytes: the domain "signet print identity 1" with its length before it, the
/// kind, then driver, device id and data, each with its length before it.
extension PrintTemplate {
    private static let domain = LiteralBytes("signet print identity 1")

    /// How many bytes `writeIdentity` writes.
    package var identityCount: Int {
        5 * 4 + PrintTemplate.domain.count + driver.count + device.count + data.count
    }

    /// Writes the identity of the template `bytes` into `target`, which must have exactly `identityCount` bytes and, since
    /// the data is the secret, must lie in guarded memory.
    ///
    /// False, and an unusable `target`, where the lengths do not fit.
    package func writeIdentity(of bytes: Span<UInt8>, to target: inout MutableSpan<UInt8>) -> Bool {
        guard target.count == identityCount, driver.upperBound <= bytes.count, device.upperBound <= bytes.count,
            data.upperBound <= bytes.count
        else { return false }
        var position = 0
        write(number: PrintTemplate.domain.count, to: &target, at: &position)
        for index in 0..<PrintTemplate.domain.count {
            target[position] = PrintTemplate.domain[index] ?? 0
            position += 1
        }
        write(number: Int(kind.rawValue), to: &target, at: &position)
        for part in [driver, device, data] {
            write(number: part.count, to: &target, at: &position)
            for index in part {
                target[position] = bytes[index]
                position += 1
            }
        }
        return position == target.count
    }

    private func write(number: Int, to target: inout MutableSpan<UInt8>, at position: inout Int) {
        for shift in stride(from: 0, to: 32, by: 8) {
            target[position] = UInt8(truncatingIfNeeded: number >> shift)
            position += 1
        }
    }
}
