internal import CPlatform
internal import CSodium

/// What the file system tells of folders and files that were read: their inode numbers and times of change.
///
/// A set of prints that goes back to what it was has the same prints, but not the same times: whoever adds a file and
/// removes it again has changed its folder, and whoever changes a file has changed its time, which no program can set
/// (inode(7), "ctime"). Device numbers are not part of it: they may differ after each start-up.
struct FprintdStamp {
    private var bytes = Array("signet fprintd store v1".utf8)

    /// Adds one folder or file, whose place in the store its path tells.
    mutating func add(_ status: stat, at path: [UInt8]) {
        add(UInt64(path.count))
        bytes += path
        add(UInt64(status.st_ino))
        add(UInt64(bitPattern: Int64(status.st_ctim.tv_sec)))
        add(UInt64(bitPattern: Int64(status.st_ctim.tv_nsec)))
        add(UInt64(bitPattern: Int64(status.st_size)))
    }

    private mutating func add(_ number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Eight bytes of BLAKE2b over all of it, as the number that stands in a set's generation; never 0.
    ///
    /// It keeps no secret and proves no print, which the digest of the prints does: it tells times apart.
    var generation: UInt64 {
        let none: [UInt8] = []
        // The least that crypto_generichash gives (crypto_generichash_BYTES_MIN).
        var hash = [UInt8](repeating: 0, count: 16)
        var target = hash.mutableSpan
        let length = target.count
        target.withAddress { out in
            bytes.span.withAddress { text in
                none.span.withAddress { key in
                    // SAFETY: each address is valid for the length that goes with it, and none is kept; the lengths are
                    // permitted, so that it cannot fail.
                    _ = unsafe crypto_generichash(out, length, text, UInt64(bytes.count), key, 0)
                }
            }
        }
        var number: UInt64 = 0
        for byte in hash.prefix(8) { number = number << 8 | UInt64(byte) }
        return max(number, 1)
    }
}
