// prompt: what a person at a terminal waits for, measured with a program of ours that asks PAM, for several services in turn.
//
//   prompt key RUNS USER MASK SERVICE WORDS…
//   prompt touch RUNS USER FINGER STILL SERVICE WORDS READER BEFORE…
//
// Each run is a fresh process in the foreground of a pseudo-terminal of its own, with PAM_TTY and libpam_misc's conversation, as `login`
// is. Once WORDS are shown, the prompt, or the request for a touch, stands there. Prints medians for each service, in milliseconds.
//
// `key` sends a key once the prompt stands and the echo is off, since what was typed before that is thrown away. The four medians: from the
// call of pam_authenticate to the prompt and to the first key accepted, and both again from pam_start, which loads the modules. A key is
// accepted when the sign MASK is seen for it; where the terminal gathers lines itself and shows no sign, as soon as it can be sent: that it
// was taken cannot be seen there before Enter.
//
// `touch` lays FINGER on libfprint's virtual reader, STILL milliseconds after it was asked for. The three medians: from the call to the request
// for a touch, from the touch to PAM_SUCCESS, and from the call to PAM_SUCCESS. BEFORE is a command to run before each, untimed, or "".
#define _GNU_SOURCE
#include "median.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <security/pam_appl.h>
#include <security/pam_misc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// PATIENCE in milliseconds.
enum { MOST = 200, SERVICES = 4, COLUMNS = 4, PATIENCE = 20000 };

// Written by the program that asks PAM, read by the one that sits before it.
static volatile struct { double started, called, returned; } *shared;

// The other end of the running program's terminal, and what it has shown.
static int terminal;
static pid_t program;
static char shown[1 << 16];
static size_t length;
static int measures_keys;

static void give_up(const char *service, const char *what) {
    fprintf(stderr, "prompt: %s: %s; shown was:\n%.*s\n", service, what, (int)length, shown);
    if (program > 0) kill(program, SIGKILL);
    exit(1);
}

static _Noreturn void ask_pam(const char *service, const char *user) {
    // Keys reach a program through a worker of the kernel of ordinary priority. What is measured may run before all else, but a process that
    // it starts meanwhile must not, or the key would wait for that one.
    struct sched_param priority;
    int policy = sched_getscheduler(0);
    if (measures_keys && policy != SCHED_OTHER && sched_getparam(0, &priority) == 0)
        sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &priority);
    struct pam_conv conversation = {misc_conv, NULL};
    pam_handle_t *handle = NULL;
    shared->started = milliseconds();
    if (pam_start(service, user, &conversation, &handle) != PAM_SUCCESS) _exit(2);
    if (pam_set_item(handle, PAM_TTY, ttyname(0)) != PAM_SUCCESS) _exit(2);
    shared->called = milliseconds();
    int code = pam_authenticate(handle, 0);
    shared->returned = milliseconds();
    pam_end(handle, code);
    _exit(code != PAM_SUCCESS);
}

static void start(const char *service, const char *user) {
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    length = 0;
    program = forkpty(&terminal, NULL, NULL, &size);
    if (program == 0) ask_pam(service, user);
    if (program < 0) give_up(service, "no terminal");
    fcntl(terminal, F_SETFD, FD_CLOEXEC);
}

// Reads what the program shows until `words` stand after `from`; answers when they were seen.
static double await(const char *service, const char *words, size_t from) {
    double end = milliseconds() + PATIENCE;
    for (;;) {
        if (length > from && memmem(shown + from, length - from, words, strlen(words))) return milliseconds();
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        double left = end - milliseconds();
        if (left <= 0 || poll(&ready, 1, (int)left + 1) < 0) give_up(service, words);
        ssize_t count = ready.revents ? read(terminal, shown + length, sizeof shown - length) : 0;
        if (count < 0 || length + (size_t)count == sizeof shown) give_up(service, words);
        length += (size_t)count;
    }
}

// Waits until keys are not echoed; answers when that was seen, and whether the terminal gathers them to lines.
static double await_hidden_keys(const char *service, int *lines) {
    struct termios modes;
    for (double end = milliseconds() + PATIENCE; milliseconds() < end; usleep(20)) {
        if (tcgetattr(terminal, &modes) != 0 || modes.c_lflag & ECHO) continue;
        *lines = (modes.c_lflag & ICANON) != 0;
        return milliseconds();
    }
    give_up(service, "the echo stays on");
    return 0;
}

