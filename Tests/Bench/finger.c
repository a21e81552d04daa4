// finger SERVICE SOCKET PEER-SERVICE PEER-SOCKET USER FINGER [RUNS]: finger authentications by two services in turn.
//
// The finger is laid on libfprint's virtual reader once the service has shown its first words and the reader takes it. Every prompt is
// answered with Return, which asks Signet for the finger. Prints four medians, in milliseconds: from the call of pam_authenticate to
// PAM_SUCCESS for each, then from the touch to PAM_SUCCESS for each.
#define _GNU_SOURCE
#include "median.h"

#include <fcntl.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 200 };

// Written by the hand, read by the host: memory that both share.
static volatile double *touched;
static int bell, rung;

static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
    (void)data;
    if (!rung) {
        rung = 1;
        if (write(bell, "!", 1) != 1) return PAM_CONV_ERR;
    }
    struct pam_response *all = calloc((size_t)count, sizeof *all);
    for (int number = 0; number < count; number++) {
        int style = messages[number]->msg_style;
        if (style == PAM_PROMPT_ECHO_OFF || style == PAM_PROMPT_ECHO_ON) all[number].resp = strdup("");
    }
    *responses = all;
    return PAM_SUCCESS;
}

static int connect_when_there(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    for (double end = milliseconds() + 10000; milliseconds() < end; usleep(100)) {
        int reader = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(reader, (struct sockaddr *)&address, sizeof address) == 0) return reader;
        close(reader);
    }
    return -1;
}

// The hand: a process of its own, started before PAM is, that touches when it is told.
static pid_t start_hand(const char *path, const char *finger) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(ends[1]);
        if (read(ends[0], &byte, 1) != 1) _exit(1);
        int reader = connect_when_there(path);
        *touched = milliseconds();
        if (reader < 0 || dprintf(reader, "SCAN %s", finger) < 0) _exit(1);
        // The reader closes the connection when it has taken the command.
        shutdown(reader, SHUT_WR);
        _exit(read(reader, &byte, 1) < 0);
    }
    close(ends[0]);
    bell = ends[1];
    return pid;
}

// Answers the whole time; `since_touch` is the part after the touch.
static double touch_once(
    const char *service, const char *socket, const char *user, const char *finger, double *since_touch) {
    pid_t hand = start_hand(socket, finger);
    struct pam_conv conversation = {converse, NULL};
    pam_handle_t *handle = NULL;
    rung = 0;
    if (pam_start(service, user, &conversation, &handle) != PAM_SUCCESS) exit(1);
    double start = milliseconds();
    int code = pam_authenticate(handle, 0);
    double end = milliseconds();
    if (code != PAM_SUCCESS || !rung) {
        fprintf(stderr, "finger: %s answered %d (%s)\n", service, code, pam_strerror(handle, code));
        kill(hand, SIGKILL);
        exit(1);
    }
    pam_end(handle, code);
    int status;
    close(bell);
    if (waitpid(hand, &status, 0) != hand || status != 0) exit(1);
    *since_touch = end - *touched;
    return end - start;
}

int main(int argc, char **argv) {
    if (argc < 7) return fprintf(stderr, "usage: finger SERVICE SOCKET PEER-SERVICE PEER-SOCKET USER FINGER [RUNS]\n"), 2;
    static double times[4][MOST];
    int runs = argc > 7 ? atoi(argv[7]) : 21;
    if (runs < 1 || runs > MOST) return 2;
    touched = mmap(NULL, sizeof *touched, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (touched == MAP_FAILED) return 1;
    for (int run = -1; run < runs; run++) {
        for (int which = 0; which < 2; which++) {
            double since;
            double taken = touch_once(argv[1 + 2 * which], argv[2 + 2 * which], argv[5], argv[6], &since);
            if (run >= 0) times[which][run] = taken, times[2 + which][run] = since;
        }
    }
    for (int row = 0; row < 4; row++) printf("%.3f%c", median(times[row], (size_t)runs), row < 3 ? ' ' : '\n');
    return 0;
}
