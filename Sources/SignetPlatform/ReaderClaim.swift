internal import CPlatform
internal import CSodium
package import SignetPolicy

/// Why a reader is not claimed.
package enum ClaimRefusal: Error, Equatable, Sendable {
    /// Another prompt has it: who that is, for people to read, where it is known.
    case held(by: [UInt8]?)
    /// There is nowhere to claim it, or its holder is stopped or has it for too long: whether the reader can be had, only
    /// opening it tells.
    case impossible
}

/// A reader that one prompt has for itself, so that the next one can say who has it.
///
/// A lock on a file for each reader, in a folder that is root's alone. It ends with the value or with its process,
/// whatever that process dies of. It protects nothing: whom the driver lets open the reader is the driver's business.
public struct ReaderClaim: ~Copyable {
    private let file: FileDescriptor

    /// Claims `reader` without waiting; `folder` is made where it is not there.
    package init(_ reader: ReaderIdentity, in folder: [UInt8]) throws(ClaimRefusal) {
        guard let name = ReaderClaim.fileName(of: reader) else { throw .impossible }
        let file: FileDescriptor
        do throws(FileFault) {
            file = try SecureFolder(path: folder, creating: true).lockFile(name)
        } catch {
            throw .impossible
        }
        if signet_lock_try(file.raw) != 0 {
            let code = signet_errno()
            guard code == EACCES || code == EAGAIN else { throw .impossible }
            throw ReaderClaim.refusal(by: signet_lock_holder(file.raw, nil), in: file)
        }
        ClaimAge.begin(in: file)
        self.file = file
    }

    deinit { signet_lock_release(file.raw) }

    /// How a claim of `reader` would be refused now; nil where it would not.
    ///
    /// Nothing is claimed or made for the look. A holder in another pid namespace, which has no number here, is not
    /// seen (fcntl(2), F_GETLK).
    package static func refusal(of reader: ReaderIdentity, in folder: [UInt8]) -> ClaimRefusal? {
        guard let name = ReaderClaim.fileName(of: reader) else { return nil }
        let file: FileDescriptor
        do throws(FileFault) { file = try SecureFolder(path: folder).file(name, flags: O_RDWR) } catch { return nil }
        let holder = signet_lock_holder(file.raw, nil)
        return holder > 0 ? refusal(by: holder, in: file) : nil
    }

    /// What the claim of another process means.
    private static func refusal(by holder: pid_t, in file: borrowing FileDescriptor) -> ClaimRefusal {
        // A user can stop his own `su alice`, or freeze its control group, for as long as he likes.
        if ClaimAge.isOver(in: file) { return .impossible }
        guard let holder = ReaderHolder(process: holder) else { return .held(by: nil) }
        return holder.isStopped ? .impossible : .held(by: holder.words)
    }

    /// The name of a reader's file: driver and device come from a device's own memory, and are no path component.
    ///
    /// 32 hexadecimal digits of BLAKE2b (RFC 7693) over both, the first with its length before it. Readers that libfprint
    /// cannot tell apart share a file.
    static func fileName(of reader: ReaderIdentity) -> FileName? {
        let message = [UInt8(clamping: reader.driver.count)] + reader.driver + reader.device
        let none: [UInt8] = []
        var hash = [UInt8](repeating: 0, count: 16)
        var target = hash.mutableSpan
        let length = target.count
        let failed = target.withAddress { out in
            message.span.withAddress { text in
                none.span.withAddress { key in
                    // SAFETY: each address is valid for the length that goes with it, and none is kept.
                    unsafe crypto_generichash(out, length, text, UInt64(message.count), key, 0) != 0
                }
            }
        }
        if failed { return nil }
        let digits = Array("0123456789abcdef".utf8)
        var name: [UInt8] = []
        for byte in hash { name += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return FileName(name)
    }
}

/// Since when a claim stands, in its file: seconds since boot, eight bytes, little endian.
enum ClaimAge {
    /// How long a claim counts, in seconds: longer than the alarm of a helper that waits for a finger (120 s).
    ///
    /// Whoever has a reader for longer than that keeps it by the driver, not by this.
    static let limit: UInt64 = 150

