// A stand-in for pam_signet.so in scripts/check-install: asks one hidden question, and the right answer is 2468. It exists so that the
// installer is tested with real sudo, su and libpam before there is a PIN on the machine; it is never installed.
#include <security/pam_appl.h>
#include <security/pam_modules.h>
#include <stdlib.h>
#include <string.h>

int pam_sm_authenticate(pam_handle_t *handle, int flags, int argc, const char **argv) {
    (void)flags, (void)argc, (void)argv;
    const void *item = NULL;
    if (pam_get_item(handle, PAM_CONV, &item) != PAM_SUCCESS || item == NULL) return PAM_AUTH_ERR;
    const struct pam_conv *conversation = item;
    const struct pam_message question = {PAM_PROMPT_ECHO_OFF, "Stand-in PIN: "};
    const struct pam_message *questions[] = {&question};
    struct pam_response *answer = NULL;
    if (conversation->conv(1, questions, &answer, conversation->appdata_ptr) != PAM_SUCCESS || answer == NULL)
        return PAM_AUTH_ERR;
    int right = answer->resp != NULL && strcmp(answer->resp, "2468") == 0;
    free(answer->resp);
    free(answer);
    return right ? PAM_SUCCESS : PAM_MAXTRIES;
}

int pam_sm_setcred(pam_handle_t *handle, int flags, int argc, const char **argv) {
    (void)handle, (void)flags, (void)argc, (void)argv;
    return PAM_SUCCESS;
}
