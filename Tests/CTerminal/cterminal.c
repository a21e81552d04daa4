#define _GNU_SOURCE
#include "cterminal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static long long now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

// The test runner has threads, so the child calls nothing but async-signal-safe functions (fork(2)).
static void become(const char *const *argv, const char *const *environment) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_range(3, ~0U, 0);
    execve(argv[0], (char *const *)argv, (char *const *)environment);
    _exit(127);
}

int signet_terminal_spawn(
    const char *const *argv, const char *const *environment, uid_t owner, unsigned short rows, unsigned short columns,
    struct signet_child *child) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    int master, slave;
    if (openpty(&master, &slave, NULL, NULL, &size) != 0) return errno;
    fcntl(master, F_SETFD, FD_CLOEXEC);
    fcntl(slave, F_SETFD, FD_CLOEXEC);
    // Group 5 is tty, as in the pts file system's own option gid=5; a user owns the terminal he works at.
    if (fchown(slave, owner, 5) != 0 || fchmod(slave, 0620) != 0) goto failed;
    struct termios modes;
    if (tcgetattr(slave, &modes) != 0) goto failed;
    pid_t pid = fork();
    if (pid < 0) goto failed;
    if (pid == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        for (int number = 0; number < 3; number++) dup2(slave, number);
        become(argv, environment);
    }
    close(slave);
    *child = (struct signet_child){.pid = pid, .input = master, .output = -1, .error = -1, .modes = modes};
    return 0;
failed:;
    int reason = errno;
    close(master);
    close(slave);
    return reason;
}

int signet_pipes_spawn(const char *const *argv, const char *const *environment, struct signet_child *child) {
    int pipes[3][2];
    for (int number = 0; number < 3; number++) {
        if (pipe2(pipes[number], O_CLOEXEC) != 0) {
            int reason = errno;
            while (number-- > 0) close(pipes[number][0]), close(pipes[number][1]);
            return reason;
        }
    }
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        dup2(pipes[0][0], 0);
        dup2(pipes[1][1], 1);
        dup2(pipes[2][1], 2);
        become(argv, environment);
    }
    int reason = pid < 0 ? errno : 0;
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    if (reason != 0) {
        close(pipes[0][1]);
        close(pipes[1][0]);
        close(pipes[2][0]);
        return reason;
    }
    *child = (struct signet_child){.pid = pid, .input = pipes[0][1], .output = pipes[1][0], .error = pipes[2][0]};
    return 0;
}

ssize_t signet_read_within(int descriptor, void *bytes, size_t capacity, int milliseconds) {
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    int count = poll(&ready, 1, milliseconds < 0 ? 0 : milliseconds);
    if (count == 0 || (count < 0 && errno == EINTR)) return -2;
    ssize_t length = read(descriptor, bytes, capacity);
    // A terminal's master answers EIO once nobody holds the other side.
    return length < 0 && errno == EIO ? 0 : length;
}

int signet_terminal_resize(int master, unsigned short rows, unsigned short columns) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    return ioctl(master, TIOCSWINSZ, &size) == 0 ? 0 : errno;
}

int signet_terminal_echoes(int master) {
    struct termios modes;
    if (tcgetattr(master, &modes) != 0) return -1;
    return (modes.c_lflag & ECHO) != 0;
}

int signet_terminal_is_waiting(int master) {
    pid_t group = tcgetpgrp(master);
    DIR *processes = group > 0 ? opendir("/proc") : NULL;
    if (!processes) return -1;
    int members = 0, waiting = 1;
    for (struct dirent *entry; (entry = readdir(processes));) {
        char path[300], text[512], state;
        int its_group;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        int file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (file < 0) continue;
        ssize_t length = read(file, text, sizeof text - 1);
        close(file);
        text[length < 0 ? 0 : length] = 0;
        // The name before the state may hold anything but ends with the last bracket (proc(5)).
        const char *rest = strrchr(text, ')');
        if (!rest || sscanf(rest, ") %c %*d %d", &state, &its_group) != 2 || its_group != group) continue;
        members++;
        if (state != 'S') waiting = 0;
    }
    closedir(processes);
    return members > 0 && waiting;
}

int signet_terminal_settle(int master, int milliseconds) {
    for (long long end = now_milliseconds() + milliseconds;;) {
        if (signet_terminal_is_waiting(master) == 1) return 1;
        if (now_milliseconds() > end) return 0;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

int signet_wait_within(pid_t child, int milliseconds, int *status) {
    int descriptor = (int)syscall(SYS_pidfd_open, child, 0);
    if (descriptor < 0) return -1;
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    long long end = now_milliseconds() + milliseconds;
    int count;
    do {
        long long left = end - now_milliseconds();
        count = poll(&ready, 1, left < 0 ? 0 : (int)left);
    } while (count < 0 && errno == EINTR);
    close(descriptor);
    if (count == 0) return 0;
    return count > 0 && waitpid(child, status, 0) == child ? 1 : -1;
}

int signet_exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

static int socket_at(const char *path, int kind, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
    strcpy(address->sun_path, path);
    int descriptor = socket(AF_UNIX, kind | SOCK_CLOEXEC, 0);
    return descriptor < 0 ? -errno : descriptor;
}

int signet_listen_datagrams(const char *path) {
    struct sockaddr_un address;
    int descriptor = socket_at(path, SOCK_DGRAM, &address);
    if (descriptor < 0) return descriptor;
    unlink(path);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0666) != 0) {
        int reason = errno;
        close(descriptor);
        return -reason;
    }
    return descriptor;
}

ssize_t signet_ask_socket(const char *path, const char *text, int milliseconds, char *answer, size_t capacity) {
    long long end = now_milliseconds() + milliseconds;
    struct sockaddr_un address;
    int descriptor;
    for (;;) {
        descriptor = socket_at(path, SOCK_STREAM, &address);
        if (descriptor < 0) return descriptor;
        if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) break;
        int reason = errno;
        close(descriptor);
        if (reason != ENOENT && reason != ECONNREFUSED && reason != EAGAIN) return -reason;
        if (now_milliseconds() > end) return -ETIMEDOUT;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    size_t length = 0;
    ssize_t result = send(descriptor, text, strlen(text), MSG_NOSIGNAL) < 0 ? -errno : 0;
    while (result == 0 && length < capacity) {
        ssize_t count = signet_read_within(descriptor, answer + length, capacity - length, (int)(end - now_milliseconds()));
        if (count == -2 && now_milliseconds() < end) continue;
        if (count == -2) result = -ETIMEDOUT;
        // The reader goes away at once when it is unplugged.
        if (count == 0 || (count == -1 && errno == ECONNRESET)) break;
        if (count == -1) result = -errno;
        if (count > 0) length += (size_t)count;
    }
    close(descriptor);
    return result < 0 ? result : (ssize_t)length;
}

int signet_terminal_open(char *path, size_t capacity) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0) return -errno;
    if (grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, path, capacity) == 0) return master;
    int failure = errno;
    (void)close(master);
    return -failure;
}

int signet_contains(const void *all, size_t count, const void *part, size_t part_count) {
    return memmem(all, count, part, part_count) != NULL;
}
