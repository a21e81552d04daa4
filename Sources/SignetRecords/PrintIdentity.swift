internal import SignetPolicy

/// What makes a print this print, as bytes to be hashed: kind, driver, device id and data.
///
/// These are what libfprint's `fp_print_equal` compares. User name, finger, date and description are not among them:
/// the same print has others when the reader lists it than when it was enrolled.
///
/// The form is that of `CanonicalBytes`, each field with its length in eight bytes, big-endian, before it: the domain
/// "signet print identity v1", the kind in eight bytes, driver, device id, data. It is written here once more because
/// the data is the secret and must not pass through an array.
extension PrintTemplate {
    private static let domain = LiteralBytes("signet print identity v1")

    /// How much longer than the template its identity can be: five lengths, the domain and the kind.
    package static var identityOverhead: Int { 5 * 8 + domain.count + 8 }

    /// How many bytes `writeIdentity` writes.
    package var identityCount: Int {
        PrintTemplate.identityOverhead + driver.count + device.count + data.count
    }

    /// Reads `template` and writes its identity to the beginning of `target`, which must lie in guarded memory.
    ///
    /// The number of bytes written; nil where the template is not libfprint's, or `target` too short.
    package static func writeIdentity(of template: Span<UInt8>, into target: inout MutableSpan<UInt8>) -> Int? {
        do throws(PrintTemplateError) {
            return try PrintTemplate(template).writeIdentity(of: template, into: &target)
        } catch {
            return nil
        }
    }

    /// Writes the identity of `template`, which `self` was read from.
    private func writeIdentity(of template: Span<UInt8>, into target: inout MutableSpan<UInt8>) -> Int? {
        guard target.count >= identityCount else { return nil }
        var position = 0
        write(PrintTemplate.domain.count, to: &target, at: &position)
        for index in 0..<PrintTemplate.domain.count {
            target[position] = PrintTemplate.domain[index] ?? 0
            position += 1
        }
        write(8, to: &target, at: &position)
        write(Int(kind.rawValue), to: &target, at: &position)
        for part in [driver, device, data] {
            write(part.count, to: &target, at: &position)
            for index in part {
                target[position] = template[index]
                position += 1
            }
        }
        return position
    }

    private func write(_ number: Int, to target: inout MutableSpan<UInt8>, at position: inout Int) {
        for shift in stride(from: 56, through: 0, by: -8) {
            target[position] = UInt8(truncatingIfNeeded: number >> shift)
            position += 1
        }
    }
}
