#define _GNU_SOURCE
#include "cplatform_guarded.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

// As sodium_malloc (libsodium, "Secure memory"), which needs six calls of the kernel for each piece and four more to give
// it back: those were a fifth of the time between a touch and its answer. Here the pages of all small secrets lie side by
// side in one mapping, each between two guards:
//
//     guard | page 0 | guard | page 1 | guard | … | page 23 | guard
//
// A secret lies at the end of its page, so that one byte too far is a fault; before it lies a canary. The mapping stays until
// the process ends, as the C library's heap does: what comes back is wiped at once, and used again.
enum { SLOTS = 24, CANARY = 16 };

/// Bits 0 to 23: pages that are taken. No lock: one that another thread holds at a fork would never be free in the child.
static _Atomic uint32_t state;
/// The mapping is there.
static const uint32_t mapped = 1u << 30;
/// Somebody makes it; everybody else does without meanwhile.
static const uint32_t busy = 1u << 31;

// Written while `busy` is set, read by who has a page.
static unsigned char *_Atomic base;
static _Atomic size_t page;
static unsigned char canary[CANARY];
/// The pages that can be read and written already, and are locked in the process that made the mapping.
static _Atomic uint32_t opened;
static _Atomic pid_t maker;

static size_t whole(void) { return (2 * SLOTS + 1) * page; }
static unsigned char *slot(unsigned index) { return base + (2 * index + 1) * page; }

/// Makes the mapping, with nothing to be touched in it; 0 where that is refused.
static int make(void) {
    long size = sysconf(_SC_PAGESIZE);
    if (size < 4 * CANARY) return 0;
    page = (size_t)size;
    // libsodium was started before, and so the generator was seeded: this neither waits nor fails.
    if (getrandom(canary, CANARY, 0) != CANARY) return 0;
    void *memory = mmap(NULL, whole(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return 0;
    (void)madvise(memory, whole(), MADV_DONTDUMP);
    maker = getpid();
    base = memory;
    return 1;
}

static void release(uint32_t bit) { atomic_fetch_and(&state, ~bit); }

/// Takes a page's bit, one that is open already where there is one, and makes the mapping for the first; 0: none.
static uint32_t acquire(void) {
    uint32_t now = state;
    for (;;) {
        if (now & busy) return 0;
        if (now == 0) {
            if (!atomic_compare_exchange_weak(&state, &now, busy)) continue;
            int made = make();
            state = made ? mapped | 1u : 0;
            return made ? 1u : 0;
        }
        uint32_t all = (1u << SLOTS) - 1, free_slots = ~now & all;
        if (free_slots == 0) return 0;
        uint32_t best = free_slots & opened ? free_slots & opened : free_slots;
        uint32_t bit = best & -best;
        if (atomic_compare_exchange_weak(&state, &now, now | bit)) return bit;
    }
}

void *signet_guarded_take(size_t count) {
    uint32_t bit = acquire();
    if (bit == 0) return NULL;
    unsigned char *start = slot((unsigned)__builtin_ctz(bit));
    if (count > page - CANARY) return release(bit), NULL;
    int is_open = (opened & bit) != 0;
    if (!is_open && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return release(bit), NULL;
    // A child has its parent's pages without their locks (mlock(2)). Refused, all the rest stays in force.
    if (!is_open || getpid() != maker) (void)mlock(start, page);
    atomic_fetch_or(&opened, bit);
    unsigned char *secret = start + page - count;
    memcpy(secret - CANARY, canary, CANARY);
    return secret;
}

int signet_guarded_give(void *memory) {
    unsigned char *secret = memory, *first = base;
    if (first == NULL || secret < first || secret >= first + whole()) return 0;
    // A secret of no bytes would lie at the guard's beginning; everybody takes at least one.
    size_t index = (size_t)(secret - first) / page;
    if (index % 2 == 0 || memcmp(secret - CANARY, canary, CANARY) != 0) abort();
    // What its owner could write lies between the canary and the guard; before both nothing was ever written.
    unsigned char *guard = first + (index + 1) * page;
    explicit_bzero(secret - CANARY, (size_t)(guard - secret) + CANARY);
    release(1u << (index / 2));
    return 1;
}
