// faults: runs a program and lets one system call of it, or of a helper that it starts, fail.
//
//   faults [--mark] [--within SECONDS] [--at PART:CALL:NUMBER[+]:FAULT] REPORT PROGRAM [ARGUMENT…]
//
//   --mark     the program says itself what counts, by faults_mark (faults.h); else all of it does, from its own first instruction on
//   --within   seconds after which everything that still runs is killed (default 30)
//   --at       the call that fails: `module:pwrite64:2:28` the second one, with errno 28; `2+` that one and each later one. FAULT is an
//              errno, `short` (half of the bytes) or `end` (nothing, where there is more)
//
// It is a tracer (ptrace(2)) and no preloaded library, for helpers drop what they were preloaded with, and the C library's own calls do
// not go through such a one. PART is `module` (the program), `start` (a process between fork and execve), `sensor` or `enclave`.
//
// The report: `count PART CALL N` for each call, `hit PART CALL N TARGET` for what failed, `death PART SIGNAL`, `left PART` for who
// outlived the program by a second, `hang`. Exit status: the program's, or 128 and its signal's number.
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void) { return fprintf(stderr, "faults: knows the registers of x86-64 only\n"), FAULTS_FOREIGN_MACHINE; }
#else
#include <linux/ptrace.h>
#include <sys/syscall.h>

enum { PROCESSES = 64, CALLS = 512, TEXT = 256 };

struct process {
    pid_t thread, group;
    const char *part;
    int armed;
    /// The instruction that its own code begins with, and what stood there; 0 when it is past it.
    unsigned long long entry;
    long entry_word;
    /// What the call that it is in is to answer in place of its own answer.
    int replaces;
    long answer;
    /// Whether arguments were changed, and what they were: the C library may look at them again.
    int has_changed;
    unsigned long long first, third;
};

struct call {
    const char *part;
    char name[48];
    int count;
};

static struct process processes[PROCESSES];
static struct call calls[CALLS];
static int call_count;
static const char *wanted_part = "", *wanted_call = "", *wanted_fault = "";
static int wanted_number, wanted_later, uses_marks;
static FILE *report;
static pid_t root;

static struct process *find(pid_t thread) {
    for (int index = 0; index < PROCESSES; index++) {
        if (processes[index].thread == thread) return &processes[index];
    }
    return NULL;
}

static struct process *add(pid_t thread, pid_t group, const char *part, int armed) {
    struct process *new = find(thread);
    if (!new) new = find(0);
    if (!new) fprintf(stderr, "faults: too many processes\n"), exit(2);
    *new = (struct process){.thread = thread, .group = group, .part = part, .armed = armed};
    return new;
}

static pid_t group_of(pid_t thread) {
    char path[64], line[TEXT];
    int group = thread;
    snprintf(path, sizeof path, "/proc/%d/status", thread);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "Tgid: %d", &group) != 1) {}
    if (file) fclose(file);
    return group;
}

static int is_part(const char *part) { return strcmp(part, "other") != 0; }

/// What a process is after execve(2), and the first instruction of its own, behind the dynamic linker's.
static void executed(struct process *process) {
    char path[64], target[TEXT] = "";
    snprintf(path, sizeof path, "/proc/%d/exe", process->thread);
    if (readlink(path, target, sizeof target - 1) < 0) target[0] = 0;
    const char *name = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
    process->part = process->group == root ? "module"
        : strcmp(name, "signet-sensor") == 0 ? "sensor"
        : strcmp(name, "signet-enclave") == 0 ? "enclave" : "other";
    process->armed = 0;
    process->entry = 0;
    if (!is_part(process->part) || (process->group == root && uses_marks)) return;
    unsigned long long pair[2];
    snprintf(path, sizeof path, "/proc/%d/auxv", process->thread);
    FILE *file = fopen(path, "re");
    while (file && fread(pair, sizeof pair, 1, file) == 1 && pair[0] != 0) {
        if (pair[0] == 9) process->entry = pair[1]; // AT_ENTRY
    }
    if (file) fclose(file);
    process->entry_word = ptrace(PTRACE_PEEKTEXT, process->thread, process->entry, NULL);
    ptrace(PTRACE_POKETEXT, process->thread, process->entry, (process->entry_word & ~0xffL) | 0xcc);
}

/// Whether a process stands at its own first instruction; counts from there.
static int entered(struct process *process) {
    struct user_regs_struct registers;
    if (!process->entry || ptrace(PTRACE_GETREGS, process->thread, NULL, &registers) != 0) return 0;
    if (registers.rip != process->entry + 1) return 0;
    ptrace(PTRACE_POKETEXT, process->thread, process->entry, process->entry_word);
    registers.rip = process->entry;
    ptrace(PTRACE_SETREGS, process->thread, NULL, &registers);
    process->entry = 0;
    process->armed = 1;
    return 1;
}

