#define _GNU_SOURCE
#include "check.h"
#include "cplatform.h"
#include "cterminal.h"

static void check_children(void) {
    static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    static const char *const asks[] = {"/bin/sh", "-c", "stty size; read line; echo got $line", NULL};
    struct signet_child child;
    char shown[4096] = {0};
    size_t length = 0;
    int status = 0;
    CHECK(signet_terminal_spawn(asks, environment, 0, 24, 80, &child) == 0);
    CHECK(signet_terminal_echoes(child.input) == 1 && signet_terminal_resize(child.input, 30, 100) == 0);
    CHECK(signet_terminal_width(child.input) == 100 && signet_terminal_rows(child.input) == 30);
    CHECK(signet_terminal_settle(child.input, 10000) == 1 && signet_terminal_is_waiting(child.input) == 1);
    CHECK(write(child.input, "x\n", 2) == 2);
    for (ssize_t count; (count = signet_read_within(child.input, shown + length, sizeof shown - length, 10000)) > 0;)
        length += (size_t)count;
    CHECK(signet_contains(shown, length, "got x", 5) && !signet_contains(shown, length, "got y", 5));
    CHECK(signet_wait_within(child.pid, 10000, &status) == 1 && signet_exit_code(status) == 0);
    (void)close(child.input);

    static const char *const echoes[] = {"/bin/sh", "-c", "cat; echo no >&2; exit 3", NULL};
    CHECK(signet_pipes_spawn(echoes, environment, &child) == 0);
    CHECK(signet_wait_within(child.pid, 0, &status) == 0 && signet_read_within(child.output, shown, 1, -1) == -2);
    CHECK(write(child.input, "yes", 3) == 3);
    (void)close(child.input);
    CHECK(signet_read_within(child.output, shown, sizeof shown, 10000) == 3 && memcmp(shown, "yes", 3) == 0);
    CHECK(signet_read_within(child.error, shown, sizeof shown, 10000) == 3 && memcmp(shown, "no\n", 3) == 0);
    CHECK(signet_wait_within(child.pid, 10000, &status) == 1 && signet_exit_code(status) == 3);
    (void)close(child.output);
    (void)close(child.error);

    unsigned long limit = shut_descriptors();
    CHECK(signet_terminal_spawn(asks, environment, 0, 24, 80, &child) == EMFILE || errno == ENOENT);
    CHECK(signet_pipes_spawn(echoes, environment, &child) == EMFILE);
    reopen_descriptors(limit);
    // Room for one pipe and no more.
    CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)open_descriptors() + 3, limit}) == 0);
    CHECK(signet_pipes_spawn(echoes, environment, &child) == EMFILE);
    reopen_descriptors(limit);
}

static void check_sockets(void) {
    char path[64], answer[64];
    int master = signet_terminal_open(path, sizeof path);
    CHECK(master >= 0 && signet_terminal_width(master) == 0);
    (void)close(master);
    CHECK(signet_terminal_open(path, 1) == -ERANGE);
    CHECK(signet_terminal_width(-1) == 0 && signet_terminal_rows(-1) == 0);
    int file = signet_listen_datagrams(scratch_path("datagrams"));
    CHECK(file >= 0 && signet_log_send(scratch_path("datagrams"), "a", 1, 0) == 0);
    (void)close(file);
    CHECK(signet_listen_datagrams("/none/none") == -ENOENT);
    CHECK(signet_ask_socket(scratch_path("nobody"), "x", 20, answer, sizeof answer) == -ETIMEDOUT);
    CHECK(signet_exit_code(SIGKILL) == 128 + SIGKILL);
}

static void check_modes(void) {
    char path[64], key;
    struct termios modes;
    int master = signet_terminal_open(path, sizeof path);
    int terminal = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK);
    CHECK(terminal >= 0 && tcgetattr(terminal, &modes) == 0 && (modes.c_lflag & ECHO) != 0);
    modes.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    CHECK(write(master, "x", 1) == 1 && signet_set_modes(terminal, &modes) == 1);
    // What was typed before is gone, what comes after is there.
    CHECK(read(terminal, &key, 1) == -1 && errno == EAGAIN && signet_terminal_echoes(terminal) == 0);
    CHECK(write(master, "y", 1) == 1 && read(terminal, &key, 1) == 1 && key == 'y');
    (void)close(master);
    CHECK(signet_set_modes(terminal, &modes) == 0);
    (void)close(terminal);
    CHECK(signet_set_modes(-1, &modes) == 0);
}

static void check_days(void) {
    struct signet_day day;
    (void)setenv("TZ", "UTC", 1);
    CHECK(signet_local_day(0, &day) == 1 && day.year == 1970 && day.month == 1 && day.day == 1 && day.hour == 0);
    CHECK(signet_local_day(-1, &day) == 1 && day.year == 1969 && day.minute == 59);
    CHECK(signet_local_day(INT64_MAX, &day) == 0 && signet_local_day(INT64_MIN, &day) == 0);
    // The last years that localtime_r(3) can say: it counts from 1900, and so reaches beyond an int. Found by halving.
    int64_t known = 0, unknown = INT64_MAX;
    while (unknown - known > 1) {
        int64_t middle = known + (unknown - known) / 2;
        *(signet_local_day(middle, &day) ? &known : &unknown) = middle;
    }
    CHECK(signet_local_day(known, &day) == 1 && day.year > 2000000000);
}

static int interrupted(void) {
    if (setpgid(0, 0) != 0) return 1;
    signet_interrupt_job();
    return 2;
}
static int stopped(void) {
    if (setpgid(0, 0) != 0) return 1;
    // Blocked, so that it is seen and not obeyed.
    sigset_t one;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, SIGTSTP);
    (void)sigprocmask(SIG_BLOCK, &one, NULL);
    signet_stop_job();
    return signet_take_pending(SIGTSTP) ? 0 : 3;
}

void check_terminals(void) {
    check_children();
    check_sockets();
    check_modes();
    check_days();
    CHECK(in_child(interrupted) == -SIGINT);
    CHECK(in_child(stopped) == 0);
}
