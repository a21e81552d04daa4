#define _GNU_SOURCE
#include "check.h"
#include "cplatform.h"

#include <sys/syscall.h>

// Whom helpers become, from whatever stands in /etc/passwd: the first fault here would be a helper that stays root.

enum { FILE_SIZE = 1 << 16 };

static uid_t user;
static gid_t group;

/// What is found in `count` bytes, which come in pieces of `piece` bytes.
static enum signet_user_answer found_in(const char *bytes, size_t count, size_t piece) {
    int ends[2], status;
    user = group = 0;
    if (pipe(ends) != 0) exit(2);
    pid_t writer = fork();
    if (writer == 0) {
        (void)close(ends[0]);
        (void)signal(SIGPIPE, SIG_IGN);
        for (size_t place = 0; place < count; place += piece)
            (void)write(ends[1], bytes + place, count - place < piece ? count - place : piece);
        _exit(0);
    }
    (void)close(ends[1]);
    enum signet_user_answer answer = signet_helper_user_in(ends[0], &user, &group);
    (void)close(ends[0]);
    CHECK(waitpid(writer, &status, 0) == writer);
    return answer;
}

static int is_nobody(void) { return user == SIGNET_NOBODY && group == SIGNET_NOBODY; }

static void check_lines(void) {
    static const struct {
        const char *text;
        enum signet_user_answer answer;
        uid_t user;
        gid_t group;
    } cases[] = {
        {"signet:x:998:997:Signet's helpers:/nonexistent:/usr/sbin/nologin\n", SIGNET_USER_OWN, 998, 997},
        {"root:x:0:0::/root:/bin/sh\nsignet:!:1:1::/:/bin/false\nx", SIGNET_USER_OWN, 1, 1},
        // The last line need not end; an empty comment and folder are usual.
        {"signet:*:999:999:::/usr/bin/nologin", SIGNET_USER_OWN, 999, 999},
        // The first of two counts, as for everybody else who reads the file.
        {"signet:x:7:8:::/sbin/nologin\nsignet:x:0:0:::/bin/sh\n", SIGNET_USER_OWN, 7, 8},
        {"signet:x:0:0:::/bin/sh\nsignet:x:7:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"", SIGNET_USER_MISSING, 0, 0},
        {"\n\n\n", SIGNET_USER_MISSING, 0, 0},
        {"signet", SIGNET_USER_MISSING, 0, 0},
        {"signet\n:x:7:8:::/sbin/nologin\n", SIGNET_USER_MISSING, 0, 0},
        // Other names: longer, shorter, with something before, and what NIS knew.
        {"signets:x:7:8:::/sbin/nologin\nsigne:x:7:8:::/sbin/nologin\n", SIGNET_USER_MISSING, 0, 0},
        {" signet:x:7:8:::/sbin/nologin\n#signet:x:7:8:::/sbin/nologin\n", SIGNET_USER_MISSING, 0, 0},
        {"+signet:x:7:8:::/sbin/nologin\nSignet:x:7:8:::/sbin/nologin\n", SIGNET_USER_MISSING, 0, 0},
        {"a:signet:x:7:8:::/sbin/nologin\nb:x:1:1:\rsignet:x:7:8:::/sbin/nologin\n", SIGNET_USER_MISSING, 0, 0},
        // Root, people, and numbers that are none.
        {"signet:x:0:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:0:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:00:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:007:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:1000:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:1000:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:65534:65534:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:4294967303:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:4294967296:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:-1:8:::/sbin/nologin\nsignet:x:7:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x::8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x: 7:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7 :8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:+7:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:0x7:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        // Somebody who can log in.
        {"signet:x:7:8:::/bin/sh\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8:::\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8:::nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8:::/sbin/nologin/sh\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8:::/bin/notfalse\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet::7:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:$y$j9T$abc:7:8:::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        // Too few fields, too many, and a line that is cut.
        {"signet:\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8::::/sbin/nologin\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8:::/sbin/nologin:\n", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8:::/sbin/nolog", SIGNET_USER_UNFIT, 0, 0},
        {"signet:x:7:8:::/sbin/nologin\r\n", SIGNET_USER_UNFIT, 0, 0},
    };
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        size_t length = strlen(cases[index].text);
        for (size_t piece = 1; piece < 32; piece += 6) {
            CHECK(found_in(cases[index].text, length, piece) == cases[index].answer);
            if (cases[index].answer == SIGNET_USER_OWN)
                CHECK(user == cases[index].user && group == cases[index].group);
            else
                CHECK(is_nobody());
        }
    }
}

static void check_hostile_tables(void) {
    static char text[FILE_SIZE];
    static const char line[] = "\nsignet:x:7:8:::/sbin/nologin\n";
    // A line that never ends, before it and instead of it.
    memset(text, 'a', sizeof text);
    CHECK(found_in(text, sizeof text, 4096) == SIGNET_USER_MISSING && is_nobody());
    memcpy(text + sizeof text - sizeof line, line, sizeof line);
    CHECK(found_in(text, sizeof text - 1, 4096) == SIGNET_USER_OWN && user == 7 && group == 8);
    memcpy(text, "signet:x:7:8:", 13);
    CHECK(found_in(text, sizeof text, 4096) == SIGNET_USER_UNFIT && is_nobody());
    // The longest comment that fits, and one byte more; the rest of the line may be 511 bytes.
    for (int more = 0; more < 2; more++) {
        int length = snprintf(text, sizeof text, "signet:x:7:8:%0*d::/sbin/nologin\n", 511 - 21 + more, 0);
        enum signet_user_answer wanted = more == 0 ? SIGNET_USER_OWN : SIGNET_USER_UNFIT;
        CHECK(found_in(text, (size_t)length, 100) == wanted && is_nobody() == more);
    }
    // A zero, which would end a C text: in the line, and before it.
    CHECK(found_in("signet:x:7:8:::/sbin/nologin\0:\n", 31, 31) == SIGNET_USER_UNFIT && is_nobody());
    CHECK(found_in("sig\0net:x:7:8:::/sbin/nologin\n", 30, 30) == SIGNET_USER_MISSING && is_nobody());
    // Zeros alone, and any bytes: whatever they are, it is never root.
    memset(text, 0, sizeof text);
    CHECK(found_in(text, sizeof text, 4096) == SIGNET_USER_MISSING && is_nobody());
    static const char model[] = "signet:x:998:997:::/usr/sbin/nologin\n";
    for (unsigned seed = 1; seed <= 400; seed++) {
        unsigned state = seed * 2654435761u;
        (void)memcpy(text, model, sizeof model);
        for (int change = 0; change < 2; change++) {
            state = state * 1664525u + 1013904223u;
            text[(state >> 8) % (sizeof model - 1)] = ":0\n/9x\0 s5"[(state >> 24) % 10];
        }
        enum signet_user_answer answer = found_in(text, sizeof model - 1, 64);
        CHECK(answer == SIGNET_USER_OWN ? user > 0 && user < 1000 && group > 0 && group < 1000 : is_nobody());
    }
}

static void check_files_that_are_none(void) {
    user = group = 0;
    CHECK(signet_helper_user_in(-1, &user, &group) == SIGNET_USER_MISSING && is_nobody());
    int folder = open("/", O_RDONLY | O_CLOEXEC);
    user = group = 0;
    CHECK(signet_helper_user_in(folder, &user, &group) == SIGNET_USER_MISSING && is_nobody());
    (void)close(folder);
    // A file without an end is left after 16 MiB.
    int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    user = group = 0;
    CHECK(signet_helper_user_in(zeros, &user, &group) == SIGNET_USER_MISSING && is_nobody());
    (void)close(zeros);
}

static int no_file_at_all(void) {
    if (chroot(scratch()) != 0) return 1;
    return signet_helper_user(&user, &group) == SIGNET_USER_MISSING && is_nobody() ? 0 : 2;
}

static int a_pipe_for_a_file(void) {
    (void)mkdir(scratch_path("root"), 0755);
    (void)mkdir(scratch_path("root/etc"), 0755);
    (void)mkfifo(scratch_path("root/etc/passwd"), 0644);
    if (chroot(scratch_path("root")) != 0) return 1;
    (void)alarm(5);
    return signet_helper_user(&user, &group) == SIGNET_USER_MISSING && is_nobody() ? 0 : 2;
}

void check_users(void) {
    check_lines();
    check_hostile_tables();
    check_files_that_are_none();
    CHECK(in_child(no_file_at_all) == 0);
    CHECK(in_child(a_pipe_for_a_file) == 0);
    // This machine's own file: whoever it has, it is neither root nor a person.
    enum signet_user_answer answer = signet_helper_user(&user, &group);
    CHECK(answer == SIGNET_USER_OWN ? user > 0 && user < 1000 : is_nobody());
}
