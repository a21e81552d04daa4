// clockshift: moves a running program of one thread into another process's time namespace, in the middle of what it does.
//
//   clockshift PROGRAM INSIDE        both process numbers
//
// The program makes two system calls that it does not know of: pidfd_open(2) of INSIDE and setns(2) with what that answers, which stays
// open. A debugger that calls functions in a program writes back all its registers, which gdb 13 cannot where the processor has AMX;
// here only the general ones are touched. Exit status: 0 done, 1 not done, with a line that says why; 77 on another processor.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#ifndef __x86_64__
int main(void) { return fprintf(stderr, "clockshift: knows the registers of x86-64 only\n"), 77; }
#else

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

// The instruction `syscall`, as the low half of a word in memory.
enum { SYSCALL_INSTRUCTION = 0x050f, SYSCALL_LENGTH = 2 };

static int fail(const char *what) {
    fprintf(stderr, "clockshift: %s: %s\n", what, strerror(errno));
    return 1;
}

// Makes one system call of the stopped program, whose instruction pointer stands behind a `syscall`; what it answers.
static long call(pid_t program, const struct user_regs_struct *stopped, long number, long first, long second) {
    struct user_regs_struct registers = *stopped;
    registers.rip -= SYSCALL_LENGTH;
    registers.rax = (unsigned long long)number;
    // Else the kernel would take what is in rax for the answer of the call that the program was in, and start that again.
    registers.orig_rax = (unsigned long long)-1;
    registers.rdi = (unsigned long long)first;
    registers.rsi = (unsigned long long)second;
    int status;
    if (ptrace(PTRACE_SETREGS, program, NULL, &registers) != 0 || ptrace(PTRACE_SINGLESTEP, program, NULL, NULL) != 0 ||
        waitpid(program, &status, __WALL) != program || !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, program, NULL, &registers) != 0)
        return -errno;
    return (long)registers.rax;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "clockshift PROGRAM INSIDE\n"), 2;
    const pid_t program = atoi(arguments[1]);
    const pid_t inside = atoi(arguments[2]);
    int status;
    if (ptrace(PTRACE_ATTACH, program, NULL, NULL) != 0 || waitpid(program, &status, __WALL) != program || !WIFSTOPPED(status))
        return fail("attach");
    struct user_regs_struct stopped;
    if (ptrace(PTRACE_GETREGS, program, NULL, &stopped) != 0) return fail("registers");
    const long word = ptrace(PTRACE_PEEKTEXT, program, stopped.rip - SYSCALL_LENGTH, NULL);
    // It waits, and so it stands behind the instruction it waits in.
    if ((word & 0xffff) != SYSCALL_INSTRUCTION) return fprintf(stderr, "clockshift: the program does not wait\n"), 1;
    const long opened = call(program, &stopped, SYS_pidfd_open, inside, 0);
    const long joined = opened < 0 ? opened : call(program, &stopped, SYS_setns, opened, CLONE_NEWTIME);
    // With what it had, it goes on with the call that it waited in.
    if (ptrace(PTRACE_SETREGS, program, NULL, &stopped) != 0) return fail("registers");
    if (ptrace(PTRACE_DETACH, program, NULL, NULL) != 0) return fail("detach");
    if (joined == 0) return 0;
    errno = (int)-joined;
    return fail(opened < 0 ? "pidfd_open" : "setns");
}
#endif
