#define _GNU_SOURCE
#include "credentials.h"

#include "cplatform_files.h"
#include "cplatform_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Everything from here to `become` runs between fork and execve in a process that may have had other
// threads: only async-signal-safe calls (signal-safety(7)), no memory from the heap, no lock.

/// Sets a limit, or the nearest to it that is allowed without privilege.
static void set_limit(__rlimit_resource_t which, rlim_t value) {
    struct rlimit wanted = {value, value}, now;
    if (setrlimit(which, &wanted) == 0 || getrlimit(which, &now) != 0) return;
    wanted.rlim_max = now.rlim_max;
    wanted.rlim_cur = value < now.rlim_max ? value : now.rlim_max;
    (void)setrlimit(which, &wanted);
}

/// The limits of the caller are the attacker's in `su` and `sudo`; these are the helper's own.
static void set_limits(void) {
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, 128);
    set_limit(RLIMIT_CPU, 300);
    set_limit(RLIMIT_STACK, 8u << 20);
    set_limit(RLIMIT_AS, RLIM_INFINITY);
    set_limit(RLIMIT_DATA, RLIM_INFINITY);
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    set_limit(RLIMIT_NPROC, RLIM_INFINITY);
}

/// Asks for longer turns on the processor than others have, which is to say: to be put aside for who needs one for a moment.
///
/// The field stands on the screen while the helper starts, which keeps a processor busy for some milliseconds. Where all are
/// busy, the worker of the kernel that carries a key to the program and its sign to the screen would wait for the end of a
/// turn. Since Linux 6.12 who asks for shorter turns goes first (sched_setattr(2), sched_runtime of SCHED_OTHER;
/// PREEMPT_SHORT of kernel/sched/features.h); kernels before that ignore the number. The share of the processor stays.
static void take_longer_turns(void) {
    // The first 48 bytes of the structure of <linux/sched/types.h>, which no header of the C library of 2022 has.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } turns = {0};
    // Longer than the usual 0.7 to 2.8 ms (sched_base_slice_ns), and no longer than needed: it also waits longer itself.
    static const uint64_t nanoseconds = 4000000;
    if (syscall(SYS_sched_getattr, 0, &turns, (unsigned)sizeof turns, 0u) != 0 || turns.policy != SCHED_OTHER) return;
    turns.runtime = nanoseconds;
    (void)syscall(SYS_sched_setattr, 0, &turns, 0u);
}

/// Closes `first` and above. /proc is not read: opendir is not async-signal-safe.
static void close_from(unsigned first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0u, 0u) == 0) return;
#endif
    struct rlimit limit;
    // A descriptor may lie above a limit that was lowered later; 65536 is the most that is looked for without the call.
    rlim_t end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    if (end < 1024) end = 1024;
    for (unsigned descriptor = first; descriptor < end; descriptor++) (void)close((int)descriptor);
}

void signet_reset_signals(void) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    // The kernel's own structure, whose size and layout differ by machine; all zero is the default everywhere.
    static const unsigned long kernel_standard[8] = {0};
    for (int number = 1; number < NSIG; number++)
        // glibc keeps its two signals to itself, and a caller may have ignored them by the bare system call.
        if (sigaction(number, &standard, NULL) != 0)
            (void)syscall(SYS_rt_sigaction, number, kernel_standard, NULL, (size_t)(_NSIG / 8));
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/// Where the announcement of a helper lies (`start_apart`) until it is another program; -1 is no announcement.
enum { ANNOUNCEMENT = SIGNET_HELPER_SOCKET + 1 };

