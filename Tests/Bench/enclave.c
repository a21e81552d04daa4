// enclave SERVICE USER PIN STORE OTHER THINK RUNS COMMAND…: a correct PIN through pam_authenticate with the store as it is, then with the folder
// OTHER in its place, then each COMMAND (words between spaces) from its start to its end; all in turn. One that begins with "-" is run and
// not measured.
//
// The answer to the prompt comes after THINK milliseconds, in which a person would type; they are not counted. Prints the medians in
// milliseconds, for both stores: call to prompt, answer to end, both together; then those of the commands.
#include "median.h"

#include <security/pam_appl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 200, COMMANDS = 4, WORDS = 32 };

extern char **environ;

static const char *pin;
static long think;
static double asked, answered;

static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
    (void)data;
    struct pam_response *all = calloc((size_t)count, sizeof *all);
    for (int number = 0; number < count; number++) {
        int style = messages[number]->msg_style;
        if (style != PAM_PROMPT_ECHO_OFF && style != PAM_PROMPT_ECHO_ON) continue;
        asked = milliseconds();
        struct timespec pause = {think / 1000, think % 1000 * 1000000};
        nanosleep(&pause, NULL);
        all[number].resp = strdup(pin);
        answered = milliseconds();
    }
    *responses = all;
    return PAM_SUCCESS;
}

struct times { double prompt[MOST], end[MOST], both[MOST]; };

static void through_pam(const char *service, const char *user, struct times *times, int run) {
    struct pam_conv conversation = {converse, NULL};
    pam_handle_t *handle = NULL;
    if (pam_start(service, user, &conversation, &handle) != PAM_SUCCESS) exit(1);
    double start = milliseconds();
    asked = answered = start;
    int code = pam_authenticate(handle, 0);
    double end = milliseconds();
    if (code != PAM_SUCCESS) {
        fprintf(stderr, "enclave: pam_authenticate answered %d (%s)\n", code, pam_strerror(handle, code));
        exit(1);
    }
    pam_end(handle, code);
    if (run < 0) return;
    times->prompt[run] = asked - start;
    times->end[run] = end - answered;
    times->both[run] = asked - start + end - answered;
}

static double started(char *const *words) {
    pid_t child;
    int status = 0;
    double start = milliseconds();
    if (posix_spawnp(&child, words[0], NULL, NULL, words, environ) != 0 || waitpid(child, &status, 0) < 0 || status != 0) {
        fprintf(stderr, "enclave: %s failed\n", words[0]);
        exit(1);
    }
    return milliseconds() - start;
}

/// Puts one folder in the other's place, and the other aside.
static void exchange(const char *store, const char *other) {
    char aside[4096];
    snprintf(aside, sizeof aside, "%s.aside", other);
    if (rename(store, aside) != 0 || rename(other, store) != 0 || rename(aside, other) != 0) {
        perror("enclave: the stores cannot be exchanged");
        exit(1);
    }
}

static void print(struct times *times, size_t runs) {
    printf("%.3f %.3f %.3f ", median(times->prompt, runs), median(times->end, runs), median(times->both, runs));
}

int main(int argc, char **argv) {
    if (argc < 8 || argc - 8 > COMMANDS) return fprintf(stderr, "usage: enclave SERVICE USER PIN STORE OTHER THINK RUNS COMMAND…\n"), 2;
    static struct times stores[2];
    static double commands[COMMANDS][MOST];
    static char *words[COMMANDS][WORDS + 1];
    bool unmeasured[COMMANDS] = {false};
    pin = argv[3];
    think = atol(argv[6]);
    int runs = atoi(argv[7]), count = argc - 8;
    if (runs < 1 || runs > MOST || think < 0) return 2;
    for (int number = 0; number < count; number++) {
        int place = 0;
        unmeasured[number] = argv[8 + number][0] == '-';
        for (char *word = strtok(argv[8 + number] + unmeasured[number], " "); word && place < WORDS; word = strtok(NULL, " ")) words[number][place++] = word;
    }
    for (int run = -1; run < runs; run++) {
        through_pam(argv[1], argv[2], &stores[0], run);
        exchange(argv[4], argv[5]);
        through_pam(argv[1], argv[2], &stores[1], run);
        exchange(argv[4], argv[5]);
        for (int number = 0; number < count; number++) {
            double taken = started(words[number]);
            if (run >= 0) commands[number][run] = taken;
        }
    }
    print(&stores[0], (size_t)runs);
    print(&stores[1], (size_t)runs);
    for (int number = 0; number < count; number++) {
        if (!unmeasured[number]) printf("%.3f ", median(commands[number], (size_t)runs));
    }
    printf("\n");
    return 0;
}
