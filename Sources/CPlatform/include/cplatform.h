#ifndef SIGNET_CPLATFORM_H
#define SIGNET_CPLATFORM_H
// The C library as the core sees it: Glibc cannot be imported by Embedded Swift, so every libc name comes through here.
// Below the includes stand only the few lines that Swift cannot say: macros, variadic functions and GNU-only calls.
// _GNU_SOURCE must not be defined here: it would change types that other modules import as well.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <syslog.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cplatform_guarded.h"
#include "cplatform_helper.h"

/// errno is a macro.
static inline int signet_errno(void) { return errno; }

/// openat(2) is variadic.
static inline int signet_openat(int folder, const char *_Nonnull name, int flags, mode_t mode) {
    return openat(folder, name, flags, mode);
}

/// S_ISREG, S_ISDIR and S_ISCHR are macros.
static inline int signet_is_regular(mode_t mode) { return S_ISREG(mode); }
static inline int signet_is_directory(mode_t mode) { return S_ISDIR(mode); }
static inline int signet_is_device(mode_t mode) { return S_ISCHR(mode); }

#include "cplatform_terminal.h"
#include "cplatform_user.h"
#include "cplatform_files.h"
#include "cplatform_log.h"
#include "cplatform_registers.h"

#endif
