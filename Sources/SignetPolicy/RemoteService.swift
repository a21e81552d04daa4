/// PAM services by which people come in from afar.
///
/// Some of them name no remote host and set no variable: xrdp does neither (neutrinolabs/xrdp#1546). So the name of the
/// service speaks for itself, as a hint that denies only.
package enum RemoteService {
    /// Names that are this, or begin with it and a sign that is no letter: "vncserver-x11", "cockpit".
    private static let names: [StaticString] = [
        "sshd", "ssh", "dropbear", "remote", "rlogin", "rsh", "rexec", "telnet", "telnetd", "xrdp", "vnc", "vncserver",
        "tigervnc", "tightvnc", "turbovnc", "x11vnc", "wayvnc", "krdp", "krdpserver", "xpra", "nx", "nxserver",
        "nomachine",
        "x2go", "x2goserver", "guacd", "cockpit", "webmin", "usermin", "shellinabox", "ftp", "vsftpd", "proftpd",
        "pure",
        "imap", "pop", "pop3", "dovecot", "courier", "cyrus", "smtp", "exim", "exim4", "postfix", "sieve", "samba",
        "netatalk", "openvpn", "ppp", "squid", "postgresql", "mysql", "mariadb", "ejabberd", "prosody", "radiusd",
        "nginx", "apache2", "httpd",
    ]

    /// Whether `service` (PAM_SERVICE) is one of them.
    package static func isRemote(_ service: [UInt8]) -> Bool {
        for name in names where matches(service, name) { return true }
        return false
    }

    private static func matches(_ service: [UInt8], _ name: StaticString) -> Bool {
        name.withUTF8Buffer { bytes in
            // SAFETY: a static string's bytes live as long as the program.
            guard unsafe service.starts(with: bytes) else { return false }
            guard service.count > bytes.count else { return true }
            let next = service[bytes.count] | 0x20
            return next < 0x61 || next > 0x7A
        }
    }
}
