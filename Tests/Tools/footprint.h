#ifndef SIGNET_FOOTPRINT_H
#define SIGNET_FOOTPRINT_H
// What a PAM module could leave behind in the process that called it.
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <termios.h>

enum { FOOTPRINT_DESCRIPTORS = 256, FOOTPRINT_TEXT = 4096 };

struct footprint {
    char descriptors[FOOTPRINT_DESCRIPTORS][64];
    struct sigaction actions[NSIG];
    sigset_t mask, pending;
    struct itimerval alarms[3];
    stack_t stack;
    struct termios modes;
    struct rlimit limits[RLIM_NLIMITS];
    char environment[FOOTPRINT_TEXT * 16], folder[FOOTPRINT_TEXT], locale[256];
    mode_t umask;
    uid_t users[3];
    gid_t groups[3];
    int has_terminal, threads, children;
};

/// Takes down the state of this process.
void footprint_take(struct footprint *state);

/// What a process weighs; descriptors of any number.
struct weight {
    long heap, size, resident, locked, mappings, descriptors, timers;
};

void weight_take(struct weight *weight);

/// Writes the names of all differences into `text`, separated by commas, or "nothing".
void footprint_compare(const struct footprint *before, const struct footprint *after, char *text, size_t capacity);

#endif
