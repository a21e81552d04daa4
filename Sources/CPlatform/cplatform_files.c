#define _GNU_SOURCE  // statx(2)
#include "cplatform_files.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct flock whole_file(void) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

int signet_lock_try(int file) {
    struct flock lock = whole_file();
    // Of whom the process is, the lock says itself, by its length: F_GETLK tells that with the holder's number, in one look
    // that no change of users and no new process of that number can come between, with /proc or without it.
    lock.l_len = (off_t)getuid() + 1;
    // The lock that names its holder comes first and goes last: a user can stop his own `su alice` between the two calls,
    // and nobody could be killed who held the other alone.
    if (fcntl(file, F_SETLK, &lock) != 0) return -1;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return 0;
    // Another thread holds it. To keep the record lock would name a waiter for a holder, and have it killed.
    int error = errno;
    lock = whole_file();
    lock.l_type = F_UNLCK;
    (void)fcntl(file, F_SETLK, &lock);
    errno = error;
    return -1;
}

void signet_lock_release(int file) {
    // Even giving back needs a record of the kernel's, for which it may have no memory (flock(2), ENOLCK); and a lock that we
    // leave on a file which stays open shuts out everybody, ourselves too.
    for (int attempt = 0; attempt < 3; attempt++)
        if (flock(file, LOCK_UN) == 0) break;
    struct flock lock = whole_file();
    lock.l_type = F_UNLCK;
    (void)fcntl(file, F_SETLK, &lock);
}

pid_t signet_lock_holder(int file, uid_t *user) {
    if (user != NULL) *user = (uid_t)-1;
    struct flock lock = whole_file();
    if (fcntl(file, F_GETLK, &lock) != 0) return -1;
    // 0 is the length of a lock without end, as other versions take it; the last number of all is nobody's.
    if (user != NULL && lock.l_type != F_UNLCK && lock.l_start == 0 && lock.l_len > 0 && lock.l_len < (uid_t)-1)
        *user = (uid_t)(lock.l_len - 1);
    // A holder in another pid namespace reads as 0, an open-file-description lock as -1: neither names a process.
    return lock.l_type == F_UNLCK || lock.l_pid < 0 ? 0 : lock.l_pid;
}

int signet_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int signet_pidfd_kill(int pidfd, int signal) { return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0); }

int signet_list(int folder, void *context, int (*visit)(void *, const char *)) {
    // closedir closes what fdopendir was given, and a duplicate would share the caller's position.
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0) return -1;
    DIR *listing = fdopendir(own);
    if (listing == NULL) {
        int error = errno;
        close(own);
        errno = error;
        return -1;
    }
    int result = 0;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(listing);
        if (entry == NULL) {
            result = errno == 0 ? 0 : -1;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (!visit(context, entry->d_name)) break;
    }
    int error = errno;
    closedir(listing);
    errno = error;
    return result;
}

int signet_room(const char *path) {
    struct statvfs status;
    if (statvfs(path, &status) != 0) return -2;
    if (status.f_flag & ST_RDONLY) return -1;
    // File systems without a table of files say 0 of 0.
    if (status.f_files > 0 && status.f_ffree == 0) return 0;
    return status.f_frsize > 0 && status.f_bfree >= 65536 / status.f_frsize && status.f_bfree > 0;
}

int signet_is_frozen(int folder, const char *path) {
    struct statx file;
    if (statx(folder, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &file) != 0) return 0;
    return (file.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
}

int signet_open_device(const char *link, unsigned *device_major, unsigned *device_minor) {
    // The link's own permissions say how the file was opened (proc_pid_fd(5)). A device is driven through a descriptor that
    // may write; reading alone, or O_PATH, is open to those who may not use it.
    struct stat about;
    if (lstat(link, &about) != 0 || !(about.st_mode & S_IWUSR)) return 0;
    // stat(2) would ask the server of somebody's FUSE or NFS file, which may never answer.
    struct statx file;
    if (statx(AT_FDCWD, link, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE, &file) != 0) return 0;
    if (!(file.stx_mask & STATX_TYPE) || !S_ISCHR(file.stx_mode)) return 0;
    *device_major = file.stx_rdev_major;
    *device_minor = file.stx_rdev_minor;
    return 1;
}
