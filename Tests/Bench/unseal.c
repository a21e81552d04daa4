// unseal TCTI FILE [seal]: the least that a PIN's object of a TPM costs, written against ESYS alone.
//
// With `seal` it makes an object under an authorisation and puts its two areas into FILE. Without, it does what stands between a PIN and its
// half: connects, makes the primary key, starts a salted session, loads the object, unseals it and flushes all. Exit status 0: the secret is
// the one that was sealed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

enum { COUNT = 32, LONGEST = 2048 };

// ECC P-256 with AES-128 in CFB mode: a parent without an authorisation, the same one each time (TPM 2.0 Library, Part 2, 12.2.4).
static const TPM2B_PUBLIC primary_template = {
    .publicArea = {
        .type = TPM2_ALG_ECC,
        .nameAlg = TPM2_ALG_SHA256,
        .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN |
                            TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT,
        .parameters.eccDetail = {
            .symmetric = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB},
            .scheme.scheme = TPM2_ALG_NULL,
            .curveID = TPM2_ECC_NIST_P256,
            .kdf.scheme = TPM2_ALG_NULL,
        },
    },
};

static const TPM2B_PUBLIC sealed_template = {
    .publicArea = {
        .type = TPM2_ALG_KEYEDHASH,
        .nameAlg = TPM2_ALG_SHA256,
        .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA,
        .parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL,
    },
};

static void check(TSS2_RC code, const char *what) {
    if (code == TSS2_RC_SUCCESS) return;
    fprintf(stderr, "unseal: %s answered 0x%x\n", what, code);
    exit(1);
}

/// The authorisation and the secret of this measurement, which guards nothing.
static void fill(BYTE *bytes, BYTE first) {
    for (int index = 0; index < COUNT; index++) bytes[index] = (BYTE)(first + index);
}

static void write_object(const char *path, const TPM2B_PUBLIC *public_area, const TPM2B_PRIVATE *private_area) {
    BYTE bytes[LONGEST];
    size_t length = 0;
    check(Tss2_MU_TPM2B_PUBLIC_Marshal(public_area, bytes, sizeof bytes, &length), "marshalling");
    check(Tss2_MU_TPM2B_PRIVATE_Marshal(private_area, bytes, sizeof bytes, &length), "marshalling");
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) exit(1);
}

static void read_object(const char *path, TPM2B_PUBLIC *public_area, TPM2B_PRIVATE *private_area) {
    BYTE bytes[LONGEST];
    FILE *file = fopen(path, "r");
    if (!file) exit(1);
    size_t length = fread(bytes, 1, sizeof bytes, file), offset = 0;
    fclose(file);
    check(Tss2_MU_TPM2B_PUBLIC_Unmarshal(bytes, length, &offset, public_area), "reading");
    check(Tss2_MU_TPM2B_PRIVATE_Unmarshal(bytes, length, &offset, private_area), "reading");
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: unseal TCTI FILE [seal]\n"), 2;
    TSS2_TCTI_CONTEXT *connection = NULL;
    ESYS_CONTEXT *context = NULL;
    check(Tss2_TctiLdr_Initialize(argv[1], &connection), "connecting");
    check(Esys_Initialize(&context, connection, NULL), "Esys_Initialize");

    ESYS_TR primary, session;
    TPM2B_SENSITIVE_CREATE nothing = {0};
    TPM2B_DATA no_data = {0};
    TPML_PCR_SELECTION no_registers = {0};
    check(Esys_CreatePrimary(context, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &nothing, &primary_template, &no_data,
                             &no_registers, &primary, NULL, NULL, NULL, NULL), "Esys_CreatePrimary");
    TPMT_SYM_DEF cipher = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
    check(Esys_StartAuthSession(context, primary, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC, &cipher,
                                TPM2_ALG_SHA256, &session), "Esys_StartAuthSession");
    TPMA_SESSION encrypted = TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT;
    check(Esys_TRSess_SetAttributes(context, session, encrypted, 0xFF), "Esys_TRSess_SetAttributes");

    TPM2B_AUTH authorization = {.size = COUNT};
    fill(authorization.buffer, 1);
    BYTE secret[COUNT];
    fill(secret, 101);
    int status = 0;
    if (argc > 3) {
        TPM2B_SENSITIVE_CREATE sensitive = {.sensitive = {.userAuth = authorization, .data.size = COUNT}};
        memcpy(sensitive.sensitive.data.buffer, secret, COUNT);
        TPM2B_PUBLIC *public_area = NULL;
        TPM2B_PRIVATE *private_area = NULL;
        check(Esys_Create(context, primary, session, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &sealed_template, &no_data, &no_registers,
                          &private_area, &public_area, NULL, NULL, NULL), "Esys_Create");
        write_object(argv[2], public_area, private_area);
        Esys_Free(public_area);
        Esys_Free(private_area);
    } else {
        TPM2B_PUBLIC public_area = {0};
        TPM2B_PRIVATE private_area = {0};
        TPM2B_SENSITIVE_DATA *found = NULL;
        ESYS_TR object;
        read_object(argv[2], &public_area, &private_area);
        check(Esys_Load(context, primary, session, ESYS_TR_NONE, ESYS_TR_NONE, &private_area, &public_area, &object), "Esys_Load");
        check(Esys_TR_SetAuth(context, object, &authorization), "Esys_TR_SetAuth");
        check(Esys_Unseal(context, object, session, ESYS_TR_NONE, ESYS_TR_NONE, &found), "Esys_Unseal");
        status = found->size == COUNT && memcmp(found->buffer, secret, COUNT) == 0 ? 0 : 1;
        Esys_Free(found);
        check(Esys_FlushContext(context, object), "Esys_FlushContext");
    }
    check(Esys_FlushContext(context, session), "Esys_FlushContext");
    check(Esys_FlushContext(context, primary), "Esys_FlushContext");
    Esys_Finalize(&context);
    Tss2_TctiLdr_Finalize(&connection);
    return status;
}
