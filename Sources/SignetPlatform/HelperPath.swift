internal import CPlatform

/// The path of a helper program, checked.
struct HelperPath {
    /// The path with a zero at its end.
    let terminated: [UInt8]

    /// Takes an absolute path to a regular, executable file that root owns and nobody else may write, in folders of
    /// which the same holds up to the root; nil for any other.
    ///
    /// No part may be a symbolic link. Since only root can change any part, what is executed later is what was checked.
    init?(_ path: [UInt8]) {
        guard path.first == 0x2F, path.count < Int(PATH_MAX), !path.contains(0) else { return nil }
        let names = path.split(separator: 0x2F)
        guard let last = names.last else { return nil }
        for name in names where Array(name) == [0x2E] || Array(name) == [0x2E, 0x2E] { return nil }
        var folder = HelperPath.open([0x2F], in: AT_FDCWD, O_DIRECTORY)
        defer { if folder >= 0 { _ = CPlatform.close(folder) } }
        for name in names.dropLast() {
            guard HelperPath.isSafe(folder, asFolder: true) else { return nil }
            let next = HelperPath.open(Array(name), in: folder, O_DIRECTORY)
            _ = CPlatform.close(folder)
            folder = next
        }
        guard HelperPath.isSafe(folder, asFolder: true) else { return nil }
        let file = HelperPath.open(Array(last), in: folder, 0)
        defer { if file >= 0 { _ = CPlatform.close(file) } }
        guard HelperPath.isSafe(file, asFolder: false) else { return nil }
        terminated = path + [0]
    }

    private static func open(_ name: [UInt8], in folder: Int32, _ flags: Int32) -> Int32 {
        let text = (name + [0]).map { CChar(bitPattern: $0) }
        // NOCTTY and NONBLOCK: opening must have no effect, whatever lies there.
        let all = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags
        // SAFETY: `text` ends with a zero and lives for the call.
        return unsafe text.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return -1 }
            return unsafe signet_openat(folder, start, all, 0)
        }
    }

    private static func isSafe(_ descriptor: Int32, asFolder: Bool) -> Bool {
        var about = stat()
        // SAFETY: `about` is good for the call.
        guard descriptor >= 0, unsafe fstat(descriptor, &about) == 0 else { return false }
        guard about.st_uid == 0, about.st_mode & 0o022 == 0 else { return false }
        if asFolder { return signet_is_directory(about.st_mode) != 0 }
        return signet_is_regular(about.st_mode) != 0 && about.st_mode & 0o100 != 0
    }
}
