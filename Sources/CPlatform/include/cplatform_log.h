#ifndef SIGNET_CPLATFORM_LOG_H
#define SIGNET_CPLATFORM_LOG_H
// One datagram to the system's log: sockaddr_un is a type that Swift can only fill byte by byte.
#include <stddef.h>
#include <syslog.h>

/// Sends one packet of `length` bytes to the datagram socket at `path` and closes its own socket again.
///
/// 0, or -1 and errno. Waits at most `milliseconds` for room in the receiver's queue, and never raises SIGPIPE.
int signet_log_send(const char *_Nonnull path, const void *_Nonnull packet, size_t length, int milliseconds);

#endif
