internal import CPlatform

/// Whether a process waits for a disk: state D of proc_pid_stat(5), in which no signal is heard.
enum DiskSleep {
    /// So many threads are looked at; a program that asks for a PIN has one, or a few.
    private static let threadLimit = 256

    /// Whether any thread of the process is seen in it: the lock names the process, and any thread of it may hold the lock.
    ///
    /// False where /proc does not say, not mounted or closed to us: a stopped process would keep people out for ever, and a
    /// disk that takes longer than a hold may last is rare.
    static func isSeen(in process: pid_t) -> Bool {
        let threads = Array("/proc/\(process)/task".utf8)
        for name in SmallFile.names(in: threads, limit: threadLimit).prefix(threadLimit) {
            guard let stat = ProcessStat(threads + [UInt8(ascii: "/")] + name) else { continue }
            if stat.state == UInt8(ascii: "D") { return true }
        }
        return false
    }
}
