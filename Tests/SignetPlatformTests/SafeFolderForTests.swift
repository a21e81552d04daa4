import CPlatform

/// A fresh folder below /var/lib, whose parents are root's alone as those of a real store and configuration are.
///
/// /tmp will not do: everyone may write there, so nothing in it is safe.
struct SafeFolderForTests: ~Copyable {
    let path: String

    static var isPossible: Bool { geteuid() == 0 }

    init() throws {
        path = "/var/lib/signet-admin-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        guard unsafe mkdir(path, 0o755) == 0 else { throw NoFolder() }
    }

    struct NoFolder: Error {}

    /// Writes a file and answers its path.
    func file(_ name: String, _ text: String, mode: mode_t = 0o644) -> String {
        let file = "\(path)/\(name)"
        let raw = unsafe signet_openat(AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        unsafe text.utf8CString.withUnsafeBytes { _ = unsafe write(raw, $0.baseAddress, $0.count - 1) }
        fchmod(raw, mode)
        close(raw)
        return file
    }

    func folder(_ name: String, mode: mode_t) -> String {
        let folder = "\(path)/\(name)"
        unsafe mkdir(folder, 0o700)
        unsafe chmod(folder, mode)
        return folder
    }

    func link(_ name: String, to target: String) -> String {
        let link = "\(path)/\(name)"
        unsafe symlink(target, link)
        return link
    }

    deinit {
        // Only what the tests put there: files, links, and one level of folders.
        for name in [
            "signet.conf", "a.conf", "b.conf", "open/signet.conf", "link", "linked/signet.conf", "pipe", "prog",
        ] {
            unsafe unlink("\(path)/\(name)")
        }
        for name in ["open", "linked", "folder"] { unsafe rmdir("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
