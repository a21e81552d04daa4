import CTerminal
import Glibc

/// Where a secret was found in a process.
struct Hit: Equatable, CustomStringConvertible {
    /// The secret's name and form, as `PIN, reversed`.
    let secret: String
    /// The mapping as /proc/PID/maps names it, or the core image.
    let place: String
    /// Whether the pages are kept out of core images, as guarded memory is (`MADV_DONTDUMP`).
    let isGuarded: Bool

    var description: String { "\(secret) in \(place)\(isGuarded ? ", guarded" : "")" }
}

/// Something that must not be found, in one form.
struct Pattern {
    let name: String
    let bytes: [UInt8]
}

/// The memory of a process, as root and as a core image sees it.
enum MemoryImage {
    /// One line of /proc/PID/maps with its flags (proc(5)).
    struct Mapping {
        let range: Range<UInt>
        let permissions: Substring
        let name: Substring
        /// `dd` among the flags of /proc/PID/smaps.
        var isGuarded = false
    }

    /// The process and those it forked that still run the same program: they have its memory too.
    static func family(of process: pid_t) -> [pid_t] {
        func program(_ process: pid_t) -> String? { try? File.link("/proc/\(process)/exe") }
        let children = (try? File.read("/proc/\(process)/task/\(process)/children")) ?? ""
        let same = children.split(separator: " ").compactMap { pid_t($0) }.filter { program($0) == program(process) }
        return [process] + same.flatMap(family(of:))
    }

    /// Finds patterns in all mappings of the process and of those it forked, guarded pages included.
    ///
    /// The memory of a process that runs changes meanwhile: let it wait for a key, or stop it.
    static func hits(of patterns: [Pattern], in process: pid_t) throws -> [Hit] {
        try family(of: process).flatMap { member in try search(member, for: patterns) }
    }

    /// Finds patterns in a core image that gdb's gcore makes of each, registers included.
    ///
    /// It leaves out what the kernel leaves out of a core file.
    static func hitsInCore(of patterns: [Pattern], _ process: pid_t) throws -> [Hit] {
        var hits: [Hit] = []
        for member in family(of: process) {
            let folder = try World.scratchFolder()
            defer { _ = try? Command.run(["rm", "-r", folder]) }
            let made = try Command.run(["gcore", "-o", "\(folder)/core", "\(member)"], within: 60)
            let descriptor = open("\(folder)/core.\(member)", O_RDONLY | O_CLOEXEC)
            var status = stat()
            guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_size > 4096 else {
                throw HarnessError("gcore made no core image: \(made.error)\(made.output)")
            }
            defer { close(descriptor) }
            hits += try search(descriptor, 0..<UInt(status.st_size), for: patterns) {
                Hit(secret: $0, place: "the core image", isGuarded: false)
            }
        }
        return hits
    }

    /// The mappings of a process.
    static func mappings(of process: pid_t) throws -> [Mapping] {
        var mappings: [Mapping] = []
        for line in try File.read("/proc/\(process)/smaps").split(separator: "\n") {
            if line.hasPrefix("VmFlags:") {
                if !mappings.isEmpty { mappings[mappings.count - 1].isGuarded = line.split(separator: " ").contains("dd") }
                continue
            }
            let words = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let ends = words.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
            guard ends.count == 2, ends[0] < ends[1], words.count >= 5 else { continue }
            let name = words.count > 5 ? words[5].drop { $0 == " " } : "anonymous memory"
            mappings.append(Mapping(range: ends[0]..<ends[1], permissions: words[1], name: name))
        }
        guard !mappings.isEmpty else { throw HarnessError("process \(process) has no memory that can be read") }
        return mappings
    }

    /// Writes bytes into a process's memory, as a fault of the program would leave them there.
    static func plant(_ bytes: [UInt8], in process: pid_t, at address: UInt) throws {
        let memory = open("/proc/\(process)/mem", O_WRONLY | O_CLOEXEC)
        defer { close(memory) }
        guard memory >= 0, pwrite(memory, bytes, bytes.count, off_t(Int(bitPattern: address))) == bytes.count else {
            throw HarnessError("nothing could be written into process \(process) (errno \(errno))")
        }
    }

    private static func search(_ process: pid_t, for patterns: [Pattern]) throws -> [Hit] {
        let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw HarnessError("process \(process) cannot be read (errno \(errno))") }
        defer { close(memory) }
        // The kernel's own pages have nothing of the process's.
        return try mappings(of: process).filter { !$0.name.hasPrefix("[v") }.flatMap { mapping in
            try search(memory, mapping.range, for: patterns) {
                Hit(secret: $0, place: "\(mapping.permissions) \(mapping.name)", isGuarded: mapping.isGuarded)
            }
        }
    }

    private static let windowCount = 8 << 20

    /// Reads a range in windows that overlap by more than a pattern's length.
    private static func search(
        _ descriptor: CInt, _ range: Range<UInt>, for patterns: [Pattern], hit: (String) -> Hit
    ) throws -> [Hit] {
        var hits: [Hit] = []
        let overlap = patterns.map(\.bytes.count).max() ?? 0
        let window = UnsafeMutableRawPointer.allocate(byteCount: windowCount, alignment: 4096)
        defer { window.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let wanted = min(windowCount, Int(range.upperBound - position))
            let count = pread(descriptor, window, wanted, off_t(Int(bitPattern: position)))
            // Pages behind a file's end, and devices, cannot be read by anybody.
            if count <= 0 { break }
            for pattern in patterns where signet_contains(window, count, pattern.bytes, pattern.bytes.count) == 1 {
                hits.append(hit(pattern.name))
            }
            if count < wanted || position + UInt(count) >= range.upperBound || count <= overlap {
                position += UInt(count)
            } else {
                position += UInt(count - overlap)
            }
        }
        return hits
    }
}