/// Adds what kind of socket a link of /proc/PID/fd means: the journal's are datagrams, the helpers' packets (unix(7)).
static void describe_socket(pid_t thread, char *text) {
    char path[64], line[TEXT], node[32];
    unsigned kind, number;
    if (sscanf(text, "socket:[%31[0-9]]", node) != 1) return;
    snprintf(path, sizeof path, "/proc/%d/net/unix", thread);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        char own[32];
        if (sscanf(line, "%*s %*s %*s %*s %x %*s %31s", &kind, own) != 2 || strcmp(own, node) != 0) continue;
        number = kind == SOCK_DGRAM ? 0 : kind == SOCK_SEQPACKET ? 1 : 2;
        strcat(text, (const char *[]){" datagrams", " packets", " stream"}[number]);
        break;
    }
    if (file) fclose(file);
}

/// What the call is about, for whoever reads the report.
static void describe(struct process *process, const char *name, const struct ptrace_syscall_info *info, char *text) {
    char path[64];
    const unsigned long long *arguments = (const void *)info->entry.args;
    int is_relative = strstr(name, "at") && strncmp(name, "stat", 4) != 0;
    unsigned long long address = is_relative || strcmp(name, "statx") == 0 ? arguments[1] : arguments[0];
    text[0] = 0;
    if (faults_takes_path(name)) {
        snprintf(path, sizeof path, "/proc/%d/mem", process->thread);
        FILE *memory = fopen(path, "re");
        if (memory && fseeko(memory, (off_t)address, SEEK_SET) == 0) {
            size_t length = fread(text, 1, TEXT - 1, memory);
            text[length] = 0;
        }
        if (memory) fclose(memory);
    } else {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", process->thread, (int)arguments[0]);
        ssize_t length = readlink(path, text, TEXT / 2);
        text[length < 0 ? 0 : length] = 0;
        describe_socket(process->thread, text);
        if (strcmp(name, "ioctl") == 0) snprintf(text + strlen(text), TEXT / 4, " request %#llx", arguments[1]);
    }
    for (char *place = text; *place; place++) {
        if (*place == '\n') *place = ' ';
    }
}

/// Counts a call that begins, and lets it fail where it is the one.
static void begins(struct process *process, const struct ptrace_syscall_info *info) {
    char name[sizeof calls->name], text[TEXT];
    process->replaces = process->has_changed = 0;
    if (info->entry.nr == SYS_prctl && info->entry.args[0] == FAULTS_MARK) {
        process->armed = (int)info->entry.args[1];
        return;
    }
    if (!process->armed || !is_part(process->part)) return;
    faults_name(info->entry.nr, info->entry.args[1], info->entry.args[2], name, sizeof name);
    int index = 0;
    while (index < call_count && (calls[index].part != process->part || strcmp(calls[index].name, name) != 0)) index++;
    if (index == CALLS) fprintf(stderr, "faults: too many kinds of calls\n"), exit(2);
    struct call *call = &calls[index];
    if (index == call_count) call_count++, call->part = process->part, strcpy(call->name, name);
    int number = ++call->count;
    if (strcmp(wanted_part, call->part) != 0 || strcmp(wanted_call, name) != 0) return;
    if (number != wanted_number && !(wanted_later && number > wanted_number)) return;

    describe(process, name, info, text);
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, process->thread, NULL, &registers) != 0) return;
    process->first = registers.rdi, process->third = registers.rdx;
    if (strcmp(wanted_fault, "short") == 0) {
        // A half of one byte would be the end.
        if (registers.rdx < 2) return;
        registers.rdx /= 2;
        process->has_changed = 1;
    } else if (strcmp(name, "brk") == 0) {
        // Its failure is the break as it was.
        registers.rdi = 0;
        process->has_changed = 1;
    } else {
        process->replaces = 1;
        process->answer = strcmp(wanted_fault, "end") == 0 ? 0 : -atol(wanted_fault);
        // close(2) has closed whatever it answers.
        if (strcmp(name, "close") != 0) registers.orig_rax = (unsigned long long)-1;
    }
    ptrace(PTRACE_SETREGS, process->thread, NULL, &registers);
    fprintf(report, "hit %s %s %d %s\n", process->part, name, number, text), fflush(report);
}

static void ends(struct process *process) {
    if (!process->replaces && !process->has_changed) return;
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, process->thread, NULL, &registers) != 0) return;
    if (process->replaces) registers.rax = (unsigned long long)process->answer;
    if (process->has_changed) registers.rdi = process->first, registers.rdx = process->third;
    process->replaces = process->has_changed = 0;
    ptrace(PTRACE_SETREGS, process->thread, NULL, &registers);
}

