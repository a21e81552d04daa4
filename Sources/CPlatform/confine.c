#define _GNU_SOURCE
#include "cplatform_helper.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(SIGNET_POLLRDHUP == POLLRDHUP, "the number is the same on all machines but SPARC");

int signet_unbind_capabilities(void) {
    int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0), binding = SECBIT_KEEP_CAPS | SECBIT_NO_SETUID_FIXUP;
    if (bits < 0) return -errno;
    // The others stay, which may be locked.
    return (bits & binding) != 0 && prctl(PR_SET_SECUREBITS, bits & ~binding, 0, 0, 0) != 0 ? -errno : 0;
}

int signet_has_capability(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return 1;
    return (sets[0].effective | sets[0].permitted | sets[1].effective | sets[1].permitted) != 0;
}

int signet_may_set_user(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return 0;
    return (sets[CAP_TO_INDEX(CAP_SETUID)].effective & CAP_TO_MASK(CAP_SETUID)) != 0;
}

int signet_has_only_group(gid_t group) {
    gid_t real, effective, saved;
    if (getresgid(&real, &effective, &saved) != 0 || getgroups(0, NULL) != 0) return 0;
    return real == group && effective == group && saved == group;
}

int signet_confine(uid_t user, gid_t group) {
    const struct rlimit none = {0, 0};
    // A foreign library that writes a message to a file gets an error, and not the end of the process.
    (void)signal(SIGXFSZ, SIG_IGN);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    if (setrlimit(RLIMIT_CORE, &none) != 0 || setrlimit(RLIMIT_FSIZE, &none) != 0) return -errno;
    // Threads stay allowed: libfprint finds the minutiae of an image in a thread of GLib's pool.
    const struct rlimit threads = {512, 512};
    if (setrlimit(RLIMIT_NPROC, &threads) != 0) return -errno;
    if (geteuid() == 0) {
        // glibc changes all threads (nptl(7)), each time by a signal to each of them that is waited for; the
        // capabilities go with the user (capabilities(7)).
        if (!signet_has_only_group(group) && (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0)) return -errno;
        int failure = user != 0 ? signet_unbind_capabilities() : 0;
        if (failure != 0) return failure;
        if (setresuid(user, user, user) != 0) return -errno;
        // The bare system call, for this thread alone: it is only to fail.
        if (user != 0 && (syscall(SYS_setuid, 0) == 0 || signet_has_capability())) return -EPERM;
    }
    // Last, for a change of user sets it anew: no other process of this user may read our memory.
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -errno;
    return 0;
}

int signet_guard_memory(void) {
    const struct rlimit none = {0, 0}, all = {RLIM_INFINITY, RLIM_INFINITY};
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0) return -errno;
    // Libraries keep copies of secrets in their own memory. On fault: nothing is loaded that is not used. The limit counts
    // what is mapped; it stays when root goes.
    if (setrlimit(RLIMIT_MEMLOCK, &all) == 0) (void)mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
    return 0;
}
