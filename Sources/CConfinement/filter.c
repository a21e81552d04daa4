#include "confinement.h"

#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// What a helper with an open reader may still ask of the kernel: to read, write and wait on the descriptors that it has,
// memory that is not executable, time, and threads. Found by running every driver that can be replayed, and by reading
// what GLib 2.74 and glibc 2.36 call for a thread, a lock, a timer and an abort.
//
// All helpers have one user (HelperUser), so what a process may do to others of its user is among what is refused: to signal
// them, also by way of a descriptor (F_SETOWN), to trace or read them, and to take their turns on the processor.
//
// Three answers to all else:
//
// - No such call (ENOSYS), for whatever is not named here. A C library that is newer than this list tries a newer call
//   first and falls back to the older one for this answer alone; with EPERM it would give up, and the reader with it.
// - Not permitted (EPERM), for calls that a library may well try in vain, such as to open a file: each of them copes.
// - The end of the process, for calls that only somebody makes who has taken it over. Signet takes a dead helper for no
//   answer, and the try stays charged.

/// Needed whatever the driver, with any arguments.
static const int allowed[] = {
    // descriptors that are open
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(pwrite64),
    SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(shutdown),
    SCMP_SYS(getsockopt), SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(close), SCMP_SYS(lseek),
    SCMP_SYS(fstat), SCMP_SYS(dup),
    // libfprint's virtual readers take their commands so; nothing else here has a socket that listens
    SCMP_SYS(accept4), SCMP_SYS(accept),
    // waiting
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(ppoll_time64), SCMP_SYS(futex), SCMP_SYS(futex_time64),
    SCMP_SYS(eventfd2), SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_settime64),
    SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_nanosleep_time64), SCMP_SYS(restart_syscall),
    SCMP_SYS(alarm), SCMP_SYS(setitimer),
    // time, and the size of memory, which qsort(3) asks for
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
    SCMP_SYS(sysinfo),
    // memory, but for mmap and mprotect
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(getrandom), SCMP_SYS(membarrier),
    // threads and signals of our own
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getattr), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(getpid), SCMP_SYS(gettid),
    SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

/// Answered as if done, and not done. GLib gives each thread of a pool the turns of the thread that made the pool, which it
/// has from its maker anyway, and complains where it cannot. The call takes any process of the same user, whose turns could
/// be taken away so: that would stop another helper where the machine is busy.
static const int pretended[] = {SCMP_SYS(sched_setattr)};

/// Tried in vain by libraries that look for something, or that are about to abort.
static const int refused[] = {
    // files by their names
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(creat), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
    SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(stat64), SCMP_SYS(lstat64), SCMP_SYS(statfs), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(chdir), SCMP_SYS(inotify_add_watch), SCMP_SYS(unlink),
    SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(mkdir), SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(mknod),
    SCMP_SYS(mknodat), SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(fchown),
    SCMP_SYS(lchown), SCMP_SYS(fchownat), SCMP_SYS(truncate), SCMP_SYS(ftruncate), SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(utimensat), SCMP_SYS(memfd_create),
    // connections
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(setsockopt),
    // other processes, and who we are
    SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_send_signal), SCMP_SYS(setuid), SCMP_SYS(setgid),
    SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid), SCMP_SYS(setresgid), SCMP_SYS(setgroups),
    SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(capset), SCMP_SYS(setrlimit), SCMP_SYS(prlimit64),
    SCMP_SYS(setpriority), SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setaffinity), SCMP_SYS(setsid),
    SCMP_SYS(setpgid), SCMP_SYS(pkey_mprotect), SCMP_SYS(shmget), SCMP_SYS(mq_open), SCMP_SYS(msgget),
};

/// Made by no driver and no library: starting programs, reaching into processes, changing the machine, and the parts of
/// the kernel where most faults were found.
static const int fatal[] = {
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise), SCMP_SYS(kcmp), SCMP_SYS(pidfd_getfd), SCMP_SYS(mount), SCMP_SYS(umount2),
    SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(open_tree),
    SCMP_SYS(move_mount), SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(io_setup), SCMP_SYS(add_key), SCMP_SYS(request_key),
    SCMP_SYS(keyctl), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(open_by_handle_at), SCMP_SYS(personality), SCMP_SYS(acct), SCMP_SYS(quotactl),
    SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(reboot), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(syslog),
    SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(modify_ldt), SCMP_SYS(vhangup), SCMP_SYS(fanotify_init),
    SCMP_SYS(lookup_dcookie), SCMP_SYS(vmsplice), SCMP_SYS(seccomp),
};

