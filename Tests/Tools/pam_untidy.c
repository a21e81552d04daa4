// pam_untidy.so: leaves behind what its arguments name, so that the tests of the tests see that pamhost notices each.
#include <fcntl.h>
#include <security/pam_modules.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static void handler(int number) { (void)number; }

// Long enough to be noticed, not for ever.
static int linger(void) {
    alarm(30);
    return pause();
}

// What only an instrument sees; volatile, so that the compiler leaves the faults as they stand here.
static void misbehave(const char *what) {
    volatile char *volatile memory = malloc(16);
    if (!memory) abort();
    if (strcmp(what, "uninitialised") == 0 && memory[3] == 7) memory[0] = 1;
    if (strcmp(what, "overread") == 0) (void)memory[16];
    if (strcmp(what, "stale") == 0) free((void *)memory), memory[0] = 1;
    else if (strcmp(what, "leak") != 0) free((void *)memory);
}

static void leave(pam_handle_t *handle, const char *what) {
    if (strcmp(what, "child") == 0 && fork() == 0) _exit(linger());
    if (strcmp(what, "grandchild") == 0 && fork() == 0) _exit(fork() == 0 ? linger() : 0);
    if (strcmp(what, "descriptor") == 0 && open("/dev/null", O_RDONLY) < 0) abort();
    if (strcmp(what, "handler") == 0) signal(SIGINT, handler);
    if (strcmp(what, "mask") == 0) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTSTP);
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    if (strcmp(what, "environment") == 0) setenv("UNTIDY", "1", 1);
    if (strcmp(what, "umask") == 0) umask(0177);
    if (strcmp(what, "modes") == 0) {
        struct termios modes;
        int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
        if (terminal < 0 || tcgetattr(terminal, &modes) != 0) abort();
        modes.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(terminal, TCSANOW, &modes);
        close(terminal);
    }
    for (const char *const *name = (const char *const[]){"uninitialised", "overread", "stale", "leak", NULL}; *name; name++) {
        if (strcmp(what, *name) == 0) misbehave(what);
    }
    if (strcmp(what, "mapping") == 0 && mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) abort();
    if (strcmp(what, "timer") == 0) {
        timer_t timer;
        if (timer_create(CLOCK_MONOTONIC, NULL, &timer) != 0) abort();
    }
    if (strcmp(what, "lock") == 0) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED || mlock(page, 4096) != 0) abort();
    }
    if (strcmp(what, "authtok") == 0) pam_set_item(handle, PAM_AUTHTOK, "untidy");
}

int pam_sm_authenticate(pam_handle_t *handle, int flags, int argc, const char **argv) {
    (void)flags;
    for (int number = 0; number < argc; number++) leave(handle, argv[number]);
    return PAM_SUCCESS;
}

int pam_sm_setcred(pam_handle_t *handle, int flags, int argc, const char **argv) {
    (void)handle, (void)flags, (void)argc, (void)argv;
    return PAM_SUCCESS;
}
