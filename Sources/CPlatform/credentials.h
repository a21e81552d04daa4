#ifndef SIGNET_CREDENTIALS_H
#define SIGNET_CREDENTIALS_H

#include <sys/types.h>

// Who this thread is: changed by bare system calls, which leave the caller's other threads alone.

/// Makes root the real user and group too, and leaves all groups; 0, or -1.
int signet_become_root(void);

/// Makes root the real user for a while; answers the user for `signet_return_to_real_user`, 0 where nothing was changed.
uid_t signet_leave_real_user(void);

/// Puts the real user back, or ends the process.
void signet_return_to_real_user(uid_t real);

#endif
