#include <fprint.h>
#include <glib-unix.h>

// GObject's macros and casts, which Swift cannot see.

/// Calls `handler` whenever the reader's finger status changes.
static inline void signet_watch_finger(FpDevice *reader, void (*handler)(FpDevice *, GParamSpec *, gpointer), gpointer data) {
    g_signal_connect(reader, "notify::finger-status", G_CALLBACK(handler), data);
}

/// The domain of an error as text that stays; NULL for a domain that was never registered.
static inline const char *signet_error_domain(const GError *error) { return g_quark_to_string(error->domain); }
