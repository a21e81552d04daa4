#define _GNU_SOURCE
#include "tries.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/// A file of root's that is empty, in a folder of root's that everybody may look into, a pair of sockets, a page, and a
/// process of root's.
static char folder[32], path[40], beside[40];
static int file = -1, pair[2] = {-1, -1};
static void *page;
static pid_t other;

void open_files(void) {
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) _exit(98);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // The parent, which stays root.
    other = getppid();
}

void clean_up(void) {
    (void)unlink(path);
    (void)unlink(beside);
    (void)rmdir(folder);
}

void name_files(void) {
    (void)strcpy(folder, "/tmp/signet-probe-XXXXXX");
    if (mkdtemp(folder) == NULL || chmod(folder, 0755) != 0) _exit(98);
    (void)sprintf(path, "%s/x", folder);
    (void)sprintf(beside, "%s/y", folder);
}

#define TRY(name, ...)                                                                                           \
    static long try_##name(void) { return (long)(__VA_ARGS__); }
/// A bare system call, whose wrapper the C library may lack; refused it answers -1.
#define CALL(name, ...) TRY(name, syscall(SYS_##name, ##__VA_ARGS__))

// Files
TRY(read_a_file, open("/etc/passwd", O_RDONLY))
TRY(read_the_shadow, open("/etc/shadow", O_RDONLY))
TRY(read_by_openat2, syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", (unsigned long[3]){0}, sizeof(unsigned long[3])))
TRY(write_a_file, open(beside, O_RDWR | O_CREAT, 0600))
TRY(write_a_device, open("/dev/null", O_WRONLY))
TRY(write_a_root_file, open(path, O_WRONLY))
TRY(list_home, open("/home", O_RDONLY | O_DIRECTORY))
TRY(list_var, open("/var", O_RDONLY | O_DIRECTORY))
TRY(list_root, open("/root", O_RDONLY | O_DIRECTORY))
TRY(grow_a_file, write(file, "x", 1))
TRY(truncate_a_file, ftruncate(file, 1 << 20))
TRY(chmod_a_file, fchmod(file, 04755))
TRY(chmod_by_name, chmod(path, 0666))
TRY(chown_by_name, chown(path, 65534, 65534))
TRY(remove_a_file, unlink(path))
TRY(rename_a_file, rename(path, beside))
TRY(link_a_file, link(path, beside))
TRY(make_a_folder, mkdir(beside, 0700))
TRY(make_a_node, mknod(beside, S_IFCHR | 0600, 0x103))
TRY(look_for_a_file, access("/etc/passwd", R_OK))
TRY(make_a_memory_file, memfd_create("x", 0))
// Connections
TRY(unix_socket, socket(AF_UNIX, SOCK_STREAM, 0))
TRY(internet_socket, socket(AF_INET, SOCK_STREAM, 0))
TRY(netlink_socket, socket(AF_NETLINK, SOCK_RAW, 0))
TRY(raw_socket, socket(AF_INET, SOCK_RAW, 1))
TRY(pair_of_sockets, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}))
TRY(connect_a_socket, connect(pair[0], (struct sockaddr *)&(struct sockaddr_un){AF_UNIX, "/dev/log"}, 11))
TRY(bind_a_socket, bind(pair[0], (struct sockaddr *)&(struct sockaddr_un){AF_UNIX, "/tmp/x"}, 9))
// Programs and processes
TRY(run_a_program, execve("/bin/true", (char *[]){"true", NULL}, (char *[]){NULL}))
CALL(execveat, AT_FDCWD, "/bin/true", (char *[]){"true", NULL}, (char *[]){NULL}, 0)
CALL(clone, SIGCHLD, NULL, NULL, NULL, NULL)
CALL(clone3, (unsigned long[8]){0, 0, 0, 0, SIGCHLD}, sizeof(unsigned long[8]))
TRY(new_user_namespace, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL))
TRY(signal_a_process, kill(other, 0))
TRY(signal_a_thread, syscall(SYS_tgkill, other, other, 0))
TRY(signal_everybody, kill(-1, 0))
CALL(pidfd_open, other, 0)
CALL(ptrace, 16 /* PTRACE_ATTACH */, other, NULL, NULL)
CALL(process_vm_readv, other, NULL, 0, NULL, 0, 0)
TRY(take_over_a_descriptor, syscall(SYS_pidfd_getfd, 3, 0, 0))
// Who we are
CALL(setuid, 0)
CALL(setresuid, 0, 0, 0)
CALL(setgid, 0)
TRY(join_a_group, syscall(SYS_setgroups, 1, (gid_t[1]){0}))
TRY(lift_a_limit, setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, 1 << 20}))
TRY(keep_capabilities, prctl(PR_SET_SECUREBITS, 1, 0, 0, 0))
TRY(let_be_read, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
TRY(raise_ambient, prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0))
// What one process may do to others of its user, tried on ourselves: the turns on the processor, and signals by a descriptor.
static long try_take_turns_away(void) {
    // The first 48 bytes of the structure of <linux/sched/types.h>; policy 5 is SCHED_IDLE.
    struct {
        unsigned size, policy;
        unsigned long flags;
        int nice;
        unsigned priority;
        unsigned long runtime, deadline, period;
    } turns = {.size = sizeof turns, .policy = 5};
    // The answer is not to be trusted: it says yes to GLib.
    (void)syscall(SYS_sched_setattr, 0, &turns, 0u);
    if (syscall(SYS_sched_getattr, 0, &turns, (unsigned)sizeof turns, 0u) != 0) return -1;
    return turns.policy == 5 ? 0 : -1;
}
TRY(signal_by_a_descriptor, fcntl(pair[0], F_SETOWN, getpid()))
CALL(sched_setaffinity, 0, sizeof(unsigned long), &(unsigned long){1})
CALL(setpriority, 0, 0, 19)
TRY(lower_a_limit, syscall(SYS_prlimit64, 0, RLIMIT_NPROC, &(struct rlimit){1, 1}, NULL))
// Memory
TRY(map_executable, mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0)
TRY(make_executable, mprotect(page, 4096, PROT_READ | PROT_EXEC))
TRY(take_much_memory, mmap(NULL, 1u << 29, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0)
TRY(lock_memory, mlock(page, 4096))
// The machine and its kernel
TRY(mount_a_folder, mount("none", "/tmp", "tmpfs", 0, NULL))
TRY(unmount, umount2("/home", MNT_DETACH))
TRY(change_root, chroot("/tmp"))
TRY(unshare_namespaces, unshare(CLONE_NEWNS))
CALL(setns, 3, 0)
CALL(bpf, 5, NULL, 0)
CALL(io_uring_setup, 8, (char[256]){0})
CALL(perf_event_open, NULL, 0, -1, -1, 0)
CALL(userfaultfd, 0)
CALL(keyctl, 0, -3, 0)
CALL(add_key, "user", "x", "x", 1, -3)
CALL(init_module, NULL, 0, "")
CALL(kexec_load, 0, 0, NULL, 0)
CALL(open_by_handle_at, AT_FDCWD, NULL, 0)
CALL(seccomp, 1, 0, NULL)
// With a time that is none, lest the machine should get it.
TRY(change_the_clock, syscall(SYS_clock_settime, CLOCK_REALTIME, &(struct timespec){1, -1}))
TRY(type_into_a_terminal, ioctl(0, TIOCSTI, "x"))
TRY(lock_a_file, fcntl(file, F_SETLK, &(struct flock){.l_type = F_RDLCK}))
TRY(unknown_call, syscall(4000))

// What drivers and libraries need
static void *nothing(void *argument) { return argument; }
static long try_start_a_thread(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, nothing, NULL) != 0 ? -1 : -pthread_join(thread, NULL);
}
static long try_send_and_receive(void) {
    char byte;
    if (send(pair[0], "x", 1, MSG_NOSIGNAL) != 1) return -1;
    struct pollfd wanted = {pair[1], POLLIN, 0};
    return poll(&wanted, 1, 1000) == 1 && recv(pair[1], &byte, 1, 0) == 1 ? 0 : -1;
}
static long try_wait_for_a_timer(void) {
    unsigned long times;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct itimerspec soon = {.it_value = {0, 1000000}};
    struct pollfd wanted = {timer, POLLIN, 0};
    if (timer < 0 || timerfd_settime(timer, 0, &soon, NULL) != 0 || poll(&wanted, 1, 1000) != 1) return -1;
    return read(timer, &times, sizeof times) == sizeof times ? 0 : -1;
}
static long try_take_memory(void) {
    // Beyond the allocator's threshold, so that it is mapped, grown, and given back.
    char *memory = malloc(1 << 20), *more = realloc(memory, 8 << 20);
    if (more == NULL) return -1;
    more[(8 << 20) - 1] = 1;
    free(more);
    return 0;
}
TRY(make_an_event, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
TRY(look_at_a_descriptor, fcntl(file, F_GETFL))
TRY(name_a_thread, prctl(PR_SET_NAME, "x", 0, 0, 0))
TRY(tell_the_time, clock_gettime(CLOCK_BOOTTIME, &(struct timespec){0, 0}))
TRY(signal_ourselves, syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0))
TRY(ask_a_usb_device, ioctl(file, 0x4004551E, 0) < 0 && errno == ENOTTY ? 0 : -1)
TRY(sleep_a_moment, clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 1000}, NULL))

