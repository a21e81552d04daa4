import Glibc

/// Another boot of the same machine: a shifted boot clock and, where asked for, another boot id.
///
/// Time namespaces shift CLOCK_BOOTTIME (time_namespaces(7)); the boot id is a file bound over the kernel's. Programs run
/// through one value of this type see the same boot.
struct BootShift {
    /// Seconds by which the boot clock stands ahead.
    let seconds: Int
    /// The file with the other boot id; nil keeps the machine's.
    private let identity: String?

    /// The same boot, so many seconds later.
    static func later(seconds: Int) -> BootShift { BootShift(seconds: seconds, identity: nil) }

    /// After a reboot; the boot clock stands `seconds` after the real one, since a namespace cannot take it below zero.
    static func reboot(seconds: Int = 0) throws -> BootShift {
        let path = try World.scratchFolder() + "/boot_id"
        try File.write(File.read("/proc/sys/kernel/random/uuid"), to: path)
        return BootShift(seconds: seconds, identity: path)
    }

    /// This boot, so many seconds later.
    func later(seconds more: Int) -> BootShift { BootShift(seconds: seconds + more, identity: identity) }

    /// The command line that runs `arguments` in this boot; must be started as root, with `user` for the program itself.
    func command(_ arguments: [String], as user: User? = nil) -> [String] {
        var inner = arguments
        if let user {
            inner = ["setpriv", "--reuid=\(user.uid)", "--regid=\(user.gid)", "--init-groups", "--"] + inner
        }
        // CLONE_NEWTIME takes effect for children only, hence --fork (unshare(2)).
        var words = [
            "unshare", "--mount", "--propagation", "private", "--time", "--boottime", "\(seconds)", "--fork", "--",
        ]
        if let identity {
            words += [
                "sh", "-c", "mount --no-mtab --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"", identity,
            ]
        }
        return words + inner
    }
}
