// killer: runs a program and kills it at one of its system calls, or writes down what it did to a folder.
//
//   killer [option…] PROGRAM [ARGUMENT…]
//
//   --at N           kills with SIGKILL at the Nth point, before the call does anything (default 0: never)
//   --helper         the points are those of the programs that the program starts, and they are what is killed
//   --every          each system call is a point; else those that change, read, wait for or start something
//   --input FILE     what the program reads from standard input
//   --report FILE    `points N`, `killed CALL-NUMBER` or `killed -`, `compared 0|1` (a derivation's memory was asked for), `code N`
//   --trace FILE     a line for each change below the folder and for each word to others, in the order of the calls' ends:
//                    create DIR NAME INODE · mkdir DIR NAME INODE · write INODE OFFSET HEX · truncate INODE SIZE · sync INODE ·
//                    rename DIR NAME DIR NAME · unlink DIR NAME · rmdir DIR NAME (DIR is an inode) · compare · out HEX · send HEX ·
//                    unknown CALL-NUMBER for what changed something in another way
//   --folder DIR     the folder, for --trace
//
// Exit status: the program's, or 128 and its signal's number.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 256, DERIVATION = 8 << 20, LONGEST = 1 << 16 };

// No processor counts these: they are what a point may be without --every.
static const long points_of_interest[] = {
    SYS_read, SYS_pread64, SYS_readv, SYS_write, SYS_pwrite64, SYS_writev, SYS_openat, SYS_fsync, SYS_fdatasync, SYS_renameat,
    SYS_renameat2, SYS_unlinkat, SYS_mkdirat, SYS_ftruncate, SYS_fchmod, SYS_fchown, SYS_fallocate, SYS_fcntl, SYS_flock,
    SYS_clone, SYS_clone3, SYS_execve, SYS_kill, SYS_pidfd_send_signal, SYS_wait4, SYS_socketpair, SYS_sendto, SYS_sendmsg,
    SYS_recvfrom, SYS_recvmsg, SYS_ppoll, SYS_ioctl, SYS_exit_group,
#ifdef __x86_64__
    SYS_open, SYS_creat, SYS_rename, SYS_unlink, SYS_mkdir, SYS_rmdir, SYS_truncate, SYS_fork, SYS_vfork, SYS_poll,
#endif
};

struct call {
    pid_t process;
    long number;
    unsigned long long arguments[6];
};

static struct call calls[PROCESSES];
static FILE *trace;
static const char *folder = "";

// The call that a process is in; a slot is taken at the process's first stop, where `*is_new` is set.
static struct call *call_of(pid_t process, int *is_new) {
    *is_new = 0;
    for (int index = 0; index < PROCESSES; index++) {
        if (calls[index].process == process) return &calls[index];
        if (calls[index].process == 0) {
            *is_new = 1;
            calls[index] = (struct call){process, -1, {0}};
            return &calls[index];
        }
    }
    fprintf(stderr, "killer: more than %d processes\n", PROCESSES), exit(125);
}

static int is_point(long number, int every) {
    if (every) return 1;
    for (size_t index = 0; index < sizeof points_of_interest / sizeof *points_of_interest; index++)
        if (points_of_interest[index] == number) return 1;
    return 0;
}

static int is_derivation(const struct call *call) {
    return call->number == SYS_mmap && call->arguments[1] >= DERIVATION && (call->arguments[2] & PROT_WRITE) &&
           (call->arguments[3] & MAP_ANONYMOUS);
}

static size_t copy(pid_t process, unsigned long long from, void *to, size_t count) {
    struct iovec local = {to, count}, remote = {(void *)(uintptr_t)from, count};
    ssize_t copied = process_vm_readv(process, &local, 1, &remote, 1, 0);
    return copied < 0 ? 0 : (size_t)copied;
}

