#define _GNU_SOURCE
#include "check.h"
#include "cplatform.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

/// Starts `/bin/sh -c script` as a helper and answers what it says on its socket; its end goes to `status`.
static void ask(const char *script, char *answer, size_t capacity, int *status) {
    int ours = -1, theirs = -1, pidfd = -2;
    *status = -1;
    memset(answer, 0, capacity);
    CHECK(signet_packet_pair(&ours, &theirs) == 0);
    const char *const words[] = {"sh", "-c", script, NULL};
    pid_t child = signet_start_helper("/bin/sh", words, theirs, &pidfd);
    CHECK(child > 0 && pidfd >= 0 && (fcntl(pidfd, F_GETFD) & FD_CLOEXEC) != 0);
    (void)close(theirs);
    size_t length = 0;
    for (ssize_t count; length < capacity - 1 && (count = recv(ours, answer + length, capacity - 1 - length, 0)) > 0;)
        length += (size_t)count;
    CHECK(waitpid(child, status, 0) == child);
    (void)close(ours);
    (void)close(pidfd);
}

/// The helper's own descriptors, mask, folder, users and environment, whatever the caller has.
static void check_a_helper(void) {
    char answer[4096];
    int status;
    // A shell reads its own script from nowhere, so there are 0 to 3; ls has one for the listing.
    ask("ls /proc/self/fd >&3", answer, sizeof answer, &status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && strcmp(answer, "0\n1\n2\n3\n4\n") == 0);
    ask("exec cat /proc/self/status >&3", answer, sizeof answer, &status);
    CHECK(strstr(answer, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n") != NULL);
    // In the order of the shell that asks.
    static const char environment[] = "LD_BIND_NOW=1\0PATH=/usr/bin:/bin\0LC_ALL=C";
    ask("exec cat /proc/self/environ >&3", answer, sizeof answer, &status);
    CHECK(memcmp(answer, environment, sizeof environment) == 0);
    ask("umask >&3; pwd >&3; id -ru >&3; id -G >&3; ulimit -c >&3; ulimit -n >&3", answer, sizeof answer, &status);
    CHECK(strcmp(answer, "0077\n/\n0\n0\n0\n128\n") == 0);
    // A session of its own.
    ask("test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo yes >&3", answer, sizeof answer, &status);
    CHECK(strcmp(answer, "yes\n") == 0);
}

static int caller_in_disorder(void) {
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    for (int number = 1; number < NSIG; number++)
        if (number != SIGCHLD) (void)sigaction(number, &ignored, NULL);
    // glibc's own two, which its sigaction refuses.
    const unsigned long kernel_ignored[4] = {1};
    (void)syscall(SYS_rt_sigaction, 32, kernel_ignored, NULL, (size_t)8);
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)umask(0);
    (void)chdir("/tmp");
    (void)setenv("LD_PRELOAD", "/tmp/none", 1);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (int number = 0; number < 3; number++) (void)close(number);
    int report = open(scratch_path("disorder"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    if (report != 0 || dup2(0, 2) != 2) return 9;
    check_a_helper();
    struct stat about;
    return fstat(0, &about) == 0 && about.st_size == 0 ? 0 : 1;
}

static int socket_stands_on_three(void) {
    int pair[2], pidfd, status;
    (void)close(SIGNET_HELPER_SOCKET);
    if (signet_packet_pair(&pair[0], &pair[1]) != 0) return 1;
    int theirs = pair[0] == SIGNET_HELPER_SOCKET ? pair[0] : pair[1], ours = theirs == pair[0] ? pair[1] : pair[0];
    if (theirs != SIGNET_HELPER_SOCKET) return 2;
    const char *const words[] = {"sh", "-c", "echo here >&3", NULL};
    pid_t child = signet_start_helper("/bin/sh", words, theirs, &pidfd);
    char answer[16];
    if (child <= 0 || waitpid(child, &status, 0) != child || status != 0) return 3;
    return recv(ours, answer, sizeof answer, 0) == 5 ? 0 : 4;
}

static int no_descriptors_at_all(void) {
    int ours = -1, theirs = -1, pidfd = -2;
    if (signet_packet_pair(&ours, &theirs) != 0) return 1;
    unsigned long limit = shut_descriptors();
    int one, other;
    if (signet_packet_pair(&one, &other) != -EMFILE) return 2;
    const char *const words[] = {"true", NULL};
    pid_t child = signet_start_helper("/bin/true", words, theirs, &pidfd);
    reopen_descriptors(limit);
    // There is a child all the same, which can be had by its pid alone.
    int status;
    if (child <= 0 || pidfd != -1) return 3;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 4;
}

static int no_processes(void) {
    int ours = -1, theirs = -1, pidfd = -2;
    if (signet_packet_pair(&ours, &theirs) != 0) return 1;
    // Root has no limit of processes; nobody has.
    if (setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0}) != 0) return 2;
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) return 2;
    sigset_t before, after;
    (void)sigprocmask(SIG_SETMASK, NULL, &before);
    const char *const words[] = {"true", NULL};
    if (signet_start_helper("/bin/true", words, theirs, &pidfd) != -EAGAIN || pidfd != -1) return 3;
    (void)sigprocmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&before, number) != sigismember(&after, number)) return 4;
    return 0;
}

