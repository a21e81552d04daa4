import Glibc

/// How one system call fails.
enum Fault: Equatable, CustomStringConvertible {
    /// It does nothing and answers this errno; `close` has closed nevertheless.
    case error(CInt)
    /// So does each later one of the same name: a full disk, no descriptors left.
    case lasting(CInt)
    /// It does half of what it was asked for, which happens to whoever reads and writes.
    case short
    /// It answers 0: the end of a file or of a connection, a wait in which nothing came.
    case end

    /// As Tests/Tools/faults.c takes it.
    var word: String {
        switch self {
        case .error(let number), .lasting(let number): "\(number)"
        case .short: "short"
        case .end: "end"
        }
    }

    var description: String {
        switch self {
        case .error(let number): Fault.names.first { $0.number == number }?.name ?? "errno \(number)"
        case .lasting(let number): "\(Fault.error(number)) from then on"
        default: word
        }
    }

    var isLasting: Bool { if case .lasting = self { true } else { false } }

    private static let names: [(number: CInt, name: String)] = [
        (EPERM, "EPERM"), (ENOENT, "ENOENT"), (EINTR, "EINTR"), (EIO, "EIO"), (EAGAIN, "EAGAIN"), (ENOMEM, "ENOMEM"),
        (EACCES, "EACCES"), (EBUSY, "EBUSY"), (EINVAL, "EINVAL"), (ENFILE, "ENFILE"), (EMFILE, "EMFILE"),
        (ENOSPC, "ENOSPC"), (EROFS, "EROFS"), (EPIPE, "EPIPE"), (ENOSYS, "ENOSYS"), (ENOLCK, "ENOLCK"),
        (ENOBUFS, "ENOBUFS"), (ECONNRESET, "ECONNRESET"), (ECONNREFUSED, "ECONNREFUSED"), (ECHILD, "ECHILD"),
        (ESRCH, "ESRCH"), (ENOTCONN, "ENOTCONN"), (ENXIO, "ENXIO"),
    ]

    /// What the manual page of each call lets happen to a correct caller; nil for a call that nobody has looked up.
    static func all(of call: String) -> [Fault]? { table.first { $0.calls.contains(call) }?.faults }

    /// Calls that are made dozens of times to look at something: each fails in one way, and the ways take turns.
    static let glances: Set<String> = [
        "openat", "open", "stat", "lstat", "fstat", "newfstatat", "statx", "access", "readlink", "close", "getdents64",
    ]

    /// Calls that cannot fail for a correct caller, or have no effect: they end the process, or ask who it is.
    static let never: Set<String> = [
        "alarm", "arch_prctl", "capget", "clock_getres", "clock_gettime", "exit", "exit_group", "futex", "getegid",
        "geteuid",
        "getgid", "getpgrp", "getpid", "getppid", "getresgid", "getresuid", "gettid", "gettimeofday", "getuid",
        "membarrier",
        "restart_syscall", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "sched_yield",
        "set_robust_list", "set_tid_address", "sigaltstack", "umask", "uname",
    ]

