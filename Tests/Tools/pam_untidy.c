// pam_untidy.so: leaves behind what its arguments name, so that the tests of the tests see that pamhost notices each.
#include <fcntl.h>
#include <security/pam_modules.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static void handler(int number) { (void)number; }

// Long enough to be noticed, not for ever.
static int linger(void) {
    alarm(30);
    return pause();
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
