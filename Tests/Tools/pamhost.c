// pamhost: runs PAM authentications in its own process and says what they left behind.
//
//   pamhost [option…] SERVICE USER        answers to the prompts on standard input, one a line
//
//   --rounds N             so many authentications, each with a handle of its own (default 1)
//   --same-handle          all rounds on one handle
//   --conversation KIND    canned (default), terminal, field (the same, and names it to PAM), none, failing, null, huge
//   --load FILE            loads the module itself before each round, and unloads it after
//   --warm N               says how much the process grew after the first N rounds
//   --silent               passes PAM_SILENT
//   --folder DIR           reads the service's file from DIR (pam_start_confdir(3)), which needs no root
//   --plain                looks for nothing that is left behind, which takes hundreds of system calls: `left unknown`
//   --account              asks for the account after the authentication
//   --item NAME=VALUE      sets rhost, ruser or tty
//   --hostile NAME         closed-stdio, umask, ignored-child, ignored-pipe, deleted-folder, no-files, no-memlock, blocked
//
// Lines: `prompt: TEXT`, `echo: TEXT`, `info: TEXT`, `error: TEXT` as the module speaks; `item: NAME=VALUE` for what it put into the PAM
// environment; `round N: code C (TEXT), left NAMES, M ms` after each; `growth: heap B, size K, resident K, locked K, mappings N,
// descriptors N, timers N` at the end, in bytes and KiB. Exit status: 0 when every round answered PAM_SUCCESS, else 1.
#define _GNU_SOURCE
#include "faults.h"
#include "footprint.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <security/pam_appl.h>
#include <security/pam_misc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ANSWERS = 512 };

static FILE *report;
static char *answers[ANSWERS];
static int answer_count, answer_next;
static const char *kind = "canned";

static void say(const char *what, const char *text) { fprintf(report, "%s: %s\n", what, text), fflush(report); }

static char *answer(void) {
    if (strcmp(kind, "null") == 0) return NULL;
    if (strcmp(kind, "huge") == 0) {
        char *text = malloc(1 << 20);
        memset(text, '7', (1 << 20) - 1);
        text[(1 << 20) - 1] = 0;
        return text;
    }
    return strdup(answers[answer_next++]);
}

static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
    (void)data;
    if (strcmp(kind, "failing") == 0) return PAM_CONV_ERR;
    struct pam_response *all = calloc((size_t)count, sizeof *all);
    for (int number = 0; number < count; number++) {
        const struct pam_message *message = messages[number];
        if (message->msg_style == PAM_TEXT_INFO) {
            say("info", message->msg);
        } else if (message->msg_style == PAM_ERROR_MSG) {
            say("error", message->msg);
        } else {
            say(message->msg_style == PAM_PROMPT_ECHO_ON ? "echo" : "prompt", message->msg);
            if (strcmp(kind, "canned") == 0 && answer_next >= answer_count) {
                for (int given = 0; given < number; given++) free(all[given].resp);
                free(all);
                return PAM_CONV_ERR;
            }
            all[number].resp = answer();
        }
    }
    *responses = all;
    return PAM_SUCCESS;
}

/// The conversation's own calls are not the module's, which a tracer of faults would let fail.
static int converse_uncounted(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
    faults_mark(0);
    int is_real = strcmp(kind, "terminal") == 0 || strcmp(kind, "field") == 0;
    int code = (is_real ? misc_conv : converse)(count, messages, responses, data);
    faults_mark(1);
    return code;
}

static void read_answers(void) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while (answer_count < ANSWERS && (length = getline(&line, &capacity, stdin)) > 0) {
        if (line[length - 1] == '\n') line[length - 1] = 0;
        answers[answer_count++] = strdup(line);
    }
    free(line);
}

static void become_hostile(const char *name) {
    if (strcmp(name, "closed-stdio") == 0) {
        for (int number = 0; number < 3; number++) close(number);
    } else if (strcmp(name, "umask") == 0) {
        umask(0);
    } else if (strcmp(name, "ignored-child") == 0) {
        signal(SIGCHLD, SIG_IGN);
    } else if (strcmp(name, "ignored-pipe") == 0) {
        signal(SIGPIPE, SIG_IGN);
    } else if (strcmp(name, "deleted-folder") == 0) {
        char folder[] = "/tmp/pamhost-XXXXXX";
        if (!mkdtemp(folder) || chdir(folder) != 0 || rmdir(folder) != 0) abort();
    } else if (strcmp(name, "no-files") == 0) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    } else if (strcmp(name, "no-memlock") == 0) {
        setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){0, 0});
    } else if (strcmp(name, "blocked") == 0) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
    } else {
        fprintf(stderr, "pamhost: no hostile state is called %s\n", name);
        exit(2);
    }
}

