// pam_probe.so: stands after the module under test and says what only modules can see: whether PAM_AUTHTOK or PAM_OLDAUTHTOK is set.
//
// The answers go into the PAM environment as SIGNET_AUTHTOK and SIGNET_OLDAUTHTOK, "null" or "set".
//
// With the argument `begin` or `end` it tells the tracer of faults instead that the module under test comes, or is through.
#include "faults.h"

#include <security/pam_modules.h>
#include <stddef.h>
#include <string.h>

static void tell(pam_handle_t *handle, int item, const char *when_null, const char *when_set) {
    const void *value = NULL;
    pam_get_item(handle, item, &value);
    pam_putenv(handle, value ? when_set : when_null);
}

int pam_sm_authenticate(pam_handle_t *handle, int flags, int argc, const char **argv) {
    (void)flags;
    if (argc == 1 && strcmp(argv[0], "begin") == 0) return faults_mark(1), PAM_SUCCESS;
    if (argc == 1 && strcmp(argv[0], "end") == 0) return faults_mark(0), PAM_SUCCESS;
    tell(handle, PAM_AUTHTOK, "SIGNET_AUTHTOK=null", "SIGNET_AUTHTOK=set");
    tell(handle, PAM_OLDAUTHTOK, "SIGNET_OLDAUTHTOK=null", "SIGNET_OLDAUTHTOK=set");
    return PAM_SUCCESS;
}

int pam_sm_setcred(pam_handle_t *handle, int flags, int argc, const char **argv) {
    (void)handle, (void)flags, (void)argc, (void)argv;
    return PAM_SUCCESS;
}
