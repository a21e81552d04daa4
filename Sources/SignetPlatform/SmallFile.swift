internal import CPlatform

/// Files of the kernel and of system services that are read for what they say, not for a secret.
enum SmallFile {
    /// What the file holds, or nil where it cannot be read or is longer than `limit`.
    static func read(_ path: [UInt8], limit: Int) -> [UInt8]? { try? load(path, limit: limit) }

    /// What the file holds; `wrongSize` where it is longer than `limit`.
    ///
    /// The kernel tells no size for files in /proc, so the file is read until it ends.
    static func load(_ path: [UInt8], limit: Int) throws(FileFault) -> [UInt8] {
        // SAFETY: the path is terminated and outlives the call.
        let raw = unsafe signet_openat(
            AT_FDCWD, path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
        guard raw >= 0 else { throw .last }
        let file = FileDescriptor(owning: raw)
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            var target = part.mutableSpan
            let count = try file.read(into: &target, at: content.count)
            content.append(contentsOf: part[..<count])
            if content.count > limit { throw .wrongSize }
            if count < part.count { return content }
        }
    }

    /// Where a symbolic link leads, or nil where there is none or it is longer than PATH_MAX.
    static func target(of path: [UInt8]) -> [UInt8]? {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        // SAFETY: the path is terminated, the buffer has the length that is passed, and both outlive the call.
        let count = unsafe target.withUnsafeMutableBytes { buffer in
            guard let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
            return unsafe readlink(path.map { CChar(bitPattern: $0) } + [0], start, buffer.count)
        }
        guard count > 0, count < target.count else { return nil }
        return Array(target[..<count])
    }

    /// The names in a folder; none where it cannot be read.
    ///
    /// Of more than `limit` there, one more than so many; those that come after `deadline` are left out.
    static func names(in path: [UInt8], limit: Int = .max, until deadline: Deadline? = nil) -> [[UInt8]] {
        // SAFETY: the path is terminated and outlives the call.
        let raw = unsafe signet_openat(
            AT_FDCWD, path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard raw >= 0 else { return [] }
        return (try? names(in: FileDescriptor(owning: raw), limit: limit, until: deadline)) ?? []
    }

    /// The names in an opened folder, one more than `limit` where there are more.
    static func names(
        in folder: borrowing FileDescriptor, limit: Int, until deadline: Deadline? = nil
    ) throws(FileFault) -> [[UInt8]] {
        var found = Names(limit: limit, deadline: deadline)
        // SAFETY: `found` outlives the call, and the callback is called only within it with this very pointer.
        let result = unsafe withUnsafeMutablePointer(to: &found) { list in
            unsafe signet_list(folder.raw, list) { context, name in
                // SAFETY: the context is the pointer above, the name a terminated string for the time of the call.
                guard let list = unsafe context?.assumingMemoryBound(to: Names.self) else { return 0 }
                let bytes = unsafe UnsafeBufferPointer(start: name, count: strlen(name))
                unsafe list.pointee.names.append(bytes.map { UInt8(bitPattern: $0) })
                return unsafe list.pointee.mayGoOn ? 1 : 0
            }
        }
        guard result == 0 else { throw .last }
        return found.names
    }

    private struct Names {
        let limit: Int
        let deadline: Deadline?
        var names: [[UInt8]] = []

        var mayGoOn: Bool { names.count <= limit && deadline?.hasPassed != true }
    }
}
