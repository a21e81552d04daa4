#include "check.h"
#include "cplatform.h"

#include <sys/un.h>

static int visited;
static int count_all(void *context, const char *name) {
    visited++;
    if (context != NULL && strcmp(name, (const char *)context) == 0) return 0;
    return 1;
}

static int holder_stays(void) {
    int file = open(scratch_path("lock"), O_RDWR);
    if (file < 0 || signet_lock_try(file) != 0) return 1;
    (void)kill(getppid(), SIGUSR1);
    for (;;) (void)pause();
}

static void check_locks(void) {
    const char *path = scratch_path("lock");
    int file = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0);
    CHECK(signet_lock_holder(file, NULL) == 0);
    CHECK(signet_lock_try(file) == 0);
    // A second description of the same process: the record lock is ours already, flock(2)'s is in the way.
    int again = open(path, O_RDWR);
    CHECK(signet_lock_try(again) == -1 && (errno == EAGAIN || errno == EACCES));
    signet_lock_release(file);
    CHECK(signet_lock_try(again) == 0);
    (void)close(again);
    (void)close(file);
    CHECK(signet_lock_try(file) == -1 && errno == EBADF);
    CHECK(signet_lock_holder(file, NULL) == -1 && errno == EBADF);
    signet_lock_release(file);

    // The holder is another process, by its pid.
    sigset_t ready, old;
    (void)sigemptyset(&ready);
    (void)sigaddset(&ready, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &ready, &old);
    pid_t child = fork();
    if (child == 0) _exit(holder_stays());
    const struct timespec longest = {.tv_sec = 10};
    CHECK(sigtimedwait(&ready, NULL, &longest) == SIGUSR1);
    file = open(scratch_path("lock"), O_RDWR | O_CLOEXEC);
    CHECK(signet_lock_try(file) == -1 && (errno == EAGAIN || errno == EACCES));
    uid_t user = 4242;
    CHECK(signet_lock_holder(file, &user) == child && user == getuid());
    int handle = signet_pidfd_open(child);
    CHECK(handle >= 0 && (fcntl(handle, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(signet_pidfd_kill(handle, SIGKILL) == 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(signet_pidfd_kill(handle, SIGKILL) == -1 && errno == ESRCH);
    CHECK(signet_lock_holder(file, &user) == 0 && user == (uid_t)-1 && signet_lock_try(file) == 0);
    (void)close(handle);
    (void)close(file);
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    CHECK(signet_pidfd_open(-1) == -1 && errno == EINVAL);
    CHECK(signet_pidfd_kill(-1, SIGKILL) == -1 && errno == EBADF);
}

static void check_lists(void) {
    CHECK(mkdir(scratch_path("list"), 0700) == 0);
    int folder = open(scratch_path("list"), O_RDONLY | O_DIRECTORY);
    CHECK(signet_list(folder, NULL, count_all) == 0 && visited == 0);
    char name[8];
    for (int number = 0; number < 300; number++) {
        (void)snprintf(name, sizeof name, "%d", number);
        int file = signet_openat(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
        CHECK(file >= 0);
        (void)close(file);
    }
    for (int round = 0; round < 2; round++) {
        visited = 0;
        CHECK(signet_list(folder, NULL, count_all) == 0 && visited == 300);
    }
    // It ends where the visitor has seen enough.
    visited = 0;
    CHECK(signet_list(folder, (void *)"7", count_all) == 0 && visited >= 1 && visited <= 300);
    unsigned long limit = shut_descriptors();
    CHECK(signet_list(folder, NULL, count_all) == -1 && errno == EMFILE);
    reopen_descriptors(limit);
    int file = signet_openat(folder, "0", O_RDONLY, 0);
    CHECK(signet_list(file, NULL, count_all) == -1 && errno == ENOTDIR);
    (void)close(file);
    (void)close(folder);
    CHECK(signet_list(folder, NULL, count_all) == -1 && errno == EBADF);
}

void check_files(void) {
    check_locks();
    check_lists();
    CHECK(signet_room("/tmp") == 1);
    CHECK(signet_is_frozen(AT_FDCWD, "/tmp") == 0 && signet_is_frozen(AT_FDCWD, scratch_path("none")) == 0);
    CHECK(signet_room(scratch_path("none")) == -2);
    // A file system without a table of files, and without room.
    CHECK(signet_room("/proc") <= 0);
    CHECK(signet_permissions(S_IFREG | 04755) == 04755);
    CHECK(signet_is_regular(S_IFREG | 0600) && !signet_is_regular(S_IFDIR | 0600));
    CHECK(signet_is_directory(S_IFDIR | 0700) && !signet_is_directory(S_IFLNK | 0700));
    CHECK(signet_is_device(S_IFCHR | 0600) && !signet_is_device(S_IFREG | 0600));
    CHECK(signet_openat(AT_FDCWD, scratch_path("none"), O_RDONLY, 0) == -1 && signet_errno() == ENOENT);
    signet_clear_registers();
}

/// What is left in a datagram's queue is `capacity` at the most, so that a sender waits.
static int listener(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)strcpy(address.sun_path, path);
    int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(file >= 0 && bind(file, (struct sockaddr *)&address, sizeof address) == 0);
    return file;
}

void check_log(void) {
    char longest[200], packet[64], text[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    CHECK(signet_log_send(longest, "a", 1, 0) == -1 && errno == ENAMETOOLONG);
    CHECK(signet_log_send(scratch_path("log"), "a", 1, 0) == -1 && errno == ENOENT);
    CHECK(signet_log_send("", "a", 1, 0) == -1);
    int file = listener(scratch_path("log"));
    CHECK(signet_log_send(scratch_path("log"), "hello", 5, 0) == 0);
    CHECK(recv(file, packet, sizeof packet, 0) == 5 && memcmp(packet, "hello", 5) == 0);
    CHECK(signet_log_send(scratch_path("log"), "", 0, 0) == 0);
    CHECK(recv(file, packet, sizeof packet, 0) == 0);
    // Nobody reads: it waits as long as it may and says so.
    int sent = 0;
    while (sent < 100000 && signet_log_send(scratch_path("log"), "a", 1, 1) == 0) sent++;
    CHECK(sent > 0 && sent < 100000 && errno == EAGAIN);
    // More than one packet holds.
    static char huge[1 << 20];
    (void)recv(file, packet, sizeof packet, 0);
    CHECK(signet_log_send(scratch_path("log"), huge, sizeof huge, 1) == -1 && errno == EMSGSIZE);
    unsigned long limit = shut_descriptors();
    CHECK(signet_log_send(scratch_path("log"), "a", 1, 0) == -1 && errno == EMFILE);
    reopen_descriptors(limit);
    (void)close(file);
    CHECK(signet_log_send(scratch_path("log"), "a", 1, 0) == -1 && errno == ECONNREFUSED);
    // The longest path that fits, which has no room for a second zero.
    size_t room = sizeof((struct sockaddr_un *)NULL)->sun_path;
    (void)snprintf(text, room, "%s/%s", scratch(), longest);
    CHECK(strlen(text) == room - 1);
    file = listener(text);
    CHECK(signet_log_send(text, "hello", 5, 0) == 0);
    (void)close(file);
}