#define ROW(name, filtered, unfiltered) {#name, filtered, unfiltered, try_##name},
const struct attempt attempts[] = {
    ROW(read_a_file, REFUSED, WORKS) ROW(read_the_shadow, REFUSED, REFUSED) ROW(read_by_openat2, REFUSED, WORKS)
    ROW(write_a_file, REFUSED, REFUSED) ROW(write_a_device, REFUSED, WORKS) ROW(write_a_root_file, REFUSED, REFUSED)
    ROW(list_home, REFUSED, REFUSED) ROW(list_var, REFUSED, REFUSED) ROW(list_root, REFUSED, REFUSED)
    ROW(grow_a_file, REFUSED, REFUSED) ROW(truncate_a_file, REFUSED, REFUSED) ROW(chmod_a_file, REFUSED, REFUSED)
    ROW(chmod_by_name, REFUSED, REFUSED) ROW(chown_by_name, REFUSED, REFUSED) ROW(remove_a_file, REFUSED, REFUSED)
    ROW(rename_a_file, REFUSED, REFUSED) ROW(link_a_file, REFUSED, REFUSED) ROW(make_a_folder, REFUSED, REFUSED)
    ROW(make_a_node, REFUSED, REFUSED) ROW(look_for_a_file, REFUSED, WORKS) ROW(make_a_memory_file, REFUSED, WORKS)

    ROW(unix_socket, REFUSED, WORKS) ROW(internet_socket, REFUSED, WORKS) ROW(netlink_socket, REFUSED, WORKS)
    ROW(raw_socket, REFUSED, REFUSED) ROW(pair_of_sockets, REFUSED, WORKS) ROW(connect_a_socket, REFUSED, REFUSED)
    ROW(bind_a_socket, REFUSED, UNDECIDED)

    ROW(run_a_program, FATAL, UNDECIDED) ROW(execveat, FATAL, UNDECIDED) ROW(clone, REFUSED, UNDECIDED)
    ROW(clone3, REFUSED, UNDECIDED) ROW(new_user_namespace, REFUSED, UNDECIDED)
    ROW(signal_a_process, REFUSED, REFUSED) ROW(signal_a_thread, REFUSED, REFUSED)
    ROW(signal_everybody, REFUSED, UNDECIDED) ROW(pidfd_open, REFUSED, UNDECIDED) ROW(ptrace, FATAL, REFUSED)
    ROW(process_vm_readv, FATAL, UNDECIDED) ROW(take_over_a_descriptor, FATAL, REFUSED)

    ROW(setuid, REFUSED, REFUSED) ROW(setresuid, REFUSED, REFUSED) ROW(setgid, REFUSED, REFUSED)
    ROW(join_a_group, REFUSED, REFUSED) ROW(lift_a_limit, REFUSED, REFUSED) ROW(keep_capabilities, REFUSED, REFUSED)
    ROW(let_be_read, REFUSED, WORKS) ROW(raise_ambient, REFUSED, REFUSED)

    ROW(take_turns_away, REFUSED, WORKS) ROW(signal_by_a_descriptor, REFUSED, WORKS)
    ROW(sched_setaffinity, REFUSED, UNDECIDED) ROW(setpriority, REFUSED, WORKS) ROW(lower_a_limit, REFUSED, WORKS)

    ROW(map_executable, REFUSED, WORKS) ROW(make_executable, REFUSED, WORKS) ROW(take_much_memory, REFUSED, REFUSED)
    ROW(lock_memory, REFUSED, REFUSED)

    ROW(mount_a_folder, FATAL, REFUSED) ROW(unmount, FATAL, REFUSED) ROW(change_root, FATAL, REFUSED)
    ROW(unshare_namespaces, FATAL, REFUSED) ROW(setns, FATAL, REFUSED) ROW(bpf, FATAL, REFUSED)
    ROW(io_uring_setup, FATAL, UNDECIDED) ROW(perf_event_open, FATAL, REFUSED) ROW(userfaultfd, FATAL, UNDECIDED)
    ROW(keyctl, FATAL, UNDECIDED) ROW(add_key, FATAL, UNDECIDED) ROW(init_module, FATAL, REFUSED)
    ROW(kexec_load, FATAL, REFUSED) ROW(open_by_handle_at, FATAL, REFUSED) ROW(seccomp, FATAL, REFUSED)
    ROW(change_the_clock, FATAL, UNDECIDED) ROW(type_into_a_terminal, REFUSED, REFUSED)
    ROW(lock_a_file, REFUSED, WORKS) ROW(unknown_call, REFUSED, REFUSED)

    ROW(start_a_thread, WORKS, WORKS) ROW(send_and_receive, WORKS, WORKS) ROW(wait_for_a_timer, WORKS, WORKS)
    ROW(take_memory, WORKS, WORKS) ROW(make_an_event, WORKS, WORKS) ROW(look_at_a_descriptor, WORKS, WORKS)
    ROW(name_a_thread, WORKS, WORKS) ROW(tell_the_time, WORKS, WORKS) ROW(signal_ourselves, WORKS, WORKS)
    ROW(ask_a_usb_device, WORKS, WORKS) ROW(sleep_a_moment, WORKS, WORKS)
    {0},
};
