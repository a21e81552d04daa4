internal import CPlatform
package import SignetEngine

/// Opens what only root can have put where it is.
///
/// The path is walked component by component with `openat` and O_NOFOLLOW, so that it cannot lead elsewhere between a
/// check and its use; whoever may write to a parent could replace what lies in it. A sticky bit does not help: in such a
/// folder others can put theirs where ours is missing.
package enum SafePath {
    package enum Kind: Equatable, Sendable {
        case file
        case folder
        /// A regular file that root may run.
        case program
    }

    /// Opens for reading; the kind's own checks and those of each parent have passed when it returns.
    package static func open(_ path: [UInt8], _ kind: Kind) throws(PathProblem) -> FileDescriptor {
        guard path.first == UInt8(ascii: "/"), path.count < 4096 else {
            throw PathProblem(path: path, matter: .notAbsolute)
        }
        var names: [FileName] = []
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard let name = FileName(Array(part)) else { throw PathProblem(path: path, matter: .notAbsolute) }
            names.append(name)
        }
        var walked: [UInt8] = []
        var current = try openRoot()
        try check(current, at: [UInt8(ascii: "/")], .folder)
        for (index, name) in names.enumerated() {
            walked.append(UInt8(ascii: "/"))
            walked += name.terminated.dropLast().map { UInt8(bitPattern: $0) }
            let wanted = index == names.count - 1 ? kind : .folder
            current = try open(name, in: current, at: walked, wanted)
            try check(current, at: walked, wanted)
        }
        guard !names.isEmpty || kind == .folder else { throw PathProblem(path: path, matter: .wrongKind) }
        return current
    }

    /// Reads a whole file of at most `limit` bytes.
    package static func read(_ path: [UInt8], limit: Int) throws(PathProblem) -> [UInt8] {
        let file = try open(path, .file)
        do throws(FileFault) {
            // One byte more than may be there tells a file that is too large, even where it grows meanwhile.
            let size = Int(try file.status().st_size)
            guard size >= 0, size <= limit else { throw FileFault.wrongSize }
            var bytes = [UInt8](repeating: 0, count: size + 1)
            var span = bytes.mutableSpan
            let count = try file.read(into: &span, at: 0)
            guard count <= limit else { throw FileFault.wrongSize }
            bytes.removeLast(bytes.count - count)
            return bytes
        } catch {
            throw PathProblem(path: path, matter: error == .wrongSize ? .tooLarge : matter(error))
        }
    }

    /// Whether only root can change what lies at `path`; the first component with a problem says no.
    package static func problem(with path: [UInt8], _ kind: Kind) -> PathProblem? {
        do throws(PathProblem) {
            _ = try open(path, kind)
            return nil
        } catch {
            return error
        }
    }

    /// Opens what lies in an opened folder; `path` is the whole path, for the problem's words.
    static func open(
        _ name: FileName, below parent: borrowing FileDescriptor, at path: [UInt8], _ kind: Kind
    ) throws(PathProblem) -> FileDescriptor {
        let file = try open(name, in: parent, at: path, kind)
        try check(file, at: path, kind)
        return file
    }

    private static func openRoot() throws(PathProblem) -> FileDescriptor {
        // SAFETY: the literal is a terminated string.
        let raw = unsafe signet_openat(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard raw >= 0 else { throw PathProblem(path: [UInt8(ascii: "/")], matter: matter(.last)) }
        return FileDescriptor(owning: raw)
    }

    private static func open(
        _ name: FileName, in parent: borrowing FileDescriptor, at path: [UInt8], _ kind: Kind
    ) throws(PathProblem) -> FileDescriptor {
        // O_NONBLOCK: a pipe in the file's place must not make us wait for its other end.
        let special = kind == .folder ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY
        // SAFETY: the name is terminated and outlives the call.
        let raw = unsafe signet_openat(parent.raw, name.terminated, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | special, 0)
        guard raw >= 0 else {
            let code = signet_errno()
            throw PathProblem(
                path: path, matter: code == ENOTDIR || code == ENXIO ? .wrongKind : matter(.last))
        }
        return FileDescriptor(owning: raw)
    }

    private static func check(
        _ file: borrowing FileDescriptor, at path: [UInt8], _ kind: Kind
    ) throws(PathProblem) {
        let status: stat
        do throws(FileFault) { status = try file.status() } catch {
            throw PathProblem(path: path, matter: matter(error))
        }
        let fits =
            kind == .folder
            ? signet_is_directory(status.st_mode) != 0
            : signet_is_regular(status.st_mode) != 0 && (kind == .file || status.st_mode & 0o100 != 0)
        if !fits { throw PathProblem(path: path, matter: .wrongKind) }
        if status.st_uid != 0 { throw PathProblem(path: path, matter: .notRoots(owner: status.st_uid)) }
        if status.st_mode & 0o022 != 0 {
            throw PathProblem(path: path, matter: .writableByOthers(mode: signet_permissions(status.st_mode)))
        }
    }

    /// What a file's fault means for its path.
    static func matter(_ fault: FileFault) -> PathProblem.Matter {
        switch fault {
        case .missing: .missing
        case .unsafe, .unsafeAbove: .wrongKind
        case .wrongSize: .tooLarge
        case .system(let number): .system(errno: number)
        }
    }
}
