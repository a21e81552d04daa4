// linger.so, for LD_PRELOAD: a program that came to its own end stays until it is killed, so that its memory can be read.
#include <unistd.h>

__attribute__((destructor)) static void linger(void) {
    // Not for ever, where the test itself died.
    alarm(300);
    (void)pause();
}