    /// Writes the beginning; what cannot be written leaves an older beginning, and so a claim that ends early.
    static func begin(in file: borrowing FileDescriptor) {
        let now = SystemClock.secondsSinceBoot ?? 0
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: now >> UInt64(8 * $0)) }
        // SAFETY: the pointer and the length describe the array, which lives through the call.
        _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(file.raw, $0.baseAddress, $0.count, 0) }
    }

    /// Whether it has lasted too long; false where nobody has written a beginning yet.
    static func isOver(in file: borrowing FileDescriptor) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 8)
        // SAFETY: as above.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file.raw, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count, let now = SystemClock.secondsSinceBoot else { return false }
        var beginning: UInt64 = 0
        for index in (0..<8).reversed() { beginning = beginning << 8 | UInt64(bytes[index]) }
        return now > beginning && now - beginning > limit
    }
}

/// A process as a person knows it: its program, and the terminal where it was started.
struct ReaderHolder: Equatable {
    /// "sudo on pts/3", or "sudo"; printable ASCII.
    let words: [UInt8]
    /// Whether a signal or a debugger has stopped it.
    let isStopped: Bool
    /// Whether its program lies below our /usr: of another one the name could be anything, in somebody else's prompt.
    let isInstalled: Bool

    /// Looks at a process; nil where there is none that can be looked at.
    ///
    /// `root` is put before /proc, for tests.
    init?(process: pid_t, root: [UInt8] = []) {
        guard process > 0 else { return nil }
        let folder = root + Array("/proc/\(process)".utf8)
        guard let stat = ProcessStat(folder) else { return nil }
        // Escape sequences in a name would act on the reader's terminal.
        guard
            let file = SmallFile.target(of: folder + Array("/exe".utf8)),
            let program = ReaderHolder.program(file).map({ name in
                name.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
            })
        else { return nil }
        // In a user namespace of their own anybody may mount what they like over /usr (user_namespaces(7)).
        isInstalled =
            file.starts(with: "/usr/".utf8)
            && ReaderHolder.userNamespace(folder) == ReaderHolder.userNamespace(root + Array("/proc/self".utf8))
        isStopped = stat.state == UInt8(ascii: "T") || stat.state == UInt8(ascii: "t")
        let terminal = stat.terminal.flatMap { ReaderHolder.terminal(UInt32(truncatingIfNeeded: $0)) }
        words = terminal.map { program + Array(" on ".utf8) + $0 } ?? program
    }

    /// "user:[4026531837]" (namespaces(7)); nil where it cannot be read, or the kernel has none.
    private static func userNamespace(_ process: [UInt8]) -> [UInt8]? {
        SmallFile.target(of: process + Array("/ns/user".utf8))
    }

    /// The name of the program's file: `comm` is what its starter called it, and would stand in somebody else's prompt.
    private static func program(_ path: [UInt8]) -> [UInt8]? {
        guard let name = path.split(separator: UInt8(ascii: "/")).last else { return nil }
        // An upgrade has put another file in its place (proc_pid_exe(5)).
        let deleted = Array(" (deleted)".utf8)
        let isDeleted = name.count > deleted.count && name.suffix(deleted.count).elementsEqual(deleted)
        return Array((isDeleted ? name.dropLast(deleted.count) : name).prefix(32))
    }

    /// A terminal's name by its device number; nil for none, and for kinds that people do not sit at.
    ///
    /// Minor in bits 31–20 and 7–0, major between (proc_pid_stat(5)). Numbers: Linux, admin-guide/devices.txt.
    static func terminal(_ device: UInt32) -> [UInt8]? {
        let major = (device >> 8) & 0xFFF
        let minor = (device >> 12) & ~0xFF | device & 0xFF
        switch major {
        case 136...143: return Array("pts/\((major - 136) << 20 | minor)".utf8)
        case 4 where minor < 64: return Array("tty\(minor)".utf8)
        case 4: return Array("ttyS\(minor - 64)".utf8)
        default: return nil
        }
    }
}
