#define _GNU_SOURCE
#include "cplatform_helper.h"

#include <poll.h>

_Static_assert(SIGNET_POLLRDHUP == POLLRDHUP, "the number is the same on all machines that Debian builds for but SPARC");

// A prompt's field and the reader beside it hold the same signals, and let go in either order. Whoever let go first would
// let a signal act that the other still holds, and whoever lets go last would bring back the other's mask: so the mask
// comes back with the last. A mask belongs to a thread (pthread_sigmask(3)), and so does the count.
static _Thread_local unsigned holders;
static _Thread_local sigset_t before;

void signet_begin_holding(const sigset_t *mask) {
    if (holders++ == 0) before = *mask;
}

int signet_end_holding(sigset_t *mask) {
    if (holders == 0) return 1;
    if (--holders > 0) return 0;
    *mask = before;
    return 1;
}
