// The folders of users who are removed.

extension UserStore {
    /// Whether a user's folder or anything in it is immutable; one that is not there is not.
    borrowing func isFrozen(_ name: FileName) throws(FileFault) -> Bool {
        if users.isFrozen(name) { return true }
        do throws(FileFault) {
            let folder = try users.folder(name)
            for file in FileName.records + [.lock] where folder.isFrozen(file) { return true }
        } catch {
            if error != .missing { throw error }
        }
        return false
    }

    /// Removes a folder that is not looked for any more; nothing happens where it is not there.
    borrowing func empty(_ name: FileName) throws(FileFault) {
        do throws(FileFault) {
            let folder = try users.folder(name)
            for file in FileName.records {
                try folder.remove(file)
                try folder.remove(file.temporary)
            }
            try folder.remove(.lock)
        } catch {
            if error == .missing { return }
            throw error
        }
        try users.removeFolder(name)
        try users.sync()
    }
}
