// What a program needs to authenticate through a service's stack itself, with libpam_misc's conversation on the terminal.
#include <security/pam_appl.h>
#include <security/pam_misc.h>
#include <unistd.h>
