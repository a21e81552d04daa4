// Confines itself as the reader helper does, and then tries what an intruder would: `confinement-probe [--unfiltered]`.
//
// Each try is a process of its own, begun as root, with a second thread, as the helper has it by then. It is made twice: by
// the thread that was confined, and by the other one. `--unfiltered` leaves the filter of system calls out, as on a kernel
// without it, and tries what is forbidden all the same. Says what went otherwise, and how many were tried.
#define _GNU_SOURCE
#include "confinement.h"
#include "tries.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNPRIVILEGED = 65534, BROKEN = 99 };

static const struct attempt *chosen;
static pthread_barrier_t confined;

/// 0 where it was done, 1 where it was refused.
static int outcome(void) {
    errno = 0;
    return chosen->run() >= 0 ? 0 : 1;
}

static void *second_thread(void *answers) {
    pthread_barrier_wait(&confined);
    if (answers != NULL) _exit(outcome());
    for (;;) pause();
}

/// Becomes what the helper is once its reader is open, and tries.
static _Noreturn void try_it(int filtered, int in_second_thread) {
    pthread_t thread;
    // One that hangs is broken.
    alarm(10);
    open_files();
    if (signet_leave_root_groups(UNPRIVILEGED) != 0) _exit(BROKEN);
    signet_hide_files();
    if (pthread_barrier_init(&confined, NULL, 2) != 0) _exit(BROKEN);
    if (pthread_create(&thread, NULL, second_thread, in_second_thread ? &confined : NULL) != 0) _exit(BROKEN);
    if (signet_confine_reader(UNPRIVILEGED, UNPRIVILEGED) != 0) _exit(BROKEN);
    if (filtered && signet_filter_reader_calls() != 0) _exit(BROKEN);
    pthread_barrier_wait(&confined);
    if (in_second_thread) pthread_join(thread, NULL);
    _exit(outcome());
}

static enum expectation observed(int filtered, int in_second_thread) {
    int status = 0;
    name_files();
    pid_t child = fork();
    if (child == 0) try_it(filtered, in_second_thread);
    if (child < 0 || waitpid(child, &status, 0) != child) return CONFUSED;
    clean_up();
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? FATAL : CONFUSED;
    if (WEXITSTATUS(status) > 1) return CONFUSED;
    return WEXITSTATUS(status) == 0 ? WORKS : REFUSED;
}

static const char *words(enum expectation one) {
    switch (one) {
    case WORKS: return "works";
    case REFUSED: return "is refused";
    case FATAL: return "ends the process";
    default: return "went astray";
    }
}

int main(int count, char **arguments) {
    int filtered = count < 2 || strcmp(arguments[1], "--unfiltered") != 0;
    unsigned tried = 0, otherwise = 0;
    if (geteuid() != 0) return 2;
    for (chosen = attempts; chosen->name != NULL; chosen++) {
        enum expectation expected = filtered ? chosen->filtered : chosen->unfiltered;
        if (expected == UNDECIDED) continue;
        for (int second = 0; second < 2; second++) {
            enum expectation seen = observed(filtered, second);
            tried++;
            if (seen == expected) continue;
            otherwise++;
            printf("%s %s%s\n", chosen->name, words(seen), second ? " in another thread" : "");
        }
    }
    printf("%u tried, %u otherwise\n", tried, otherwise);
    return otherwise != 0;
}
