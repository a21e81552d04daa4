package import SignetRecords

/// What a module can prove, as far as a review has to know.
package enum StackModuleKind: Equatable, Sendable {
    case signet
    /// Grants for the system password, wherever that is kept.
    case password
    /// Grants when a program of the administrator's says so, whatever that looks at (`pam_exec`).
    case program
    /// Grants for another proof: a security key, a code, another fingerprint service.
    case otherProof
    /// Grants to root, by the real user id of the program.
    case root
    /// Grants to members of a group (`pam_wheel trust`).
    case membership
    case permit
    case deny
    /// Counts a failure of what stood before it.
    case failureCount
    /// Asks for nothing and proves nothing; may refuse, or succeed for anyone who meets a condition.
    case gate
    /// No module: the place where a substack begins, which libpam passes over.
    case substack
    /// Not known to Signet: may grant for anything.
    case unknown

    package init(_ call: PAMModuleLine) {
        let name = call.name
        if name.isText("pam_signet.so") {
            self = .signet
        } else if name.isText("pam_permit.so") {
            self = .permit
        } else if name.isText("pam_deny.so") {
            self = .deny
        } else if name.isText("pam_rootok.so") {
            self = .root
        } else if name.isText("pam_wheel.so") {
            self = call.arguments.contains { $0.isText("trust") } ? .membership : .gate
        } else if name.isText("pam_faillock.so") || name.isText("pam_tally2.so") {
            self = call.arguments.contains { $0.isText("authfail") } ? .failureCount : .gate
        } else if StackModuleKind.lists(StackModuleKind.passwordModules, name) {
            self = .password
        } else if StackModuleKind.lists(StackModuleKind.programs, name) {
            self = .program
        } else if StackModuleKind.lists(StackModuleKind.otherProofs, name) {
            self = .otherProof
        } else if StackModuleKind.lists(StackModuleKind.gates, name) {
            self = .gate
        } else {
            self = .unknown
        }
    }

    /// Whether the module is one whose yes depends on who is there, or from where, and so is not everybody's.
    static func isCondition(_ call: PAMModuleLine) -> Bool { lists(conditions, call.name) }

    private static func lists(_ names: [String], _ name: ArraySlice<UInt8>) -> Bool {
        guard name.startsWith("pam_"), name.suffix(3).isText(".so") else { return false }
        let stem = name.dropFirst(4).dropLast(3)
        return names.contains { stem.isText($0) }
    }

    // The names are those of the modules in Debian 12's archive, and of the sign-in services that bring their own.
    private static let passwordModules = [
        "unix", "unix2", "unix_auth", "tcb", "sss", "ldap", "ldapd", "krb5", "krb5_migrate", "winbind", "systemd_home",
        "pwdfile", "userdb", "mysql", "pgsql", "sqlite", "radius", "radius_auth", "tacplus", "authd", "authd_exec",
        "himmelblau", "kanidm", "aad", "extrausers", "pinlock", "fprintd_grosshack",
    ]
    private static let programs = ["exec", "script", "python", "perl"]
    private static let otherProofs = [
        "fprintd", "fprint", "thinkfinger", "u2f", "yubico", "google_authenticator", "oath", "otpw", "ssh_agent_auth",
        "pkcs11", "p11", "poldi", "usb", "howdy", "facelock", "irlume", "biopass", "pinpam", "tpm_ecc", "barada",
        "duo", "url", "rhosts", "shield", "dotfile", "beid", "fido2",
    ]
    private static let gates = [
        "access", "apparmor", "cap", "cracklib", "debug", "echo", "ecryptfs", "env", "faildelay", "filter", "ftp",
        "gnome_keyring", "group", "issue", "keyinit", "kwallet", "kwallet5", "lastlog", "limits", "listfile",
        "localuser", "loginuid", "mail", "mkhomedir", "motd", "mount", "namespace", "nologin", "securetty", "selinux",
        "sepermit", "shells", "succeed_if", "systemd", "time", "timestamp", "tmpdir", "umask", "usertype", "warn",
        "xauth", "elogind", "lxc", "cgfs",
    ]
    private static let conditions = [
        "access", "group", "listfile", "localuser", "securetty", "sepermit", "shells", "succeed_if", "time",
        "usertype", "wheel",
    ]
}
