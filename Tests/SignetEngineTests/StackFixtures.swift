/// Service files as text by name; the authentication lines are those of the packages named.
struct ServiceFiles {
    var files: [String: String]

    func read(_ name: [UInt8]) -> [UInt8]? { files[String(decoding: name, as: UTF8.self)].map { Array($0.utf8) } }

    func with(_ name: String, _ text: String) -> ServiceFiles {
        var copy = self
        copy.files[name] = text
        return copy
    }

    /// Debian 12: sudo 1.9.13p3, util-linux 2.38.1, login 4.13, libpam-runtime 1.5.2 with libpam-cap.
    static let debian = ServiceFiles(files: [
        "common-auth": """
        # here are the per-package modules (the "Primary" block)
        auth\t[success=1 default=ignore]\tpam_unix.so nullok
        # here's the fallback if no module succeeds
        auth\trequisite\t\t\tpam_deny.so
        auth\trequired\t\t\tpam_permit.so
        # and here are more per-package modules (the "Additional" block)
        auth\toptional\t\t\tpam_cap.so
        # end of pam-auth-update config

        """,
        "sudo": "#%PAM-1.0\nsession    required   pam_limits.so\n\n@include common-auth\n@include common-account\n",
        "sudo-i": "#%PAM-1.0\n@include common-auth\n@include common-account\n",
        "su": "auth       sufficient pam_rootok.so\n@include common-auth\n@include common-account\n",
        "su-l": "auth\t\tinclude\t\tsu\naccount\t\tinclude\t\tsu\nsession\t\toptional\tpam_keyinit.so force revoke\n",
        "login": """
        auth       optional   pam_faildelay.so  delay=3000000
        auth       requisite  pam_nologin.so
        session    required   pam_loginuid.so
        @include common-auth
        auth       optional   pam_group.so
        @include common-account

        """,
        "other": "@include common-auth\n@include common-account\n",
        "common-account": "account required pam_unix.so\n",
    ])

    /// The same with the profile of libpam-fprintd switched on by pam-auth-update.
    static let debianWithFprintd = debian.with(
        "common-auth",
        """
        auth\t[success=2 default=ignore]\tpam_fprintd.so max-tries=1 timeout=10 # debug
        auth\t[success=1 default=ignore]\tpam_unix.so nullok try_first_pass
        auth\trequisite\t\t\tpam_deny.so
        auth\trequired\t\t\tpam_permit.so
        auth\toptional\t\t\tpam_cap.so

        """)
}
