#define _GNU_SOURCE
#include "confinement.h"
#include "cplatform_helper.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int signet_leave_root_groups(gid_t group) {
    if (geteuid() != 0) return 0;
    int failure = signet_unbind_capabilities();
    if (failure != 0) return failure;
    return setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 ? -errno : 0;
}

void signet_hide_files(void) {
    // Readers lie in /dev and /sys, what udev knows of them in /run, libraries in /usr: those stay.
    static const char *const hidden[] = {"/home", "/root", "/var", "/srv", "/mnt", "/media", "/boot"};
    if (unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) != 0) return;
    // Nothing of ours is seen outside; what is unmounted outside goes here too.
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return;
    for (size_t index = 0; index < sizeof hidden / sizeof *hidden; index++)
        (void)mount("none", hidden[index], "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0");
}

/// The limits of a helper with an open reader, soft and hard; a lower one of the machine's stays.
static int set_limits(void) {
    static const struct {
        __rlimit_resource_t which;
        rlim_t value;
    } limits[] = {
        {RLIMIT_CORE, 0},
        // No file grows, wherever the descriptor came from.
        {RLIMIT_FSIZE, 0},
        // Threads stay allowed: libfprint finds the minutiae of an image in a thread of GLib's pool. All processes of
        // the same user on the machine count together.
        {RLIMIT_NPROC, 512},
        // An open reader has 5 to 15.
        {RLIMIT_NOFILE, 64},
        {RLIMIT_MEMLOCK, 0},
        {RLIMIT_MSGQUEUE, 0},
        // An image driver uses 14 MB.
        {RLIMIT_DATA, 256u << 20},
    };
    for (size_t index = 0; index < sizeof limits / sizeof *limits; index++) {
        struct rlimit now, wanted = {limits[index].value, limits[index].value};
        if (getrlimit(limits[index].which, &now) != 0) return -errno;
        if (now.rlim_max < wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
        if (setrlimit(limits[index].which, &wanted) != 0) return -errno;
    }
    return 0;
}

int signet_confine_reader(uid_t user, gid_t group) {
    // A foreign library that writes a message to a file gets an error, and not the end of the process.
    (void)signal(SIGXFSZ, SIG_IGN);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    int failure = set_limits();
    if (failure != 0) return failure;
    if (geteuid() == 0) {
        // glibc changes all threads (nptl(7)), each time by a signal to each of them that is waited for; the capabilities
        // go with the user (capabilities(7)).
        if (!signet_has_only_group(group) && (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0)) return -errno;
        if (setresuid(user, user, user) != 0) return -errno;
        // The bare system call, for this thread alone: it is only to fail.
        if (user != 0 && (syscall(SYS_setuid, 0) == 0 || signet_has_capability())) return -EPERM;
    }
    // Last, for a change of user sets it anew: no other process of this user may read our memory.
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -errno;
    return 0;
}
