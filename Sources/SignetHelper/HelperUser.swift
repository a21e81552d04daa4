internal import CPlatform

/// The user and the group for which a helper gives up root once its device is open.
///
/// A system user of the helpers' own, `signet`, which `scripts/install` makes: a process may signal those of its own user
/// (kill(2)), so as `nobody` any service that runs as nobody could end or stop a helper while it compares. One user is enough
/// for both helpers: what one process can do to another of its user, their filters of system calls refuse.
package struct HelperUser: Sendable {
    package let user: UInt32
    package let group: UInt32

    /// Reads /etc/passwd; nobody and nogroup where it has no such system user.
    package static func find() -> HelperUser {
        var user = uid_t(SIGNET_NOBODY)
        var group = gid_t(SIGNET_NOBODY)
        // SAFETY: both pointers are good for the call.
        _ = unsafe signet_helper_user(&user, &group)
        return HelperUser(user: user, group: group)
    }
}
