#ifndef SIGNET_CPLATFORM_GUARDED_H
#define SIGNET_CPLATFORM_GUARDED_H
// Guarded pages for small secrets, of which a call of the module needs some twenty.
#include <stddef.h>

/// Answers `count` zero bytes at the end of a page that lies between two that nobody can touch; locked where that is
/// allowed, and kept out of core images. NULL where there is no such page: more bytes than fit, all taken, no memory.
void *_Nullable signet_guarded_take(size_t count);

/// Wipes the bytes and takes their page back; 0, and nothing done, where `memory` is not of these pages.
///
/// Where somebody wrote before the bytes, the process ends.
int signet_guarded_give(void *_Nonnull memory);

#endif
