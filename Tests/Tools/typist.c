// typist: works a program at a pseudo-terminal from a list of steps, and shows what a person would have seen.
//
//   typist [--as USER] [--within SECONDS] [--narrate] COMMAND ARGUMENT…  < steps
//
// With --narrate what is done stands between the shown text, as ‹types 1234›. The steps:
//
//   wait TEXT             until the program has shown TEXT (past what an earlier wait found)
//   type TEXT             types TEXT and Return
//   key LETTER            presses Ctrl and LETTER
//   space until TEXT      presses the space bar again and again until TEXT is shown
//   reader SOCKET WORDS   tells libfprint's virtual reader WORDS, such as `SCAN finger`, as soon as it listens
//
// Exit status: the program's own, or 124 when a step was not reached in time (30 s unless told otherwise), 125 for a fault of ours.
#define _GNU_SOURCE
#include <cterminal.h>

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char shown[1 << 20];
static size_t shown_length, seen;
static struct signet_child child;
static int narrates;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

// Passes on what the program shows, as a page: a line that is written anew (return, then erase to its end) becomes a new line.
static void show(char byte) {
    static int returned, escape, column;
    if (escape) {
        // The end of a control sequence (ECMA-48): a letter.
        if ((byte >= '@' && byte <= '~' && byte != '[') || byte == '\n') escape = 0;
        return;
    }
    if (byte == '\r') {
        returned = 1;
    } else if (byte == '\033') {
        escape = 1;
    } else {
        if (returned && byte != '\n' && column > 0) putchar('\n'), column = 0;
        returned = 0;
        putchar(byte);
        column = byte == '\n' ? 0 : column + 1;
    }
}

// Reads what the program shows. Answers 0 at the end.
static int gather(int milliseconds) {
    char bytes[4096];
    ssize_t count = signet_read_within(child.input, bytes, sizeof bytes, milliseconds);
    for (ssize_t place = 0; place < count; place++) {
        show(bytes[place]);
        if (shown_length < sizeof shown - 1) shown[shown_length++] = bytes[place];
    }
    fflush(stdout);
    return count != 0 && count != -1;
}

static void narrate(const char *what, const char *words) {
    if (narrates) printf("‹%s%s›", what, words), fflush(stdout);
}

static void give_up(const char *step) {
    fprintf(stderr, "\ntypist: not reached: %s\n", step);
    int status;
    kill(child.pid, SIGKILL);
    signet_wait_within(child.pid, 5000, &status);
    exit(124);
}

static void wait_for(const char *text, long long end, const char *step) {
    for (;;) {
        char *found = memmem(shown + seen, shown_length - seen, text, strlen(text));
        if (found) {
            seen = (size_t)(found - shown) + strlen(text);
            return;
        }
        if (now() > end || !gather((int)(end - now()))) give_up(step);
    }
}

static void take_step(char *line, long long milliseconds) {
    long long end = now() + milliseconds;
    char *rest = line + strcspn(line, " ");
    if (*rest) rest++;
    if (strncmp(line, "wait ", 5) == 0) {
        wait_for(rest, end, line);
    } else if (strncmp(line, "type", 4) == 0) {
        // A prompt switches the echo off and throws away what was typed before (TCSAFLUSH): so not before it has.
        while (signet_terminal_echoes(child.input) == 1 && now() < end - milliseconds + 300) gather(5);
        if (*rest) narrate("types ", rest);
        else narrate("presses Return", "");
        if (dprintf(child.input, "%s\r", rest) < 0) give_up(line);
    } else if (strncmp(line, "key ", 4) == 0) {
        signet_terminal_settle(child.input, 1000);
        narrate("presses Ctrl-", rest);
        if (dprintf(child.input, "%c", rest[0] & 0x1f) < 0) give_up(line);
    } else if (strncmp(line, "space until ", 12) == 0) {
        const char *text = rest + strlen("until ");
        narrate("presses the space bar", "");
        while (!memmem(shown + seen, shown_length - seen, text, strlen(text))) {
            if (now() > end || dprintf(child.input, " ") < 0 || (!gather(200) && now() > end)) give_up(line);
        }
    } else if (strncmp(line, "reader ", 7) == 0) {
        char *words = strchr(rest, ' '), answer[4096];
        if (!words) give_up(line);
        *words++ = 0;
        narrate("virtual reader: ", words);
        ssize_t result = signet_ask_socket(rest, words, (int)milliseconds, answer, sizeof answer);
        if (result < 0) give_up(words);
    } else if (line[0] && line[0] != '#') {
        fprintf(stderr, "typist: no such step: %s\n", line);
        exit(125);
    }
}

int main(int argc, char **argv) {
    const char *user = NULL;
    long long milliseconds = 30000;
    int place = 1;
    for (; place + 1 < argc && strncmp(argv[place], "--", 2) == 0; place++) {
        if (strcmp(argv[place], "--narrate") == 0) narrates = 1;
        else if (strcmp(argv[place], "--as") == 0) user = argv[++place];
        else if (strcmp(argv[place], "--within") == 0) milliseconds = atoi(argv[++place]) * 1000LL;
        else break;
    }
    if (place >= argc) return fprintf(stderr, "usage: typist [--as USER] [--within SECONDS] COMMAND…\n"), 125;
    const char *words[256] = {"/usr/bin/env"};
    size_t count = 1;
    uid_t owner = 0;
    char reuid[32], regid[32], name[64];
    if (user) {
        struct passwd *entry = getpwnam(user);
        if (!entry) return fprintf(stderr, "typist: there is no user %s\n", user), 125;
        owner = entry->pw_uid;
        snprintf(reuid, sizeof reuid, "--reuid=%u", entry->pw_uid);
        snprintf(regid, sizeof regid, "--regid=%u", entry->pw_gid);
        words[count++] = "setpriv", words[count++] = reuid, words[count++] = regid, words[count++] = "--init-groups";
    }
    for (; place < argc && count < 255; place++) words[count++] = argv[place];
    snprintf(name, sizeof name, "USER=%s", user ? user : "root");
    const char *environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TERM=xterm", "LANG=C.UTF-8", "HOME=/", name, NULL};
    int reason = signet_terminal_spawn(words, environment, owner, 24, 80, &child);
    if (reason != 0) return fprintf(stderr, "typist: %s\n", strerror(reason)), 125;

    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        if (line[length - 1] == '\n') line[length - 1] = 0;
        take_step(line, milliseconds);
    }
    free(line);
    long long end = now() + milliseconds;
    while (now() < end && gather((int)(end - now()))) {}
    int status = 0;
    if (signet_wait_within(child.pid, (int)(end > now() ? end - now() : 100), &status) != 1) give_up("the program's end");
    return signet_exit_code(status);
}
