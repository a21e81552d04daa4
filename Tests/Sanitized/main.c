#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned passed, failed;
static char folder[64];

void check(int holds, const char *file, int line, const char *condition) {
    if (holds) {
        passed++;
        return;
    }
    failed++;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
}

int in_child(int (*body)(void)) {
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    // A subreaper has its helpers for children (prctl(2)), and so can wait for them; fork does not hand that on.
    if (child == 0) (void)prctl(PR_SET_CHILD_SUBREAPER, 1), _exit(body());
    if (child < 0 || waitpid(child, &status, 0) != child) return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

const char *scratch(void) {
    if (folder[0] == 0) {
        (void)strcpy(folder, "/tmp/signet-sanitized-XXXXXX");
        if (mkdtemp(folder) == NULL) exit(2);
    }
    return folder;
}

const char *scratch_path(const char *name) {
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", scratch(), name);
    return path;
}

int open_descriptors(void) {
    DIR *listing = opendir("/proc/self/fd");
    if (listing == NULL) return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) count += entry->d_name[0] != '.';
    (void)closedir(listing);
    // The listing's own.
    return count - 1;
}

unsigned long shut_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) exit(2);
    unsigned long before = limit.rlim_cur;
    int next = dup(0);
    if (next < 0) exit(2);
    (void)close(next);
    limit.rlim_cur = (rlim_t)next;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) exit(2);
    return before;
}

void reopen_descriptors(unsigned long before) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) exit(2);
    limit.rlim_cur = before;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) exit(2);
}

int main(void) {
    if (geteuid() != 0) return fprintf(stderr, "needs root\n"), 2;
    (void)scratch();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    // A shell starts what runs in the background with some of them ignored.
    for (int number = 1; number < NSIG; number++) (void)signal(number, SIG_DFL);
    static const struct {
        const char *name;
        void (*run)(void);
    } suites[] = {
        {"files", check_files},     {"log", check_log},
        {"helpers", check_helpers}, {"signals", check_signals},
        {"confinement", check_confinement}, {"terminals", check_terminals},
        {"shims", check_shims},     {"users", check_users},
    };
    for (size_t index = 0; index < sizeof suites / sizeof *suites; index++) {
        int before = open_descriptors();
        suites[index].run();
        int after = open_descriptors();
        if (before != after) fprintf(stderr, "%s: %d descriptors, then %d\n", suites[index].name, before, after);
        check(before == after, __FILE__, __LINE__, "as many descriptors as before");
        check(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, __FILE__, __LINE__, "no child is left");
    }
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) return 2;
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