/// Puts `socket` on 3 and /dev/null on 0 to 2, whatever the caller had there, and closes all else but the announcement.
static int set_descriptors(int socket, int announcement) {
    // Out of the way of both numbers, in the place of something of the caller's.
    int aside = announcement < 0 ? -1 : socket == ANNOUNCEMENT + 1 ? ANNOUNCEMENT + 2 : ANNOUNCEMENT + 1;
    if (aside >= 0 && dup2(announcement, aside) != aside) return -1;
    // dup2 takes close-on-exec away, but does nothing where the number is the same already.
    int moved = socket == SIGNET_HELPER_SOCKET ? fcntl(socket, F_SETFD, 0) : dup2(socket, SIGNET_HELPER_SOCKET);
    if (moved < 0) return -1;
    if (aside >= 0 && dup3(aside, ANNOUNCEMENT, O_CLOEXEC) < 0) return -1;
    close_from(aside >= 0 ? ANNOUNCEMENT + 1 : ANNOUNCEMENT);
    for (int descriptor = 0; descriptor < SIGNET_HELPER_SOCKET; descriptor++) (void)close(descriptor);
    struct stat about;
    if (open("/dev/null", O_RDWR) != 0 || fstat(0, &about) != 0 || !S_ISCHR(about.st_mode)) return -1;
    return dup2(0, 1) == 1 && dup2(0, 2) == 2 ? 0 : -1;
}

/// Becomes the helper, or ends.
_Noreturn static void become(const char *path, const char *const *arguments, int socket, int announcement) {
    // BIND_NOW: libraries find their functions now (ld.so(8)), while a person reads the prompt, and not after the touch.
    static const char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "LD_BIND_NOW=1", NULL};
    // Groups go first.
    if (geteuid() == 0 && signet_become_root() != 0) _exit(127);
    // A session of its own: Ctrl-C and Ctrl-Z of the terminal do not reach it.
    (void)setsid();
    umask(077);
    // The limits first, for a caller's tight ones could forbid the descriptors.
    set_limits();
    if (set_descriptors(socket, announcement) != 0 || chdir("/") != 0) _exit(127);
    take_longer_turns();
    signet_reset_signals();
    (void)execve(path, (char *const *)arguments, (char *const *)environment);
    _exit(127);
}

/// Sends a pid and a descriptor of its process over a socket; 0 or -1.
static int hand_over(int socket, pid_t process, int pidfd) {
    union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr aligned; } control = {0};
    struct iovec content = {&process, sizeof process};
    struct msghdr message = {
        .msg_iov = &content, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof pidfd);
    memcpy(CMSG_DATA(header), &pidfd, sizeof pidfd);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof process ? 0 : -1;
}

/// Takes what `hand_over` sent; the pid, or 0 where nothing came.
static pid_t take_over(int socket, int *pidfd) {
    union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr aligned; } control = {0};
    pid_t process = 0;
    struct iovec content = {&process, sizeof process};
    struct msghdr message = {
        .msg_iov = &content, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof process) return 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header == NULL || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof *pidfd)) return 0;
    memcpy(pidfd, CMSG_DATA(header), sizeof *pidfd);
    return process;
}

struct helper {
    const char *path;
    const char *const *arguments;
    int socket;
    /// Where the process in between says who the helper is. The helper has it until it is another program, and so whoever
    /// reads the end of it knows that nobody shares our memory any more, however the process in between ended.
    int announcement;
    /// The end of the helper's stack, until it is another program.
    char *stack;
};

static int become_helper(void *context) {
    const struct helper *helper = context;
    become(helper->path, helper->arguments, helper->socket, helper->announcement);
}

/// The process in between: starts the helper, says who it is, and ends.
static int start_and_leave(void *context) {
    struct helper *helper = context;
    // A helper that nobody could name safely is better a child.
    int self = signet_pidfd_open(getpid());
    if (self < 0) return 1;
    (void)close(self);
    // The descriptor comes with the process: its number could be another's by now where the caller ignores SIGCHLD.
    int pidfd = -1;
    pid_t child = clone(become_helper, helper->stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, helper, &pidfd);
    if (child < 0 || pidfd < 0) return 1;
    if (hand_over(helper->announcement, child, pidfd) == 0) return 0;
    signet_kill_helper(child, pidfd);
    (void)waitpid(child, NULL, 0);
    return 1;
}

