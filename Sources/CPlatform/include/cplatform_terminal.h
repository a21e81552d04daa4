#ifndef SIGNET_CPLATFORM_TERMINAL_H
#define SIGNET_CPLATFORM_TERMINAL_H
// What the command line needs of terminals and signals.
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/// SIG_IGN is a macro.
static inline void signet_ignore_signal(int number) { (void)signal(number, SIG_IGN); }

/// Crashes end the process and show nothing: no backtrace of the Swift runtime's, whose handlers print registers and
/// memory, and no core file (setrlimit(2)).
static inline void signet_crash_quietly(void) {
    static const int numbers[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    for (unsigned index = 0; index < sizeof numbers / sizeof *numbers; index++) (void)signal(numbers[index], SIG_DFL);
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
}

/// Takes one signal from a signalfd(2) and answers its number; 0 where there is none.
static inline int signet_take_signal(int descriptor) {
    struct signalfd_siginfo info;
    return read(descriptor, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

/// The columns of a terminal; 0 where it does not say. ioctl(2) is variadic.
static inline int signet_terminal_width(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// The rows of a terminal; 0 where it does not say.
static inline int signet_terminal_rows(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

/// Sets the modes of a terminal at once, and throws away what was typed before and meanwhile; 0 where it refuses.
///
/// TCSADRAIN and TCSAFLUSH wait for the output: at a terminal that somebody has stopped with Ctrl-S that wait has no end
/// (tcsetattr(3)). A line whose driver fails once, or whose wait was interrupted, must not stay without echo for the person.
static inline int signet_set_modes(int descriptor, const struct termios *_Nonnull modes) {
    (void)tcflush(descriptor, TCIFLUSH);
    for (int attempt = 0; attempt < 3; attempt++) {
        if (tcsetattr(descriptor, TCSANOW, modes) != 0) continue;
        // Once more: a key between the two calls belongs to nobody.
        (void)tcflush(descriptor, TCIFLUSH);
        return 1;
    }
    return 0;
}

/// The process group of the caller stops as the terminal's own key would have it, where it can be stopped at all.
static inline void signet_stop_job(void) { (void)kill(0, SIGTSTP); }

/// The process group of the caller is interrupted as the terminal's own key would have it.
static inline void signet_interrupt_job(void) { (void)kill(0, SIGINT); }

/// A day of the calendar with its time; `struct tm` has a pointer that nobody here needs.
struct signet_day {
    int year, month, day, hour, minute;
};

/// The day at a wall time in the machine's time zone; 0 where localtime_r(3) cannot say, or the year is no `int`.
static inline int signet_local_day(int64_t seconds, struct signet_day *_Nonnull day) {
    time_t time = (time_t)seconds;
    struct tm parts;
    if (localtime_r(&time, &parts) == NULL || parts.tm_year > INT_MAX - 1900) return 0;
    day->year = parts.tm_year + 1900;
    day->month = parts.tm_mon + 1;
    day->day = parts.tm_mday;
    day->hour = parts.tm_hour;
    day->minute = parts.tm_min;
    return 1;
}

#endif
