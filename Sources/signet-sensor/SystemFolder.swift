internal import CPlatform

/// The few questions to /sys.
enum SystemFolder {
    /// A folder on the way from /sys/devices to a device.
    struct Step {
        let name: ArraySlice<UInt8>
        let path: String
    }

    /// The folders on the way to `path`, that one last; nil where it is not below /sys/devices.
    static func steps(below path: [UInt8]) -> [Step]? {
        let prefix = Array("/sys/devices/".utf8)
        guard path.starts(with: prefix) else { return nil }
        var walked = String(decoding: prefix.dropLast(), as: UTF8.self)
        return path[prefix.count...].split(separator: UInt8(ascii: "/")).map { name in
            walked += "/" + String(decoding: name, as: UTF8.self)
            return Step(name: name, path: walked)
        }
    }

    /// What an attribute says, without its line's end; nil where it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { _ = close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        // SAFETY: the buffer has the length that is passed.
        let length = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe CPlatform.read(file, buffer.baseAddress, buffer.count)
        }
        guard length > 0 else { return nil }
        return Array(bytes[..<length].prefix { $0 != 0x0A })
    }

    /// An attribute that is a number of one byte.
    static func number(_ path: String) -> UInt8? {
        guard let digits = read(path), !digits.isEmpty, digits.count <= 3 else { return nil }
        var value: UInt = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + UInt(digit - 0x30)
        }
        return UInt8(exactly: value)
    }

    /// The path without links.
    static func realPath(_ path: String) -> [UInt8]? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        // SAFETY: realpath(3) writes at most PATH_MAX bytes with the zero, and the path is terminated.
        let found = unsafe target.withUnsafeMutableBufferPointer { buffer in
            unsafe path.utf8CString.withUnsafeBufferPointer { text in
                unsafe realpath(text.baseAddress, buffer.baseAddress) != nil
            }
        }
        return found ? target.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) } : nil
    }

    /// The names in a folder.
    static func names(_ path: String) -> [[UInt8]] {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return [] }
        defer { _ = close(folder) }
        var found: [[UInt8]] = []
        // SAFETY: `found` outlives the call, and the callback is called only within it with this very pointer.
        _ = unsafe withUnsafeMutablePointer(to: &found) { list in
            unsafe signet_list(folder, list) { context, name in
                // SAFETY: the context is the array's pointer, the name a terminated text for the time of the call.
                guard let list = unsafe context?.assumingMemoryBound(to: [[UInt8]].self) else { return 0 }
                let bytes = unsafe UnsafeBufferPointer(start: name, count: strlen(name))
                unsafe list.pointee.append(bytes.map { UInt8(bitPattern: $0) })
                return 1
            }
        }
        return found
    }

    private static func open(_ path: String, _ flags: Int32) -> Int32 {
        // SAFETY: the text is terminated and outlives the call.
        unsafe path.utf8CString.withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { return -1 }
            return unsafe signet_openat(AT_FDCWD, start, flags, 0)
        }
    }
}
