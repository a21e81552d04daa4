#include "cplatform_registers.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>

/// The states that the kernel keeps (XCR0): 0 where there is no AVX (CPUID.1:ECX; Intel SDM 1, section 14.3).
static unsigned kept_states(void) {
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/// Whether there are 32 registers (CPUID.7:EBX), and the kernel keeps all of them (section 15.2).
static int has_upper_registers(unsigned states) {
    unsigned a, b, c, d;
    return (states & 0xe6) == 0xe6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX512F) != 0;
}

#define EACH "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
             "xmm13", "xmm14", "xmm15"
#define ZERO(number) "pxor %%xmm" #number ", %%xmm" #number "\n\t"

#define UPPER(number) "vpxord %%zmm" #number ", %%zmm" #number ", %%zmm" #number "\n\t"

/// The C library copies through these where it has them, and vzeroall leaves them alone.
__attribute__((target("avx512f"), noinline)) static void clear_upper_registers(void) {
    __asm__ volatile(UPPER(16) UPPER(17) UPPER(18) UPPER(19) UPPER(20) UPPER(21) UPPER(22) UPPER(23) UPPER(24) UPPER(25)
                         UPPER(26) UPPER(27) UPPER(28) UPPER(29) UPPER(30) UPPER(31)
                     : : : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
                       "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}

enum { UNKNOWN, LOWER, WIDE, UPPER_TOO };

/// Which registers there are; asked once, for a virtual machine leaves for its host at each cpuid (Intel SDM 3,
/// section 26.1.2), which takes longer than all the clearing.
static int registers_here(void) {
    static atomic_int known;
    int here = atomic_load_explicit(&known, memory_order_relaxed);
    if (here == UNKNOWN) {
        unsigned states = kept_states();
        here = has_upper_registers(states) ? UPPER_TOO : (states & 6) == 6 ? WIDE : LOWER;
        atomic_store_explicit(&known, here, memory_order_relaxed);
    }
    return here;
}

void signet_clear_registers(void) {
    int here = registers_here();
    if (here == UPPER_TOO) clear_upper_registers();
    // All of them are a callee's to change (System V ABI, section 3.2.1).
    if (here != LOWER) {
        __asm__ volatile("vzeroall" : : : EACH);
    } else {
        __asm__ volatile(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(8) ZERO(9) ZERO(10) ZERO(11)
                             ZERO(12) ZERO(13) ZERO(14) ZERO(15)
                         : : : EACH);
    }
}
#elif defined(__aarch64__)
#define ZERO(number) "movi v" #number ".2d, #0\n\t"

void signet_clear_registers(void) {
    // v8 to v15 are the caller's (AAPCS64, section 6.1.2).
    __asm__ volatile(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(16) ZERO(17) ZERO(18) ZERO(19)
                         ZERO(20) ZERO(21) ZERO(22) ZERO(23) ZERO(24) ZERO(25) ZERO(26) ZERO(27) ZERO(28) ZERO(29)
                             ZERO(30) ZERO(31)
                     : : : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21",
                       "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}
#else
void signet_clear_registers(void) {}
#endif
