internal import CPlatform

/// Why a file or folder could not be used.
package enum FileFault: Error, Equatable, Sendable {
    case missing
    /// Not root's alone, a symbolic link, or of the wrong type.
    case unsafe
    /// The same of a folder on the way to it, which it cannot be blamed for.
    case unsafeAbove
    /// Shorter or longer than a file of its kind can be.
    case wrongSize
    /// The system refused, with its errno.
    case system(errno: Int32)

    /// The fault that errno tells now; ENOENT is `missing`, ELOOP (a link where none may be) is `unsafe`.
    static var last: FileFault {
        let code = signet_errno()
        if code == ENOENT { return .missing }
        return code == ELOOP ? .unsafe : .system(errno: code)
    }
}

/// An open file with this one owner, closed when it goes away.
public struct FileDescriptor: ~Copyable {
    /// The number the kernel knows it by; valid as long as `self`.
    package let raw: Int32

    /// Takes ownership of an open descriptor.
    package init(owning raw: Int32) { self.raw = raw }

    // Linux gives the number back even where close(2) answers EINTR: closing twice could close somebody else's file.
    deinit { _ = close(raw) }
}

/// Whether both have the same bytes, of which none is secret.
///
/// What `==` of arrays says, and for a page in a tenth of its time: Embedded Swift compares byte by byte.
func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return unsafe one.withUnsafeBytes { one in
        unsafe other.withUnsafeBytes { other in
            // SAFETY: both live through the call and have as many bytes; an empty one may have no address.
            guard let one = one.baseAddress, let rest = other.baseAddress else { return true }
            return unsafe memcmp(one, rest, other.count) == 0
        }
    }
}

/// Which file it is, whatever its names: as long as one is open, no other is the same.
struct FileIdentity: Equatable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}

extension FileDescriptor {
    /// What fstat(2) says.
    borrowing func status() throws(FileFault) -> stat {
        var status = stat()
        // SAFETY: `status` is ours and outlives the call.
        guard unsafe fstat(raw, &status) == 0 else { throw .last }
        return status
    }

    /// Reads from `offset` on until `target` is full or the file ends; answers the number of bytes read.
    borrowing func read(into target: inout MutableSpan<UInt8>, at offset: Int) throws(FileFault) -> Int {
        let raw = raw
        // SAFETY: the kernel writes at most `buffer.count - done` bytes behind the first `done` of the buffer.
        return try unsafe target.withUnsafeMutableBytes { (buffer) throws(FileFault) -> Int in
            var done = 0
            while done < buffer.count {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let count = unsafe pread(raw, rest.baseAddress, rest.count, offset + done)
                if count == 0 { break }
                if count > 0 { done += count } else if signet_errno() != EINTR { throw .last }
            }
            return done
        }
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// A write behind RLIMIT_FSIZE would raise SIGXFSZ, whose default kills the process, and the limit is the caller's
    /// to choose (setrlimit(2) is kept over execve): so the limit is looked at first, and answered with EFBIG.
    borrowing func write(_ bytes: Span<UInt8>, at offset: Int) throws(FileFault) {
        var limit = rlimit()
        // SAFETY: `limit` is ours and outlives the call.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { throw .last }
        guard UInt64(offset) + UInt64(bytes.count) <= UInt64(limit.rlim_cur) else { throw .system(errno: EFBIG) }
        let raw = raw
        // SAFETY: the kernel reads at most `buffer.count - done` bytes behind the first `done` of the buffer.
        try unsafe bytes.withUnsafeBytes { (buffer) throws(FileFault) in
            var done = 0
            while done < buffer.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                let count = unsafe pwrite(raw, rest.baseAddress, rest.count, offset + done)
                if count > 0 {
                    done += count
                } else if count == 0 {
                    throw .system(errno: EIO)
                } else if signet_errno() != EINTR {
                    throw .last
                }
            }
        }
    }

    /// Waits until the file's data, and the metadata needed to find it, are on the disk.
    borrowing func syncData() throws(FileFault) {
        while fdatasync(raw) != 0 {
            guard signet_errno() == EINTR else { throw .last }
        }
    }

    /// Waits until data and metadata are on the disk.
    borrowing func sync() throws(FileFault) {
        while fsync(raw) != 0 {
            guard signet_errno() == EINTR else { throw .last }
        }
    }
}
