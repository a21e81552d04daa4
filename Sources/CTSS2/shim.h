#ifndef SIGNET_CTSS2_H
#define SIGNET_CTSS2_H
// The TPM2 software stack (TCG ESAPI, tpm2-tss 3 and 4). The two ways to a TPM that Signet knows are linked and not looked up
// by name: libtss2-tctildr would load a library that a configuration names, or run a command, or go to TCP port 2321.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_sys.h>
#include <tss2/tss2_tcti_device.h>
#include <tss2/tss2_tcti_swtpm.h>

// Macros that are made from other macros do not come through to Swift.
static const TSS2_RC signet_rc_format_one = TPM2_RC_FMT1;
static const TSS2_RC signet_rc_parameter = TPM2_RC_P;
static const TSS2_RC signet_rc_auth_fail = TPM2_RC_AUTH_FAIL;
static const TSS2_RC signet_rc_bad_auth = TPM2_RC_BAD_AUTH;
static const TSS2_RC signet_rc_hierarchy = TPM2_RC_HIERARCHY;
static const TSS2_RC signet_rc_handle = TPM2_RC_HANDLE;
static const TSS2_RC signet_rc_initialize = TPM2_RC_INITIALIZE;
static const TSS2_RC signet_rc_nv_uninitialized = TPM2_RC_NV_UNINITIALIZED;
static const TSS2_RC signet_rc_nv_space = TPM2_RC_NV_SPACE;
static const TSS2_RC signet_rc_nv_defined = TPM2_RC_NV_DEFINED;
static const TSS2_RC signet_rc_lockout = TPM2_RC_LOCKOUT;
static const TSS2_RC signet_rc_retry = TPM2_RC_RETRY;
static const TSS2_RC signet_rc_yielded = TPM2_RC_YIELDED;
static const TSS2_RC signet_rc_testing = TPM2_RC_TESTING;
static const TSS2_RC signet_rc_nv_rate = TPM2_RC_NV_RATE;
static const TSS2_RC signet_rc_object_memory = TPM2_RC_OBJECT_MEMORY;
static const TSS2_RC signet_rc_session_memory = TPM2_RC_SESSION_MEMORY;
static const TSS2_RC signet_rc_memory = TPM2_RC_MEMORY;
static const TSS2_RC signet_rc_session_handles = TPM2_RC_SESSION_HANDLES;
static const TSS2_RC signet_rc_object_handles = TPM2_RC_OBJECT_HANDLES;
/// The layers of a code whose number is a TPM's own: the TPM, and resource managers that pass it on or speak for it.
static const TSS2_RC signet_layer_tpm = TSS2_TPM_RC_LAYER;
static const TSS2_RC signet_layer_manager_tpm = TSS2_RESMGR_TPM_RC_LAYER;
static const TSS2_RC signet_layer_manager = TSS2_RESMGR_RC_LAYER;
static const TSS2_RC signet_layer_connection = TSS2_TCTI_RC_LAYER;
static const TSS2_RC signet_layer_mask = TSS2_RC_LAYER_MASK;
static const UINT32 signet_pt_manufacturer = TPM2_PT_MANUFACTURER;
static const UINT32 signet_pt_firmware_1 = TPM2_PT_FIRMWARE_VERSION_1;
static const UINT32 signet_pt_firmware_2 = TPM2_PT_FIRMWARE_VERSION_2;
static const UINT32 signet_pt_permanent = TPM2_PT_PERMANENT;
static const UINT32 signet_pt_counters_left = TPM2_PT_NV_COUNTERS_AVAIL;
static const UINT32 signet_pt_failures = TPM2_PT_LOCKOUT_COUNTER;
static const UINT32 signet_pt_limit = TPM2_PT_MAX_AUTH_FAIL;
static const UINT32 signet_pt_heal_seconds = TPM2_PT_LOCKOUT_INTERVAL;
static const UINT32 signet_pt_recovery_seconds = TPM2_PT_LOCKOUT_RECOVERY;
static const TPM2_HANDLE signet_first_transient = TPM2_TRANSIENT_FIRST;
static const TPM2_HANDLE signet_first_session = TPM2_LOADED_SESSION_FIRST;

/// The most handles that are asked for at once; a TPM gives fewer where its buffer is small.
enum { SIGNET_HANDLES_AT_ONCE = 64 };

/// Connects to a TPM: `configuration` is a device's path, or "path=" and a socket's for a software TPM.
static inline TSS2_RC signet_connect(bool software, const char *_Nonnull configuration,
                                     TSS2_TCTI_CONTEXT *_Nullable *_Nonnull connection) {
    TSS2_TCTI_INIT_FUNC start = software ? Tss2_Tcti_Swtpm_Init : Tss2_Tcti_Device_Init;
    size_t size = 0;
    *connection = NULL;
    TSS2_RC code = start(NULL, &size, NULL);
    if (code != TSS2_RC_SUCCESS) return code;
    TSS2_TCTI_CONTEXT *made = (TSS2_TCTI_CONTEXT *)calloc(1, size);
    if (made == NULL) return TSS2_TCTI_RC_MEMORY;
    code = start(made, &size, configuration);
    if (code == TSS2_RC_SUCCESS)
        *connection = made;
    else
        free(made);
    return code;
}

/// Ends a connection that `signet_connect` made.
static inline void signet_disconnect(TSS2_TCTI_CONTEXT *_Nonnull connection) {
    Tss2_Tcti_Finalize(connection);
    free(connection);
}

