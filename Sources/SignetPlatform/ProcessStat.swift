internal import CPlatform

/// What `/proc/PID/stat` says of a process, by the numbers that proc_pid_stat(5) gives its fields.
struct ProcessStat {
    /// From the third field on.
    private let fields: [ArraySlice<UInt8>]

    /// nil where the file in this folder cannot be read, or is none of its kind.
    init?(_ folder: [UInt8]) {
        guard let stat = SmallFile.read(folder + KeyedHash.bytes(of: "/stat"), limit: 1 << 16),
            // The second field is the program's name in parentheses, and may hold spaces and parentheses itself.
            let end = stat.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        fields = stat[(end + 1)...].split(separator: 0x20)
        guard fields.count > 5 else { return nil }
    }

    /// Field 3: R, S, T and so on.
    var state: UInt8? { fields[0].first }
    /// Field 5.
    var group: Int64? { ProcessStat.number(fields[2]) }
    /// Field 7, as stat(2) numbers devices too; 0 where there is none.
    ///
    /// The kernel prints the 32 bits of the number as a signed one (fs/proc/array.c).
    var terminal: UInt64? { ProcessStat.number(fields[4]).map { UInt64(UInt32(truncatingIfNeeded: $0)) } }
    /// Field 8; -1 where there is no terminal.
    var foreground: Int64? { ProcessStat.number(fields[5]) }

    private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
        let isNegative = field.first == UInt8(ascii: "-")
        let digits = isNegative ? field.dropFirst() : field
        // No number of the kernel's here has more than 10 digits, so that nothing overflows.
        guard !digits.isEmpty, digits.count <= 10 else { return nil }
        var value: Int64 = 0
        for byte in digits {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        return isNegative ? -value : value
    }
}
