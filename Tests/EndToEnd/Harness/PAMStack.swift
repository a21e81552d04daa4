/// Changes what a program asks PAM for, for the time of a test.
enum PAMStack {
    /// The authentication line that stands in for the shipped one where a test is about the module alone.
    static func signet(_ arguments: String = "") -> [String] {
        ["auth [success=ok default=die] pam_signet.so \(arguments)", "auth required pam_permit.so"]
    }

    /// The system password, as every Debian asks for it; stands in for Signet where a test proves the harness.
    static let password = ["auth required pam_unix.so nodelay"]

    /// Runs `body` while the services have these `auth` lines, and `pam_permit.so` for the rest.
    static func with<Result>(_ services: String..., auth: [String], _ body: () throws -> Result) throws -> Result {
        let lines =
            auth + [
                "account required pam_permit.so", "session required pam_permit.so", "password required pam_deny.so",
            ]
        return try replace(services[...], with: lines.joined(separator: "\n") + "\n", body)
    }

    private static func replace<Result>(
        _ services: ArraySlice<String>, with text: String, _ body: () throws -> Result
    ) throws -> Result {
        guard let service = services.first else { return try body() }
        return try File.replaced("/etc/pam.d/\(service)", with: text) {
            try replace(services.dropFirst(), with: text, body)
        }
    }
}
