#include "check.h"

#include "../../Sources/CFprint/shim.h"
#include "../../Sources/CTSS2/shim.h"
#include "../../pam/include/signet_pam.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int pam_sm_authenticate(pam_handle_t *handle, int flags, int argc, const char **argv);
int pam_sm_setcred(pam_handle_t *handle, int flags, int argc, const char **argv);

static int asked;
static const char *words[] = {"debug", NULL};

/// Stands in for the Swift core.
int signet_authenticate(pam_handle_t *handle, int flags, int argc, const char *const *argv) {
    asked = handle == (pam_handle_t *)&asked && flags == 7 && argc == 1 && argv == words;
    return PAM_MAXTRIES;
}

static void check_pam(void) {
    pam_handle_t *handle = (pam_handle_t *)&asked;
    CHECK(pam_sm_authenticate(handle, 7, 1, words) == PAM_MAXTRIES && asked);
    CHECK(pam_sm_setcred(handle, 7, 1, words) == PAM_SUCCESS);
    CHECK(pam_sm_setcred(handle, 0, 0, NULL) == PAM_SUCCESS);
}

static void check_tpm(void) {
    TSS2_TCTI_CONTEXT *connection = NULL;
    (void)setenv("TSS2_LOG", "all+none", 1);
    CHECK(signet_connect(false, scratch_path("none"), &connection) != TSS2_RC_SUCCESS && connection == NULL);
    CHECK(signet_connect(false, "/dev/null", &connection) != TSS2_RC_SUCCESS || connection != NULL);
    if (connection != NULL) signet_disconnect(connection);
    char text[160];
    (void)snprintf(text, sizeof text, "path=%s", scratch_path("none"));
    CHECK(signet_connect(true, text, &connection) != TSS2_RC_SUCCESS && connection == NULL);

    uint8_t bytes[300] = {1, 2, 0, 0};
    TPM2B_AUTH authorization = {0};
    CHECK(signet_set_authorization(&authorization, bytes, 4));
    CHECK(authorization.size == 2 && authorization.buffer[1] == 2);
    CHECK(signet_set_authorization(&authorization, NULL, 0) && authorization.size == 0);
    bytes[sizeof bytes - 1] = 1;
    CHECK(!signet_set_authorization(&authorization, bytes, sizeof bytes));
    bytes[sizeof authorization.buffer - 1] = 1;
    CHECK(signet_set_authorization(&authorization, bytes, sizeof authorization.buffer));
    TPM2B_SENSITIVE_CREATE secret = {0};
    CHECK(signet_set_secret(&secret, bytes, 32) && secret.sensitive.data.size == 32);
    CHECK(signet_secret(&secret.sensitive.data)[1] == 2);
    CHECK(signet_set_secret(&secret, NULL, 0) && secret.sensitive.data.size == 0);
    CHECK(!signet_set_secret(&secret, bytes, sizeof bytes));
    CHECK(signet_primary_template().publicArea.type == TPM2_ALG_ECC && signet_session_cipher().keyBits.aes == 128);
    CHECK((signet_sealed_template(true).publicArea.objectAttributes & TPMA_OBJECT_NODA) == 0);
    CHECK((signet_sealed_template(false).publicArea.objectAttributes & TPMA_OBJECT_NODA) != 0);

    TPM2B_NV_PUBLIC counter = signet_counter_template(0x1800000);
    CHECK(signet_is_counter(&counter, 0x1800000) && !signet_is_counter(&counter, 0x1800001));
    counter.nvPublic.attributes |= TPMA_NV_WRITTEN;
    CHECK(signet_is_counter(&counter, 0x1800000));
    counter.nvPublic.attributes |= TPMA_NV_OWNERREAD;
    CHECK(!signet_is_counter(&counter, 0x1800000));
    uint64_t value = 0;
    TPM2B_MAX_NV_BUFFER buffer = {.size = 8, .buffer = {255, 255, 255, 255, 255, 255, 255, 255}};
    CHECK(signet_counter_value(&buffer, &value) && value == UINT64_MAX);
    buffer.size = 7;
    CHECK(!signet_counter_value(&buffer, &value));

    // A TPM's lists with more in them than the structure holds.
    static TPMS_CAPABILITY_DATA found;
    UINT32 property = 0;
    found.capability = TPM2_CAP_TPM_PROPERTIES;
    found.data.tpmProperties.count = UINT32_MAX;
    CHECK(!signet_property(&found, 5, &property) && signet_handle_count(&found) == 0 && signet_handle(&found, 0) == 0);
    found.data.tpmProperties.tpmProperty[TPM2_MAX_TPM_PROPERTIES - 1] = (TPMS_TAGGED_PROPERTY){5, 6};
    CHECK(signet_property(&found, 5, &property) && property == 6);
    found.capability = TPM2_CAP_HANDLES;
    found.data.handles.count = UINT32_MAX;
    CHECK(signet_handle_count(&found) == TPM2_MAX_CAP_HANDLES && !signet_property(&found, 5, &property));
    found.data.handles.handle[TPM2_MAX_CAP_HANDLES - 1] = 7;
    CHECK(signet_handle(&found, TPM2_MAX_CAP_HANDLES - 1) == 7 && signet_handle(&found, TPM2_MAX_CAP_HANDLES) == 0);
}

static void finger_moved(FpDevice *reader, GParamSpec *spec, gpointer data) { (void)reader, (void)spec, (void)data; }

/// On libfprint's virtual reader, in a child: GLib keeps threads and descriptors for as long as its process lives.
static int with_a_reader(void) {
    if (setenv("FP_VIRTUAL_DEVICE", scratch_path("reader"), 1) != 0) return 1;
    FpContext *context = fp_context_new();
    GPtrArray *readers = fp_context_get_devices(context);
    if (readers == NULL || readers->len == 0) return 2;
    FpDevice *reader = g_ptr_array_index(readers, 0);
    signet_watch_finger(reader, finger_moved, NULL);
    if (!signet_has_property(reader, "device-id", G_TYPE_STRING)) return 3;
    if (signet_has_property(reader, "none", G_TYPE_STRING)) return 3;
    char text[64];
    if (!signet_device_text(reader, "device-id", text, sizeof text)) return 4;
    // One that is none, and one that is no text.
    if (signet_device_text(reader, "none", text, sizeof text)) return 4;
    if (signet_device_text(reader, "finger-status", text, sizeof text)) return 4;
    // What does not fit is none, and ends with its zero all the same.
    gsize length = strlen(text);
    if (length > 0 && (signet_device_text(reader, "device-id", text, length) || strlen(text) != length - 1)) return 5;
    guint8 bus = 0, address = 0;
    if (signet_usb_address(reader, &bus, &address)) return 6;
    GError *error = g_error_new_literal(FP_DEVICE_ERROR, 0, "x");
    if (signet_error_domain(error) == NULL) return 7;
    error->domain = 0;
    if (signet_error_domain(error) != NULL) return 8;
    error->domain = FP_DEVICE_ERROR;
    g_error_free(error);
    g_object_unref(context);
    return 0;
}

void check_shims(void) {
    check_pam();
    check_tpm();
    CHECK(in_child(with_a_reader) == 0);
}
