internal import CPlatform

/// A folder that only root can read or change, reached through folders that only root can change.
///
/// It is opened component by component with `openat` and O_NOFOLLOW, so that a path cannot lead elsewhere between a
/// check and its use; whoever could replace a parent could replace the store. POSIX access lists need no look of their
/// own: what they grant to others shows in the group bits of the mode (acl(5), "correspondence").
package struct SecureFolder: ~Copyable {
    private let descriptor: FileDescriptor
    /// Which folder this is, whatever its name names later.
    private let identity: FileIdentity

    private init(checked descriptor: consuming FileDescriptor, _ identity: FileIdentity) {
        self.descriptor = descriptor
        self.identity = identity
    }

    /// Opens an absolute path; where `creating`, makes its last component if it is not there.
    package init(path: [UInt8], creating: Bool = false) throws(FileFault) {
        guard path.first == UInt8(ascii: "/") else { throw .unsafe }
        var names: [FileName] = []
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard let name = FileName(Array(part)) else { throw .unsafe }
            names.append(name)
        }
        guard let last = names.popLast() else { throw .unsafe }
        let parent: FileDescriptor
        do throws(FileFault) { parent = try SecureFolder.walk(names) } catch {
            throw error == .unsafe ? .unsafeAbove : error
        }
        self = try SecureFolder.enter(last, in: parent, creating: creating)
    }

    /// Goes from the top through folders that only root can change.
    private static func walk(_ names: [FileName]) throws(FileFault) -> FileDescriptor {
        // SAFETY: the literal is a terminated string.
        let top = unsafe signet_openat(AT_FDCWD, "/", flags, 0)
        guard top >= 0 else { throw .last }
        var parent = FileDescriptor(owning: top)
        try check(parent, forbidden: othersMayWrite)
        for name in names {
            parent = try open(name, in: parent)
            try check(parent, forbidden: othersMayWrite)
        }
        return parent
    }

    /// Opens a folder in this one; where `creating`, makes it if it is not there.
    package borrowing func folder(_ name: FileName, creating: Bool = false) throws(FileFault) -> SecureFolder {
        try SecureFolder.enter(name, in: descriptor, creating: creating)
    }

    /// Opens a regular file that is root's alone; `flags` is O_RDONLY or O_RDWR, `size` what it must have, in bytes; nil: any.
    package borrowing func file(
        _ name: FileName, flags: Int32 = O_RDONLY, size: Int? = nil
    ) throws(FileFault) -> FileDescriptor {
        var found = 0
        let file = try open(name, flags, &found)
        guard size == nil || size == found else { throw .wrongSize }
        return file
    }

    /// The same, and tells how many bytes it has.
    private borrowing func open(
        _ name: FileName, _ flags: Int32, _ size: inout Int, allowing: UInt32 = 0
    ) throws(FileFault) -> FileDescriptor {
        // O_NONBLOCK: a pipe that lies in the file's place must not make us wait for its other end.
        // SAFETY: the name is terminated and outlives the call.
        let raw = unsafe signet_openat(
            descriptor.raw, name.terminated, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
        guard raw >= 0 else {
            let fault = FileFault.last
            // Each refuses in words of its own: a folder, a socket, a device without a driver.
            if let there = try look(name), signet_is_regular(there.st_mode) == 0 { throw .unsafe }
            throw fault
        }
        let file = FileDescriptor(owning: raw)
        let status = try file.status()
        guard signet_is_regular(status.st_mode) != 0, status.st_uid == 0,
            status.st_mode & SecureFolder.othersMayAnything & ~allowing == 0
        else { throw .unsafe }
        size = Int(status.st_size)
        return file
    }

    /// Opens a file for locking, made empty where it is not there.
    package borrowing func lockFile(_ name: FileName) throws(FileFault) -> FileDescriptor {
        do throws(FileFault) {
            return try file(name, flags: O_RDWR)
        } catch {
            guard error == .missing else { throw error }
        }
        do throws(FileFault) {
            return try make(name)
        } catch {
            // Somebody else made it between the two calls.
            guard error == .system(errno: EEXIST) else { throw error }
            return try file(name, flags: O_RDWR)
        }
    }

    /// Reads a whole file of at most `limit` bytes that hold no secret in the clear; `allowing` are mode bits of others
    /// that do not matter.
    package borrowing func read(
        _ name: FileName, limit: Int, allowing: UInt32 = 0
    ) throws(FileFault) -> [UInt8] {
        var size = 0
        let file = try open(name, O_RDONLY, &size, allowing: allowing)
        guard size >= 0, size <= limit else { throw .wrongSize }
        var bytes = [UInt8](repeating: 0, count: size)
        var span = bytes.mutableSpan
        guard try file.read(into: &span, at: 0) == size else { throw .wrongSize }
        return bytes
    }

    /// Replaces a file by one with this content; durable, and never half of it, when and whether it returns.
    ///
    /// To be called by one process at a time for each name. `mode` gives others nothing.
    package borrowing func replace(
        _ name: FileName, with bytes: Span<UInt8>, mode: UInt32 = 0o600
    ) throws(FileFault) {
        let temporary = name.temporary
        try remove(temporary)
        let file = try make(temporary, mode: mode)
        do throws(FileFault) {
            try file.write(bytes, at: 0)
            try file.sync()
            // SAFETY: both names are terminated and outlive the call.
            guard unsafe renameat(descriptor.raw, temporary.terminated, descriptor.raw, name.terminated) == 0 else {
                throw .last
            }
        } catch {
            try? remove(temporary)
            throw error
        }
        try sync()
    }

    /// Removes a file; nothing happens where it is not there.
    package borrowing func remove(_ name: FileName) throws(FileFault) {
        // SAFETY: the name is terminated and outlives the call.
        guard unsafe unlinkat(descriptor.raw, name.terminated, 0) == 0 || signet_errno() == ENOENT else { throw .last }
    }

    /// Clears the name of a file that a folder has: an empty one goes, another is called `outgoing`, with what is in it.
    ///
    /// Unsafe where that name is taken too.
    borrowing func setFolderAside(_ name: FileName) throws(FileFault) {
        guard let there = try look(name), signet_is_directory(there.st_mode) != 0 else { return }
        do throws(FileFault) { try removeFolder(name) } catch {
            do throws(FileFault) { try rename(name, to: name.outgoing) } catch {
                switch error {
                case .system(ENOTEMPTY), .system(EEXIST), .system(ENOTDIR): throw .unsafe
                default: throw error
                }
            }
        }
    }

    /// Gives a file or folder another name in this folder, in one step; nothing happens where it is not there.
    package borrowing func rename(_ name: FileName, to next: FileName) throws(FileFault) {
        // SAFETY: both names are terminated and outlive the call.
        guard
            unsafe renameat(descriptor.raw, name.terminated, descriptor.raw, next.terminated) == 0
                || signet_errno() == ENOENT
        else { throw .last }
    }

    /// Overwrites a small file and removes it; nothing happens where it is not there.
    ///
    /// Its name goes first, at once and durably, so that nobody finds half of it; a call that was interrupted is made up
    /// for by the next. What it held is gone from where the file lay. That does not reach a copy-on-write file system,
    /// which writes elsewhere, a snapshot or backup, or the spare blocks of flash, which keeps old ones until it needs them.
    package borrowing func destroy(_ name: FileName) throws(FileFault) {
        let outgoing = name.outgoing
        if try exists(name) {
            // What an interrupted call left is not to be covered by this one.
            if try exists(outgoing) { try overwriteAndRemove(outgoing) }
            // SAFETY: both names are terminated and outlive the call.
            guard unsafe renameat(descriptor.raw, name.terminated, descriptor.raw, outgoing.terminated) == 0 else {
                throw .last
            }
            try sync()
        }
        if try exists(outgoing) { try overwriteAndRemove(outgoing) }
    }

    private borrowing func overwriteAndRemove(_ name: FileName) throws(FileFault) {
        do throws(FileFault) {
            var size = 0
            let file = try open(name, O_RDWR, &size)
            let zeros = [UInt8](repeating: 0, count: min(size, 4096))
            try file.write(zeros.span, at: 0)
            try file.sync()
        } catch {
            // A link is not followed, and goes.
            guard error == .unsafe else { throw error }
        }
        try remove(name)
        try sync()
    }

    /// Removes an empty folder; nothing happens where it is not there.
    package borrowing func removeFolder(_ name: FileName) throws(FileFault) {
        // SAFETY: the name is terminated and outlives the call.
        guard unsafe unlinkat(descriptor.raw, name.terminated, AT_REMOVEDIR) == 0 || signet_errno() == ENOENT else {
            throw .last
        }
    }

    /// Waits until the folder's names are on the disk.
    package borrowing func sync() throws(FileFault) { try descriptor.sync() }

    /// Whether there is anything of this name, whatever it is.
    package borrowing func exists(_ name: FileName) throws(FileFault) -> Bool { try look(name) != nil }

    /// What lies under this name, whatever it is; nil where nothing does.
    borrowing func look(_ name: FileName) throws(FileFault) -> stat? {
        var status = stat()
        // SAFETY: the name is terminated; both outlive the call.
        if unsafe fstatat(descriptor.raw, name.terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
        let fault = FileFault.last
        guard fault == .missing else { throw fault }
        return nil
    }

    /// Whether nobody can change or remove what this name names (chattr(1)).
    borrowing func isFrozen(_ name: FileName) -> Bool {
        // SAFETY: the name is terminated and outlives the call.
        unsafe signet_is_frozen(descriptor.raw, name.terminated) != 0
    }

    /// Whether `file` is what `name` names now.
    borrowing func names(_ name: FileName, _ file: FileIdentity) throws(FileFault) -> Bool {
        try look(name).map { FileIdentity($0) } == file
    }

    /// Whether `name` in this folder still is that other folder.
    package borrowing func holds(_ name: FileName, _ folder: borrowing SecureFolder) throws(FileFault) -> Bool {
        try names(name, folder.identity)
    }

    /// All names in this folder, in no order.
    borrowing func names() throws(FileFault) -> [FileName] {
        try SmallFile.names(in: descriptor, limit: .max).compactMap { FileName($0) }
    }

    /// Names in this folder that are plain decimal numbers, in no order: the users' folders.
    package borrowing func numbers() throws(FileFault) -> [UInt32] {
        var found: [UInt32] = []
        // SAFETY: `found` outlives the call, and the callback is called only within it with this very pointer.
        let result = unsafe withUnsafeMutablePointer(to: &found) { list in
            unsafe signet_list(descriptor.raw, list) { context, name in
                // SAFETY: the context is the array's pointer, the name a terminated string for the time of the call.
                guard let list = unsafe context?.assumingMemoryBound(to: [UInt32].self) else { return 0 }
                var value: UInt64 = 0
                var index = 0
                while let digit = unsafe UInt8(exactly: name[index]), digit != 0 {
                    guard digit >= 0x30, digit <= 0x39, index < 10 else { return 1 }
                    value = value * 10 + UInt64(digit - 0x30)
                    index += 1
                }
                if index > 0, let number = UInt32(exactly: value) { unsafe list.pointee.append(number) }
                return 1
            }
        }
        guard result == 0 else { throw .last }
        return found
    }
}

extension SecureFolder {
    private static var flags: Int32 { O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC }
    private static var othersMayWrite: mode_t { 0o022 }
    private static var othersMayAnything: mode_t { 0o077 }

    private static func open(
        _ name: FileName, in parent: borrowing FileDescriptor
    ) throws(FileFault) -> FileDescriptor {
        // SAFETY: the name is terminated and outlives the call.
        let raw = unsafe signet_openat(parent.raw, name.terminated, flags, 0)
        // ENOTDIR: a link (O_DIRECTORY with O_NOFOLLOW) or a file where a folder should be.
        guard raw >= 0 else { throw signet_errno() == ENOTDIR ? .unsafe : .last }
        return FileDescriptor(owning: raw)
    }

    @discardableResult
    private static func check(_ folder: borrowing FileDescriptor, forbidden: mode_t) throws(FileFault) -> FileIdentity {
        let status = try folder.status()
        // A sticky bit does not help: in a folder that others may write to, they can put theirs where ours is missing.
        guard signet_is_directory(status.st_mode) != 0, status.st_uid == 0, status.st_mode & forbidden == 0 else {
            throw .unsafe
        }
        return FileIdentity(status)
    }

    private static func enter(
        _ name: FileName, in parent: borrowing FileDescriptor, creating: Bool
    ) throws(FileFault) -> SecureFolder {
        do throws(FileFault) {
            let folder = try open(name, in: parent)
            let identity = try check(folder, forbidden: othersMayAnything)
            return SecureFolder(checked: folder, identity)
        } catch {
            guard creating, error == .missing else { throw error }
        }
        // SAFETY: the name is terminated and outlives the call.
        guard unsafe mkdirat(parent.raw, name.terminated, 0o700) == 0 || signet_errno() == EEXIST else { throw .last }
        let folder = try open(name, in: parent)
        try setOwner(folder, mode: 0o700)
        let identity = try check(folder, forbidden: othersMayAnything)
        try parent.sync()
        return SecureFolder(checked: folder, identity)
    }

    /// The caller's umask and group are not ours to trust: owner, group and mode are set outright.
    private static func setOwner(_ file: borrowing FileDescriptor, mode: UInt32) throws(FileFault) {
        guard fchown(file.raw, 0, 0) == 0, fchmod(file.raw, mode) == 0 else { throw .last }
    }

    /// Makes a new empty file for reading and writing, which must not be there yet.
    private borrowing func make(_ name: FileName, mode: UInt32 = 0o600) throws(FileFault) -> FileDescriptor {
        // SAFETY: the name is terminated and outlives the call.
        let raw = unsafe signet_openat(
            descriptor.raw, name.terminated, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard raw >= 0 else { throw .last }
        let file = FileDescriptor(owning: raw)
        do throws(FileFault) {
            try SecureFolder.setOwner(file, mode: mode)
        } catch {
            try? remove(name)
            throw error
        }
        return file
    }
}
