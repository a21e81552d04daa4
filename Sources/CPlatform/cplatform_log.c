#include "cplatform.h"

#include <sys/un.h>

int signet_log_send(const char *path, const void *packet, size_t length, int milliseconds) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t path_length = strlen(path);
    if (path_length >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, path_length);
    int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0) return -1;
    int result = connect(file, (const struct sockaddr *)&address, sizeof address);
    if (result == 0) {
        ssize_t sent = send(file, packet, length, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            struct pollfd room = {.fd = file, .events = POLLOUT};
            (void)poll(&room, 1, milliseconds);
            sent = send(file, packet, length, MSG_NOSIGNAL);
        }
        result = sent == (ssize_t)length ? 0 : -1;
    }
    int reason = errno;
    (void)close(file);
    errno = reason;
    return result;
}
