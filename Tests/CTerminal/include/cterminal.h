#ifndef SIGNET_CTERMINAL_H
#define SIGNET_CTERMINAL_H
// Pseudo-terminals and child processes for the end-to-end tests: what happens between fork and exec must be C.
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/// A child and the ends of its terminal or pipes that belong to the caller; -1 where there is none.
struct signet_child {
    pid_t pid;
    int input;
    int output;
    int error;
    /// The terminal's modes before the program could change them; zeros where there is no terminal.
    struct termios modes;
};

/// Starts a program on a new pseudo-terminal as the leader of a session of its own; `input` is the terminal's master.
///
/// The terminal belongs to `owner`. The child has default signals, an empty signal mask and no other descriptor.
/// Answers 0, or an errno value.
int signet_terminal_spawn(
    const char *_Nullable const *_Nonnull argv, const char *_Nullable const *_Nonnull environment, uid_t owner,
    unsigned short rows, unsigned short columns, struct signet_child *_Nonnull child);

/// Opens a new pseudo-terminal and writes its path; answers the master, or minus an errno value.
int signet_terminal_open(char *_Nonnull path, size_t capacity);

/// Starts a program on pipes, in a session of its own and without a controlling terminal. Answers 0, or an errno value.
int signet_pipes_spawn(
    const char *_Nullable const *_Nonnull argv, const char *_Nullable const *_Nonnull environment,
    struct signet_child *_Nonnull child);

/// Reads what is there; answers its length, 0 at the end, -1 for an error, -2 when nothing came within the milliseconds.
ssize_t signet_read_within(int descriptor, void *_Nonnull bytes, size_t capacity, int milliseconds);

/// Sets a terminal's size, which raises SIGWINCH in its foreground job. Answers 0, or an errno value.
int signet_terminal_resize(int master, unsigned short rows, unsigned short columns);

/// Whether the terminal echoes what is typed: 1 or 0, or -1 for an error.
int signet_terminal_echoes(int master);

/// Whether every process of the terminal's foreground job sleeps, as one does that waits for a key: 1 or 0, or -1 for an error.
int signet_terminal_is_waiting(int master);

/// Waits until the foreground job sleeps. Answers 1, or 0 when it did not within the milliseconds.
///
/// A program such as sudo may lose a Ctrl-C that comes between its prompt and its read(2).
int signet_terminal_settle(int master, int milliseconds);

/// Waits for the child's end; answers 1 with its wait status, 0 when it still runs, -1 for an error.
int signet_wait_within(pid_t child, int milliseconds, int *_Nonnull status);

/// The exit code in a wait status, or 128 and the signal's number, as a shell says it.
int signet_exit_code(int status);

/// Binds a datagram socket as syslog(3) expects at /dev/log, writable for all. Answers the socket, or minus an errno value.
int signet_listen_datagrams(const char *_Nonnull path);

/// Connects to a stream socket as soon as it takes a connection, sends `text`, and gathers the answer until the peer closes.
///
/// Answers the answer's length, or minus an errno value (ETIMEDOUT when the socket did not appear or the peer did not close).
ssize_t signet_ask_socket(
    const char *_Nonnull path, const char *_Nonnull text, int milliseconds, char *_Nonnull answer, size_t capacity);

/// Whether the bytes stand somewhere in the others: 1 or 0.
int signet_contains(const void *_Nonnull all, size_t count, const void *_Nonnull part, size_t part_count);

#endif
