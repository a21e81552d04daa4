// answers RUNS (SERVICE USER ANSWER CODE)…: pam_authenticate with an answer that is there at once, for several services in turn. Each must
// answer CODE, 0 (PAM_SUCCESS) or another.
//
// Instead of a service:
//   =argon2  crypto_pwhash of ANSWER with CODE passes and USER MiB
//   =crypt   crypt(3) of ANSWER as the line of USER in /etc/shadow says
//   =account getpwnam(3) of USER
// Prints the medians in milliseconds.
#include "median.h"

#include <crypt.h>
#include <pwd.h>
#include <security/pam_appl.h>
#include <shadow.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 200, ENTRIES = 8 };

static const char *reply;

static _Noreturn void give_up(const char *service, const char *what) {
    fprintf(stderr, "answers: %s: %s\n", service, what);
    exit(1);
}

static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
    (void)data;
    struct pam_response *all = calloc((size_t)count, sizeof *all);
    for (int number = 0; number < count; number++) {
        int style = messages[number]->msg_style;
        if (style == PAM_PROMPT_ECHO_OFF || style == PAM_PROMPT_ECHO_ON) all[number].resp = strdup(reply);
    }
    *responses = all;
    return PAM_SUCCESS;
}

static double through_pam(char **entry) {
    struct pam_conv conversation = {converse, NULL};
    pam_handle_t *handle = NULL;
    reply = entry[2];
    if (pam_start(entry[0], entry[1], &conversation, &handle) != PAM_SUCCESS) give_up(entry[0], "pam_start failed");
    double start = milliseconds();
    int code = pam_authenticate(handle, 0);
    double taken = milliseconds() - start;
    if (code != atoi(entry[3])) give_up(entry[0], pam_strerror(handle, code));
    pam_end(handle, code);
    return taken;
}

static double bare_argon2(char **entry) {
    unsigned char key[32], salt[crypto_pwhash_SALTBYTES] = {1};
    double start = milliseconds();
    if (crypto_pwhash(key, sizeof key, entry[2], strlen(entry[2]), salt, strtoull(entry[3], NULL, 10),
                      (size_t)strtoull(entry[1], NULL, 10) << 20, crypto_pwhash_ALG_ARGON2ID13) != 0)
        give_up(entry[0], "no memory");
    return milliseconds() - start;
}

static double bare_crypt(char **entry) {
    struct spwd *shadow = getspnam(entry[1]);
    if (!shadow) give_up(entry[0], "no line in /etc/shadow");
    double start = milliseconds();
    if (!crypt(entry[2], shadow->sp_pwdp)) give_up(entry[0], "crypt failed");
    return milliseconds() - start;
}

static double account(char **entry) {
    double start = milliseconds();
    if (!getpwnam(entry[1])) give_up(entry[0], "no account");
    return milliseconds() - start;
}

static double measure(char **entry) {
    if (strcmp(entry[0], "=argon2") == 0) return bare_argon2(entry);
    if (strcmp(entry[0], "=crypt") == 0) return bare_crypt(entry);
    if (strcmp(entry[0], "=account") == 0) return account(entry);
    return through_pam(entry);
}

int main(int argc, char **argv) {
    static double times[ENTRIES][MOST];
    int runs = argc > 1 ? atoi(argv[1]) : 0, entries = (argc - 2) / 4;
    if (runs < 1 || runs > MOST || entries < 1 || entries > ENTRIES || (argc - 2) % 4 != 0 || sodium_init() < 0)
        return fprintf(stderr, "usage: answers RUNS (SERVICE USER ANSWER CODE)…\n"), 2;
    // The first round only brings everything into memory.
    for (int run = -1; run < runs; run++) {
        for (int number = 0; number < entries; number++) {
            double taken = measure(argv + 2 + number * 4);
            if (run >= 0) times[number][run] = taken;
        }
    }
    for (int number = 0; number < entries; number++) printf("%.4f ", median(times[number], (size_t)runs));
    putchar('\n');
    return 0;
}
