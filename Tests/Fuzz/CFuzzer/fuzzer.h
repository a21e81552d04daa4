#ifndef SIGNET_FUZZER_H
#define SIGNET_FUZZER_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer as a library (llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library"): runs until it finds something or
   reaches the limits that its arguments set. It needs no main of its own, which SwiftPM would rename. */
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*examine)(const uint8_t *data, size_t size));

#endif
