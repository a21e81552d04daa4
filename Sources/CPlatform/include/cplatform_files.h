#ifndef SIGNET_CPLATFORM_FILES_H
#define SIGNET_CPLATFORM_FILES_H
// Record locks, process handles and folder listings: what fcntl(2), syscall(2) and readdir(3) hide behind variadic
// arguments, macros and opaque types.
#include <fcntl.h>
#include <stddef.h>
#include <sys/types.h>

/// Takes both locks of the file without waiting, flock(2)'s and fcntl(2)'s: 0, or -1 and errno (EACCES or EAGAIN: somebody
/// holds one). fcntl(2)'s begins at 0, and has the process's real user, plus one, for its length.
int signet_lock_try(int file);

/// Gives both back; a child forked meanwhile by another thread would else keep flock(2)'s beyond the file's closing.
void signet_lock_release(int file);

/// The process that holds a lock in our way: its pid, 0 where nobody does or it cannot be named, -1 and errno. `user`, where
/// it is asked for, is the real user it had when it took the lock; (uid_t)-1 where the lock does not say.
pid_t signet_lock_holder(int file, uid_t *_Nullable user);

/// pidfd_open(2): a close-on-exec descriptor, or -1 and errno (ENOSYS before Linux 5.3).
int signet_pidfd_open(pid_t process);

/// pidfd_send_signal(2).
int signet_pidfd_kill(int pidfd, int signal);

/// Lists a folder: calls `visit` with each name but "." and ".." until it answers 0. 0, or -1 and errno.
/// `folder` stays open and is the caller's.
int signet_list(int folder, void *_Nullable context,
                int (*_Nonnull visit)(void *_Nullable context, const char *_Nonnull name));

/// The device that a process has open for writing, by its link /proc/PID/fd/N: 1 and its numbers; 0 for whatever else
/// lies there. The link is followed to the open file itself, whose owner's file system is not asked.
int signet_open_device(const char *_Nonnull link, unsigned *_Nonnull device_major, unsigned *_Nonnull device_minor);

/// S_ISUID and its like are macros: the permission bits, with set-id and sticky bits.
static inline mode_t signet_permissions(mode_t mode) { return mode & 07777; }

/// The room of the file system that `path` lies in: 1 where a user's records fit (64 KiB), 0 where they do not, -1 where it
/// is read-only, -2 where the system does not say. In C, for struct and function statvfs(3) have one name.
int signet_room(const char *_Nonnull path);

/// Whether nobody can change or remove what lies at `path`, as openat(2) takes both, not even root: it is immutable or
/// append-only (chattr(1)). A link is not followed; 0 also where there is nothing, or where the file system does not say.
int signet_is_frozen(int folder, const char *_Nonnull path);

#endif
