// pin SERVICE USER PIN FOLDER PASSES MEBIBYTES [RUNS]: a correct PIN through pam_authenticate, in turn with the least that it could cost:
// crypto_pwhash with the same parameters and two records of 512 bytes written in place in FOLDER and made durable.
//
// Prints the medians: `PAM-ms BARE-ms`.
#include "median.h"

#include <fcntl.h>
#include <security/pam_appl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 200, RECORD = 512 };

static const char *pin;

static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
    (void)data;
    struct pam_response *all = calloc((size_t)count, sizeof *all);
    for (int number = 0; number < count; number++) {
        int style = messages[number]->msg_style;
        if (style == PAM_PROMPT_ECHO_OFF || style == PAM_PROMPT_ECHO_ON) all[number].resp = strdup(pin);
    }
    *responses = all;
    return PAM_SUCCESS;
}

static double through_pam(const char *service, const char *user) {
    struct pam_conv conversation = {converse, NULL};
    pam_handle_t *handle = NULL;
    if (pam_start(service, user, &conversation, &handle) != PAM_SUCCESS) exit(1);
    double start = milliseconds();
    int code = pam_authenticate(handle, 0);
    double taken = milliseconds() - start;
    if (code != PAM_SUCCESS) {
        fprintf(stderr, "pin: pam_authenticate answered %d (%s)\n", code, pam_strerror(handle, code));
        exit(1);
    }
    pam_end(handle, code);
    return taken;
}

static double bare(const char *folder, unsigned long long passes, size_t memory) {
    char path[4096], record[RECORD] = {0};
    unsigned char key[32], salt[crypto_pwhash_SALTBYTES] = {1};
    snprintf(path, sizeof path, "%s/bench-XXXXXX", folder);
    int file = mkstemp(path);
    if (file < 0 || write(file, record, sizeof record) != RECORD || fsync(file) != 0) exit(1);
    double start = milliseconds();
    for (int write = 0; write < 2; write++) {
        if (pwrite(file, record, sizeof record, 0) != RECORD || fdatasync(file) != 0) exit(1);
    }
    if (crypto_pwhash(key, sizeof key, pin, strlen(pin), salt, passes, memory, crypto_pwhash_ALG_ARGON2ID13) != 0) exit(1);
    double taken = milliseconds() - start;
    close(file);
    unlink(path);
    return taken;
}

int main(int argc, char **argv) {
    if (argc < 7 || sodium_init() < 0) return fprintf(stderr, "usage: pin SERVICE USER PIN FOLDER PASSES MEBIBYTES [RUNS]\n"), 2;
    static double times[2][MOST];
    int runs = argc > 7 ? atoi(argv[7]) : 21;
    if (runs < 1 || runs > MOST) return 2;
    pin = argv[3];
    for (int run = -1; run < runs; run++) {
        double whole = through_pam(argv[1], argv[2]);
        double least = bare(argv[4], strtoull(argv[5], NULL, 10), strtoull(argv[6], NULL, 10) << 20);
        if (run >= 0) times[0][run] = whole, times[1][run] = least;
    }
    printf("%.3f %.3f\n", median(times[0], (size_t)runs), median(times[1], (size_t)runs));
    return 0;
}
