#include "include/signet_pam.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int pam_sm_authenticate(pam_handle_t *handle, int flags, int argc, const char **argv) {
    return signet_authenticate(handle, flags, argc, argv);
}

// Signet gives no credentials beyond the proof itself; success, since PAM_IGNORE would leave the stack's answer to chance.
EXPORT int pam_sm_setcred(pam_handle_t *handle, int flags, int argc, const char **argv) {
    (void)handle, (void)flags, (void)argc, (void)argv;
    return PAM_SUCCESS;
}