static const char *text(pid_t process, unsigned long long from, char *buffer, size_t capacity) {
    size_t length = 0;
    // One at a time: the next byte may lie on a page that is not there.
    while (length + 1 < capacity && copy(process, from + length, buffer + length, 1) == 1 && buffer[length]) length++;
    buffer[length] = 0;
    return buffer;
}

// What a descriptor leads to; answers its inode where that lies in the folder, else 0. `kind` is the first letter of its link.
static unsigned long inode_of(pid_t process, int descriptor, const char *name, char *kind) {
    char path[512], link[512];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0) return 0;
    link[length] = 0;
    *kind = strncmp(link, "/dev/", 5) == 0 ? 'd' : link[0];
    if (!*folder || strncmp(link, folder, strlen(folder)) != 0) return 0;
    if (name) snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", name);
    return (name ? lstat(path, &status) : stat(path, &status)) == 0 ? status.st_ino : 0;
}

static void tell_bytes(const char *what, pid_t process, unsigned long long from, size_t count) {
    static unsigned char bytes[LONGEST];
    count = copy(process, from, bytes, count < LONGEST ? count : LONGEST);
    fputs(what, trace);
    for (size_t index = 0; index < count; index++) fprintf(trace, "%02x", bytes[index]);
    fputc('\n', trace);
}

static void tell_name(const char *what, const struct call *call, int place, const char *last) {
    char name[256], kind = 0;
    unsigned long directory = inode_of(call->process, (int)call->arguments[place], NULL, &kind);
    if (directory) fprintf(trace, "%s%lu %s%s", what, directory, text(call->process, call->arguments[place + 1], name, 256), last);
}

static void tell_made(const char *what, const struct call *call) {
    char name[256], kind = 0;
    text(call->process, call->arguments[1], name, sizeof name);
    unsigned long directory = inode_of(call->process, (int)call->arguments[0], NULL, &kind);
    unsigned long inode = inode_of(call->process, (int)call->arguments[0], name, &kind);
    if (directory) fprintf(trace, "%s %lu %s %lu\n", what, directory, name, inode);
}

// Writes down a call that ended well with `result`.
static void tell(const struct call *call, long long result) {
    char head[64], kind = 0;
    int first = (int)call->arguments[0];
    unsigned long inode = 0;
    switch (call->number) {
    case SYS_openat: {
        int flags = (int)call->arguments[2];
        inode = inode_of(call->process, (int)result, NULL, &kind);
        if (!inode) return;
        if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) tell_made("create", call);
        else if (flags & O_CREAT) fprintf(trace, "unknown %ld\n", call->number);
        if (flags & O_TRUNC) fprintf(trace, "truncate %lu 0\n", inode);
        return;
    }
    case SYS_pwrite64:
        inode = inode_of(call->process, first, NULL, &kind);
        snprintf(head, sizeof head, "write %lu %llu ", inode, call->arguments[3]);
        if (inode) tell_bytes(head, call->process, call->arguments[1], (size_t)result);
        return;
    case SYS_write:
    case SYS_sendto:
        if (inode_of(call->process, first, NULL, &kind)) fprintf(trace, "unknown %ld\n", call->number);
        else if (kind == 'p' || kind == 'd') tell_bytes("out ", call->process, call->arguments[1], (size_t)result);
        else if (kind == 's') tell_bytes("send ", call->process, call->arguments[1], (size_t)result);
        return;
    case SYS_fsync:
    case SYS_fdatasync:
        if ((inode = inode_of(call->process, first, NULL, &kind))) fprintf(trace, "sync %lu\n", inode);
        return;
    case SYS_ftruncate:
        if ((inode = inode_of(call->process, first, NULL, &kind))) fprintf(trace, "truncate %lu %llu\n", inode, call->arguments[1]);
        return;
    case SYS_mkdirat: tell_made("mkdir", call); return;
    case SYS_renameat:
    case SYS_renameat2: tell_name("rename ", call, 0, " "), tell_name("", call, 2, "\n"); return;
    case SYS_unlinkat: tell_name(call->arguments[2] & AT_REMOVEDIR ? "rmdir " : "unlink ", call, 0, "\n"); return;
    case SYS_writev:
    case SYS_pwritev:
    case SYS_fallocate:
    case SYS_copy_file_range:
        if (inode_of(call->process, first, NULL, &kind)) fprintf(trace, "unknown %ld\n", call->number);
        return;
    }
}

