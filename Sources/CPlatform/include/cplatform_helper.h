#ifndef SIGNET_CPLATFORM_HELPER_H
#define SIGNET_CPLATFORM_HELPER_H
// Starting, watching and ending a helper process; confining one from within.
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/// The descriptor on which a helper finds its socket.
enum { SIGNET_HELPER_SOCKET = 3 };

/// Starts the program at `path`, an absolute path that the caller has checked, with `socket` as descriptor 3.
///
/// The helper is a child of init, or of a subreaper, and so of ours only where we are one ourselves or the kernel has no
/// pidfd. It belongs wholly to root where the caller's effective user is root, is a session of its own, and gets nothing
/// of the caller: no environment, descriptor, signal mask, disposition, limit or folder. `arguments` ends with NULL and
/// begins with the program's name. Answers the helper's pid, or -errno; a program that cannot be executed is a helper that
/// ends at once with status 127. `pidfd` gets a close-on-exec descriptor of the helper, or -1 where the kernel has none.
pid_t signet_start_helper(const char *_Nonnull path, const char *const _Nullable *_Nonnull arguments, int socket,
                          int *_Nonnull pidfd);

/// Gives every signal its default action and empties the mask; execve would keep what is ignored and what is blocked.
void signet_reset_signals(void);

/// Kills the helper: by its pidfd where there is one, since others may wait for it and let its pid be used anew.
void signet_kill_helper(pid_t pid, int pidfd);

/// Reaps the helper, where it is our child and has ended: 0 where it is our child and lives, 1 where it was reaped, and -1
/// where it is not our child, or not any more.
int signet_reap_helper(pid_t pid, int pidfd);

/// Makes a pair of close-on-exec SOCK_SEQPACKET sockets; 0 or -errno.
int signet_packet_pair(int *_Nonnull ours, int *_Nonnull theirs);

/// Blocks INT, QUIT, TERM, HUP, TSTP and ALRM for this thread, but for those that the caller ignores; `held` gets them.
///
/// Answers a descriptor that polls readable while one of them is pending, or -errno with nothing changed. Several may hold
/// them at once; each lets go once with what it got in `held`.
int signet_hold_signals(sigset_t *_Nonnull held);

/// Holds the same, and CONT and WINCH, for as long as a field stands on the terminal.
int signet_hold_field_signals(sigset_t *_Nonnull held);

/// Lets act again what nobody else holds, unless the caller had it blocked before.
void signet_release_signals(const sigset_t *_Nonnull held);

/// A pending one of the signals that ask a program to stop, TSTP last, then CONT, then WINCH; it stays pending. 0 where there
/// is none. One that asks and that the caller ignores does not count.
int signet_pending_signal(void);

/// Whether the program leaves this signal to the kernel.
int signet_acts_by_default(int number);

/// Takes a blocked signal off, if it is pending; whether it was.
int signet_take_pending(int number);

/// Takes off what is pending of CONT and WINCH.
void signet_drop_notices(void);

/// Lets capabilities go with their user again: pam_cap(8) and systemd may have set bits with which they outlive it
/// (capabilities(7)), and execve keeps those bits. 0 or -errno.
int signet_unbind_capabilities(void);

/// Whether this thread has a capability left, of which others could be made; also where that can't be known.
int signet_has_capability(void);

/// Whether this thread may take any user (CAP_SETUID); not where that can't be known.
int signet_may_set_user(void);

/// Whether all three of our groups are `group`, and there is no other.
int signet_has_only_group(gid_t group);

/// Gives up what a helper does not need once its device is open: privileges by exec, core files, tracing, writing to
/// files, and, where it is root, its user, groups and capabilities in favour of `user` and `group`. 0 or -errno.
int signet_confine(uid_t user, gid_t group);

/// Keeps what this process has in memory to itself, from now on: no core, no tracing, and no swap as far as the limits let it.
/// 0 or -errno; a refused lock is no failure.
int signet_guard_memory(void);

/// Has the kernel refuse, from now on and in every thread, system calls that a helper with an open device has no use for:
/// seccomp(2). To be called after signet_confine. 0 or -errno.
int signet_filter_calls(void);

/// The same, but for connections: a software TPM takes one for each command.
int signet_filter_calls_but_connections(void);

/// Enters the code of the program and of the libraries that look at a finger into the page table, as far as the kernel does
/// it (madvise(2), MADV_POPULATE_READ): what runs for the first time does not wait for its pages then.
void signet_map_code(void);

/// POLLRDHUP of poll(2), which the headers show to GNU sources only: the other side of a socket sends no more.
enum { SIGNET_POLLRDHUP = 0x2000 };

#endif
