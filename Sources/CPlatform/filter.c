#define _GNU_SOURCE
#include "cplatform_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// The calls that a helper with an open device has no use for, and that whoever takes it over has: starting programs and
// processes, making connections, opening files for writing, changing the file system, reaching into other processes,
// and the parts of the kernel where most faults were found. They are refused (EPERM) and not fatal, so that a library
// that tries one in vain goes on.
//
// It is a list of what is refused and not of what is allowed: which calls a driver, GLib and the C library need differs
// by version and machine, and a reader that dies at somebody's login is the worse fault here, since the helper has given
// up its user before.

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE AUDIT_ARCH_RISCV64
#endif

#ifdef MACHINE
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/// The lower half of an argument; all machines above are little endian, and flags lie in it.
#define LOAD_ARGUMENT(number) LOAD(args[number])
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define ABSENT (SECCOMP_RET_ERRNO | ENOSYS)
/// Answers `value` for the call `name`, whose number is loaded.
#define FOR(name, value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), ANSWER(value)
#define REFUSE(name) FOR(name, REFUSED)
/// Refuses `name` where argument `number` has one of `bits`; allows it else.
#define REFUSE_BITS(name, number, bits)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD_ARGUMENT(number),                               \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), ANSWER(REFUSED), ANSWER(SECCOMP_RET_ALLOW)
/// Refuses `name` unless argument `number` has one of `bits`.
#define DEMAND_BITS(name, number, bits)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD_ARGUMENT(number),                               \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0), ANSWER(REFUSED), ANSWER(SECCOMP_RET_ALLOW)

/// Refuses `name` where argument `number` is one of two values.
#define REFUSE_VALUES(name, number, one, other)                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 5), LOAD_ARGUMENT(number),                               \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),        \
        ANSWER(REFUSED), ANSWER(SECCOMP_RET_ALLOW)

#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

// Another machine's numbers (32-bit calls on a 64-bit kernel) would mean other calls.
#define BEGIN \
    LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0), ANSWER(SECCOMP_RET_KILL_PROCESS), LOAD(nr)

static const struct sock_filter program[] = {
    BEGIN,
#ifdef __x86_64__
    // x32 shares the machine and has numbers of its own.
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), ANSWER(REFUSED),
    REFUSE(fork), REFUSE(vfork), REFUSE(creat), REFUSE_BITS(open, 1, WRITING), REFUSE(link), REFUSE(symlink),
    REFUSE(rename), REFUSE(unlink), REFUSE(mkdir), REFUSE(rmdir), REFUSE(mknod), REFUSE(chmod), REFUSE(chown),
    REFUSE(lchown),
#endif
    REFUSE(execve), REFUSE(execveat),
    // Threads stay allowed. The C library uses clone where clone3, whose flags cannot be seen here, is absent.
    FOR(clone3, ABSENT), DEMAND_BITS(clone, 0, CLONE_THREAD),
    REFUSE(bind), REFUSE(listen),
    FOR(openat2, ABSENT), REFUSE_BITS(openat, 2, WRITING),
#ifdef __NR_renameat
    REFUSE(renameat),
#endif
    REFUSE(linkat), REFUSE(symlinkat), REFUSE(renameat2), REFUSE(unlinkat), REFUSE(mkdirat), REFUSE(mknodat),
    REFUSE(fchmod), REFUSE(fchmodat), REFUSE(fchown), REFUSE(fchownat), REFUSE(truncate), REFUSE(setxattr),
    REFUSE(lsetxattr), REFUSE(fsetxattr),
    REFUSE(ptrace), REFUSE(process_vm_readv), REFUSE(process_vm_writev), REFUSE(kill), REFUSE(tkill),
    REFUSE(rt_sigqueueinfo), REFUSE(pidfd_open), REFUSE(pidfd_getfd), REFUSE(pidfd_send_signal),
    // What else reaches other processes of the same user: the reader helper may be one. abort(3) ends us without tgkill too.
    REFUSE(tgkill), REFUSE(rt_tgsigqueueinfo), REFUSE_VALUES(fcntl, 1, F_SETOWN, F_SETOWN_EX),
    REFUSE_BITS(prlimit64, 0, UINT32_MAX), REFUSE(setpriority), REFUSE(sched_setattr), REFUSE(sched_setscheduler),
    REFUSE(sched_setparam), REFUSE(sched_setaffinity), REFUSE(ioprio_set), REFUSE(process_madvise), REFUSE(kcmp),
    REFUSE(mount), REFUSE(umount2), REFUSE(pivot_root), REFUSE(chroot), REFUSE(unshare), REFUSE(setns),
    REFUSE(bpf), REFUSE(perf_event_open), REFUSE(userfaultfd), REFUSE(io_uring_setup), REFUSE(memfd_create),
    REFUSE(add_key), REFUSE(request_key), REFUSE(keyctl), REFUSE(init_module), REFUSE(finit_module),
    REFUSE(kexec_load), REFUSE(open_by_handle_at), REFUSE(personality), REFUSE(acct), REFUSE(quotactl),
    ANSWER(SECCOMP_RET_ALLOW),
};

// A filter of its own, for the one helper that has a connection for each command.
static const struct sock_filter connections[] = {BEGIN, REFUSE(socket), REFUSE(connect), ANSWER(SECCOMP_RET_ALLOW)};

static int install(const struct sock_filter *calls, size_t count) {
    const struct sock_fprog filter = {(unsigned short)count, (struct sock_filter *)calls};
    // For all threads: those of GLib and libusb run already.
    long answer = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    if (answer > 0) return -ESRCH;
    // A kernel without filters leaves the rest of the confinement in force.
    return answer < 0 && errno != ENOSYS && errno != EINVAL ? -errno : 0;
}
#endif

int signet_filter_calls_but_connections(void) {
#ifdef MACHINE
    return install(program, sizeof program / sizeof *program);
#else
    return 0;
#endif
}

int signet_filter_calls(void) {
#ifdef MACHINE
    int failure = install(connections, sizeof connections / sizeof *connections);
    if (failure != 0) return failure;
#endif
    return signet_filter_calls_but_connections();
}
