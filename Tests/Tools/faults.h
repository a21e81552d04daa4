#ifndef SIGNET_FAULTS_H
#define SIGNET_FAULTS_H
// What the tracer of faults and the programs that it traces have in common.
#include <stddef.h>
#include <sys/prctl.h>

enum {
    /// An option that prctl(2) does not know: the kernel refuses it, and the tracer sees it.
    FAULTS_MARK = 0x51676e74,
    FAULTS_FOREIGN_MACHINE = 77,
};

/// Says whether the calls that follow, of this thread and of what it starts, count.
static inline void faults_mark(int counts) { (void)prctl(FAULTS_MARK, counts, 0, 0, 0); }

/// Writes the name of a system call, with what makes its failures others: `openat-write`, `fcntl-lock`.
void faults_name(unsigned long long number, unsigned long long second, unsigned long long third, char *name, size_t capacity);

/// Whether what the call is about is a path.
int faults_takes_path(const char *name);

#endif
