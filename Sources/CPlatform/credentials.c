#define _GNU_SOURCE
#include "credentials.h"

#include "cplatform_helper.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// The 16-bit calls of old 32-bit ports cannot name every user.
#ifdef SYS_setresuid32
#define SET_GROUPS SYS_setgroups32
#define SET_GROUP SYS_setresgid32
#define SET_USER SYS_setresuid32
#else
#define SET_GROUPS SYS_setgroups
#define SET_GROUP SYS_setresgid
#define SET_USER SYS_setresuid
#endif

/// Makes root the real user and group too, by the bare system calls: glibc's functions signal all threads that it knows
/// of (nptl(7)) and would wait here for ever for those that only the parent has.
int signet_become_root(void) {
    if (syscall(SET_GROUPS, (size_t)0, NULL) != 0) return -1;
    if (syscall(SET_GROUP, (gid_t)0, (gid_t)0, (gid_t)0) != 0) return -1;
    return syscall(SET_USER, (uid_t)0, (uid_t)0, (uid_t)0) == 0 ? 0 : -1;
}

/// Under sudo and su the real user is the caller, who could signal what is started before it is root's alone: stop a copy of
/// our locks, or kill the process in between. So we are root's alone meanwhile, this thread only and by the bare system call;
/// effective and saved user stay, and with them what may be dumped. Answers the real user to be put back, 0 for none.
///
/// To leave takes no capability, for root is the effective user; to return takes CAP_SETUID, which a container or a unit
/// may have taken out of the bounding set (capabilities(7)). There all stays as it is, and the caller's user may reach what
/// is started until it is root's alone.
uid_t signet_leave_real_user(void) {
    uid_t real = getuid();
    if (geteuid() != 0 || real == 0 || !signet_may_set_user()) return 0;
    // Changes nothing, and fails where this namespace has no number for the user (user_namespaces(7)).
    if (syscall(SET_USER, real, (uid_t)-1, (uid_t)-1) != 0) return 0;
    return syscall(SET_USER, (uid_t)0, (uid_t)-1, (uid_t)-1) == 0 ? real : 0;
}

void signet_return_to_real_user(uid_t real) {
    // A program that went on with root for its real user would let pam_rootok(8) open every door.
    if (real != 0 && syscall(SET_USER, real, (uid_t)-1, (uid_t)-1) != 0) abort();
}