/// Copies an authorisation without the zeros at its end, which a TPM leaves out too (TPM 2.0 Library, Part 1, "Authorization
/// Values"); false where it is too long.
static inline bool signet_set_authorization(TPM2B_AUTH *_Nonnull target, const uint8_t *_Nullable bytes, size_t count) {
    while (count > 0 && bytes[count - 1] == 0) count--;
    if (count > sizeof target->buffer) return false;
    if (count > 0) memcpy(target->buffer, bytes, count);
    target->size = (UINT16)count;
    return true;
}

/// Copies what is to be sealed; false where it is too long.
static inline bool signet_set_secret(TPM2B_SENSITIVE_CREATE *_Nonnull target, const uint8_t *_Nullable bytes, size_t count) {
    TPM2B_SENSITIVE_DATA *data = &target->sensitive.data;
    if (count > sizeof data->buffer) return false;
    if (count > 0) memcpy(data->buffer, bytes, count);
    data->size = (UINT16)count;
    return true;
}

/// Where the secret of an answer lies.
static inline const uint8_t *_Nonnull signet_secret(const TPM2B_SENSITIVE_DATA *_Nonnull data) { return data->buffer; }

/// The template of the primary key: ECC P-256 and AES-128-CFB, the same key each time on one TPM until it is cleared.
static inline TPM2B_PUBLIC signet_primary_template(void) {
    TPM2B_PUBLIC made = {.publicArea = {
        .type = TPM2_ALG_ECC, .nameAlg = TPM2_ALG_SHA256,
        .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN |
            TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT,
        .parameters.eccDetail = {
            .symmetric = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB},
            .scheme.scheme = TPM2_ALG_NULL, .curveID = TPM2_ECC_NIST_P256, .kdf.scheme = TPM2_ALG_NULL}}};
    return made;
}

/// The template of a sealed object.
static inline TPM2B_PUBLIC signet_sealed_template(bool counts_failures) {
    TPM2B_PUBLIC made = {.publicArea = {
        .type = TPM2_ALG_KEYEDHASH, .nameAlg = TPM2_ALG_SHA256,
        .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_USERWITHAUTH |
            (counts_failures ? 0 : TPMA_OBJECT_NODA),
        .parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL}};
    return made;
}

/// The session's cipher for parameters.
static inline TPMT_SYM_DEF signet_session_cipher(void) {
    TPMT_SYM_DEF made = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
    return made;
}

/// A counter of 8 bytes in flash, which its own authorisation alone reads and counts, outside the protection against guessing.
/// The owner may not read it: nobody else has a use for it.
static inline TPM2B_NV_PUBLIC signet_counter_template(TPM2_HANDLE index) {
    TPM2B_NV_PUBLIC made = {.nvPublic = {
        .nvIndex = index, .nameAlg = TPM2_ALG_SHA256,
        .attributes = (TPM2_NT_COUNTER << TPMA_NV_TPM2_NT_SHIFT) | TPMA_NV_AUTHREAD | TPMA_NV_AUTHWRITE | TPMA_NV_NO_DA,
        .dataSize = 8}};
    return made;
}

/// Whether the index is such a counter, counted before or not.
static inline bool signet_is_counter(const TPM2B_NV_PUBLIC *_Nonnull found, TPM2_HANDLE index) {
    const TPM2B_NV_PUBLIC ours = signet_counter_template(index);
    return found->nvPublic.nvIndex == index && found->nvPublic.nameAlg == ours.nvPublic.nameAlg &&
        (found->nvPublic.attributes & ~TPMA_NV_WRITTEN) == ours.nvPublic.attributes &&
        found->nvPublic.authPolicy.size == 0 && found->nvPublic.dataSize == ours.nvPublic.dataSize;
}

/// The big-endian number of 8 bytes that was read; false where it is none.
static inline bool signet_counter_value(const TPM2B_MAX_NV_BUFFER *_Nonnull data, uint64_t *_Nonnull value) {
    if (data->size != 8) return false;
    *value = 0;
    for (int index = 0; index < 8; index++) *value = *value << 8 | data->buffer[index];
    return true;
}

/// One property of a list of properties; false where it is not there.
static inline bool signet_property(const TPMS_CAPABILITY_DATA *_Nonnull found, UINT32 property, UINT32 *_Nonnull value) {
    if (found->capability != TPM2_CAP_TPM_PROPERTIES) return false;
    const TPML_TAGGED_TPM_PROPERTY *list = &found->data.tpmProperties;
    for (UINT32 index = 0; index < list->count && index < TPM2_MAX_TPM_PROPERTIES; index++) {
        if (list->tpmProperty[index].property != property) continue;
        *value = list->tpmProperty[index].value;
        return true;
    }
    return false;
}

/// The number of handles in a list of handles.
static inline UINT32 signet_handle_count(const TPMS_CAPABILITY_DATA *_Nonnull found) {
    if (found->capability != TPM2_CAP_HANDLES) return 0;
    UINT32 count = found->data.handles.count;
    return count < TPM2_MAX_CAP_HANDLES ? count : TPM2_MAX_CAP_HANDLES;
}

/// The handle at `place`, which is below their number.
static inline TPM2_HANDLE signet_handle(const TPMS_CAPABILITY_DATA *_Nonnull found, UINT32 place) {
    return place < signet_handle_count(found) ? found->data.handles.handle[place] : 0;
}
#endif
