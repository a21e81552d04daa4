#define _GNU_SOURCE
#include "cplatform_user.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/// What the line of the file begins with that is looked for.
static const char beginning[] = "signet:";
/// The longest rest of that line in bytes: a comment, a folder and a shell have room.
enum { LINE = 512, FIELDS = 6 };

/// Where the reading stands within a line.
enum place {
    /// `length` bytes of the line are those of the beginning.
    COMPARING,
    /// It is another's line.
    SKIPPING,
    /// It is the line; `length` bytes of its rest are kept.
    KEEPING,
};

struct reading {
    enum place place;
    size_t length;
    char line[LINE];
};

/// Takes one byte; whether the line that is looked for is there whole.
static int take(struct reading *reading, char byte) {
    if (byte == '\n') {
        if (reading->place == KEEPING) return 1;
        reading->place = COMPARING;
        reading->length = 0;
        return 0;
    }
    switch (reading->place) {
    case SKIPPING: break;
    case COMPARING:
        if (byte != beginning[reading->length]) {
            reading->place = SKIPPING;
        } else if (++reading->length == sizeof beginning - 1) {
            reading->place = KEEPING;
            reading->length = 0;
        }
        break;
    case KEEPING:
        // One that is full stays so: it is too long.
        if (reading->length < LINE) reading->line[reading->length++] = byte;
        break;
    }
    return 0;
}

/// A number of a system user or group: 1 to 999 (login.defs(5), SYS_UID_MAX; people begin at 1000), in plain digits. 0 for
/// all else.
static unsigned number(const char *text) {
    unsigned value = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 3 || text[digits] != 0 || text[0] == '0') return 0;
    for (size_t index = 0; index < digits; index++) value = value * 10 + (unsigned)(text[index] - '0');
    return value;
}

/// Whether nobody can log in with this shell: `nologin` or `false`, wherever the distribution has them.
static int is_no_shell(const char *shell) {
    const char *name = strrchr(shell, '/');
    return shell[0] == '/' && (strcmp(name, "/nologin") == 0 || strcmp(name, "/false") == 0);
}

/// Splits the rest of the line, whose zero is at `length`, as passwd(5) has it: password, user, group, comment, folder, shell.
static enum signet_user_answer judge(char *line, size_t length, uid_t *user, gid_t *group) {
    char *fields[FIELDS];
    // A zero would hide what comes after it.
    if (strlen(line) != length) return SIGNET_USER_UNFIT;
    for (size_t index = 0; index < FIELDS; index++) {
        fields[index] = line;
        char *end = strchr(line, ':');
        // The last one has no colon behind it, and each before it has.
        if ((end == NULL) != (index == FIELDS - 1)) return SIGNET_USER_UNFIT;
        if (end == NULL) break;
        *end = 0;
        line = end + 1;
    }
    unsigned wanted_user = number(fields[1]), wanted_group = number(fields[2]);
    // The password is in /etc/shadow, or there is none that could be right.
    if (strcmp(fields[0], "x") != 0 && fields[0][0] != '!' && fields[0][0] != '*') return SIGNET_USER_UNFIT;
    if (wanted_user == 0 || wanted_group == 0 || !is_no_shell(fields[5])) return SIGNET_USER_UNFIT;
    *user = wanted_user;
    *group = wanted_group;
    return SIGNET_USER_OWN;
}

enum signet_user_answer signet_helper_user_in(int file, uid_t *user, gid_t *group) {
    struct reading reading = {COMPARING, 0, {0}};
    char bytes[16384];
    *user = SIGNET_NOBODY;
    *group = SIGNET_NOBODY;
    // The first one counts, as it does for the C library. More than 16 MiB are not looked through while a person waits.
    for (unsigned rounds = 0; rounds < 1024; rounds++) {
        ssize_t count = read(file, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return SIGNET_USER_MISSING;
        int is_whole = count == 0 && reading.place == KEEPING;
        for (ssize_t index = 0; index < count && !is_whole; index++) {
            if (reading.place == SKIPPING) {
                const char *end = memchr(bytes + index, '\n', (size_t)(count - index));
                if (end == NULL) break;
                index = end - bytes;
            }
            is_whole = take(&reading, bytes[index]);
        }
        if (is_whole) {
            if (reading.length == LINE) return SIGNET_USER_UNFIT;
            reading.line[reading.length] = 0;
            return judge(reading.line, reading.length, user, group);
        }
        if (count == 0) break;
    }
    return SIGNET_USER_MISSING;
}

enum signet_user_answer signet_helper_user(uid_t *user, gid_t *group) {
    // Not to wait at what is no file.
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        *user = SIGNET_NOBODY;
        *group = SIGNET_NOBODY;
        return SIGNET_USER_MISSING;
    }
    enum signet_user_answer answer = signet_helper_user_in(file, user, group);
    (void)close(file);
    return answer;
}