/// Answers `action` for each of these calls; a call that this machine does not have is none.
static int add_all(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count) {
    for (size_t index = 0; index < count; index++) {
        int failure = seccomp_rule_add_array(filter, action, calls[index], 0, NULL);
        if (failure != 0) return failure;
    }
    return 0;
}

/// A call whose argument `number`, seen through `mask`, must be `value`; it is no such call otherwise.
struct bounded {
    int call;
    unsigned number;
    scmp_datum_t mask, value;
};

#define REFUSED SCMP_ACT_ERRNO(EPERM)
#define ABSENT SCMP_ACT_ERRNO(ENOSYS)
/// What all threads of glibc's have and no process has, and what makes new namespaces, which none has.
#define THREAD (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define NAMESPACES                                                                                               \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define IOCTL_KIND 0xFF00

static int add_bounded(scmp_filter_ctx filter) {
    const struct bounded calls[] = {
        // Memory is never executable.
        {SCMP_SYS(mmap), 2, PROT_EXEC, 0},
        {SCMP_SYS(mmap2), 2, PROT_EXEC, 0},
        {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
        // The kernel looks at the lower half of these alone, so the mask does as well.
        {SCMP_SYS(clone), 0, THREAD | NAMESPACES, THREAD},
        {SCMP_SYS(tgkill), 0, UINT32_MAX, (scmp_datum_t)getpid()},
        {SCMP_SYS(prctl), 0, UINT32_MAX, PR_SET_NAME},
        // glibc's fstat: a path that is not empty tells whether there is such a file, and opens none.
        {SCMP_SYS(newfstatat), 3, 0x1000, 0x1000},
        // usbdevfs, spidev and hidraw (linux/usbdevice_fs.h, linux/spi/spidev.h, linux/hidraw.h).
        {SCMP_SYS(ioctl), 1, IOCTL_KIND, 'U' << 8},
        {SCMP_SYS(ioctl), 1, IOCTL_KIND, 'k' << 8},
        {SCMP_SYS(ioctl), 1, IOCTL_KIND, 'H' << 8},
        // FIONREAD and FIONBIO
        {SCMP_SYS(ioctl), 1, UINT32_MAX, 0x541B},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, 0x5421},
        // F_DUPFD, F_GETFD, F_SETFD and F_GETFL, which are 0 to 3; no locks, leases or owners of signals.
        {SCMP_SYS(fcntl), 1, 0xFFFFFFFC, 0},
        {SCMP_SYS(fcntl64), 1, 0xFFFFFFFC, 0},
        // F_SETFL and F_DUPFD_CLOEXEC
        {SCMP_SYS(fcntl), 1, UINT32_MAX, 4},
        {SCMP_SYS(fcntl64), 1, UINT32_MAX, 4},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, 1030},
        {SCMP_SYS(fcntl64), 1, UINT32_MAX, 1030},
    };
    for (size_t index = 0; index < sizeof calls / sizeof *calls; index++) {
        const struct bounded *one = &calls[index];
        const struct scmp_arg_cmp must = {one->number, SCMP_CMP_MASKED_EQ, one->mask, one->value};
        int failure = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, one->call, 1, &must);
        if (failure != 0) return failure;
    }
    return 0;
}

#define ADD_ALL(action, calls) add_all(filter, action, calls, sizeof calls / sizeof *calls)

/// What is loaded once the reader is open; NULL where it has not been made.
static scmp_filter_ctx prepared;

int signet_prepare_filter(void) {
    // A kernel without filters leaves the rest of the confinement in force.
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) return errno == EINVAL ? 0 : -errno;
    scmp_filter_ctx filter = seccomp_init(ABSENT);
    if (filter == NULL) return -ENOMEM;
    // Another machine's numbers (32-bit calls on a 64-bit kernel) would mean other calls.
    int failure = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    // For all threads: those of GLib and libusb run already.
    if (failure == 0) failure = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (failure == 0) failure = ADD_ALL(SCMP_ACT_ALLOW, allowed);
    if (failure == 0) failure = ADD_ALL(SCMP_ACT_ERRNO(0), pretended);
    if (failure == 0) failure = ADD_ALL(REFUSED, refused);
    if (failure == 0) failure = ADD_ALL(SCMP_ACT_KILL_PROCESS, fatal);
    if (failure == 0) failure = add_bounded(filter);
    if (failure == 0)
        prepared = filter;
    else
        seccomp_release(filter);
    return failure;
}

int signet_filter_reader_calls(void) {
    if (prepared == NULL) {
        int failure = signet_prepare_filter();
        if (failure != 0 || prepared == NULL) return failure;
    }
    // What libseccomp holds is not given back: the process has nothing to do with the memory.
    return seccomp_load(prepared);
}
