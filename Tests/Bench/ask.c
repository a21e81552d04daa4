// ask SERVICE USER REPORT: one authentication at the terminal, and what it did to this process, which has libpam and has looked a user up
// before, as sudo and login have.
//
// Writes lines to the file REPORT, sizes in KiB:
//   added RSS PSS PRIVATE   what the process has more after pam_authenticate than before pam_start; the modules are loaded then
//   peak RSS                the most that it had in between, over what it had before
//   helper RSS              the most that one of the processes had that it started and waited for; 0 where there was none
//   library PATH            each that was mapped meanwhile and not before
// For whoever traces it, a write(2) to descriptor -1 stands at the beginning and at the end of what is measured.
//
// Exit status: 0 for PAM_SUCCESS.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pwd.h>
#include <security/pam_appl.h>
#include <security/pam_misc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Static, so that reading takes no memory of its own.
static char text[1 << 18], before[1 << 18];

struct memory { long rss, pss, private, peak; };

static const char *load(const char *path, char *buffer) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t count;
    while (file >= 0 && length < sizeof text - 1 && (count = read(file, buffer + length, sizeof text - 1 - length)) > 0)
        length += (size_t)count;
    if (file < 0 || length == 0) perror(path), exit(3);
    close(file);
    buffer[length] = 0;
    return buffer;
}

static long field(const char *page, const char *name) {
    const char *found = strstr(page, name);
    return found ? strtol(found + strlen(name), NULL, 10) : 0;
}

static struct memory look(void) {
    const char *page = load("/proc/self/smaps_rollup", text);
    struct memory memory = {
        .rss = field(page, "\nRss:"), .pss = field(page, "\nPss:"),
        .private = field(page, "\nPrivate_Clean:") + field(page, "\nPrivate_Dirty:")};
    memory.peak = field(load("/proc/self/status", text), "\nVmHWM:");
    return memory;
}

static void mark(const char *words) { (void)!write(-1, words, strlen(words)); }

static int authenticate(const char *service, const char *user) {
    struct pam_conv conversation = {misc_conv, NULL};
    pam_handle_t *handle = NULL;
    if (pam_start(service, user, &conversation, &handle) != PAM_SUCCESS) return 2;
    if (pam_set_item(handle, PAM_TTY, ttyname(0)) != PAM_SUCCESS) return 2;
    return pam_authenticate(handle, 0);
}

// The files that `now` has mapped and `then` has not, each once.
static void tell_libraries(FILE *report, char *now, const char *then) {
    const char *last = "";
    for (char *line = strtok(now, "\n"); line; line = strtok(NULL, "\n")) {
        const char *path = strchr(line, '/');
        if (!path || !strstr(path, ".so") || strcmp(path, last) == 0 || strstr(then, path)) continue;
        fprintf(report, "library %s\n", path);
        last = path;
    }
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: ask SERVICE USER REPORT\n"), 2;
    FILE *report = fopen(argv[3], "w");
    if (!report || !getpwnam(argv[2]) || !getpwuid(0)) return 2;
    setvbuf(report, NULL, _IONBF, 0);
    look();
    load("/proc/self/maps", before);
    // From here on the peak is counted anew (proc(5), clear_refs).
    int counter = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (counter < 0 || write(counter, "5", 1) != 1) return 3;
    close(counter);
    struct memory start = look();
    mark("bench begins");
    int code = authenticate(argv[1], argv[2]);
    mark("bench ends");
    struct memory end = look();
    struct rusage helpers;
    getrusage(RUSAGE_CHILDREN, &helpers);
    fprintf(report, "added %ld %ld %ld\n", end.rss - start.rss, end.pss - start.pss, end.private - start.private);
    fprintf(report, "peak %ld\nhelper %ld\n", end.peak - start.rss, helpers.ru_maxrss);
    load("/proc/self/maps", text);
    tell_libraries(report, text, before);
    return code != PAM_SUCCESS;
}
