#define _GNU_SOURCE
#include "cplatform_helper.h"

#include <errno.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

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
        // glibc changes all threads (nptl(7)), and the capabilities go with the user (capabilities(7)).
        if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0)
            return -errno;
        if (user != 0 && setuid(0) == 0) return -EPERM;
    }
    // Last, for a change of user sets it anew: no other process of this user may read our memory.
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -errno;
    return 0;
}
