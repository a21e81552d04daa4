internal import CPlatform
internal import SignetEngine
internal import SignetPlatform
internal import SignetRecords

/// The service files of PAM, as libpam looks for them (pam.conf(5)): files everyone may read.
enum ServiceFiles {
    static let folders = ["/etc/pam.d", "/usr/lib/pam.d"]

    /// A service file's bytes by its name, looked for in `extra` first; nil where it cannot be read.
    static func read(_ name: [UInt8], extra: [String] = []) -> [UInt8]? {
        let text = String(decoding: name, as: UTF8.self)
        if name.first == UInt8(ascii: "/") { return contents(of: text) }
        if name.isEmpty || name.contains(UInt8(ascii: "/")) { return nil }
        for folder in extra + folders {
            if let bytes = contents(of: "\(folder)/\(text)") { return bytes }
        }
        return nil
    }

    /// Whether a service has a file of its own, readable or not.
    static func exists(_ service: String, extra: [String]) -> Bool {
        (extra + folders).contains { FolderList.names(in: $0).contains(service) }
    }

    /// All services, in alphabetical order.
    static func all() -> [String] {
        var names: Set<String> = []
        for folder in folders {
            for name in FolderList.names(in: folder) where !name.hasPrefix(".") && !isBackup(name) {
                names.insert(name)
            }
        }
        return names.sorted()
    }

    /// Services that ask Signet; Debian's common files are parts of others, and no services.
    static func guarded() -> [String] {
        all().filter { name in
            !name.hasPrefix("common-") && StackReview.isGuarded(Array(name.utf8)) { read($0) }
        }
    }

    /// All that is to be said about a service, the configuration files that its lines name included.
    static func findings(for service: String, extra: [String] = []) -> [StackFinding] {
        StackReview.findings(
            for: Array(service.utf8), read: { read($0, extra: extra) }, configurationTrouble: configurationTrouble)
    }

    /// What is the matter with the configuration file that a line names.
    ///
    /// nil where nothing is, and where it cannot be seen without root.
    private static func configurationTrouble(_ path: [UInt8]) -> ConfigurationTrouble? {
        let loaded = ConfigurationLoader.load(path)
        if !loaded.hasFile { return .path(PathProblem(path: path, matter: .missing)) }
        if geteuid() != 0, case .path(let problem)? = loaded.problem, case .system = problem.matter { return nil }
        return loaded.problem
    }

    /// Copies that editors and dpkg leave; libpam would take them for services, but no program asks for them.
    private static func isBackup(_ name: String) -> Bool {
        name.hasSuffix("~") || [".dpkg-", ".ucf-", ".rpm", ".orig", ".bak"].contains { name.contains($0) }
    }

    /// A file's bytes, at most one more than a service file may have; nil where it cannot be read.
    private static func contents(of path: String) -> [UInt8]? {
        PlainFile.read(path, limit: PAMFile.byteLimit)
    }
}

/// Files that are only looked at.
enum PlainFile {
    /// The bytes of a regular file, at most one more than `limit`; nil where it cannot be read.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        guard let file = open(path) else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= limit {
            var target = buffer.mutableSpan
            guard let count = read(file, into: &target) else { return nil }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return Array(bytes.prefix(limit + 1))
    }

    /// Opens a regular file for reading; nil where it is none, or cannot be opened.
    static func open(_ path: String) -> FileDescriptor? {
        // SAFETY: the path is passed as a C string for the time of the call.
        let raw = unsafe signet_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
        guard raw >= 0 else { return nil }
        let file = FileDescriptor(owning: raw)
        var status = stat()
        // SAFETY: `status` lives through the call.
        guard unsafe fstat(file.raw, &status) == 0, signet_is_regular(status.st_mode) != 0 else { return nil }
        return file
    }

    /// Reads the next part of the file; answers how many bytes, 0 at its end, and nil where it cannot be read.
    static func read(_ file: borrowing FileDescriptor, into target: inout MutableSpan<UInt8>) -> Int? {
        while true {
            let raw = file.raw
            // SAFETY: the buffer lives through the call and its own count is passed.
            let count = unsafe target.withUnsafeMutableBytes { buffer in
                unsafe CPlatform.read(raw, buffer.baseAddress, buffer.count)
            }
            if count >= 0 { return count }
            if signet_errno() != EINTR { return nil }
        }
    }
}

/// The names in a folder.
enum FolderList {
    /// All but "." and ".."; none where the folder cannot be read.
    static func names(in path: String) -> [String] {
        // SAFETY: the path is passed as a C string for the time of the call.
        let raw = unsafe signet_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard raw >= 0 else { return [] }
        let folder = FileDescriptor(owning: raw)
        var names: [String] = []
        // SAFETY: `names` outlives the call, and the callback is called only within it with this very pointer.
        _ = unsafe withUnsafeMutablePointer(to: &names) { list in
            unsafe signet_list(folder.raw, list) { context, name in
                // SAFETY: the context is the array's pointer, the name a terminated string for the time of the call.
                unsafe context?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: name))
                return 1
            }
        }
        return names
    }
}
