#ifndef SIGNET_CPLATFORM_USER_H
#define SIGNET_CPLATFORM_USER_H
// The system user that helpers give up root for.
#include <sys/types.h>

/// Debian's `nobody` and `nogroup`, which helpers become where there is no user of their own.
enum { SIGNET_NOBODY = 65534 };

/// What /etc/passwd says of the user `signet`.
enum signet_user_answer {
    /// It is a system user of the helpers' own.
    SIGNET_USER_OWN,
    /// There is none, or the file cannot be read.
    SIGNET_USER_MISSING,
    /// There is one that helpers must not become: root, a person, or one that can log in; or its line is not right.
    SIGNET_USER_UNFIT,
};

/// Finds whom helpers become: the user `signet` of /etc/passwd, or nobody. Never root, and never a person.
///
/// Reads the file itself, by three system calls where it is short. The C library's getpwnam(3) would load what
/// nsswitch.conf names, and talk to daemons, at every touch.
enum signet_user_answer signet_helper_user(uid_t *_Nonnull user, gid_t *_Nonnull group);

/// The same for what is read from `file`, an open descriptor.
enum signet_user_answer signet_helper_user_in(int file, uid_t *_Nonnull user, gid_t *_Nonnull group);

#endif
