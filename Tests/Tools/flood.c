// flood: many processes at once that run a program again and again.
//
//   flood SECONDS PROCESSES LIMIT UIDS ANSWERS PROGRAM ARGUMENT…
//
// Each of PROCESSES runs PROGRAM as one of UIDS (in turn, separated by commas) for SECONDS, 0: once, with one of ANSWERS (in turn) as the
// first line of its standard input. An argument `@A,B,C` is A for the first process, B for the second, and so on in turn. What runs longer
// than LIMIT milliseconds counts as hung and is killed. Who starts it should give it a session of its own, as another person's programs have.
//
// Prints `runs R granted G refused F killed K hung H longest MS memory KIB derivations N`: how often the program ended with 0, with another
// number, by a signal; the longest run; and, looked at every 20 ms, the most memory that all of the programs had together and no file backs,
// and the most of them that had more than 32 MiB of it at once, which only a key derivation needs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, MOST_PROCESSES = 1024, DERIVING_KIB = 32 * 1024 };

struct tally {
    atomic_long runs, granted, refused, killed, hung, longest;
    atomic_int running[MOST_PROCESSES];
};

static struct tally *tally;
static char *uids[MOST], *answers[MOST];
static int uid_count, answer_count;

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int split(char *text, char **parts) {
    int count = 0;
    for (char *part = strtok(text, ","); part && count < MOST; part = strtok(NULL, ",")) parts[count++] = part;
    return count;
}

static void become(const char *uid, int input, char **words) {
    id_t number = (id_t)strtoul(uid, NULL, 10);
    int nowhere = open("/dev/null", O_RDWR);
    dup2(input, 0), dup2(nowhere, 1), dup2(nowhere, 2);
    if (setgroups(0, NULL) != 0 || setgid(number) != 0 || setuid(number) != 0) _exit(126);
    execvp(words[0], words);
    _exit(127);
}

static void run_once(int number, const char *uid, const char *answer, long limit, char **words) {
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC) != 0) exit(3);
    long start = milliseconds();
    pid_t child = fork();
    if (child < 0) exit(3);
    if (child == 0) become(uid, ends[0], words);
    tally->running[number] = child;
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
    close(ends[0]);
    dprintf(ends[1], "%s\n", answer);
    close(ends[1]);
    int ended = poll(&end, 1, (int)limit);
    if (ended != 1) {
        tally->hung++;
        kill(child, SIGKILL);
    }
    waitpid(child, &status, 0);
    tally->running[number] = 0;
    close(end.fd);
    long taken = milliseconds() - start, longest = tally->longest;
    while (taken > longest && !atomic_compare_exchange_weak(&tally->longest, &longest, taken)) {}
    tally->runs++;
    if (ended == 1) (WIFSIGNALED(status) ? &tally->killed : WEXITSTATUS(status) ? &tally->refused : &tally->granted)[0]++;
}

static void work(int number, long until, long limit, char **words) {
    signal(SIGPIPE, SIG_IGN);
    for (char **word = words; *word; word++) {
        char *parts[MOST];
        if (**word != '@') continue;
        int count = split(*word + 1, parts);
        if (count > 0) *word = parts[number % count];
    }
    for (int round = 0;; round++) {
        run_once(number, uids[number % uid_count], answers[(number + round) % answer_count], limit, words);
        if (milliseconds() >= until) exit(0);
    }
}

// Memory of a process that no file backs, in KiB (proc(5), statm: resident less shared).
static long anonymous(pid_t process) {
    char path[64];
    long resident = 0, shared = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", process);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%*d %ld %ld", &resident, &shared) != 2) resident = shared = 0;
    fclose(file);
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
    if (argc < 7) return fprintf(stderr, "usage: flood SECONDS PROCESSES LIMIT UIDS ANSWERS PROGRAM ARGUMENT…\n"), 2;
    int processes = atoi(argv[2]), left = processes;
    long until = milliseconds() + (long)(atof(argv[1]) * 1000), limit = atol(argv[3]), most = 0, most_at_once = 0;
    uid_count = split(argv[4], uids), answer_count = split(argv[5], answers);
    if (uid_count < 1 || answer_count < 1 || processes < 1 || processes > MOST_PROCESSES) return 2;
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED) return 3;
    for (int number = 0; number < processes; number++) {
        pid_t child = fork();
        if (child < 0) return 3;
        if (child == 0) work(number, until, limit, argv + 6);
    }
    // Before the programs that it looks at: else it would look when they are done. It sleeps most of the time.
    sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 20});
    while (left > 0) {
        while (waitpid(-1, NULL, WNOHANG) > 0) left--;
        long sum = 0, at_once = 0;
        for (int number = 0; number < processes; number++) {
            pid_t running = tally->running[number];
            long kib = running ? anonymous(running) : 0;
            sum += kib, at_once += kib > DERIVING_KIB;
        }
        if (sum > most) most = sum;
        if (at_once > most_at_once) most_at_once = at_once;
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    printf("runs %ld granted %ld refused %ld killed %ld hung %ld longest %ld memory %ld derivations %ld\n", tally->runs, tally->granted,
        tally->refused, tally->killed, tally->hung, tally->longest, most, most_at_once);
    return 0;
}