/// Under su the real user is the caller's: he must never be that of what is started, and must be again afterwards.
static int setuid_program(void) {
    if (setresuid(65534, 0, 0) != 0) return 1;
    check_a_helper();
    char answer[4096];
    int status;
    ask("exec grep ^Uid: /proc/self/status >&3", answer, sizeof answer, &status);
    if (strcmp(answer, "Uid:\t0\t0\t0\t0\n") != 0) return 2;
    uid_t real, effective, saved;
    (void)getresuid(&real, &effective, &saved);
    if (real != 65534 || effective != 0 || saved != 0) return 3;
    // What can be dropped for good still can.
    return setresuid(65534, 65534, 65534) == 0 && setresuid(0, 0, 0) != 0 ? 0 : 4;
}

static int leave_capability(int number, int also_permitted) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return -1;
    sets[CAP_TO_INDEX(number)].effective &= ~(unsigned)CAP_TO_MASK(number);
    if (also_permitted) sets[CAP_TO_INDEX(number)].permitted &= ~(unsigned)CAP_TO_MASK(number);
    return (int)syscall(SYS_capset, &header, sets);
}

/// A setuid program of which CAP_SETUID was taken: it could leave its real user and not return, and would have to end.
static int setuid_program_without_the_capability(int also_permitted) {
    if (setresuid(65534, 0, 0) != 0 || leave_capability(CAP_SETUID, also_permitted) != 0) return 1;
    // As much of root as the kernel lets go on.
    check_a_helper();
    uid_t real, effective, saved;
    (void)getresuid(&real, &effective, &saved);
    return real == 65534 && effective == 0 && saved == 0 ? 0 : 2;
}
static int setuid_program_that_may_not(void) { return setuid_program_without_the_capability(0); }
static int setuid_program_that_never_may(void) { return setuid_program_without_the_capability(1); }

void check_helpers(void) {
    check_a_helper();
    CHECK(in_child(setuid_program) == 0);
    CHECK(in_child(setuid_program_that_may_not) == 0);
    CHECK(in_child(setuid_program_that_never_may) == 0);
    CHECK(in_child(caller_in_disorder) == 0);
    CHECK(in_child(socket_stands_on_three) == 0);
    CHECK(in_child(no_descriptors_at_all) == 0);
    CHECK(in_child(no_processes) == 0);

    int ours, theirs, pidfd, status;
    CHECK(signet_packet_pair(&ours, &theirs) == 0);
    const char *const none[] = {"none", NULL};
    pid_t child = signet_start_helper(scratch_path("none"), none, theirs, &pidfd);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 127);
    (void)close(pidfd);
    const char *const sleeper[] = {"sleep", "100", NULL};
    for (int by_pid = 0; by_pid < 2; by_pid++) {
        child = signet_start_helper("/bin/sleep", sleeper, theirs, &pidfd);
        CHECK(child > 0);
        signet_kill_helper(child, by_pid ? -1 : pidfd);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        (void)close(pidfd);
    }
    // Neither everybody nor our own group is meant by a pid that is none.
    signet_kill_helper(0, -1);
    signet_kill_helper(-1, -1);
    signet_kill_helper(1, -1);
    (void)close(ours);
    (void)close(theirs);
}

