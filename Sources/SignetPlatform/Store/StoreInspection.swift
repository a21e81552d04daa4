internal import CPlatform

/// A folder or file of the store that is not root's alone.
package struct StoreLeak: Equatable, Sendable {
    package let path: [UInt8]
    package let isFolder: Bool
    package let matter: Matter

    package enum Matter: Equatable, Sendable {
        /// A link, or something else than a folder or a file.
        case wrongKind
        /// A folder in a file's place.
        case folder
        case foreignOwner
        /// The group or others have permissions.
        case openMode
    }

    package init(path: [UInt8], isFolder: Bool, matter: Matter) {
        self.path = path
        self.isFolder = isFolder
        self.matter = matter
    }
}

/// Looks at the store by its names alone, for doctor: what refuses to be opened is told by its path.
///
/// Nothing is decided by it, so that a change between this look and an opening does no harm.
package enum StoreInspection {
    /// The first on the way to a user's records that others than root own or can open, or that is a link.
    package static func leak(root: [UInt8], uid: UInt32) -> StoreLeak? {
        let users = root + Array("/users".utf8)
        let folder = users + Array("/\(uid)".utf8)
        for path in [root, users, folder] {
            if let leak = leak(at: path, isFolder: true) { return leak }
        }
        for name in FileName.records + [.lock] {
            if let leak = leak(at: folder + slash(name), isFolder: false) { return leak }
        }
        return nil
    }

    /// What lies in the place of the list of prints in readers' memories, or of its lock, and is none of root's files.
    package static func indexLeak(root: [UInt8]) -> StoreLeak? {
        leak(at: root + slash(.chipsLock), isFolder: false) ?? leak(at: root + slash(.chips), isFolder: false)
    }

    /// Whether there are records of a user whose identity is gone, without which they mean nothing.
    ///
    /// Counters in which nothing was counted are none: they come before a first identity, which may be cut off there.
    package static func hasHalfRecord(root: [UInt8], uid: UInt32) -> Bool {
        let path = root + Array("/users/\(uid)".utf8)
        guard look(path + slash(.identity)) == nil else { return false }
        if look(path + slash(.prints)) != nil { return true }
        guard look(path + slash(.attempts)) != nil else { return false }
        do throws(FileFault) {
            let file = try SecureFolder(path: path).read(.attempts, limit: AttemptsFile.byteCount)
            return !AttemptsFile.claimsToBeNew(file.span)
        } catch {
            return true
        }
    }

    /// What of the store nobody can change, not even root, by its path: the folder, and all that is told apart by name in it.
    ///
    /// Who has such a record is let in by nothing, for no try can be counted.
    package static func frozen(root: [UInt8], uids: [UInt32]) -> [[UInt8]] {
        let users = root + Array("/users".utf8)
        var paths = [root, users] + [FileName.chips, .chipsLock, .key, .keyTPM, .values].map { root + slash($0) }
        for uid in uids {
            let folder = users + Array("/\(uid)".utf8)
            for folder in [folder, folder + Array(".old".utf8)] {
                paths += [folder] + SmallFile.names(in: folder).map { folder + [UInt8(ascii: "/")] + $0 }
            }
        }
        // SAFETY: the path is terminated and outlives the call.
        return paths.filter { unsafe signet_is_frozen(AT_FDCWD, terminated($0)) != 0 }
    }

    /// What keeps the store from being written: `full`, `read-only`, or nothing.
    package enum Room: Equatable, Sendable {
        case some
        /// No block is free, or no file can be made.
        case none
        case readOnly
        /// The system does not say.
        case unknown
    }

    /// The room of the file system that `root` lies in; 64 KiB hold every record of one user.
    package static func room(at root: [UInt8]) -> Room {
        // SAFETY: the path is terminated and outlives the call.
        switch unsafe signet_room(terminated(root)) {
        case 1: .some
        case 0: .none
        case -1: .readOnly
        default: .unknown
        }
    }

    static func slash(_ name: FileName) -> [UInt8] {
        [UInt8(ascii: "/")] + name.terminated.dropLast().map { UInt8(bitPattern: $0) }
    }

    private static func leak(at path: [UInt8], isFolder: Bool) -> StoreLeak? {
        guard let status = look(path) else { return nil }
        let fits = (isFolder ? signet_is_directory(status.st_mode) : signet_is_regular(status.st_mode)) != 0
        if !fits {
            let isFolderInstead = signet_is_directory(status.st_mode) != 0
            return StoreLeak(path: path, isFolder: isFolder, matter: isFolderInstead ? .folder : .wrongKind)
        }
        if status.st_uid != 0 { return StoreLeak(path: path, isFolder: isFolder, matter: .foreignOwner) }
        if status.st_mode & 0o077 != 0 { return StoreLeak(path: path, isFolder: isFolder, matter: .openMode) }
        return nil
    }

    /// What lstat(2) says; nil where there is nothing.
    static func look(_ path: [UInt8]) -> stat? {
        var status = stat()
        // SAFETY: the path is terminated; both outlive the call.
        return unsafe fstatat(AT_FDCWD, terminated(path), &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    private static func terminated(_ path: [UInt8]) -> [CChar] { path.map { CChar(bitPattern: $0) } + [0] }
}
