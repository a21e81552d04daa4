// The system calls by name, as far as Signet and what it starts use them; others read `call-N`.
#define _GNU_SOURCE
#include "faults.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define CALL(name) {SYS_##name, #name}

static const struct {
    unsigned long long number;
    const char *name;
} names[] = {
    CALL(accept), CALL(accept4), CALL(access), CALL(alarm), CALL(arch_prctl), CALL(bind), CALL(brk), CALL(capget), CALL(capset), CALL(chdir), CALL(chmod), CALL(chown),
    CALL(clock_getres), CALL(clock_gettime), CALL(clock_nanosleep), CALL(clone), CALL(clone3), CALL(close),
    CALL(close_range), CALL(connect), CALL(dup), CALL(dup2), CALL(dup3), CALL(epoll_create1), CALL(epoll_ctl),
    CALL(epoll_pwait), CALL(epoll_wait), CALL(eventfd2), CALL(execve), CALL(exit), CALL(exit_group), CALL(faccessat),
    CALL(faccessat2), CALL(fadvise64), CALL(fallocate), CALL(fchdir), CALL(fchmod), CALL(fchmodat), CALL(fchown),
    CALL(fchownat), CALL(fcntl), CALL(fdatasync), CALL(flock), CALL(fork), CALL(fstat), CALL(fstatfs), CALL(fsync),
    CALL(ftruncate), CALL(futex), CALL(getcwd), CALL(getdents64), CALL(getegid), CALL(geteuid), CALL(getgid),
    CALL(getgroups), CALL(getpeername), CALL(getpgrp), CALL(getpid), CALL(getpgid), CALL(getppid), CALL(getrandom),
    CALL(getresgid), CALL(getresuid), CALL(getrlimit), CALL(getrusage), CALL(getsid), CALL(getsockname),
    CALL(getsockopt), CALL(gettid), CALL(gettimeofday), CALL(getuid), CALL(inotify_init1), CALL(ioctl), CALL(kill),
    CALL(lgetxattr), CALL(link), CALL(linkat), CALL(listen), CALL(lseek), CALL(lstat), CALL(madvise), CALL(membarrier),
    CALL(memfd_create), CALL(mkdir), CALL(mkdirat), CALL(mlock), CALL(mlock2), CALL(mlockall), CALL(mmap), CALL(mount),
    CALL(mprotect), CALL(mremap), CALL(munlock), CALL(munmap), CALL(nanosleep), CALL(newfstatat), CALL(open),
    CALL(openat), CALL(pidfd_open), CALL(pidfd_send_signal), CALL(pipe2), CALL(poll), CALL(ppoll), CALL(prctl),
    CALL(pread64), CALL(prlimit64), CALL(pselect6), CALL(pwrite64), CALL(read), CALL(readlink), CALL(readlinkat),
    CALL(readv), CALL(recvfrom), CALL(recvmsg), CALL(rename), CALL(renameat), CALL(renameat2), CALL(restart_syscall),
    CALL(rmdir), CALL(rseq), CALL(rt_sigaction), CALL(rt_sigpending), CALL(rt_sigprocmask), CALL(rt_sigreturn),
    CALL(rt_sigtimedwait), CALL(sched_getaffinity), CALL(sched_getattr), CALL(sched_setattr), CALL(sched_yield),
    CALL(seccomp), CALL(select), CALL(sendmsg), CALL(sendto), CALL(set_robust_list), CALL(set_tid_address),
    CALL(setgroups), CALL(setpgid), CALL(setresgid), CALL(setresuid), CALL(setrlimit), CALL(setsid),
    CALL(setsockopt), CALL(setuid), CALL(shutdown), CALL(sigaltstack), CALL(signalfd4), CALL(socket), CALL(socketpair),
    CALL(stat), CALL(statfs), CALL(statx), CALL(sysinfo), CALL(tgkill), CALL(tkill), CALL(timerfd_create),
    CALL(timerfd_settime), CALL(umask), CALL(umount2), CALL(uname), CALL(unlink), CALL(unlinkat), CALL(unshare),
    CALL(utimensat), CALL(wait4), CALL(waitid), CALL(write), CALL(writev),
};

void faults_name(unsigned long long number, unsigned long long second, unsigned long long third, char *name, size_t capacity) {
    const char *found = NULL, *more = "";
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        if (names[index].number == number) found = names[index].name;
    }
    unsigned long long flags = number == SYS_openat ? third : number == SYS_open ? second : 0;
    if (flags & (O_WRONLY | O_RDWR | O_CREAT)) more = "-write";
    if (number == SYS_socket && (second & 0xf) == SOCK_DGRAM) more = "-datagrams";
    if (number == SYS_fcntl && (second == F_SETLK || second == F_SETLKW || second == F_GETLK)) more = "-lock";
    if (number == SYS_fcntl && (second == F_DUPFD || second == F_DUPFD_CLOEXEC)) more = "-dup";
    if (number == SYS_ioctl && second == TIOCGPGRP) more = "-group";
    if (found) snprintf(name, capacity, "%s%s", found, more);
    else snprintf(name, capacity, "call-%llu", number);
}

int faults_takes_path(const char *name) {
    static const char *const takers[] = {
        "open", "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "readlink", "mkdir", "unlink", "rename",
        "execve", "chmod", "chown", "chdir", "statfs", "rmdir", "link",
    };
    for (size_t index = 0; index < sizeof takers / sizeof *takers; index++) {
        if (strncmp(name, takers[index], strlen(takers[index])) == 0) return 1;
    }
    return 0;
}
#endif
