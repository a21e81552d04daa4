internal import CPlatform

// The folders of users who are removed.

extension UserStore {
    /// Whether what is called so, or anything in it, is immutable; what is not there is not.
    borrowing func isFrozen(_ name: FileName) throws(FileFault) -> Bool {
        guard let there = try users.look(name) else { return false }
        if users.isFrozen(name) { return true }
        guard signet_is_directory(there.st_mode) != 0 else { return false }
        let folder = try users.folder(name)
        return try folder.names().contains { folder.isFrozen($0) }
    }

    /// Removes what is not looked for any more, whatever files are in it; nothing happens where it is not there.
    ///
    /// False where a folder lies in it, which stays.
    ///
    /// All files and not the records alone: a copy of an identity that somebody made beside it is the user's as well, and
    /// would keep the folder from going. Links go, and are not followed. Signet makes no folder there: whoever did may have
    /// mounted something in it, or put more there than one user's records; so it is not for us to empty.
    @discardableResult
    borrowing func empty(_ name: FileName) throws(FileFault) -> Bool {
        guard let there = try users.look(name) else { return true }
        var isEmpty = true
        if signet_is_directory(there.st_mode) != 0 {
            let folder = try users.folder(name)
            for file in try folder.names() {
                if let there = try folder.look(file), signet_is_directory(there.st_mode) != 0 {
                    isEmpty = false
                } else {
                    try folder.remove(file)
                }
            }
            try folder.sync()
            if isEmpty { try users.removeFolder(name) }
        } else {
            try users.remove(name)
        }
        try users.sync()
        return isEmpty
    }
}
