#include <dlfcn.h>
#include <fprint.h>
#include <glib-unix.h>

// GObject's macros and casts, which Swift cannot see.

/// Calls `handler` whenever the reader's finger status changes.
static inline void signet_watch_finger(
    FpDevice *_Nonnull reader, void (*_Nonnull handler)(FpDevice *_Nullable, GParamSpec *_Nullable, gpointer _Nullable),
    gpointer _Nullable data) {
    g_signal_connect(reader, "notify::finger-status", G_CALLBACK(handler), data);
}

/// The domain of an error as text that stays; NULL for a domain that was never registered.
static inline const char *_Nullable signet_error_domain(const GError *_Nonnull error) {
    return g_quark_to_string(error->domain);
}

/// Whether a reader has a property of that name and type that may be read: g_object_get writes what the property is,
/// whatever there is room for.
static inline gboolean signet_has_property(FpDevice *_Nonnull reader, const char *_Nonnull name, GType type) {
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(reader), name);
    return spec != NULL && (spec->flags & G_PARAM_READABLE) != 0 && g_type_is_a(spec->value_type, type);
}

/// Bus and address of a USB reader; 0 where it is none, or where libfprint does not tell.
///
/// libgusb is there as soon as libfprint is, and its headers are needed for nothing else: so its two calls, which are
/// part of its interface since 0.1.0, are looked up by name.
static inline int signet_usb_address(FpDevice *_Nonnull reader, guint8 *_Nonnull bus, guint8 *_Nonnull address) {
    typedef guint8 (*number_of)(gpointer);
    gpointer device = NULL;
    int found = 0;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    number_of bus_of = program ? (number_of)dlsym(program, "g_usb_device_get_bus") : NULL;
    number_of address_of = program ? (number_of)dlsym(program, "g_usb_device_get_address") : NULL;
    if (bus_of != NULL && address_of != NULL && signet_has_property(reader, "fpi-usb-device", G_TYPE_OBJECT)) {
        g_object_get(reader, "fpi-usb-device", &device, NULL);
        if (device != NULL) {
            *bus = bus_of(device);
            *address = address_of(device);
            found = 1;
            g_object_unref(device);
        }
    }
    if (program != NULL) dlclose(program);
    return found;
}

/// Copies a property that is a text, with its zero; 0 where there is none, or it does not fit.
static inline int signet_device_text(
    FpDevice *_Nonnull reader, const char *_Nonnull name, char *_Nonnull target, gsize size) {
    gchar *text = NULL;
    if (!signet_has_property(reader, name, G_TYPE_STRING)) return 0;
    g_object_get(reader, name, &text, NULL);
    int found = text != NULL && g_strlcpy(target, text, size) < size;
    g_free(text);
    return found;
}
