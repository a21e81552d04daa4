#define _GNU_SOURCE
#include "check.h"
#include "confinement.h"
#include "cplatform.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { NOBODY = 65534 };

/// What a process of root's cannot do any more once it is confined; the number of the first thing that it can.
static int whats_left(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return 20;
    if ((sets[0].effective | sets[0].permitted | sets[1].effective | sets[1].permitted) != 0) return 21;
    if (getuid() != NOBODY || geteuid() != NOBODY || getgid() != NOBODY || getgroups(0, NULL) != 0) return 22;
    if (setuid(0) == 0) return 23;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) return 24;
    if (open("/etc/shadow", O_RDONLY) >= 0) return 25;
    return 0;
}

/// As pam_cap(8) and systemd may leave it: capabilities outlive their user.
static int keep_capabilities(void) { return prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0); }

static int as_the_enclave_helper(void) { return signet_confine(NOBODY, NOBODY) != 0 ? 1 : whats_left(); }
static int enclave_with_kept_capabilities(void) {
    return keep_capabilities() != 0 ? 1 : as_the_enclave_helper();
}
static int enclave_with_locked_capabilities(void) {
    // Bits that cannot be taken back: it has to end there, and not to go on with them.
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED, 0, 0, 0) != 0) return 1;
    return signet_confine(NOBODY, NOBODY) < 0 ? 0 : whats_left();
}
static int as_the_reader_helper(void) {
    if (signet_leave_root_groups(NOBODY) != 0) return 1;
    signet_hide_files();
    return signet_confine_reader(NOBODY, NOBODY) != 0 ? 2 : whats_left();
}
static int reader_with_kept_capabilities(void) { return keep_capabilities() != 0 ? 3 : as_the_reader_helper(); }
static int reader_with_locked_capabilities(void) {
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED, 0, 0, 0) != 0) return 1;
    if (signet_leave_root_groups(NOBODY) < 0) return 0;
    return signet_confine_reader(NOBODY, NOBODY) < 0 ? 0 : whats_left();
}
/// Other bits that cannot be taken back do not matter.
static int reader_with_other_locks(void) {
    int bits = SECBIT_NO_SETUID_FIXUP | SECBIT_NOROOT | SECBIT_NOROOT_LOCKED;
    return prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0 ? 3 : as_the_reader_helper();
}
static int enclave_with_other_locks(void) {
    int bits = SECBIT_NO_SETUID_FIXUP | SECBIT_NOROOT | SECBIT_NOROOT_LOCKED;
    return prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0 ? 3 : as_the_enclave_helper();
}
static int twice(void) {
    if (signet_confine(NOBODY, NOBODY) != 0 || signet_confine(NOBODY, NOBODY) != 0) return 1;
    return signet_confine_reader(NOBODY, NOBODY) != 0 ? 2 : whats_left();
}
static int stays_root(void) { return signet_confine(0, 0) == 0 && geteuid() == 0 ? 0 : 1; }

static int refused(long answer) { return answer == -1 && errno == EPERM; }

static int filtered(void) {
    if (signet_confine(NOBODY, NOBODY) != 0 || signet_filter_calls() != 0) return 1;
    if (!refused(open("/tmp/signet-none", O_WRONLY | O_CREAT, 0600))) return 2;
    if (!refused(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0))) return 3;
    if (!refused(syscall(SYS_execve, "/bin/true", NULL, NULL))) return 4;
    if (!refused(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL))) return 5;
    // What would reach another process of the same user; tried on ourselves, and a limit may be looked at.
    if (!refused(syscall(SYS_kill, getpid(), 0)) || !refused(syscall(SYS_tgkill, getpid(), getpid(), 0))) return 7;
    if (!refused(syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGSTOP, &(siginfo_t){0}))) return 8;
    if (!refused(syscall(SYS_sched_setattr, 0, NULL, 0)) || !refused(syscall(SYS_setpriority, 0, 0, 19))) return 9;
    int file = open("/dev/null", O_RDONLY);
    if (!refused(fcntl(file, F_SETOWN, getpid())) || !refused(fcntl(file, F_SETOWN_EX, NULL))) return 10;
    struct rlimit limit;
    if (!refused(syscall(SYS_prlimit64, getpid(), RLIMIT_CPU, NULL, NULL))) return 11;
    if (getrlimit(RLIMIT_CPU, &limit) != 0 || fcntl(file, F_GETFD) < 0) return 12;
    return file >= 0 && close(file) == 0 ? 0 : 6;
}
static int filtered_but_connections(void) {
    if (signet_filter_calls_but_connections() != 0) return 1;
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 || close(file) != 0) return 2;
    return refused(syscall(SYS_execve, "/bin/true", NULL, NULL)) ? 0 : 3;
}
__attribute__((unused)) static int reader_filtered(void) {
    if (signet_prepare_filter() != 0 || as_the_reader_helper() != 0 || signet_filter_reader_calls() != 0) return 1;
    if (!refused(open("/dev/null", O_RDONLY))) return 2;
    (void)syscall(SYS_ptrace, 0, 0, 0, 0);
    return 3;
}
static int guarded(void) {
    if (signet_guard_memory() != 0 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) return 1;
    struct rlimit core;
    return getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0 ? 0 : 2;
}

void check_confinement(void) {
    CHECK(in_child(as_the_enclave_helper) == 0);
    CHECK(in_child(enclave_with_kept_capabilities) == 0);
    CHECK(in_child(enclave_with_locked_capabilities) == 0);
    CHECK(in_child(as_the_reader_helper) == 0);
    CHECK(in_child(reader_with_kept_capabilities) == 0);
    CHECK(in_child(reader_with_locked_capabilities) == 0);
    CHECK(in_child(enclave_with_other_locks) == 0);
    CHECK(in_child(reader_with_other_locks) == 0);
    CHECK(in_child(twice) == 0);
    CHECK(in_child(stays_root) == 0);
    CHECK(in_child(filtered) == 0);
    CHECK(in_child(filtered_but_connections) == 0);
#if !__has_feature(address_sanitizer)
    // The address sanitizer needs more memory than the helper's limit, and calls that its filter refuses.
    CHECK(in_child(reader_filtered) == -SIGSYS);
#endif
    CHECK(in_child(guarded) == 0);
}