/// Looks at one stop of a process and lets it go on.
static void stopped(pid_t thread, int status) {
    struct process *process = find(thread);
    int signal = WSTOPSIG(status), event = status >> 16, passed = 0;
    // A new process may stop before its parent tells of it.
    if (!process) process = add(thread, group_of(thread), "unknown", 0);
    if (signal == (SIGTRAP | 0x80)) {
        struct ptrace_syscall_info info;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) > 0) {
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY) begins(process, &info);
            else if (info.op == PTRACE_SYSCALL_INFO_EXIT) ends(process);
        }
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
        unsigned long new = 0;
        ptrace(PTRACE_GETEVENTMSG, thread, NULL, &new);
        pid_t group = group_of((pid_t)new);
        int is_thread = group == process->group, starts = strcmp(process->part, "module") == 0;
        add((pid_t)new, group, is_thread ? process->part : starts ? "start" : "other", process->armed);
    } else if (event == PTRACE_EVENT_EXEC) {
        executed(process);
    } else if (event == PTRACE_EVENT_STOP) {
        // Stopped like by Ctrl-Z: it stays so until SIGCONT.
        if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
            ptrace(PTRACE_LISTEN, thread, NULL, NULL);
            return;
        }
    } else if (!(signal == SIGTRAP && entered(process))) {
        passed = signal;
    }
    ptrace(PTRACE_SYSCALL, thread, NULL, (long)passed);
}

static void kill_all(const char *word) {
    for (int index = 0; index < PROCESSES; index++) {
        struct process *process = &processes[index];
        if (process->thread == 0 || process->thread != process->group) continue;
        if (word) fprintf(report, "%s %s\n", word, process->part);
        kill(process->thread, SIGKILL);
    }
}

static volatile sig_atomic_t ticked;
static void tick(int number) { (void)number, ticked = 1; }

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/// Follows all of them until the last has ended; answers the program's exit status.
static int follow(double limit) {
    int code = -1, status;
    double end = seconds() + limit;
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0 && errno == ECHILD) return code;
        if (thread > 0 && WIFSTOPPED(status)) {
            stopped(thread, status);
        } else if (thread > 0) {
            struct process *process = find(thread);
            if (process && WIFSIGNALED(status) && process->thread == process->group) {
                fprintf(report, "death %s %d\n", process->part, WTERMSIG(status));
            }
            if (process) process->thread = 0;
            if (thread == root) {
                code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
                end = seconds() + 1;
            }
        }
        if (!ticked || seconds() < end) continue;
        ticked = 0;
        if (code < 0) fprintf(report, "hang\n");
        kill_all(code < 0 ? NULL : "left");
        end = seconds() + 5;
    }
}

static void read_point(char *text) {
    wanted_part = strtok(text, ":"), wanted_call = strtok(NULL, ":");
    const char *number = strtok(NULL, ":");
    wanted_fault = strtok(NULL, ":");
    if (!wanted_fault) fprintf(stderr, "faults: --at takes PART:CALL:NUMBER:FAULT\n"), exit(2);
    wanted_number = atoi(number), wanted_later = strchr(number, '+') != NULL;
}

int main(int argc, char **argv) {
    static const int keyboard[] = {SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGTTOU};
    double limit = 30;
    int place = 1, go[2];
    for (; place < argc && strncmp(argv[place], "--", 2) == 0; place++) {
        if (strcmp(argv[place], "--mark") == 0) uses_marks = 1;
        else if (place + 1 >= argc) break;
        else if (strcmp(argv[place], "--within") == 0) limit = atof(argv[++place]);
        else if (strcmp(argv[place], "--at") == 0) read_point(argv[++place]);
        else break;
    }
    if (argc - place < 2) return fprintf(stderr, "usage: faults [option…] REPORT PROGRAM [ARGUMENT…]\n"), 2;
    report = fopen(argv[place], "we");
    if (!report || pipe(go) != 0) return perror("faults"), 2;

    root = fork();
    if (root < 0) return perror("faults"), 2;
    if (root == 0) {
        char byte;
        close(go[1]);
        if (read(go[0], &byte, 1) != 1) _exit(2);
        close(go[0]);
        execvp(argv[place + 1], argv + place + 1);
        perror(argv[place + 1]);
        _exit(127);
    }
    // The terminal's signals are the program's.
    for (unsigned index = 0; index < sizeof keyboard / sizeof *keyboard; index++) signal(keyboard[index], SIG_IGN);
    add(root, root, "other", 0);
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE
        | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, root, NULL, options) != 0) return perror("faults: ptrace"), kill(root, SIGKILL), 2;
    ptrace(PTRACE_INTERRUPT, root, NULL, NULL);
    if (write(go[1], "", 1) != 1) return 2;
    close(go[0]), close(go[1]);
    struct sigaction action = {.sa_handler = tick};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 100000}, {0, 100000}}, NULL);

    int code = follow(limit);
    for (int index = 0; index < call_count; index++) {
        fprintf(report, "count %s %s %d\n", calls[index].part, calls[index].name, calls[index].count);
    }
    fclose(report);
    return code < 0 ? 2 : code;
}
#endif
