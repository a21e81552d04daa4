// load MODULE PEER [RUNS]: the time that dlopen takes for each, in turn, each in a fresh process that has libpam, as sudo and login have.
//
// Prints the medians: `MODULE-ms PEER-ms`.
#include "median.h"

#include <dlfcn.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 2000 };

// The flags are those with which libpam opens a module (libpam/pam_dynamic.c).
static int load_once(const char *module) {
    if (!pam_strerror(NULL, PAM_SUCCESS)) return 1;
    double start = milliseconds();
    void *handle = dlopen(module, RTLD_NOW);
    double taken = milliseconds() - start;
    if (!handle) return fprintf(stderr, "load: %s\n", dlerror()), 1;
    return write(1, &taken, sizeof taken) != sizeof taken;
}

static double in_a_fresh_process(const char *module) {
    int ends[2];
    double taken = -1;
    if (pipe(ends) != 0) exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        close(ends[0]), close(ends[1]);
        execl("/proc/self/exe", "load", "--once", module, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    int status;
    if (read(ends[0], &taken, sizeof taken) != sizeof taken) taken = -1;
    close(ends[0]);
    if (waitpid(pid, &status, 0) != pid || status != 0 || taken < 0) exit(1);
    return taken;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--once") == 0) return load_once(argv[2]);
    if (argc < 3) return fprintf(stderr, "usage: load MODULE PEER [RUNS]\n"), 2;
    static double times[2][MOST];
    int runs = argc > 3 ? atoi(argv[3]) : 300;
    if (runs < 1 || runs > MOST) return 2;
    // The first round only brings the files into memory.
    for (int run = -1; run < runs; run++) {
        for (int which = 0; which < 2; which++) {
            double taken = in_a_fresh_process(argv[1 + which]);
            if (run >= 0) times[which][run] = taken;
        }
    }
    printf("%.4f %.4f\n", median(times[0], (size_t)runs), median(times[1], (size_t)runs));
    return 0;
}
