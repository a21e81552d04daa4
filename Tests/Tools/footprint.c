#define _GNU_SOURCE
#include "footprint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int count_entries(const char *folder) {
    DIR *entries = opendir(folder);
    int count = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));) count += entry->d_name[0] != '.';
    if (entries) closedir(entries);
    return count;
}

void footprint_take(struct footprint *state) {
    memset(state, 0, sizeof *state);
    for (int number = 0; number < FOOTPRINT_DESCRIPTORS; number++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", number);
        ssize_t length = readlink(path, state->descriptors[number], sizeof state->descriptors[number] - 1);
        if (length < 0) state->descriptors[number][0] = 0;
    }
    for (int number = 1; number < NSIG; number++) sigaction(number, NULL, &state->actions[number]);
    sigprocmask(SIG_SETMASK, NULL, &state->mask);
    sigpending(&state->pending);
    // ITIMER_REAL, ITIMER_VIRTUAL and ITIMER_PROF are 0 to 2.
    for (int number = 0; number < 3; number++) getitimer((__itimer_which_t)number, &state->alarms[number]);
    sigaltstack(NULL, &state->stack);
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal >= 0) {
        state->has_terminal = tcgetattr(terminal, &state->modes) == 0;
        close(terminal);
    }
    for (int number = 0; number < RLIM_NLIMITS; number++) getrlimit((__rlimit_resource_t)number, &state->limits[number]);
    size_t used = 0;
    for (char **entry = environ; *entry && used < sizeof state->environment; entry++) {
        used += (size_t)snprintf(state->environment + used, sizeof state->environment - used, "%s\n", *entry);
    }
    if (!getcwd(state->folder, sizeof state->folder)) strcpy(state->folder, "(deleted)");
    snprintf(state->locale, sizeof state->locale, "%s", setlocale(LC_ALL, NULL));
    state->umask = umask(0);
    umask(state->umask);
    getresuid(&state->users[0], &state->users[1], &state->users[2]);
    getresgid(&state->groups[0], &state->groups[1], &state->groups[2]);
    state->threads = count_entries("/proc/self/task");
    // The host is a subreaper, so that a grandchild whose parent died counts too. WNOWAIT leaves it as it is found.
    siginfo_t info = {0};
    state->children = !(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 && errno == ECHILD);
}

/// The number behind a name in a file of /proc, or how many lines begin with the name; 0 where there is no such file.
static long find(const char *path, const char *name, int counts) {
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    long result = 0;
    while (file && getline(&line, &capacity, file) > 0) {
        if (strncmp(line, name, strlen(name)) == 0) result += counts ? 1 : atol(line + strlen(name));
    }
    free(line);
    if (file) fclose(file);
    return result;
}

void weight_take(struct weight *weight) {
    weight->size = find("/proc/self/status", "VmSize:", 0);
    weight->resident = find("/proc/self/status", "RssAnon:", 0);
    weight->locked = find("/proc/self/status", "VmLck:", 0);
    weight->mappings = find("/proc/self/maps", "", 1);
    // timer_create(2)'s
    weight->timers = find("/proc/self/timers", "ID:", 1);
    weight->descriptors = count_entries("/proc/self/fd");
    struct mallinfo2 heap = mallinfo2();
    weight->heap = (long)(heap.uordblks + heap.hblkhd);
}

static void note(char *text, size_t capacity, const char *name) {
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%s", used ? "," : "", name);
}

// glibc fills only the kernel's part of a set; what lies behind it is whatever the stack held.
static int same_set(const sigset_t *one, const sigset_t *other) {
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(one, number) != sigismember(other, number)) return 0;
    }
    return 1;
}

static int same_action(const struct sigaction *one, const struct sigaction *other) {
    return one->sa_handler == other->sa_handler && one->sa_flags == other->sa_flags
        && same_set(&one->sa_mask, &other->sa_mask);
}

#define DIFFERS(member) (memcmp(&before->member, &after->member, sizeof before->member) != 0)

void footprint_compare(const struct footprint *before, const struct footprint *after, char *text, size_t capacity) {
    text[0] = 0;
    if (after->children) note(text, capacity, "children");
    if (before->threads != after->threads) note(text, capacity, "threads");
    if (DIFFERS(descriptors)) note(text, capacity, "descriptors");
    for (int number = 1; number < NSIG; number++) {
        if (!same_action(&before->actions[number], &after->actions[number])) {
            note(text, capacity, "handlers");
            break;
        }
    }
    if (!same_set(&before->mask, &after->mask)) note(text, capacity, "mask");
    if (!same_set(&before->pending, &after->pending)) note(text, capacity, "pending");
    if (DIFFERS(alarms) || before->stack.ss_sp != after->stack.ss_sp) note(text, capacity, "alarm");
    if (before->has_terminal != after->has_terminal || DIFFERS(modes)) note(text, capacity, "modes");
    if (DIFFERS(limits)) note(text, capacity, "limits");
    if (strcmp(before->environment, after->environment) != 0) note(text, capacity, "environment");
    if (strcmp(before->folder, after->folder) != 0) note(text, capacity, "folder");
    if (strcmp(before->locale, after->locale) != 0) note(text, capacity, "locale");
    if (before->umask != after->umask) note(text, capacity, "umask");
    if (DIFFERS(users) || DIFFERS(groups)) note(text, capacity, "identity");
    if (!text[0]) note(text, capacity, "nothing");
}