/// Starts the helper by a process in between that ends at once, so that it is nobody's child but init's, or that of the
/// nearest subreaper (prctl(2)); the helper's pid, 0 with nothing started, or -ECANCELED where one may run that we cannot
/// name: the process in between was killed, or nothing could be received (no descriptor left). It finds its socket closed,
/// and ends; a second one beside it would have the same socket.
///
/// So nobody has to wait until the kernel has taken the helper's memory back, which takes longer than a touch is compared,
/// and no handler of SIGCHLD hears of it: the process in between tells nobody of its end but who asks (exit signal 0 of
/// clone(2)). Both share our memory until they end or are another program, as a child of vfork(2) does, while we stand
/// still, with no deadline: a fork would copy all page tables, and have every page copied that is written to after it.
static pid_t start_apart(struct helper helper, int *pidfd) {
    enum { STACK = 16384 };
    char stacks[2 * STACK] __attribute__((aligned(16)));
    int ours;
    if (signet_packet_pair(&ours, &helper.announcement) != 0) return 0;
    helper.stack = stacks + 2 * STACK;
    pid_t between = clone(start_and_leave, stacks + STACK, CLONE_VM | CLONE_VFORK, &helper);
    (void)close(helper.announcement);
    // It has spoken or ended before clone returned; where something like valgrind makes an ordinary fork of this, it will.
    pid_t child = between > 0 ? take_over(ours, pidfd) : 0;
    int ended = 0;
    if (between > 0)
        while (waitpid(between, &ended, __WALL) < 0 && errno == EINTR) {}
    (void)close(ours);
    int has_started = between > 0 && (WIFSIGNALED(ended) || WEXITSTATUS(ended) == 0);
    return child == 0 && has_started ? -ECANCELED : child;
}

pid_t signet_start_helper(const char *path, const char *const *arguments, int socket, int *pidfd) {
    *pidfd = -1;
    // All signals wait while there are several of us, so that no handler of the caller ever runs in a child.
    sigset_t all, old;
    (void)sigfillset(&all);
    int failure = pthread_sigmask(SIG_SETMASK, &all, &old);
    if (failure != 0) return -failure;
    uid_t real = signet_leave_real_user();
    pid_t child = start_apart((struct helper){path, arguments, socket, -1, NULL}, pidfd);
    if (child == 0) {
        // _Fork and not fork: handlers of pthread_atfork belong to the caller.
        child = _Fork();
        if (child == 0) become(path, arguments, socket, -1);
        if (child < 0) child = -errno;
        if (child > 0) *pidfd = signet_pidfd_open(child);
    }
    signet_return_to_real_user(real);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return child;
}

void signet_kill_helper(pid_t pid, int pidfd) {
    if (pidfd >= 0) {
        (void)signet_pidfd_kill(pidfd, SIGKILL);
    } else if (pid > 1) {
        (void)kill(pid, SIGKILL);
    }
}

int signet_reap_helper(pid_t pid, int pidfd) {
    siginfo_t ended = {0};
    // By the descriptor, since another's child may have ended long ago, and a child of the caller's have its number now.
    // P_PIDFD is 3 (waitid(2)), whatever the headers know.
    int failed = pidfd >= 0 ? waitid((idtype_t)3, (id_t)pidfd, &ended, WEXITED | WNOHANG)
                            : waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG);
    if (failed) return -1;
    return ended.si_pid != 0;
}

int signet_packet_pair(int *ours, int *theirs) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -errno;
    *ours = pair[0];
    *theirs = pair[1];
    return 0;
}

// A field and a reader hold the same signals at once, and let go in either order: the last one out lets them act.
static _Thread_local unsigned holders[_NSIG];
/// What was blocked by us, and not by the caller before.
static _Thread_local sigset_t blocked_by_us;

