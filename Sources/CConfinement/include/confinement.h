#ifndef SIGNET_CONFINEMENT_H
#define SIGNET_CONFINEMENT_H
// How the reader helper gives up what it does not need: in the order of these functions.
#include <sys/types.h>

/// Leaves root's group and all others for `group`, where the process is root: to be called while it has only one thread,
/// for which it costs next to nothing. 0 or -errno.
int signet_leave_root_groups(gid_t group);

/// Takes a view of the file system of its own, in which what people keep is empty, where the kernel permits that; where
/// it does not (a container, no root), all stays as it was. To be called while the process has only one thread, for the
/// others would keep the old view.
void signet_hide_files(void);

/// Gives up what a helper does not need once its device is open: privileges by exec, core files, being traced, writing to
/// files, many descriptors, much memory, and, where it is root, its user, groups and capabilities in favour of `user`
/// and `group`. 0 or -errno.
int signet_confine_reader(uid_t user, gid_t group);

/// Makes the filter that signet_filter_reader_calls loads, at a time when nobody waits. 0 or -errno.
int signet_prepare_filter(void);

/// Has the kernel refuse, from now on and in every thread, all system calls but those that a driver with an open device
/// needs: seccomp(2). To be called after signet_confine_reader. 0 or -errno.
int signet_filter_reader_calls(void);

#endif