static int reset_everything(void) {
    struct sigaction now;
    sigset_t all;
    for (int number = 1; number < NSIG; number++) (void)signal(number, SIG_IGN);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    signet_reset_signals();
    for (int number = 1; number < NSIG; number++)
        if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_DFL) return number;
    (void)sigprocmask(SIG_SETMASK, NULL, &all);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&all, number) == 1) return number;
    return 0;
}

static int holds_without_descriptors(void) {
    sigset_t held, before, after;
    (void)sigprocmask(SIG_SETMASK, NULL, &before);
    unsigned long limit = shut_descriptors();
    int answer = signet_hold_signals(&held);
    reopen_descriptors(limit);
    if (answer != -EMFILE) return 1;
    (void)sigprocmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&before, number) != sigismember(&after, number)) return 2;
    return 0;
}

static int quiet_crash(void) {
    signet_crash_quietly();
    abort();
}

void check_signals(void) {
    sigset_t field, reader, mask;
    CHECK(in_child(reset_everything) == 0);
    CHECK(in_child(holds_without_descriptors) == 0);
    CHECK(in_child(quiet_crash) == -SIGABRT);
    (void)signal(SIGHUP, SIG_IGN);
    int one = signet_hold_field_signals(&field), other = signet_hold_signals(&reader);
    CHECK(one >= 0 && other >= 0);
    CHECK(sigismember(&field, SIGHUP) == 0 && sigismember(&field, SIGWINCH) == 1);
    CHECK(sigismember(&reader, SIGWINCH) == 0);
    CHECK(signet_pending_signal() == 0 && signet_take_signal(one) == 0 && !signet_take_pending(SIGINT));
    (void)raise(SIGINT);
    (void)raise(SIGTSTP);
    (void)raise(SIGHUP);
    (void)raise(SIGWINCH);
    // Which takes TSTP off (signal(7)).
    (void)raise(SIGCONT);
    // What asks for something comes first, then CONT, then WINCH.
    CHECK(signet_pending_signal() == SIGINT && signet_take_signal(one) == SIGINT);
    CHECK(signet_pending_signal() == SIGCONT && signet_take_pending(SIGCONT));
    CHECK(signet_pending_signal() == SIGWINCH);
    (void)raise(SIGCONT);
    signet_drop_notices();
    CHECK(signet_pending_signal() == 0 && !signet_take_pending(SIGCONT) && !signet_take_pending(SIGWINCH));
    signet_drop_notices();
    (void)raise(SIGINT);
    (void)raise(SIGTSTP);
    // Either order of letting go.
    signet_release_signals(&field);
    (void)close(one);
    CHECK(signet_take_signal(other) == SIGINT && signet_pending_signal() == SIGTSTP);
    CHECK(signet_take_pending(SIGTSTP) && !signet_take_pending(SIGTSTP));
    signet_release_signals(&reader);
    (void)close(other);
    (void)sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < NSIG; number++) CHECK(sigismember(&mask, number) != 1);
    // Once more than it was held.
    signet_release_signals(&reader);
    CHECK(signet_acts_by_default(SIGINT) && !signet_acts_by_default(SIGHUP) && !signet_acts_by_default(0));
    CHECK(!signet_acts_by_default(NSIG) && !signet_take_pending(SIGUSR1));
    (void)signal(SIGHUP, SIG_DFL);
    signet_ignore_signal(SIGUSR1);
    CHECK(!signet_acts_by_default(SIGUSR1));
    (void)signal(SIGUSR1, SIG_DFL);
    CHECK(signet_take_signal(-1) == 0);
}
