#ifndef SIGNET_PAM_H
#define SIGNET_PAM_H
// What the C entry points and the Swift core know of each other.
#include <security/pam_modules.h>
#include <security/pam_ext.h>

/// Runs one authentication; implemented in Swift. Answers a PAM code, never PAM_IGNORE.
int signet_authenticate(pam_handle_t *_Nonnull handle, int flags, int argc, const char *_Nullable const *_Nullable argv);

#endif