/// Blocks what is in `held` and answers a signalfd for it, or -errno and nothing changed.
static int hold(const sigset_t *held) {
    sigset_t before;
    int failure = pthread_sigmask(SIG_BLOCK, held, &before);
    if (failure != 0) return -failure;
    int descriptor = signalfd(-1, held, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor < 0) {
        failure = errno;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        return -failure;
    }
    for (int number = 1; number < _NSIG; number++) {
        if (sigismember(held, number) != 1) continue;
        if (holders[number]++ == 0 && sigismember(&before, number) == 0) (void)sigaddset(&blocked_by_us, number);
    }
    return descriptor;
}

void signet_release_signals(const sigset_t *held) {
    sigset_t released;
    (void)sigemptyset(&released);
    for (int number = 1; number < _NSIG; number++) {
        if (holders[number] == 0 || sigismember(held, number) != 1 || --holders[number] > 0) continue;
        if (sigismember(&blocked_by_us, number) != 1) continue;
        (void)sigdelset(&blocked_by_us, number);
        (void)sigaddset(&released, number);
    }
    (void)pthread_sigmask(SIG_UNBLOCK, &released, NULL);
}

static const int stopping[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGTSTP};
enum { STOPPING = sizeof stopping / sizeof *stopping };

/// A blocked signal stays pending even where it is ignored (signal(7)): nohup's HUP would end the wait.
static int acts(int number) {
    struct sigaction now;
    return sigaction(number, NULL, &now) != 0 || now.sa_handler != SIG_IGN;
}

/// What ends a program that has nothing of its own for it; a handler of the program's is the program's business.
static const int ending[] = {SIGUSR1, SIGUSR2, SIGPIPE, SIGXCPU, SIGVTALRM, SIGPROF};
enum { ENDING = sizeof ending / sizeof *ending };

/// What tells a field something and asks for nothing.
static const int notices[] = {SIGCONT, SIGWINCH};
enum { NOTICES = sizeof notices / sizeof *notices };

int signet_acts_by_default(int number) {
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

static void add_stopping(sigset_t *held) {
    (void)sigemptyset(held);
    for (unsigned index = 0; index < STOPPING; index++)
        if (acts(stopping[index])) (void)sigaddset(held, stopping[index]);
    for (unsigned index = 0; index < ENDING; index++)
        if (signet_acts_by_default(ending[index])) (void)sigaddset(held, ending[index]);
}

int signet_hold_signals(sigset_t *held) {
    add_stopping(held);
    return hold(held);
}

int signet_hold_field_signals(sigset_t *held) {
    add_stopping(held);
    // Blocked, they reach us whatever the program does with them: the kernel drops none that is blocked.
    for (unsigned index = 0; index < NOTICES; index++) (void)sigaddset(held, notices[index]);
    return hold(held);
}

int signet_pending_signal(void) {
    sigset_t pending;
    if (sigpending(&pending) != 0) return 0;
    for (unsigned index = 0; index < ENDING; index++)
        if (sigismember(&pending, ending[index]) == 1 && signet_acts_by_default(ending[index])) return ending[index];
    for (unsigned index = 0; index < STOPPING; index++)
        if (sigismember(&pending, stopping[index]) == 1 && acts(stopping[index])) return stopping[index];
    for (unsigned index = 0; index < NOTICES; index++)
        if (sigismember(&pending, notices[index]) == 1) return notices[index];
    return 0;
}

void signet_drop_notices(void) {
    sigset_t pending;
    if (sigpending(&pending) != 0) return;
    for (unsigned index = 0; index < NOTICES; index++)
        if (sigismember(&pending, notices[index]) == 1) (void)signet_take_pending(notices[index]);
}

int signet_take_pending(int number) {
    static const struct timespec at_once = {0, 0};
    sigset_t one;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    int taken;
    do taken = sigtimedwait(&one, NULL, &at_once);
    while (taken < 0 && errno == EINTR);
    return taken == number;
}
