// readerprobe: enrols one finger on the first reader that libfprint has, verifies it, and says how it went.
//
// Proves the harness's virtual and recorded readers without any part of Signet: `driver NAME`, then `enrolled`, then
// `match` or `no match`; a failure ends with its text and status 1.
#include <stdio.h>
#include <libfprint-2/fprint.h>

static int fail(const char *what, GError *error) {
    printf("%s: %s\n", what, error ? error->message : "unknown");
    return 1;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    GError *error = NULL;
    FpContext *context = fp_context_new();
    GPtrArray *devices = fp_context_get_devices(context);
    if (!devices || devices->len == 0) return fail("no reader", NULL);
    FpDevice *device = g_ptr_array_index(devices, 0);
    printf("driver %s\n", fp_device_get_driver(device));
    if (!fp_device_open_sync(device, NULL, &error)) return fail("open", error);
    FpPrint *print = fp_device_enroll_sync(device, fp_print_new(device), NULL, NULL, NULL, &error);
    if (!print) return fail("enrol", error);
    puts("enrolled");
    gboolean match = FALSE;
    if (!fp_device_verify_sync(device, print, NULL, NULL, NULL, &match, NULL, &error)) return fail("verify", error);
    puts(match ? "match" : "no match");
    return fp_device_close_sync(device, NULL, &error) ? 0 : fail("close", error);
}