    private static let table: [(calls: Set<String>, faults: [Fault])] = [
        (["openat", "open"], errors(EMFILE, ENFILE, ENOMEM, EIO, EACCES, ENOENT, EINTR) + [.lasting(EMFILE)]),
        (
            ["openat-write", "open-write"],
            errors(ENOSPC, EROFS, EMFILE, ENFILE, ENOMEM, EIO, EACCES, EINTR) + [.lasting(EROFS)]
        ),
        (["read", "pread64", "readv"], errors(EIO, EINTR, EAGAIN) + [.short, .end, .lasting(EIO)]),
        (["getdents64"], errors(EIO, ENOMEM) + [.end]),
        (["write", "writev"], errors(ENOSPC, EIO, EINTR, EAGAIN) + [.short]),
        (["pwrite64"], errors(ENOSPC, EIO, EINTR, EAGAIN) + [.short, .lasting(ENOSPC)]),
        (["fsync", "fdatasync"], errors(EIO, ENOSPC)),
        (
            [
                "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "link", "linkat", "rmdir",
                "fchmod", "fchmodat", "chmod", "fchown", "fchownat", "chown", "ftruncate", "fallocate", "utimensat",
            ], errors(EIO, ENOSPC, EROFS)
        ),
        (["flock", "fcntl-lock"], errors(EINTR, ENOLCK, EAGAIN)),
        (["fcntl", "fcntl-dup", "dup", "dup2", "dup3"], errors(EMFILE, EINTR)),
        (
            ["mmap", "mprotect", "mlock", "mlock2", "mlockall", "mremap", "munmap", "munlock", "madvise", "brk"],
            errors(ENOMEM)
        ),
        (["clone", "clone3", "fork", "vfork"], errors(EAGAIN, ENOMEM)),
        (["execve"], errors(ENOENT, ENOMEM, EIO)),
        (["socket", "socket-datagrams", "socketpair", "pipe2", "eventfd2", "epoll_create1", "signalfd4"], files),
        (["timerfd_create", "inotify_init1", "memfd_create", "pidfd_open"], files + errors(ENOSYS)),
        (["connect"], errors(ECONNREFUSED, EAGAIN, EINTR)),
        (["accept", "accept4"], errors(EMFILE, EINTR)),
        (["sendto", "sendmsg"], errors(EPIPE, ENOBUFS, EAGAIN, EINTR) + [.short]),
        (["recvfrom", "recvmsg"], errors(ECONNRESET, EAGAIN, EINTR, ENOMEM) + [.end]),
        (["poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait"], errors(EINTR, ENOMEM, EINVAL) + [.end]),
        // Every kernel since 3.17 has it, and it has no other error for who asks it as libsodium does (getrandom(2)).
        (["getrandom"], errors(EINTR)),
        (["ioctl"], errors(EIO, EINTR)),
        // Who has the terminal is not answered when it was hung up, and then for ever (tty_ioctl(4)).
        (["ioctl-group"], [.lasting(EIO)]),
        (
            [
                "stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink",
                "readlinkat", "statfs", "fstatfs", "lgetxattr", "getcwd", "chdir", "fchdir",
            ], errors(EIO, ENOMEM, EACCES)
        ),
        (["wait4", "waitid"], errors(EINTR, ECHILD)),
        (["pidfd_send_signal", "kill", "tgkill", "tkill"], errors(ESRCH, EPERM)),
        (
            [
                "capset", "prctl", "prlimit64", "setrlimit", "setgroups", "setresuid", "setresgid", "setuid", "seccomp",
                "setsid",
                "sched_setattr", "sched_getattr", "unshare", "mount", "umount2", "setpgid",
            ], errors(EPERM)
        ),
        (["close"], errors(EIO, EINTR)),
        (["close_range", "sched_getaffinity", "sysinfo", "fadvise64", "getrusage", "getrlimit"], errors(ENOSYS)),
        (["shutdown"], errors(ENOTCONN)),
        (["lseek"], errors(EIO)),
        (["nanosleep", "clock_nanosleep", "rt_sigtimedwait"], errors(EINTR)),
        (
            [
                "bind", "listen", "getsockopt", "setsockopt", "getsockname", "getpeername", "epoll_ctl",
                "timerfd_settime", "getgroups", "getsid", "getpgid",
            ], errors(ENOBUFS)
        ),
    ]

    private static let files = errors(EMFILE, ENFILE, ENOMEM)

    private static func errors(_ numbers: CInt...) -> [Fault] { numbers.map(Fault.error) }
}

/// One call of one process that fails, and how.
struct FaultPoint: CustomStringConvertible {
    /// "module", "start", "sensor" or "enclave", as Tests/Tools/faults.c names them.
    let part: String
    let call: String
    /// Which of these calls, from 1.
    let number: Int
    let fault: Fault

    /// As the tracer takes it.
    var argument: String { "\(part):\(call):\(number)\(fault.isLasting ? "+" : ""):\(fault.word)" }
    var description: String { "\(part) \(call) \(number) \(fault)" }
}
