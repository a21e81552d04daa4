#ifndef SIGNET_SANITIZED_CHECK_H
#define SIGNET_SANITIZED_CHECK_H
// The C of Signet's own, called with what it may meet, in a program that the sanitizers end at the first fault
// (scripts/check-c).
#include <stddef.h>
#include <sys/types.h>

/// Counts one expectation; says where it was disappointed.
#define CHECK(condition) check((condition) != 0, __FILE__, __LINE__, #condition)

void check(int holds, const char *file, int line, const char *condition);

/// Runs `body` in a child; answers its exit status, or minus the signal that ended it.
int in_child(int (*body)(void));

/// A new folder of ours, whose name ends with the program.
const char *scratch(void);

/// The path of `name` in the scratch folder; the text stands until the next call but three.
const char *scratch_path(const char *name);

/// How many descriptors are open.
int open_descriptors(void);

/// Lowers the limit of descriptors to those that are open, so that no new one can be had; answers the old limit.
unsigned long shut_descriptors(void);
void reopen_descriptors(unsigned long limit);

void check_files(void);
void check_log(void);
void check_helpers(void);
void check_signals(void);
void check_confinement(void);
void check_terminals(void);
void check_shims(void);
void check_users(void);

#endif