static pid_t start(char **arguments, const char *input) {
    pid_t process = fork();
    if (process == 0) {
        int file = input ? open(input, O_RDONLY) : -1;
        if (input && (file < 0 || dup2(file, 0) != 0 || (file > 0 && close(file) != 0))) perror(input), _exit(125);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(arguments[0], arguments);
        perror("killer"), _exit(127);
    }
    return process;
}

int main(int argc, char **argv) {
    long at = 0, points = 0, killed = -1;
    int helper = 0, every = 0, compared = 0, place = 1, status = 0, result = 0, is_new;
    const char *report_path = NULL, *input = NULL;
    for (; place < argc && strncmp(argv[place], "--", 2) == 0; place++) {
        const char *option = argv[place];
        if (strcmp(option, "--helper") == 0) helper = 1;
        else if (strcmp(option, "--every") == 0) every = 1;
        else if (place + 1 >= argc) break;
        else if (strcmp(option, "--at") == 0) at = atol(argv[++place]);
        else if (strcmp(option, "--input") == 0) input = argv[++place];
        else if (strcmp(option, "--report") == 0) report_path = argv[++place];
        else if (strcmp(option, "--trace") == 0) trace = fopen(argv[++place], "we");
        else if (strcmp(option, "--folder") == 0) folder = argv[++place];
        else break;
    }
    if (place >= argc) return fprintf(stderr, "usage: killer [option…] PROGRAM [ARGUMENT…]\n"), 125;
    // Keys and signals from the terminal are the program's.
    signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN), signal(SIGTSTP, SIG_IGN);
    pid_t program = start(argv + place, input);
    if (program < 0 || waitpid(program, &status, 0) != program) return perror("killer"), 125;
    (void)call_of(program, &is_new);
    long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
    if (helper) options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    ptrace(PTRACE_SETOPTIONS, program, 0, options);
    ptrace(PTRACE_SYSCALL, program, 0, 0);

    for (pid_t process; (process = waitpid(-1, &status, __WALL)) > 0;) {
        if (!WIFSTOPPED(status)) {
            if (process == program) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        struct call *call = call_of(process, &is_new);
        int signal_number = WSTOPSIG(status);
        if (signal_number == (SIGTRAP | 0x80)) {
            signal_number = 0;
            struct __ptrace_syscall_info info = {0};
            ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof info, &info);
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
                call->number = (long)info.entry.nr;
                memcpy(call->arguments, info.entry.args, sizeof call->arguments);
                if (helper == (process != program) && is_point(call->number, every) && ++points == at) {
                    killed = call->number;
                    // A call at whose entry the process is killed is not carried out (ptrace(2), "syscall-enter-stop").
                    kill(process, SIGKILL);
                    continue;
                }
                if (process == program && is_derivation(call)) {
                    compared = 1;
                    if (trace) fputs("compare\n", trace);
                }
            } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && trace && process == program && !info.exit.is_error) {
                tell(call, info.exit.rval);
            }
        } else if (status >> 16 != 0 || (is_new && signal_number == SIGSTOP)) {
            signal_number = 0;
        }
        ptrace(PTRACE_SYSCALL, process, 0, signal_number);
    }
    if (trace) fclose(trace);
    FILE *report = report_path ? fopen(report_path, "we") : NULL;
    if (report) {
        fprintf(report, "points %ld\n", points);
        fprintf(report, killed < 0 ? "killed -\n" : "killed %ld\n", killed);
        fprintf(report, "compared %d\ncode %d\n", compared, result);
        fclose(report);
    }
    return result;
}
