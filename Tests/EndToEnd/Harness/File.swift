import Glibc

/// Whole files, read and written by root.
enum File {
    static func read(_ path: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw HarnessError("\(path) could not be read (errno \(errno))") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }

    /// Where a symbolic link leads.
    static func link(_ path: String) throws -> String {
        var target = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &target, target.count)
        guard count >= 0 else { throw HarnessError("\(path) is no link (errno \(errno))") }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Replaces the file in one step, so that no program sees half of it.
    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
        let aside = path + ".new~"
        unlink(aside)
        let descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw HarnessError("\(path) could not be written (errno \(errno))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fchmod(descriptor, mode) == 0,
            rename(aside, path) == 0
        else { throw HarnessError("\(path) could not be written (errno \(errno))") }
    }

    /// Runs `body` while the file has other contents, or none (nil), and puts the old ones back.
    static func replaced<Result>(_ path: String, with text: String?, mode: mode_t = 0o644, _ body: () throws -> Result)
        throws
        -> Result
    {
        let old = try? read(path)
        var info = stat()
        let oldMode = stat(path, &info) == 0 ? info.st_mode & 0o7777 : mode
        if let text { try write(text, to: path, mode: mode) } else { unlink(path) }
        defer { if let old { try? write(old, to: path, mode: oldMode) } else { unlink(path) } }
        return try body()
    }
}