static int set_item(pam_handle_t *handle, const char *text) {
    const char *value = strchr(text, '=');
    if (!value) return PAM_BAD_ITEM;
    if (strncmp(text, "rhost=", 6) == 0) return pam_set_item(handle, PAM_RHOST, value + 1);
    if (strncmp(text, "ruser=", 6) == 0) return pam_set_item(handle, PAM_RUSER, value + 1);
    if (strncmp(text, "tty=", 4) == 0) return pam_set_item(handle, PAM_TTY, value + 1);
    return PAM_BAD_ITEM;
}

static void say_growth(const struct weight *before) {
    struct weight after;
    weight_take(&after);
    fprintf(report, "growth: heap %ld, size %ld, resident %ld, locked %ld, mappings %ld, descriptors %ld, timers %ld\n",
        after.heap - before->heap, after.size - before->size, after.resident - before->resident, after.locked - before->locked,
        after.mappings - before->mappings, after.descriptors - before->descriptors, after.timers - before->timers);
    fflush(report);
}

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
    int rounds = 1, warm = 0, same = 0, flags = 0, account = 0, plain = 0, hostile_count = 0, item_count = 0, place = 1;
    const char *hostile[16], *items[16], *folder = NULL, *module = NULL;
    // Through a descriptor of its own, since a hostile state may close standard output.
    report = fdopen(fcntl(1, F_DUPFD_CLOEXEC, 3), "w");
    for (; place < argc && strncmp(argv[place], "--", 2) == 0; place++) {
        const char *option = argv[place];
        if (strcmp(option, "--same-handle") == 0) same = 1;
        else if (strcmp(option, "--silent") == 0) flags = PAM_SILENT;
        else if (strcmp(option, "--account") == 0) account = 1;
        else if (strcmp(option, "--plain") == 0) plain = 1;
        else if (place + 1 >= argc) break;
        else if (strcmp(option, "--folder") == 0) folder = argv[++place];
        else if (strcmp(option, "--rounds") == 0) rounds = atoi(argv[++place]);
        else if (strcmp(option, "--load") == 0) module = argv[++place];
        else if (strcmp(option, "--warm") == 0) warm = atoi(argv[++place]);
        else if (strcmp(option, "--conversation") == 0) kind = argv[++place];
        else if (strcmp(option, "--hostile") == 0 && hostile_count < 16) hostile[hostile_count++] = argv[++place];
        else if (strcmp(option, "--item") == 0 && item_count < 16) items[item_count++] = argv[++place];
        else break;
    }
    if (argc - place != 2 || !report) return fprintf(stderr, "usage: pamhost [option…] SERVICE USER\n"), 2;
    const char *service = argv[place], *user = argv[place + 1];
    struct pam_conv conversation = {converse_uncounted, NULL};
    if (strcmp(kind, "none") == 0) conversation.conv = NULL;
    if (strcmp(kind, "canned") == 0) read_answers();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int number = 0; number < hostile_count; number++) become_hostile(hostile[number]);

    static struct footprint before, after;
    struct weight weight = {0};
    char left[512] = "unknown";
    int failures = 0;
    pam_handle_t *handle = NULL;
    for (int round = 1; round <= rounds; round++) {
        if (!plain) footprint_take(&before);
        void *loaded = module ? dlopen(module, RTLD_NOW) : NULL;
        if (module && !loaded) return fprintf(stderr, "pamhost: %s\n", dlerror()), 2;
        double start = milliseconds();
        int code = handle ? PAM_SUCCESS : pam_start_confdir(service, user, &conversation, folder, &handle);
        // As sudo, su and login do, where a person sits at it.
        if (code == PAM_SUCCESS && strcmp(kind, "field") == 0) code = pam_set_item(handle, PAM_TTY, ttyname(0));
        for (int number = 0; code == PAM_SUCCESS && number < item_count; number++) code = set_item(handle, items[number]);
        if (code == PAM_SUCCESS) code = pam_authenticate(handle, flags);
        if (code == PAM_SUCCESS && account) code = pam_acct_mgmt(handle, flags);
        double taken = milliseconds() - start;
        const char *text = pam_strerror(handle, code);
        char **environment = pam_getenvlist(handle);
        for (char **entry = environment; entry && *entry; entry++) say("item", *entry), free(*entry);
        free(environment);
        if (!same || round == rounds) pam_end(handle, code), handle = NULL;
        if (loaded) dlclose(loaded);
        if (!plain) footprint_take(&after), footprint_compare(&before, &after, left, sizeof left);
        fprintf(report, "round %d: code %d (%s), left %s, %.1f ms\n", round, code, text, left, taken), fflush(report);
        failures += code != PAM_SUCCESS;
        if (round == warm) weight_take(&weight);
    }
    if (warm) say_growth(&weight);
    fclose(report);
    return failures != 0;
}