// Answers the program's exit status, once it has ended by itself.
static int await_end(const char *service) {
    int status;
    for (double end = milliseconds() + PATIENCE; milliseconds() < end; usleep(200)) {
        // A terminal that nobody reads would hold the program up.
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        if (poll(&ready, 1, 0) > 0) {
            if (length == sizeof shown) length = 0;
            ssize_t count = read(terminal, shown + length, sizeof shown - length);
            if (count > 0) length += (size_t)count;
        }
        if (waitpid(program, &status, WNOHANG) == program) {
            program = 0;
            close(terminal);
            return status;
        }
    }
    give_up(service, "does not end");
    return -1;
}

static void key_once(const char *service, const char *user, const char *mask, const char *words, double times[COLUMNS]) {
    start(service, user);
    double prompt = await(service, words, 0);
    int lines;
    double accepted = await_hidden_keys(service, &lines);
    if (lines) {
        kill(program, SIGKILL);
    } else {
        size_t before = length;
        if (write(terminal, "7", 1) != 1) give_up(service, "takes no key");
        accepted = await(service, mask, before);
        // Ctrl-C, so that a try that was charged is given back.
        if (write(terminal, "\003", 1) != 1) give_up(service, "takes no key");
    }
    await_end(service);
    times[0] = prompt - shared->called;
    times[1] = accepted - shared->called;
    times[2] = prompt - shared->started;
    times[3] = accepted - shared->started;
}

static int connect_to_reader(const char *service, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    for (double end = milliseconds() + PATIENCE; milliseconds() < end; usleep(50)) {
        int reader = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(reader, (struct sockaddr *)&address, sizeof address) == 0) return reader;
        close(reader);
    }
    give_up(service, "there is no reader");
    return -1;
}

static void touch_once(
    const char *service, const char *user, const char *finger, int still, const char *words, const char *path,
    double times[COLUMNS]) {
    start(service, user);
    double asked = await(service, words, 0);
    if (still > 0) usleep((useconds_t)still * 1000);
    int reader = connect_to_reader(service, path);
    double touched = milliseconds();
    if (dprintf(reader, "SCAN %s", finger) < 0) give_up(service, "the reader takes no finger");
    shutdown(reader, SHUT_WR);
    if (await_end(service) != 0) give_up(service, "refuses");
    close(reader);
    times[0] = asked - shared->called;
    times[1] = shared->returned - touched;
    times[2] = shared->returned - shared->called;
}

int main(int argc, char **argv) {
    int touches = argc > 1 && strcmp(argv[1], "touch") == 0;
    int first = touches ? 6 : 5, fields = touches ? 4 : 2, columns = touches ? 3 : 4;
    int runs = argc > first ? atoi(argv[2]) : 0, services = (argc - first) / fields;
    if (runs < 1 || runs > MOST || services < 1 || services > SERVICES || (argc - first) % fields != 0 ||
        (!touches && strcmp(argv[1], "key") != 0))
        return fprintf(stderr, "usage: prompt key RUNS USER MASK SERVICE WORDS…\n"
                               "       prompt touch RUNS USER FINGER STILL SERVICE WORDS READER BEFORE…\n"), 2;
    measures_keys = !touches;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    setenv("TERM", "xterm", 1);
    static double times[SERVICES][COLUMNS][MOST];
    // The first round only brings everything into memory.
    for (int run = -1; run < runs; run++) {
        for (int number = 0; number < services; number++) {
            char **words = argv + first + number * fields;
            double taken[COLUMNS];
            if (touches && *words[3] && system(words[3]) != 0) give_up(words[0], words[3]);
            if (touches) touch_once(words[0], argv[3], argv[4], atoi(argv[5]), words[1], words[2], taken);
            else key_once(words[0], argv[3], argv[4], words[1], taken);
            for (int column = 0; run >= 0 && column < columns; column++) times[number][column][run] = taken[column];
        }
    }
    for (int number = 0; number < services; number++)
        for (int column = 0; column < columns; column++) printf("%.3f ", median(times[number][column], (size_t)runs));
    putchar('\n');
    return 0;
}
